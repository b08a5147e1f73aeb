"""What became of every key of a call: from the highest to the lowest, as dispatch looks at them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from dispatch_cli.engine.call.trace import Hop, MaskKind, Selection
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.table.live import StaleEntry
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import UNDEFINED
from dispatch_cli.report.table import TableRow, table_row


class KeyStatus(Enum):
    """What became of a key; the value is the name in machine formats."""

    RUNS = "runs"
    EXCLUDED = "excluded"
    """The thread takes it out."""
    FALLS_THROUGH = "falls-through"
    """The mask takes it out, because its entry is a fallthrough."""
    OTHER_BACKEND = "other-backend"
    """The same functionality has a higher backend in the set, and that one counts."""
    LEFT_OUT = "left-out"
    """The call went past it: a redispatch left it out of its set."""
    NOT_REACHED = "not-reached"
    """The call ended before."""


class KeyOutcome(NamedTuple):
    """A key, from the highest to the lowest.

    steps: the numbers of the steps at it. row: what the live table holds there; canonical: what it should hold, where
        that is something else.
    tensors: the positions, from 1, of the tensors that have it. generator: a generator has it. included: the thread
        brings it.
    by_context: the thread takes it out, and a fresh one would not.
    """

    key: str
    status: KeyStatus
    steps: tuple[int, ...]
    row: TableRow
    canonical: TableRow | None
    tensors: tuple[int, ...]
    included: bool
    generator: bool = False
    by_context: bool = False


def key_outcomes(
    dispatcher: Dispatcher,
    name: OperatorName,
    selection: Selection,
    hops: Sequence[tuple[int, Hop]],
    stale: Mapping[str, StaleEntry],
) -> Iterator[KeyOutcome]:
    """Every key of one selection.

    hops: the kernels that it led to, up to the next selection, each with its number; there is one at least. stale: the
    slots whose live entry is another.
    """
    universe = dispatcher.universe
    slot, parts = universe.slot, universe.runtime_parts
    live = dispatcher.operator(name).live
    given = selection.mask_kind is MaskKind.NONE
    # A backend that only a later set has, as that of the options of a factory, does not make keys of what came before.
    sets = (selection.keyset if given else selection.keyset | selection.included, *(hop.keyset for _, hop in hops))
    names = {*(key for keys in sets for key in keys), *(hop.slot for _, hop in hops)}
    skipped = {parts[one.key][0] for one in selection.skipped}
    usual = {parts[key][0] for key in universe.default_excluded}
    called: dict[str, list[int]] = {}
    for number, hop in hops:
        called.setdefault(hop.slot, []).append(number)
    lowest = min(slot[hop.slot] for _, hop in hops)
    highest_of: dict[str, str] = {}
    for key in sorted(names, key=slot.__getitem__, reverse=True):
        functionality = parts[key][0] if key != UNDEFINED else key
        above = highest_of.setdefault(functionality, key)
        if key in called:
            status = KeyStatus.RUNS
        elif not given and selection.excluded.has(functionality):
            status = KeyStatus.EXCLUDED
        elif functionality in skipped and above == key:
            status = KeyStatus.FALLS_THROUGH
        elif above != key:
            status = KeyStatus.OTHER_BACKEND
        else:
            status = KeyStatus.LEFT_OUT if slot[key] > lowest else KeyStatus.NOT_REACHED
        canonical = stale.get(key)
        yield KeyOutcome(
            key=key,
            status=status,
            steps=tuple(called.get(key, ())),
            row=table_row(dispatcher, live[key], None, None),
            canonical=None if canonical is None else table_row(dispatcher, canonical.canonical, None, None),
            tensors=tuple(
                position
                for position, argument in enumerate(selection.arguments, start=1)
                if key != UNDEFINED and argument.keyset.has(key)
            ),
            included=not given and key != UNDEFINED and selection.included.has(functionality),
            generator=key != UNDEFINED and selection.generator is not None and selection.generator.has(key),
            by_context=status is KeyStatus.EXCLUDED and functionality not in usual,
        )
