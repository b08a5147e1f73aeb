"""The state after changes of its history: what it would be if the history had been another one from the beginning."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from dispatch_cli.engine.dispatcher.refusal import Refusal, Refused
from dispatch_cli.engine.history.apply import run
from dispatch_cli.engine.history.reduced import whole
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.variants.variants import Variants
from dispatch_cli.model.change import ChangeError
from dispatch_cli.model.declarations import Declarations, has_conditions
from dispatch_cli.model.problem import InputError

_KINDS = {refusal.value: refusal for refusal in Refusal}


def rerun(state: State, new: Declarations) -> State:
    """The state that other declarations lead to, over the same captured state. Errors: Refused, with PyTorch's text."""
    variants = Variants(new, state.variants.chosen) if state.variants is not None and has_conditions(new) else None
    try:
        after = run(new if variants is None else variants.select(variants.default), state.source)
    except InputError as error:
        first = error.problems[0]
        raise Refused(_KINDS.get(first.code, Refusal.BLOCK_MISUSE), first.message) from None
    after.variants = variants
    after.over_assumed = state.over_assumed
    return after


_UNDONE: WeakKeyDictionary[State, State] = WeakKeyDictionary()


def note_without_changes(state: State, before: State) -> None:
    """Say what a state is without the changes that led to it, where that is known: `without_changes` works it out."""
    _UNDONE[state] = before


def without_changes(state: State) -> State:
    """The state as it would be without the sections ``changes`` of the user's own files; worked out once.

    What PyTorch refuses then is left out of it.
    """
    unchanged = _UNDONE.get(state)
    if unchanged is None:
        declarations, changes = state.declarations, state.declarations.changes
        assert changes is not None, "only what files change can be undone"
        earlier = changes._asdict()
        del earlier["made"]
        undone = declarations._replace(**earlier, unchanged=None, changes=None)
        unchanged = _UNDONE[state] = run(undone, whole(state.source), refusing=False)
    return unchanged


def refusal_of(error: ChangeError) -> Refused:
    """An error of a change as a refusal."""
    hint = error.hint() if callable(error.hint) else error.hint
    message = str(error) if hint is None else f"{error}; {hint}"
    return Refused(Refusal.NO_KERNEL, message)


def all_declarations(state: State) -> Declarations:
    """Everything that the files of a state say, under whatever conditions."""
    return state.declarations if state.variants is None else state.variants.declarations
