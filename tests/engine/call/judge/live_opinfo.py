"""Call PyTorch's operators with its own sample arguments while every kernel logs itself, and write what was seen.

usage: PYTHON live_opinfo.py LIBRARY ASKED.json DIRECTORY   (run with the Python that has PyTorch and NumPy)

LIBRARY: kernel_log.cpp, built. ASKED: contexts, the path of capture/probe.py, samples per operator, and how many
operators, chosen at random by a seed; None for all. Of those named as thorough, all of the first samples are called.
DIRECTORY gets calls.jsonl, the registry of the end (state.json) and what could not be called (skipped.json).
"""

import ctypes
import importlib
import importlib.util
import itertools
import json
import random
import sys
import types
import unittest
import warnings
from pathlib import Path
from typing import Any, Callable, Dict, List  # noqa: UP035

warnings.simplefilter("ignore")
BATCH = 2
THOROUGH = 12
"""Samples of an operator that is to be called with every overload."""


def import_op_db() -> Any:
    """PyTorch's own samples. Of expecttest they need the base class of tests alone."""
    if importlib.util.find_spec("expecttest") is None:
        stand_in: Any = types.ModuleType("expecttest")
        stand_in.TestCase = unittest.TestCase
        sys.modules["expecttest"] = stand_in
    return importlib.import_module("torch.testing._internal.common_methods_invocations").op_db


torch: Any = importlib.import_module("torch")
pytree: Any = importlib.import_module("torch.utils._pytree")
func: Any = importlib.import_module("torch.func")
torch._C._functorch._set_vmap_fallback_warning_enabled(False)


class Sample:
    """One call: a function of its tensors. differentiable: the places of those of a floating type."""

    def __init__(self, info: Any, dtype: Any, sample: Any, in_place: bool) -> None:
        leaves, spec = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
        self.tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        self.differentiable = [
            place for place, one in enumerate(self.tensors) if one.is_floating_point() or one.is_complex()
        ]
        self._operator = info.inplace_variant if in_place else info.op
        self._leaves, self._spec = leaves, spec
        self.can_require_grad = info.supports_autograd and dtype in info.supported_backward_dtypes("cpu")

    def __call__(self, *tensors: Any) -> Any:
        given = iter(tensors)
        leaves = [next(given) if isinstance(leaf, torch.Tensor) else leaf for leaf in self._leaves]
        first, args, kwargs = pytree.tree_unflatten(leaves, self._spec)
        result = self._operator(first, *args, **kwargs)
        return tuple(one for one in pytree.tree_leaves(result) if isinstance(one, torch.Tensor))


def total(results: List[Any]) -> Any:  # noqa: UP006
    """One number with a derivative, of all results that have one."""
    parts = [one for one in results if one.is_floating_point() or one.is_complex()]
    real = [one.abs() if one.is_complex() else one for one in parts]
    return sum(one.sum() for one in real)


def plain(sample: Sample) -> None:
    tensors = [one.detach().clone() for one in sample.tensors]
    if sample.can_require_grad:
        for place in sample.differentiable:
            tensors[place].requires_grad_()
    results = sample(*tensors)
    if sample.can_require_grad:
        with_grad = total([one for one in results if one.requires_grad])
        if isinstance(with_grad, torch.Tensor):
            with_grad.backward()
    for one in tensors:
        one.detach_()


def batches(sample: Sample, times: int) -> List[Any]:  # noqa: UP006
    return [one.expand(*[BATCH] * times, *one.shape).contiguous() for one in sample.tensors]


def vmap(sample: Sample) -> None:
    func.vmap(sample, randomness="different")(*batches(sample, 1))


def nested_vmap(sample: Sample) -> None:
    inner = func.vmap(sample, randomness="different")
    func.vmap(inner, randomness="different")(*batches(sample, 2))


def differentiable(sample: Sample) -> Any:
    """The sample as a function of its floating tensors alone, and those."""

    def call(*some: Any) -> Any:
        tensors = list(sample.tensors)
        for place, one in zip(sample.differentiable, some):  # noqa: B905
            tensors[place] = one
        return [one for one in sample(*tensors) if one.is_floating_point() or one.is_complex()]

    return call, tuple(sample.tensors[place] for place in sample.differentiable)


def grad(sample: Sample) -> None:
    call, given = differentiable(sample)
    func.grad(lambda *some: total(call(*some)), argnums=tuple(range(len(given))))(*given)


def jvp(sample: Sample) -> None:
    call, given = differentiable(sample)
    func.jvp(call, given, tuple(torch.ones_like(one) for one in given))


def vmap_grad(sample: Sample) -> None:
    """The derivatives' operators, too, get batched tensors."""
    call, given = differentiable(sample)
    derivatives = func.grad(lambda *some: total(call(*some)), argnums=tuple(range(len(given))))
    batched = [one.expand(BATCH, *one.shape).contiguous() for one in given]
    func.vmap(derivatives, randomness="different")(*batched)


def no_grad(sample: Sample) -> None:
    with torch.no_grad():
        sample(*sample.tensors)


def inference(sample: Sample) -> None:
    with torch.inference_mode():
        sample(*sample.tensors)


def inference_autocast(sample: Sample) -> None:
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
        sample(*[one.clone() for one in sample.tensors])


def functionalize(sample: Sample) -> None:
    func.functionalize(sample)(*sample.tensors)


def meta(sample: Sample) -> None:
    sample(*[one.to("meta") for one in sample.tensors])


def conj(sample: Sample) -> None:
    sample(*[one.conj() if one.is_complex() else one for one in sample.tensors])


def neg(sample: Sample) -> None:
    sample(*[torch._neg_view(one) if one.is_floating_point() else one for one in sample.tensors])


def zerotensor(sample: Sample) -> None:
    sample(*[torch._efficientzerotensor(one.shape, dtype=one.dtype) for one in sample.tensors[:1]], *sample.tensors[1:])


CONTEXTS: Dict[str, Callable[[Sample], None]] = {  # noqa: UP006
    "plain": plain,
    "complex": plain,
    "no_grad": no_grad,
    "inference": inference,
    "inference_autocast": inference_autocast,
    "vmap": vmap,
    "nested_vmap": nested_vmap,
    "vmap_grad": vmap_grad,
    "grad": grad,
    "jvp": jvp,
    "functionalize": functionalize,
    "meta": meta,
    "conj": conj,
    "neg": neg,
    "zerotensor": zerotensor,
}


IN_PLACE = ("inplace", "vmap_inplace", "functionalize_inplace")


def in_place(call: Callable[[Sample], None]) -> Callable[[Sample], None]:
    """On copies of the sample's tensors."""

    def copied(sample: Sample) -> None:
        sample.tensors = [one.clone() for one in sample.tensors]
        call(sample)

    return copied


CONTEXTS.update(inplace=in_place(no_grad), vmap_inplace=vmap, functionalize_inplace=in_place(functionalize))


def samples(info: Any, context: str, count: int) -> List[Sample]:  # noqa: UP006
    wanted = [torch.complex64] if context in ("complex", "conj") else [torch.float32, torch.int64, torch.bool]
    dtype = next((one for one in wanted if one in info.dtypes), None)
    if dtype is None or (context in IN_PLACE and info.inplace_variant is None):
        return []
    torch.manual_seed(0)
    found = itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=False), count)
    return [Sample(info, dtype, one, context in IN_PLACE) for one in found]


def is_thorough(info: Any, asked: Any) -> bool:
    """Whether one of its names is that of an operator that is to be tried with all overloads."""
    names = [info.name, *(alias.name for alias in info.aliases)]
    return any(str(name).replace(".", "_").replace("nn_functional_", "") in asked["thorough"] for name in names)


def call_others() -> None:
    """Operators with kernels of their own for vmap that have no samples."""
    aten = torch.ops.aten
    calls: List[Callable[[Any], Any]] = [  # noqa: UP006
        lambda x: aten._assert_tensor_metadata(x),
        lambda x: aten._has_same_storage_numel(x, x),
        lambda x: aten.fill_.Tensor(x.clone(), x.sum()),
        lambda x: aten.native_dropout(x, 0.5, True),
        lambda x: aten._standard_gamma(x),
        lambda x: aten._sample_dirichlet(x),
        lambda x: aten.binomial(x, x),
        lambda x: aten.poisson(x),
        lambda x: aten.rand_like(x),
        lambda x: aten.random_.to(x.clone(), 3),
        lambda x: aten.random_(x.clone()),
        lambda x: aten.random_.__getattr__("from")(x.clone(), 0, 3),
        lambda x: aten.normal.float_Tensor(0.0, x),
        lambda _: aten.normal.float_float(0.0, 1.0, [3]),
        lambda _: aten.randint(3, [3]),
        lambda _: aten.randint.low(0, 3, [3]),
        lambda _: aten.randperm(3),
        lambda x: aten.bernoulli_.Tensor(x.clone(), x),
    ]
    for call in calls:
        func.vmap(lambda x, call=call: (call(x), x)[1], randomness="different")(torch.ones(BATCH, 3))


def main() -> None:
    library = ctypes.CDLL(sys.argv[1])
    library.kernel_log_install.restype = ctypes.c_int64
    asked = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    directory = Path(sys.argv[3])
    op_db = list(import_op_db())
    if asked["operators"] is not None:
        chosen = random.Random(asked["seed"]).sample(op_db, asked["operators"])
        op_db = [info for info in op_db if info in chosen or is_thorough(info, asked)]
    func.vmap(torch.sin)(torch.ones(2))  # the first one of a process registers kernels
    slots = library.kernel_log_install()
    skipped = []
    for context in asked["contexts"]:
        for info in op_db:
            name = info.name + ("." + info.variant_test_name if info.variant_test_name else "")
            try:
                count = THOROUGH if is_thorough(info, asked) else asked["samples"]
                found = samples(info, context, count)
            except Exception as error:
                skipped.append([context, name, "no samples: " + repr(error)[:200]])
                continue
            for sample in found:
                library.kernel_log_context(context.encode())
                try:
                    CONTEXTS[context](sample)
                except Exception as error:
                    skipped.append([context, name, repr(error)[:200]])
                finally:
                    library.kernel_log_context(b"")
    library.kernel_log_context(b"others")
    call_others()
    library.kernel_log_context(b"")
    library.kernel_log_write(str(directory / "calls.jsonl").encode())
    library.kernel_log_remove()
    (directory / "skipped.json").write_text(json.dumps({"slots": slots, "skipped": skipped}), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("probe", asked["probe"])
    assert spec is not None and spec.loader is not None
    probe = importlib.util.module_from_spec(spec)
    sys.modules["probe"] = probe
    spec.loader.exec_module(probe)
    state = probe.ask([], probe.capture)
    (directory / "state.json").write_text(json.dumps(state), encoding="utf-8")


if __name__ == "__main__":
    main()
