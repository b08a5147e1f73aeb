"""Changes to be tried where a note is made, the most obvious ones first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dispatch_cli.answers.shared.notes import Note, NoteKind
from dispatch_cli.checks.view import View
from dispatch_cli.engine.call.options import is_factory
from dispatch_cli.engine.rules import PRECEDENCE, Rule
from dispatch_cli.model.changes.change import Action, Edit, Function, fallthrough, fallthrough_fallback, own_kernel
from dispatch_cli.model.declarations import Define
from dispatch_cli.model.kernel import RedispatchKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.model import FunctionSchema
from dispatch_cli.model.universe import AUTOGRAD, CATCH_ALL, UNDEFINED, autograd_key_of

BACKEND_SELECT = "BackendSelect"
BATCHING = "FuncTorchBatchedDecomposition"
EXPLICIT = next(row.yields_to for row in PRECEDENCE if row.alias == CATCH_ALL) or ""
NESTED = next(row.alias for row in PRECEDENCE if row.rule is Rule.NESTED)


class Remedy(NamedTuple):
    """A change to be tried.

    slot: what it is to fill. source: from the kernel at which key; None for any kernel that does not fall through.
    reaches: backend keys; a call with their tensors is to run a kernel at one of them.
    """

    edits: tuple[Edit, ...]
    slot: str
    source: str | None
    reaches: frozenset[str] = frozenset()


def remedies(view: View, name: OperatorName, note: Note, schema: FunctionSchema | None) -> list[Remedy]:
    """Changes that are worth a try. schema: the operator's.

    A kernel at an alias key is for the library that defines the operator.
    """
    defines = any(isinstance(step, Define) and step.schema.name == name for step in view.written_steps)
    ways = _remedies(view, name, note, schema)
    if defines:
        return [*ways]
    return [way for way in ways if not any(edit.function and view.universe.is_alias(edit.key) for edit in way.edits)]


def _remedies(view: View, name: OperatorName, note: Note, schema: FunctionSchema | None) -> Iterator[Remedy]:
    slot = note.keys[0] if note.keys else UNDEFINED

    def own(key: str, reaches: frozenset[str] = frozenset()) -> Remedy:
        return Remedy((own_kernel(name, key),), slot, key, reaches)

    match note.kind:
        case NoteKind.STALE:
            yield own(slot)
            yield from _moved(view, name, note, slot)
        case NoteKind.AMBIGUOUS:
            yield own(slot)
            yield from _removed(view, name, note, slot)
        case NoteKind.SHADOWED:
            edit = Edit(Action.REGISTER, name, slot, Function.FALLBACK, kernel=note.detail)
            yield Remedy((edit,), slot, slot)
        case NoteKind.DISPLACED if view.dispatcher.table(name)[slot].decision.source is not None:
            pass  # another kernel of the operator has come in
        case NoteKind.DISPLACED | NoteKind.NO_DERIVATIVE | NoteKind.NO_AUTOGRAD:
            yield own(slot)
            if slot in view.universe.covered_by(AUTOGRAD):
                yield Remedy((fallthrough(name, slot),), slot, slot)
                yield own(AUTOGRAD)
            if note.kind is NoteKind.DISPLACED:
                yield from _removed(view, name, note, slot)  # the math kernel is back then
        case NoteKind.BYPASSED:
            yield own(slot, frozenset(note.culprits))
            yield from _made_explicit(view, name, note, slot)
        case NoteKind.NO_AUTOCAST:
            yield Remedy((fallthrough_fallback(slot),), slot, None)
            yield own(slot)
            yield Remedy((fallthrough(name, slot),), slot, slot)
        case NoteKind.NO_BATCHING:
            yield from map(own, (slot, BATCHING))
        case NoteKind.UNREGISTERED if autograd_key_of(view.universe, slot) is None and slot != UNDEFINED:
            yield own(slot)
            yield Remedy((fallthrough(name, slot),), slot, slot)
        case NoteKind.UNCOVERED | NoteKind.UNREGISTERED | NoteKind.NO_META:
            yield from map(own, (slot, EXPLICIT, NESTED, CATCH_ALL))
        case NoteKind.UNREACHABLE | NoteKind.NO_TENSORS:
            if note.kind is NoteKind.UNREACHABLE and is_factory(schema):
                select = (own_kernel(name, BACKEND_SELECT),)
                yield Remedy(select, BACKEND_SELECT, BACKEND_SELECT, frozenset(note.culprits))
            yield from map(own, (EXPLICIT, CATCH_ALL))
        case NoteKind.FALLS_THROUGH:
            yield from _in_its_place(view, name, note, slot)
        case NoteKind.SKIPPED:
            yield from _also_below(view, name, note)
        case NoteKind.NEAR_NAME | NoteKind.NEAR_KERNELS | NoteKind.OVERLOADS | NoteKind.NOT_BUILT:
            pass


def _removed(view: View, name: OperatorName, note: Note, slot: str) -> Iterator[Remedy]:
    """Without the kernels in the way, where all of them are the user's own."""
    edits = [removal(view, name, key) for key in note.culprits]
    known = tuple(edit for edit in edits if edit is not None)
    if known and len(known) == len(edits):
        yield Remedy(known, slot, None)


def removal(view: View, name: OperatorName, key: str) -> Edit | None:
    """The removal of the active kernel at a key; None where it is not the user's own."""
    registration = view.active(name).get(key)
    if registration is None or not view.is_written(registration):
        return None
    return Edit(Action.REMOVE, name, key, kernel=registration.kernel.debug, span=registration.kernel.span)


def _moved(view: View, name: OperatorName, note: Note, slot: str) -> Iterator[Remedy]:
    """The kernel at an alias key that does not recompute the slot, at the slot itself."""
    for key in note.culprits:
        gone = removal(view, name, key) if view.universe.is_alias(key) else None
        if gone is not None:
            same = Edit(Action.REGISTER, name, slot, Function.SAME, key, gone.kernel)
            yield Remedy((gone, same), slot, slot)


def _also_below(view: View, name: OperatorName, note: Note) -> Iterator[Remedy]:
    """The autograd kernel in the backend's slot as well, where it is known to do all the work."""
    below, (culprit,) = note.keys[1], note.culprits
    kernel = view.active(name)[culprit].kernel
    if kernel.redispatches is None:
        return  # a wrapper, perhaps, which would call itself there
    gone = removal(view, name, culprit)
    source = view.dispatcher.table(name)[below].decision.source
    default = removal(view, name, source) if source is not None else None
    if kernel.redispatches.kind is RedispatchKind.OTHER_OPERATORS and gone is not None:
        same = Edit(Action.REGISTER, name, CATCH_ALL, Function.SAME, culprit, gone.kernel)
        edits = (gone, same) if default is None else (gone, default, same)
        yield Remedy(edits, below, CATCH_ALL)
    yield Remedy((Edit(Action.REGISTER, name, below, Function.SAME, culprit, kernel.debug),), below, below)


def _made_explicit(view: View, name: OperatorName, note: Note, slot: str) -> Iterator[Remedy]:
    """The composite kernel at CompositeExplicitAutograd, and one for autograd above it."""
    gone = removal(view, name, CATCH_ALL)
    if gone is not None:
        same = Edit(Action.REGISTER, name, EXPLICIT, Function.SAME, CATCH_ALL, gone.kernel)
        yield Remedy((gone, same, own_kernel(name, AUTOGRAD)), slot, AUTOGRAD, frozenset(note.culprits))


def _in_its_place(view: View, name: OperatorName, note: Note, slot: str) -> Iterator[Remedy]:
    """A kernel in the place of a fallthrough with nothing below."""
    (culprit,) = note.culprits
    gone = removal(view, name, culprit)
    if slot not in (culprit, UNDEFINED):
        yield Remedy((own_kernel(name, slot),), slot, slot)
    if gone is not None:
        yield Remedy((gone, own_kernel(name, culprit)), slot, culprit)
        yield Remedy((gone,), slot, None)
