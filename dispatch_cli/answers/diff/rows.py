"""The rows of a comparison of two states: plain data, in the order of their sections."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.engine.comparison.sides import ChangeKind
from dispatch_cli.engine.comparison.slots import Answer, SlotCause
from dispatch_cli.model.higher_order import ImplKind
from dispatch_cli.model.span import Span


class DiffSide(NamedTuple):
    """A state that is compared. named: as the command line names it. over: the embedded states that it continues.

    operators: how many it has.
    """

    named: tuple[str, ...]
    universe: str
    over: tuple[str, ...]
    operators: int


class DiffCounts(NamedTuple):
    """Numbers of differences. schemas, tags, alias_analysis: operators. slots: of *slot_operators*."""

    operators_added: int = 0
    operators_removed: int = 0
    operators_renamed: int = 0
    schemas: int = 0
    tags: int = 0
    alias_analysis: int = 0
    registrations_added: int = 0
    registrations_removed: int = 0
    registrations_replaced: int = 0
    registrations_moved: int = 0
    slots: int = 0
    slot_operators: int = 0
    python_kernels: int = 0
    higher_order_operators: int = 0
    fallbacks: int = 0
    keys: int = 0
    refused_added: int = 0
    refused_removed: int = 0
    cells: int = 0


class DiffKernel(NamedTuple):
    """A kernel. state: the embedded state that it is from. when: the conditions of its registration."""

    kernel: str
    fallthrough: bool
    span: Span | None
    state: str | None
    when: str | None


class DiffOperator(NamedTuple):
    """An operator that one side has alone. schema: None where it has none. state: as in `DiffKernel`."""

    operator: str
    schema: str | None
    span: Span | None
    state: str | None


class DiffRename(NamedTuple):
    """An operator that has another name, and is the same otherwise."""

    old: str
    new: str


class DiffSchema(NamedTuple):
    """A definition that differs.

    changes: what is different in the schema, one sentence each; none where tags or alias analysis differ alone.
    old_alias_analysis, new_alias_analysis: where they differ.
    """

    operator: str
    old_schema: str | None
    new_schema: str | None
    changes: tuple[str, ...]
    tags_added: tuple[str, ...]
    tags_removed: tuple[str, ...]
    old_alias_analysis: str | None
    new_alias_analysis: str | None
    old_declared_at: Span | None
    new_declared_at: Span | None


class DiffRegistration(NamedTuple):
    """Change at a key of an operator that both sides have. before, after: the kernels there, newest first."""

    operator: str
    key: str
    change: ChangeKind
    before: tuple[DiffKernel, ...]
    after: tuple[DiffKernel, ...]


class DiffMove(NamedTuple):
    """A kernel that is registered at other keys of its operator."""

    operator: str
    old_keys: tuple[str, ...]
    new_keys: tuple[str, ...]
    kernel: DiffKernel


class DiffFallback(NamedTuple):
    """A backend fallback that came, went or is another one."""

    key: str
    change: ChangeKind
    before: DiffKernel | None
    after: DiffKernel | None


class DiffPythonKernel(NamedTuple):
    """A kernel of the Python dispatcher that came, went or is another function."""

    operator: str
    key: str
    change: ChangeKind
    before: str | None
    after: str | None


class DiffImpl(NamedTuple):
    """An implementation of a higher-order operator. name: the key, mode, subclass or transform that it is for."""

    kind: ImplKind
    name: str
    before: str | None
    after: str | None


class DiffHigherOrder(NamedTuple):
    """A higher-order operator that came, went or is another one. impls: of one that both sides have."""

    name: str
    change: ChangeKind
    impls: tuple[DiffImpl, ...]


class DiffKey(NamedTuple):
    """A key that one universe has alone. side: which. operators: those that have a registration at it."""

    key: str
    side: str
    alias: bool
    operators: tuple[str, ...]
    fallback: DiffKernel | None


class DiffRefused(NamedTuple):
    """A registration that PyTorch refuses, and that one side has alone. code, message: why.

    operator: None where it is not known, and of a fallback. when: the conditions of the registration.
    """

    change: ChangeKind
    operator: str | None
    code: str
    message: str
    span: Span | None
    when: str | None


class DiffSlotOperator(NamedTuple):
    """An operator of a group. before, after: the kernel in the slots; None for a fallback, and where there is none.

    because: for each cause the registration or fallback, that of the old state where it was removed.
    """

    operator: str
    before: DiffKernel | None
    after: DiffKernel | None
    because: tuple[DiffKernel | None, ...]


class DiffSlots(NamedTuple):
    """Slots that give another answer, in the same way and for the same reason in all of the operators."""

    keys: tuple[str, ...]
    before: Answer
    after: Answer
    causes: tuple[SlotCause, ...]
    operators: tuple[DiffSlotOperator, ...]
