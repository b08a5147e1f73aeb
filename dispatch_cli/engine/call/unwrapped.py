"""Functorch transforms around a call that wrap none of its tensors: the inputs of the transform are not what is given.

``torch.vmap(f)(x)`` calls ``f`` with a tensor that is wrapped at the level of the transform; a tensor that is not
comes from outside of the function.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dispatch_cli.engine.call.simulate import MAKERS, wrapper_levels
from dispatch_cli.engine.call.tensors import TensorMaker
from dispatch_cli.engine.call.thread import Contexts
from dispatch_cli.model.call import Context, ContextKind, TensorSpec, Wrapper, WrapperKind
from dispatch_cli.model.universe import Universe


class Unwrapped(NamedTuple):
    """transforms: those that wrap no tensor of the call, the outermost first. tensor: the first one as their input."""

    transforms: tuple[ContextKind, ...]
    tensor: str


def unwrapped(universe: Universe, tensors: Sequence[TensorSpec], contexts: Iterable[Context]) -> Unwrapped | None:
    """Transforms that wrap no tensor; None where each transform wraps one, or there is no tensor. Errors: CallError."""
    given = [spec for spec in tensors if spec.absent is None]
    thread = Contexts(TensorMaker(universe)).enter_all(tuple(contexts))
    if not given or not thread.layers:
        return None
    taken = {wrapper.level for spec in given for wrapper in wrapper_levels(spec, thread)}
    missing = [layer for layer in thread.layers if layer.level not in taken]
    if not missing:
        return None
    kinds = {layer.level: _wrapper_of(layer.kind) for layer in thread.layers}
    known = [*kinds.values()]
    added = [
        Wrapper(kinds[layer.level], layer.level if known.count(kinds[layer.level]) > 1 else None) for layer in missing
    ]
    first = given[0]
    return Unwrapped(tuple(layer.kind for layer in missing), str(first._replace(wrappers=(*first.wrappers, *added))))


def _wrapper_of(kind: ContextKind) -> WrapperKind:
    return next(wrapper for wrapper, makers in MAKERS.items() if kind in makers)
