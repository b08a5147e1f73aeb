"""Changes of a history: a registration that is added, left out, or made at another time.

An edit is a change of declarations that a person, or a program, would make to repair something.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple

from dispatch_cli.model.declarations import (
    WILDCARD,
    Block,
    Declarations,
    Fallback,
    Implement,
    LibraryKind,
    OpenBlock,
    PythonKernel,
)
from dispatch_cli.model.kernel import Kernel, Redispatch, RedispatchKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import CATCH_ALL, META, UNDEFINED

CATCH_ALL_WORD = "CatchAll"
"""Word for the key of an addition that has none."""


def key_of(step: Implement) -> str:
    """The key at which a kernel stands."""
    key = step.dispatch_key or step.block.dispatch_key
    return CATCH_ALL if key is None or key == UNDEFINED else key


def operator_of(step: Implement) -> OperatorName:
    """The operator, with the namespace of its block."""
    return step.block.qualified(step.operator) or step.operator


class RegistrationName(NamedTuple):
    """Description of the registration that is meant.

    operator: its operator; None for a backend fallback. key: where it is registered. python: a kernel of the Python
    dispatcher. kernel: its name or debug text. number: the first, second, … of those that fit the other fields,
    oldest first; None where there is only one.
    """

    operator: OperatorName | None
    key: str
    python: bool = False
    kernel: str | None = None
    number: int | None = None

    def __str__(self) -> str:
        whose = "the backend fallback" if self.operator is None else str(self.operator)
        words = "the Python kernel of " if self.python else ""
        further = zip(self._fields[3:], self[3:], strict=True)
        rest = "".join(f", {word} {value}" for word, value in further if value is not None)
        return f"{words}{whose} at {self.key}{rest}"


class Removal(NamedTuple):
    """A registration is left out, as if it had never been made."""

    which: RegistrationName


class Reordering(NamedTuple):
    """A registration of the files is made at another time: right before *target*, or right after it."""

    which: RegistrationName
    target: RegistrationName
    is_after: bool = False


HistoryChange = Removal | Reordering


class Addition(NamedTuple):
    """A registration is made, after all others.

    operator: its operator; None for a backend fallback. kernel: what is registered; of the Python dispatcher, its name.
    That of a fake implementation (`Kernel.fake`) is at Meta, and registered after what is added otherwise.
    """

    operator: OperatorName | None
    key: str
    kernel: Kernel | str

    @property
    def is_of_block(self) -> bool:
        """True if it is made in a registration block, and not by a function of Python."""
        return isinstance(self.kernel, Kernel) and self.kernel.fake is None


Change = Addition | Removal | Reordering


class ChangeError(ValueError):
    """A change that cannot be made. code, hint: as in `Problem`."""

    def __init__(self, message: str, hint: str | None = None, code: str = "bad-move") -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint


class AdditionPlace(NamedTuple):
    """Places in a file that add something. block: the entry; registration, kernel: these in it."""

    block: Span
    registration: Span
    kernel: Span


def _added(before: Declarations, change: Addition, at: AdditionPlace) -> Declarations:
    operator, key, kernel = change
    if isinstance(kernel, str):
        if operator is None:
            raise ChangeError("a backend fallback is not a kernel of the Python dispatcher")
        python_kernel = PythonKernel(operator, key, kernel, at.registration)
        return before._replace(python_kernels=(*before.python_kernels, python_kernel))
    kernel = kernel._replace(span=at.kernel)
    where = at.block.file, at.block.line, at.block
    if operator is None:
        block = Block(LibraryKind.IMPL, WILDCARD, key, *where)
        return before._replace(steps=(*before.steps, OpenBlock(block), Fallback(block, key, kernel, at.registration)))
    kind = LibraryKind.IMPL if change.is_of_block else LibraryKind.FRAGMENT
    block = Block(kind, operator.namespace or "", None, *where, implicit=not change.is_of_block)
    step = Implement(block, operator, None if key == CATCH_ALL_WORD else key, kernel, at.registration)
    return before._replace(steps=(*before.steps, *((OpenBlock(block),) if change.is_of_block else ()), step))


def with_added(declarations: Declarations, changes: Sequence[Change], places: Iterable[AdditionPlace]) -> Declarations:
    """Declarations with what changes add. places: of each addition."""
    before = declarations
    added = [*zip((change for change in changes if isinstance(change, Addition)), places, strict=False)]
    for change, at in sorted(added, key=lambda pair: not pair[0].is_of_block):
        declarations = _added(declarations, change, at)
    own = declarations.changes
    if not added or own is None:
        return declarations
    steps, kernels = declarations.steps[len(before.steps) :], declarations.python_kernels[len(before.python_kernels) :]
    own = own._replace(steps=(*own.steps, *steps), python_kernels=(*own.python_kernels, *kernels))
    return declarations._replace(changes=own)


class Action(Enum):
    """Action of an edit; the value is the name in machine formats."""

    REGISTER = "register"
    """A kernel is registered, after everything else."""
    REMOVE = "remove"
    """The registration of a kernel is taken out."""
    FALL_BACK = "register-fallback"
    """A backend fallback is registered, for all operators."""


class Function(Enum):
    """Function that an edit registers; the value is the name in machine formats."""

    OWN = "own"
    """A new one, to be written."""
    SAME = "same-as"
    """The one that is, or was, registered at another key of the operator."""
    FALLBACK = "fallback"
    """The backend fallback of the key."""
    FALLTHROUGH = "fallthrough"
    """PyTorch's fallthrough."""
    FAKE = "fake"
    """A fake implementation, to be written."""


class Edit(NamedTuple):
    """One change of registrations.

    operator: its operator; None of FALL_BACK. key: where the kernel is registered; of REMOVE, where it was.
    function: which one; None of REMOVE. source: of SAME, the key whose kernel it is. kernel: its name.
    redispatches: how a new kernel has to go on; None where its key tells.
    span: where the registration is declared that is removed.
    """

    action: Action
    operator: OperatorName | None
    key: str
    function: Function | None = None
    source: str | None = None
    kernel: str | None = None
    redispatches: Redispatch | None = None
    span: Span | None = None


_GOES_ON = {
    "ADInplaceOrView": RedispatchKind.BELOW_KEY,
    "CompositeExplicitAutograd": RedispatchKind.NO,
    "CompositeImplicitAutograd": RedispatchKind.OTHER_OPERATORS,
    "CompositeImplicitAutogradNestedTensor": RedispatchKind.OTHER_OPERATORS,
    "FuncTorchBatchedDecomposition": RedispatchKind.OTHER_OPERATORS,
}
"""Required kind of redispatch of a kernel, by the key at which it is registered."""


def own_kernel(operator: OperatorName, key: str) -> Edit:
    """A kernel of its own is registered at *key*; it has a name that says so."""
    kind = _GOES_ON.get(key, RedispatchKind.BELOW_KEY if key.startswith("Autograd") else None)
    redispatches = None if kind is None else Redispatch(kind)
    return Edit(
        Action.REGISTER,
        operator,
        key,
        Function.OWN,
        kernel=f"{_short(operator)}_{key}".lower(),
        redispatches=redispatches,
    )


def fake_impl(operator: OperatorName) -> Edit:
    """A fake implementation is registered; it has a name that says so."""
    return Edit(Action.REGISTER, operator, META, Function.FAKE, kernel=f"{_short(operator)}_fake")


def _short(operator: OperatorName) -> str:
    """The operator's name as a part of a function's name."""
    return operator.name.rpartition("::")[2] + (f"_{operator.overload}" if operator.overload else "")


def fallthrough(operator: OperatorName, key: str) -> Edit:
    return Edit(Action.REGISTER, operator, key, Function.FALLTHROUGH)


def fallthrough_fallback(key: str) -> Edit:
    """A fallthrough is registered at *key* as the backend fallback."""
    return Edit(Action.FALL_BACK, None, key, Function.FALLTHROUGH)
