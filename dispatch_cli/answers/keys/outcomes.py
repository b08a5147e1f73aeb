"""The outcome of every key of a call, from the highest to the lowest, in the order of dispatch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, NamedTuple, TypeVar

from dispatch_cli.engine.call.trace import MaskKind, Selection
from dispatch_cli.engine.keys.keyset import DispatchKeySet, functionalities_of
from dispatch_cli.model.universe import UNDEFINED

Entry = TypeVar("Entry")


class KeyStatus(Enum):
    """The outcome of a key; the value is the name in machine formats."""

    RUNS = "runs"
    EXCLUDED = "excluded"
    """The thread excludes it."""
    FALLS_THROUGH = "falls-through"
    """The fallthrough mask removes it, because its entry is a fallthrough."""
    OTHER_BACKEND = "other-backend"
    """The same functionality has a higher backend in the set, and that one counts."""
    LEFT_OUT = "left-out"
    """The call went past it: a redispatch left it out of its set."""
    NOT_REACHED = "not-reached"
    """The call ended before."""


@dataclass(frozen=True, slots=True)
class KeyOutcome(Generic[Entry]):
    """A key of a selection.

    steps: the numbers of the steps at it. tensors: the positions, from 1, of the tensors that have it. generator: a
        generator has it. included: the thread includes it.
    excluded_by_context: the thread excludes it, and a fresh thread would not.
    entry: what a call finds there; canonical: what it should find, where that differs.
    """

    key: str
    status: KeyStatus
    steps: tuple[int, ...]
    tensors: tuple[int, ...]
    generator: bool
    included: bool
    excluded_by_context: bool
    entry: Entry
    canonical: Entry | None


class Visit(NamedTuple):
    """A step at a slot. keyset: what the kernel there gets."""

    number: int
    slot: str
    keyset: DispatchKeySet


def key_outcomes(
    selection: Selection,
    visits: Sequence[Visit],
    entry_of: Callable[[str], Entry],
    canonical_of: Callable[[str], Entry | None] = lambda _: None,
) -> Iterator[KeyOutcome[Entry]]:
    """Every key of one selection, from the highest to the lowest. visits: the steps that it led to, one at least."""
    universe = selection.keyset.layout.universe
    slot, parts = universe.slot, universe.runtime_parts
    given = selection.mask.kind is MaskKind.NONE
    # A backend that only a later set has, as that of the options of a factory, does not make keys of what came before.
    sets = (selection.keyset if given else selection.keyset | selection.included, *(visit.keyset for visit in visits))
    names = {*(key for keys in sets for key in keys), *(visit.slot for visit in visits)}
    skipped = {parts[key][0] for key in selection.skipped}
    usual = {parts[key][0] for key in universe.default_excluded}
    lowest = min(slot[visit.slot] for visit in visits)
    highest_of: dict[str, str] = {}
    for key in sorted(names, key=slot.__getitem__, reverse=True):
        steps = tuple(visit.number for visit in visits if visit.slot == key)
        functionality = parts[key][0] if key != UNDEFINED else key
        above = highest_of.setdefault(functionality, key)
        if steps:
            status = KeyStatus.RUNS
        elif not given and selection.excluded.has(functionality):
            status = KeyStatus.EXCLUDED
        elif functionality in skipped and above == key:
            status = KeyStatus.FALLS_THROUGH
        elif above != key:
            status = KeyStatus.OTHER_BACKEND
        else:
            status = KeyStatus.LEFT_OUT if slot[key] > lowest else KeyStatus.NOT_REACHED
        is_key = key != UNDEFINED
        yield KeyOutcome(
            key=key,
            status=status,
            steps=steps,
            tensors=tuple(
                position for position, item in enumerate(selection.arguments, 1) if is_key and item.keyset.has(key)
            ),
            generator=is_key and selection.generator is not None and selection.generator.has(key),
            included=is_key and not given and selection.included.has(functionality),
            excluded_by_context=status is KeyStatus.EXCLUDED and functionality not in usual,
            entry=entry_of(key),
            canonical=canonical_of(key),
        )


class ThreadKeys(NamedTuple):
    """Functionalities that a thread includes, or excludes; added, removed: more, and less, than a fresh thread does."""

    functionalities: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]


def thread_keys(keys: DispatchKeySet, default: tuple[str, ...]) -> ThreadKeys:
    """Functionalities that a thread includes, or excludes. default: those of a fresh thread."""
    own, usual = functionalities_of(keys), functionalities_of(DispatchKeySet.of(keys.layout.universe, default))
    return ThreadKeys(own, tuple(key for key in own if key not in usual), tuple(key for key in usual if key not in own))
