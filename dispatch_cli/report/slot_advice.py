"""What is to be known about a slot, and what would help; where there is no note, nothing is imported to try it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dispatch_cli.engine.history.state import State
from dispatch_cli.model.names import OperatorName
from dispatch_cli.report.advice import Advice
from dispatch_cli.report.slot_notes import slot_notes

if TYPE_CHECKING:
    from dispatch_cli.report.questions import Question


def slot_advice(state: State, name: OperatorName, key: str, asked: Question | None = None) -> tuple[Advice, ...]:
    """What is to be known about a slot, and what would help.

    asked: the call that is to work; else a call that gets to the slot. Errors: Refused for an unknown operator.
    """
    notes = slot_notes(state.dispatcher, name, key)
    if not notes:
        return ()
    from dispatch_cli.report.adviser import Adviser

    adviser = Adviser(state, name, asked)
    return tuple(adviser.advice(note) for note in notes)
