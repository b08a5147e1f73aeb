"""Changes of an operator from one embedded version to the next, as rows: the types."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from dispatch_cli.answers.shared.folding import KeyRuns
from dispatch_cli.engine.comparison.identity import ChangeKind
from dispatch_cli.engine.comparison.operators import PythonChange
from dispatch_cli.engine.comparison.slots import CauseKind
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.schema_part import SchemaPartChange

if TYPE_CHECKING:
    from dispatch_cli.model.higher_order import ImplKind


class KeyFate(Enum):
    """Change of a key itself, which only one of two versions has."""

    NEW = "new"
    GONE = "gone"


class VersionKernel(NamedTuple):
    """A kernel. file: the name of its source file, where PyTorch says it. debug: what a dump says of it."""

    file: str | None
    debug: str
    fallthrough: bool


class SchemaRow(NamedTuple):
    """A definition that changed. old, new: the schemas, None for none. parts: what differs in them.

    alias_analysis: both kinds, where they differ.
    """

    old: str | None
    new: str | None
    parts: tuple[SchemaPartChange, ...]
    tags_added: tuple[str, ...]
    tags_removed: tuple[str, ...]
    alias_analysis: tuple[str, str] | None


class RegistrationRow(NamedTuple):
    """Change of registrations at a key. before, after: the kernels there, the active one first.

    key_is: the key itself is new in this version, or gone.
    """

    key: str
    change: ChangeKind
    before: tuple[VersionKernel, ...]
    after: tuple[VersionKernel, ...]
    key_is: KeyFate | None


class MoveRow(NamedTuple):
    """A kernel that was registered at some keys, and is registered at others since."""

    kernel: VersionKernel
    old_keys: tuple[str, ...]
    new_keys: tuple[str, ...]


class VersionAnswer(NamedTuple):
    """Content of slots. source: the key at which the kernel is registered; None where it is none of the operator's.

    kernel: None where there is none, and where the slots have different ones.
    """

    rule: Rule
    source: str | None
    kernel: VersionKernel | None


class CauseRow(NamedTuple):
    """A change that slots follow from. key: where the kernel is registered; empty for fallbacks and the universe.

    kernel: the one that came, or the one that went.
    """

    kind: CauseKind
    key: str
    kernel: VersionKernel | None


class SlotsRow(NamedTuple):
    """Slots that give another answer, all in the same way. keys: in runs of neighbours."""

    keys: KeyRuns
    before: VersionAnswer
    after: VersionAnswer
    causes: tuple[CauseRow, ...]


class ImplementationRow(NamedTuple):
    """An implementation of a higher-order operator that changed. before, after: the functions, None for none."""

    kind: ImplKind
    name: str
    change: ChangeKind
    before: str | None
    after: str | None


class VersionChanges(NamedTuple):
    """Changes from one version (*since*) to the next (*version*).

    change: ADDED and REMOVED for an operator that only one of them has; then the rest is empty.
    registered_at: of an operator that was added, the keys at which it has kernels.
    """

    version: str
    since: str
    change: ChangeKind
    registered_at: tuple[str, ...] = ()
    schema: SchemaRow | None = None
    registrations: tuple[RegistrationRow, ...] = ()
    moves: tuple[MoveRow, ...] = ()
    python_kernels: tuple[PythonChange, ...] = ()
    slots: tuple[SlotsRow, ...] = ()
    implementations: tuple[ImplementationRow, ...] = ()
