"""What Python's ``resolve_key`` chooses for every slot, and where that is not what the C++ table holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.python import table as python_table
from dispatch_cli.engine.python.table import Divergence
from dispatch_cli.engine.rules import Decision, Rule
from dispatch_cli.engine.table.table import entry_for
from dispatch_cli.model.declarations import PythonKernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.report.divergences import DivergenceGroup, groups_of
from dispatch_cli.report.folding import Runs

SCHEMA_VERSION = 1


class PythonRow(NamedTuple):
    """One slot.

    kernel: the function, or what a dump shows for a C++ kernel; None when there is none. python: it is a Python kernel.
    core: it is one of PyTorch's own backend fallbacks. error: what ``resolve_key`` raises, where it does.
    divergence: how the C++ table decides, where it chooses another key.
    """

    key: str
    decision: Decision
    kernel: str | None
    python: bool
    fallthrough: bool
    core: bool
    span: Span | None
    error: str | None
    divergence: Divergence | None


class PythonTable(NamedTuple):
    """One operator's rows, in table order, after the key filter."""

    operator: str
    schema: str | None
    span: Span | None
    kernels: tuple[PythonKernel, ...]
    rows: tuple[PythonRow, ...]


class PythonSummary(NamedTuple):
    """How many slots each rule fills in Python, and at how many Python chooses another key than C++."""

    operator: str
    span: Span | None
    counts: Mapping[Rule, int]
    different: int


class OperatorDifferences(NamedTuple):
    """Where Python chooses another key for one operator: slot by slot, and slots that are decided alike together."""

    operator: str
    divergences: tuple[Divergence, ...]
    groups: tuple[DivergenceGroup, ...]


class PythonReport(NamedTuple):
    """The tables asked for, computed as they are read, operator by operator."""

    universe: str
    names: tuple[OperatorName, ...]
    tables: Callable[[], Iterator[PythonTable]]
    summaries: Callable[[], Iterator[PythonSummary]]
    differences: Callable[[], Iterator[OperatorDifferences]]


def python_report(state: State, names: Iterable[OperatorName], keys: frozenset[str] | None) -> PythonReport:
    """What Python chooses for *names*, at *keys* only, where given."""
    chosen = tuple(names)
    return PythonReport(
        universe=state.dispatcher.universe.name,
        names=chosen,
        tables=lambda: (_table(state, name, keys) for name in chosen),
        summaries=lambda: (_summary(state, name, keys) for name in chosen),
        differences=lambda: (found for name in chosen if (found := _differences(state, name, keys)).divergences),
    )


def _table(state: State, name: OperatorName, keys: frozenset[str] | None) -> PythonTable:
    dispatcher = state.dispatcher
    kernels = {kernel.dispatch_key: kernel for kernel in state.python_kernels(name)}
    decisions = python_table.decisions(dispatcher, name, kernels)
    different = {one.key: one for one in python_table.divergences(dispatcher, name, kernels)}
    active = dispatcher.active(name)

    def row(key: str, decision: Decision) -> PythonRow:
        chosen = python_table.chosen_key(key, decision)
        found = kernels.get(chosen) if chosen is not None else None
        if found is not None:
            return PythonRow(key, decision, found.kernel, True, False, False, found.span, None, different.get(key))
        entry = entry_for(key, decision, active, dispatcher.fallbacks)
        kernel = entry.kernel if chosen is not None else None
        return PythonRow(
            key=key,
            decision=decision,
            kernel=kernel.debug if kernel is not None else None,
            python=False,
            fallthrough=entry.is_fallthrough,
            core=decision.rule is Rule.FALLBACK and kernel is not None and kernel.span is None,
            span=kernel.span if kernel is not None else None,
            error=None if chosen is not None else python_table.error_text(name, key, decision),
            divergence=different.get(key),
        )

    slots = zip(dispatcher.universe.slots, decisions, strict=True)
    rows = tuple(row(key, decision) for key, decision in slots if keys is None or key in keys)
    header = dispatcher.header(name)
    return PythonTable(str(name), header.schema, header.span, tuple(kernels.values()), rows)


def _summary(state: State, name: OperatorName, keys: frozenset[str] | None) -> PythonSummary:
    dispatcher = state.dispatcher
    python = [kernel.dispatch_key for kernel in state.python_kernels(name)]
    decisions = zip(dispatcher.universe.slots, python_table.decisions(dispatcher, name, python), strict=True)
    counts = Counter(decision.rule for key, decision in decisions if keys is None or key in keys)
    different = len(_differences(state, name, keys).divergences)
    return PythonSummary(str(name), dispatcher.header(name).span, counts, different)


def _differences(state: State, name: OperatorName, keys: frozenset[str] | None) -> OperatorDifferences:
    python = [kernel.dispatch_key for kernel in state.python_kernels(name)]
    divergences = python_table.divergences(state.dispatcher, name, python)
    found = tuple(one for one in divergences if keys is None or one.key in keys)
    groups = groups_of([(str(name), one) for one in found], state.dispatcher.universe.slot) if found else ()
    return OperatorDifferences(str(name), found, groups)


# Folding: equal neighbours become one row.


class FoldedPythonRow(NamedTuple):
    """A run of neighbouring slots with one answer; `first` speaks for all of them."""

    keys: tuple[str, ...]
    first: PythonRow


class FoldedPythonTable(NamedTuple):
    """The rows in table order; below them, as runs, where PyTorch's own fallback is chosen, and where nothing is."""

    rows: tuple[FoldedPythonRow, ...]
    core_fallbacks: Runs
    missing: Runs


def fold(rows: Sequence[PythonRow]) -> FoldedPythonTable:
    """Fold a table. A run goes on past missing slots."""
    found: list[FoldedPythonRow] = []
    below: dict[str, list[list[str]]] = {"core": [], "missing": []}
    last: str | None = None
    open_run = False
    for row in rows:
        place = _place_below(row)
        if place is not None:
            if place == last:
                below[place][-1].append(row.key)
            else:
                below[place].append([row.key])
            open_run = open_run and place == "missing"
        elif open_run and _answer(found[-1].first) == _answer(row):
            found[-1] = FoldedPythonRow((*found[-1].keys, row.key), found[-1].first)
        else:
            found.append(FoldedPythonRow((row.key,), row))
            open_run = True
        last = place
    core, missing = (tuple(map(tuple, below[place])) for place in ("core", "missing"))
    return FoldedPythonTable(tuple(found), core, missing)


def _place_below(row: PythonRow) -> str | None:
    if row.divergence is not None:
        return None
    if row.decision.rule is Rule.MISSING:
        return "missing"
    return "core" if row.core else None


def _answer(row: PythonRow) -> Hashable:
    source = None if row.decision.rule is Rule.KERNEL else row.decision.source
    return row._replace(
        key="",
        decision=Decision(row.decision.rule, row.decision.number, source),
        divergence=None if row.divergence is None else _alike(row.divergence),
        error=row.error if row.decision.rule is Rule.AMBIGUOUS else None,
    )


def _alike(one: Divergence) -> Divergence:
    """A divergence without its key, and with what either side chooses in place of how it came to that."""
    return one._replace(key="", cpp=_side(one.cpp), python=_side(one.python))


def _side(decision: Decision) -> Decision:
    return Decision(decision.rule, decision.number, decision.source)
