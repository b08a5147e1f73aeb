"""Changes that would help, for slots of the operators of files: those that the files change, or findings are about.

To try out changes for every slot would take minutes; for the others, the page has the command to run `explain`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from dispatch_cli.answers.explain.advice.document import advice_lines, fragment, new_changes
from dispatch_cli.answers.explain.advice.report import Advice
from dispatch_cli.answers.explain.advice.slot import slot_advice
from dispatch_cli.answers.findings.report import FindingsReport
from dispatch_cli.answers.table.report import changed_slots
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.keys.autograd import autograd_key_of
from dispatch_cli.model.names import OperatorName
from dispatch_cli.page.pool import Pool

MOST_ADVISED = 40
"""Slots with advice; each takes some hundredths of a second."""
MOST_LOOKED_AT = 2_000


def advice_data(state: State, findings: FindingsReport, numbers: Mapping[str, int]) -> dict[str, Any]:
    """values: the advice in sentences with their labels, and the fixes. operators: by number, slots and values.

    numbers: of the operators, by name. A slot of which it was found that there is none has it, too: an empty one.
    """
    values = Pool()
    operators: dict[int, list[int]] = {}
    advised = 0
    for name, key in islice(dict.fromkeys(_slots(state, findings)), MOST_LOOKED_AT):
        if advised == MOST_ADVISED:
            break
        pieces = slot_advice(state, name, key)
        advised += bool(pieces)
        slot = state.dispatcher.universe.slot[key]
        operators.setdefault(numbers[str(name)], []).extend((slot, values.build(pieces, _advice)))
    return {"values": values.values, "operators": operators}


def _advice(advice: tuple[Advice, ...]) -> Any:
    best = (changes[0].edits if changes else () for changes in new_changes(advice))
    return {
        "lines": [[run.text for run in runs] for runs in advice_lines(advice)],
        "fixes": [*map(fragment, best)],
    }


def _slots(state: State, findings: FindingsReport) -> Iterator[tuple[OperatorName, str]]:
    """Slots of the operators of files, those first that findings are about; a slot can come again."""
    dispatcher = state.dispatcher
    universe = dispatcher.universe
    own = state.own_operators()
    by_name = {str(name): name for name in own}
    for finding in (row.finding for row in findings.findings):
        name = by_name.get(finding.operator or "")
        if name is not None and finding.key is not None and finding.key in universe.slot:
            yield name, finding.key
    for name in own:
        yield from ((name, key) for key in dispatcher.stale_slots(name))
    for name in own:
        yield from ((name, key) for key in changed_slots(state, name))
    for name in own:
        for key in dispatcher.operator(name).kernels:
            if key in universe.slot:
                above = autograd_key_of(universe, key)
                yield from ((name, slot_key) for slot_key in (key, above) if slot_key is not None)
