"""Call PyTorch's operators with its own sample arguments while every kernel logs itself, and write what was seen.

usage: PYTHON live_opinfo.py LIBRARY ASKED.json DIRECTORY   (run with the Python that has PyTorch and NumPy)

LIBRARY: kernel_log.cpp, built. ASKED: contexts, the path of capture/probe.py, samples per operator, and how many
operators, chosen at random by a seed; None for all.
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

    def __init__(self, info: Any, dtype: Any, sample: Any) -> None:
        leaves, spec = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
        self.tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        self.differentiable = [
            place for place, one in enumerate(self.tensors) if one.is_floating_point() or one.is_complex()
        ]
        self._info, self._leaves, self._spec = info, leaves, spec
        self.can_require_grad = info.supports_autograd and dtype in info.supported_backward_dtypes("cpu")

    def __call__(self, *tensors: Any) -> Any:
        given = iter(tensors)
        leaves = [next(given) if isinstance(leaf, torch.Tensor) else leaf for leaf in self._leaves]
        first, args, kwargs = pytree.tree_unflatten(leaves, self._spec)
        result = self._info.op(first, *args, **kwargs)
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
    "grad": grad,
    "jvp": jvp,
    "functionalize": functionalize,
    "meta": meta,
    "conj": conj,
    "neg": neg,
    "zerotensor": zerotensor,
}


def samples(info: Any, context: str, count: int) -> List[Sample]:  # noqa: UP006
    wanted = [torch.complex64] if context in ("complex", "conj") else [torch.float32, torch.int64, torch.bool]
    dtype = next((one for one in wanted if one in info.dtypes), None)
    if dtype is None:
        return []
    torch.manual_seed(0)
    found = itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=False), count)
    return [Sample(info, dtype, one) for one in found]


def main() -> None:
    library = ctypes.CDLL(sys.argv[1])
    library.kernel_log_install.restype = ctypes.c_int64
    asked = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    directory = Path(sys.argv[3])
    op_db = list(import_op_db())
    if asked["operators"] is not None:
        op_db = random.Random(asked["seed"]).sample(op_db, asked["operators"])
    func.vmap(torch.sin)(torch.ones(2))  # the first one of a process registers kernels
    slots = library.kernel_log_install()
    skipped = []
    for context in asked["contexts"]:
        for info in op_db:
            name = info.name + ("." + info.variant_test_name if info.variant_test_name else "")
            try:
                found = samples(info, context, asked["samples"])
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
