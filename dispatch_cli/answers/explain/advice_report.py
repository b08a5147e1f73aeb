"""Advice, as it is reported: changes of declarations, best first, or help where no change of them can do."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from dispatch_cli.answers.shared.notes import Note, NoteKind
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.changes.change import Edit


class Manual(Enum):
    """Advice that is no change of registrations; the value is the name in machine formats."""

    DEFINE = "define-operator"
    CORRECT_NAME = "correct-name"
    PASS_TENSOR = "pass-tensor"
    CHANGE_ORDER = "change-order"
    DECOMPOSE = "register-decomposition"
    REGISTER_IN_CPP = "register-in-cpp"


class Filled(NamedTuple):
    """Content of a slot after a change: the rule, and the key of the kernel (None for a backend fallback)."""

    key: str
    rule: Rule
    source: str | None


class Change(NamedTuple):
    """A change of declarations that helps.

    operator: the one that it is for. edits: what is changed, in order. fills: what then fills the slot in question.
    also_changes: the other slots of the operator with another answer then. drops_calls: torch.compile removes the
    operator's calls then, unless something else is declared, too.
    """

    operator: str
    edits: tuple[Edit, ...]
    fills: Filled
    also_changes: tuple[str, ...] = ()
    drops_calls: bool = False


class Advice(NamedTuple):
    """A note on an operator, and the changes that help.

    kind, keys, culprits, detail: those of the note. changes: the best one first. manual: what is left where no change
    helps.
    """

    operator: str
    kind: NoteKind
    keys: tuple[str, ...]
    culprits: tuple[str, ...]
    detail: str
    changes: tuple[Change, ...] = ()
    manual: Manual | None = None

    @property
    def note(self) -> Note:
        """The note alone."""
        return Note(self.kind, self.keys, self.culprits, self.detail)
