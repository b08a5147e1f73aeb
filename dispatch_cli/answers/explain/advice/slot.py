"""Notes on a slot, with advice; where there is no note, nothing is imported to try changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dispatch_cli.answers.explain.advice.report import Advice
from dispatch_cli.answers.table.slot_notes import slot_notes
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.names import OperatorName

if TYPE_CHECKING:
    from dispatch_cli.answers.explain.advice.adviser import Steps
    from dispatch_cli.answers.explain.advice.questions import Question


def slot_advice(state: State, name: OperatorName, key: str, asked: Question | None = None) -> tuple[Advice, ...]:
    """Notes on a slot, with advice.

    asked: the call that is to work; else a call that gets to the slot. Errors: Refused for an unknown operator.
    """
    steps = slot_advice_steps(state, name, key, asked)
    try:
        while True:
            next(steps)
    except StopIteration as end:
        advice: tuple[Advice, ...] = end.value
        return advice


def slot_advice_steps(
    state: State, name: OperatorName, key: str, asked: Question | None = None
) -> Steps[tuple[Advice, ...]]:
    """The same in steps, after each of which the state is as it was."""
    notes = slot_notes(state.dispatcher, name, key)
    yield
    if not notes:
        return ()
    from dispatch_cli.answers.explain.advice.adviser import Adviser

    adviser, advice = Adviser(state, name, asked), []
    for note in notes:
        yield
        advice.append((yield from adviser.steps(note)))
    return tuple(advice)
