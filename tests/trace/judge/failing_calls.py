"""A program whose calls raise: PyTorch's own samples with wrong shapes, types, devices, layouts and gradients.

usage: PYTHON failing_calls.py SEED COUNT   (with the Python that has PyTorch and NumPy)

COUNT: how many samples raise before it ends. It prints how many did, of each kind and in each context.
"""

import random
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, Callable, Dict, Iterator  # noqa: UP035

sys.path.insert(0, str(Path(__file__).parents[2] / "engine" / "call" / "judge"))

import live_opinfo
import sample_contexts

warnings.simplefilter("ignore")
torch: Any = live_opinfo.torch
pytree: Any = sample_contexts.pytree
Tensor = Any


def larger(one: Tensor) -> Tensor:
    return torch.ones([size + 1 for size in one.shape], dtype=one.dtype)


def deeper(one: Tensor) -> Tensor:
    return torch.ones([2, 3, *one.shape], dtype=one.dtype)


def other_type(one: Tensor) -> Tensor:
    return one.to(torch.float32 if not one.is_floating_point() else torch.int64)


def complex_type(one: Tensor) -> Tensor:
    return one.to(torch.complex64)


def on_meta(one: Tensor) -> Tensor:
    return one.to("meta")


def sparse(one: Tensor) -> Tensor:
    return one.to_sparse()


def with_gradient(one: Tensor) -> Tensor:
    return one.detach().clone().to(torch.float32).requires_grad_()


class Subclass(torch.Tensor):  # type: ignore[misc]
    """A tensor whose operators Python refuses."""

    @staticmethod
    def __new__(cls: Any, one: Tensor) -> Tensor:
        return torch.Tensor._make_wrapper_subclass(cls, one.shape, dtype=one.dtype)

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise RuntimeError("refused")


CHANGES: Dict[str, Callable[[Tensor], Tensor]] = {  # noqa: UP006
    "larger": larger,
    "deeper": deeper,
    "other type": other_type,
    "complex": complex_type,
    "meta": on_meta,
    "sparse": sparse,
    "gradient": with_gradient,
    "subclass": Subclass,
}


class Refusing(torch.utils._python_dispatch.TorchDispatchMode):  # type: ignore[misc, name-defined]
    """A mode that raises once a call has returned."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        func(*args, **(kwargs or {}))
        raise RuntimeError("refused")


def under_mode(sample: Any) -> None:
    with Refusing():
        sample(*sample.tensors)


def as_they_are(sample: Any) -> None:
    sample(*sample.tensors)


def leaves(sample: Any) -> None:
    """Its tensors require gradients: an operator in place refuses them."""
    tensors = [tensor.detach() for tensor in sample.tensors]
    for place in sample.differentiable:
        tensors[place].requires_grad_()
    sample(*tensors)


def out(sample: Any) -> None:
    """Its results go to tensors that require gradients, or have another type."""
    results = [torch.empty_like(tensor) for tensor in sample(*sample.tensors)]
    results = [result.requires_grad_() if result.is_floating_point() else result.to(torch.bool) for result in results]
    sample.more = {"out": results[0] if len(results) == 1 else tuple(results)}
    sample(*sample.tensors)


CONTEXTS: Dict[str, Callable[[Any], None]] = {  # noqa: UP006
    "as they are": as_they_are,
    "mode": under_mode,
    "leaves": leaves,
    "out": out,
    **{
        name: sample_contexts.CONTEXTS[name]
        for name in ("plain", "no_grad", "inference", "vmap", "grad", "jvp", "vmap_grad", "functionalize", "inplace")
    },
}


def wrong_samples(info: Any, pick: random.Random) -> Iterator[Any]:
    """The kind of what is wrong, and a sample that has it."""
    dtype = next(
        (candidate for candidate in (torch.float32, torch.int64, torch.bool) if candidate in info.dtypes), None
    )
    if dtype is None:
        return
    torch.manual_seed(0)
    in_place = info.inplace_variant is not None and pick.random() < 0.3
    try:
        if info.error_inputs_func is not None:
            for error_input in pick.sample(error_inputs := list(info.error_inputs("cpu")), min(2, len(error_inputs))):
                yield "error input", sample_contexts.Sample(info, dtype, error_input.sample_input, False)
        inputs = list(info.sample_inputs("cpu", dtype, requires_grad=False))
    except Exception:  # they are not for this machine
        return
    for name in pick.sample(sorted(CHANGES), 4):
        sample = sample_contexts.Sample(info, dtype, pick.choice(inputs), in_place)
        if sample.tensors:
            at = pick.randrange(len(sample.tensors))
            try:
                sample.tensors[at] = CHANGES[name](sample.tensors[at])
            except Exception:
                continue
            yield name, sample


def main() -> None:
    pick, count = random.Random(int(sys.argv[1])), int(sys.argv[2])
    op_db = list(live_opinfo.import_op_db())
    torch.func.vmap(torch.sin)(torch.ones(2))  # the first one of a process registers kernels
    raised: Counter[str] = Counter()
    returned = 0
    while raised.total() < count:
        for kind, sample in wrong_samples(pick.choice(op_db), pick):
            context = pick.choice(sorted(CONTEXTS))
            try:
                CONTEXTS[context](sample)
                returned += 1
            except Exception:
                raised[f"{kind}, {context}"] += 1
    print(returned, *sorted(raised.items()), sep="\n")


if __name__ == "__main__":
    main()
