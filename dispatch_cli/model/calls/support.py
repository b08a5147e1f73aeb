"""The situations in which an operator is called, and promises that calls in them work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from dispatch_cli.model.span import Span


class SupportContext(Enum):
    """A situation in which operators are called; the value is its word in commands, files and JSON.

    EAGER: a plain call. TRAIN: with tensors that require a gradient, and a backward pass. FAKE: with fake tensors, as
    torch.compile and torch.export trace. COMPILE: traced and functionalized, as torch.compile does; judged by its
    backend aot_eager. VMAP, GRAD, JVP: in torch.func's transforms. AUTOCAST: under autocast of the device.
    INFERENCE: in inference mode. CUSTOM: in contexts, or with tensors, that the user names.
    """

    EAGER = "eager"
    TRAIN = "train"
    FAKE = "fake"
    COMPILE = "compile"
    VMAP = "vmap"
    GRAD = "grad"
    JVP = "jvp"
    AUTOCAST = "autocast"
    INFERENCE = "inference"
    CUSTOM = "custom"


PROMISED = tuple(context for context in SupportContext if context is not SupportContext.CUSTOM)
"""The contexts that can be promised."""


class Promise(NamedTuple):
    """Every operator that matches works on each of the backends in each of the contexts.

    ops: names, and globs over them. backends: dispatch keys. reason: why it is promised. span: where it is declared.
    through: the entries of ``extends`` that led there, the user's own file first.
    """

    ops: tuple[str, ...]
    backends: tuple[str, ...]
    contexts: tuple[SupportContext, ...]
    reason: str | None = None
    span: Span | None = None
    through: tuple[Span, ...] = ()


def boxes(cells: Iterable[tuple[str, SupportContext]]) -> Iterator[tuple[tuple[str, ...], tuple[SupportContext, ...]]]:
    """Cells, as backend and context, in few pieces: backends with the same contexts go together."""
    contexts: dict[str, tuple[SupportContext, ...]] = {}
    for backend, context in cells:
        contexts[backend] = (*contexts.get(backend, ()), context)
    for alike in dict.fromkeys(contexts.values()):
        yield tuple(backend for backend, some in contexts.items() if some == alike), alike
