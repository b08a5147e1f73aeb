"""The contexts in which a sample of an operator is called; a part of live_opinfo.py, beside a live PyTorch."""

import importlib
import itertools
from typing import Any, Callable, Dict, List  # noqa: UP035

BATCH = 2

torch: Any = importlib.import_module("torch")
pytree: Any = importlib.import_module("torch.utils._pytree")
func: Any = importlib.import_module("torch.func")


class Sample:
    """One call: a function of its tensors. differentiable: the places of those of a floating type.

    more: arguments beside those of the sample.
    """

    def __init__(self, info: Any, dtype: Any, sample: Any, in_place: bool) -> None:
        leaves, spec = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
        self.tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        self.differentiable = [
            place for place, one in enumerate(self.tensors) if one.is_floating_point() or one.is_complex()
        ]
        self._operator = info.inplace_variant if in_place else info.op
        self._leaves, self._spec = leaves, spec
        self.more: Dict[str, Any] = {}  # noqa: UP006
        self.can_require_grad = info.supports_autograd and dtype in info.supported_backward_dtypes("cpu")

    def __call__(self, *tensors: Any) -> Any:
        given = iter(tensors)
        leaves = [next(given) if isinstance(leaf, torch.Tensor) else leaf for leaf in self._leaves]
        first, args, kwargs = pytree.tree_unflatten(leaves, self._spec)
        result = self._operator(first, *args, **kwargs, **self.more)
        return tuple(leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor))


def total(results: List[Any]) -> Any:  # noqa: UP006
    """One number with a derivative, of all results that have one."""
    parts = [result for result in results if result.is_floating_point() or result.is_complex()]
    real = [part.abs() if part.is_complex() else part for part in parts]
    return sum(tensor.sum() for tensor in real)


def plain(sample: Sample) -> None:
    tensors = [tensor.detach().clone() for tensor in sample.tensors]
    if sample.can_require_grad:
        for place in sample.differentiable:
            tensors[place].requires_grad_()
    results = sample(*tensors)
    if sample.can_require_grad:
        with_grad = total([result for result in results if result.requires_grad])
        if isinstance(with_grad, torch.Tensor):
            with_grad.backward()
    for tensor in tensors:
        tensor.detach_()


def batches(sample: Sample, times: int) -> List[Any]:  # noqa: UP006
    return [tensor.expand(*[BATCH] * times, *tensor.shape).contiguous() for tensor in sample.tensors]


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
        return [tensor for tensor in sample(*tensors) if tensor.is_floating_point() or tensor.is_complex()]

    return call, tuple(sample.tensors[place] for place in sample.differentiable)


def grad(sample: Sample) -> None:
    call, given = differentiable(sample)
    func.grad(lambda *some: total(call(*some)), argnums=tuple(range(len(given))))(*given)


def jvp(sample: Sample) -> None:
    call, given = differentiable(sample)
    func.jvp(call, given, tuple(torch.ones_like(tensor) for tensor in given))


def vmap_grad(sample: Sample) -> None:
    """The derivatives' operators, too, get batched tensors."""
    call, given = differentiable(sample)
    derivatives = func.grad(lambda *some: total(call(*some)), argnums=tuple(range(len(given))))
    batched = [tensor.expand(BATCH, *tensor.shape).contiguous() for tensor in given]
    func.vmap(derivatives, randomness="different")(*batched)


def no_grad(sample: Sample) -> None:
    with torch.no_grad():
        sample(*sample.tensors)


def inference(sample: Sample) -> None:
    with torch.inference_mode():
        sample(*sample.tensors)


def inference_autocast(sample: Sample) -> None:
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
        sample(*[tensor.clone() for tensor in sample.tensors])


def functionalize(sample: Sample) -> None:
    func.functionalize(sample)(*sample.tensors)


def meta(sample: Sample) -> None:
    sample(*[tensor.to("meta") for tensor in sample.tensors])


def conj(sample: Sample) -> None:
    sample(*[tensor.conj() if tensor.is_complex() else tensor for tensor in sample.tensors])


def neg(sample: Sample) -> None:
    sample(*[torch._neg_view(tensor) if tensor.is_floating_point() else tensor for tensor in sample.tensors])


def zerotensor(sample: Sample) -> None:
    sample(
        *[torch._efficientzerotensor(tensor.shape, dtype=tensor.dtype) for tensor in sample.tensors[:1]],
        *sample.tensors[1:],
    )


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
        sample.tensors = [tensor.clone() for tensor in sample.tensors]
        call(sample)

    return copied


CONTEXTS.update(inplace=in_place(no_grad), vmap_inplace=vmap, functionalize_inplace=in_place(functionalize))


def samples(info: Any, context: str, count: int) -> List[Sample]:  # noqa: UP006
    wanted = [torch.complex64] if context in ("complex", "conj") else [torch.float32, torch.int64, torch.bool]
    dtype = next((candidate for candidate in wanted if candidate in info.dtypes), None)
    if dtype is None or (context in IN_PLACE and info.inplace_variant is None):
        return []
    return [Sample(info, dtype, sample, context in IN_PLACE) for sample in inputs_of(info, dtype, count)]


_inputs: Dict[Any, List[Any]] = {}  # noqa: UP006


def inputs_of(info: Any, dtype: Any, count: int) -> List[Any]:  # noqa: UP006
    """The first inputs of an operator. They are the same in all contexts, which copy what they change."""
    key = (id(info), dtype, count)
    torch.manual_seed(0)
    if key not in _inputs:
        _inputs[key] = list(itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=False), count))
    return _inputs[key]
