"""Guards: declared conditions on computed tables, or on calls."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from dispatch_cli.model.calls.options import NO_OPTIONS, Options
from dispatch_cli.model.span import Span

if TYPE_CHECKING:
    from dispatch_cli.model.calls.call import Context, TensorSpec


class GuardField(Enum):
    """Question of a guard about a slot, an operator, or a call; the value is the field of the declaration.

    RULE, NOT: the rule that fills the slot is, or is not, one of the texts.
    KERNEL, NOT_KERNEL: what a dump shows of the kernel, or the Python function that it was made of, matches one, or
        none, of the globs.
    FALLTHROUGH: whether the kernel falls through (``true``, ``false``).
    SAME_AS: the slot holds the function of another.
    BACKEND: the backend's slot has a kernel of its own or a composite one that computes; no fallback, no fallthrough.
    END, RAN, AT, ERROR: of a call: how it ends, and the last kernel, its key, or the text of the error.
    """

    RULE = "rule"
    NOT = "not"
    KERNEL = "kernel"
    NOT_KERNEL = "not_kernel"
    FALLTHROUGH = "fallthrough"
    SAME_AS = "same_as"
    BACKEND = "backend"
    END = "resolves.end"
    RAN = "resolves.kernel"
    AT = "resolves.key"
    ERROR = "resolves.error"


class Expectation(NamedTuple):
    """One thing that a guard asks for. texts: any of them will do (for NOT and NOT_KERNEL: none may be)."""

    field: GuardField
    texts: tuple[str, ...]


class GuardedCall(NamedTuple):
    """The call that a guard speaks of. options: what it is given beside tensors."""

    tensors: tuple[TensorSpec, ...] = ()
    contexts: tuple[Context, ...] = ()
    options: Options = NO_OPTIONS


class Guard(NamedTuple):
    """Expectations that must hold for every operator that matches.

    ops: globs over operator names. keys: runtime keys, globs over them, and alias keys, which stand for all that they
    cover; none where the guard speaks of a backend or a call. wants: all of them must hold.
    call: the call that the expectations are about. reason: why it must hold.
    span: where it is declared. through: the entries of ``extends`` that led there, the user's own file first.
    excepted: names, globs and alias keys of slots that are left out of *keys*.
    """

    ops: tuple[str, ...]
    keys: tuple[str, ...]
    wants: tuple[Expectation, ...]
    call: GuardedCall | None = None
    reason: str | None = None
    span: Span | None = None
    through: tuple[Span, ...] = ()
    excepted: tuple[str, ...] = ()
