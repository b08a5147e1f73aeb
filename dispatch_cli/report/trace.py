"""A recorded program as a report: its calls as a tree, what they come to, and what is worth knowing of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, NamedTuple

from dispatch_cli.engine.history.state import State
from dispatch_cli.report.trace_coverage import KernelReached, kernels_reached
from dispatch_cli.report.trace_findings import TraceFinding, trace_findings
from dispatch_cli.report.trace_view import TracePath, TraceView
from dispatch_cli.trace.calls import NONE, RAISED
from dispatch_cli.trace.chain import Difference
from dispatch_cli.trace.facts import CallFact
from dispatch_cli.trace.recording import NotRecorded, PythonPlace, Recording
from dispatch_cli.trace.selected import Selected, Wanted
from dispatch_cli.trace.tree import CallTree, Item


class KernelsSeen(Enum):
    """Which kernels of a call were observed; the others are predicted by the engine."""

    FIRST = "first-kernel"
    """The one that the observed key sets and thread state select."""
    ALL = "all-kernels"


class TraceRow(NamedTuple):
    """A line of the tree: calls that are alike, or a group of lines that is repeated.

    number: of the first call, for --explain: its position in the recording, from 0. level: how deep it is.
    times: how often it comes in a row. all: how many calls the line stands for, with those of repetitions of what it is
    in; 0 for a group. calls: of one of them, with all that it calls. operator: None for a group.
    place: the line of Python, where it is recorded. forward, forward_place: of a backward call, the forward call that
    it belongs to, and its line. microseconds: that all of them took. raised: how many raised.
    mismatch: where the kernels that ran are not those that the engine predicts.
    """

    number: int
    level: int
    times: int
    all: int
    calls: int
    operator: str | None
    path: TracePath | None
    facts: tuple[CallFact, ...]
    place: PythonPlace | None
    forward: int | None
    forward_place: PythonPlace | None
    microseconds: int | None
    raised: int
    mismatch: Difference | None


class TraceThread(NamedTuple):
    """The calls of a thread."""

    name: str
    calls: int
    rows: Iterator[TraceRow]


class TraceCounts(NamedTuple):
    """What a recording contains.

    shown: the calls that are asked for. distinct: different calls: by operator, keys, thread state and options.
    raised: calls that raised; unfinished: those whose end is not recorded. dropped: those that were not recorded.
    different: those whose kernels are not what the engine predicts.
    """

    calls: int
    shown: int
    distinct: int
    operators: int
    threads: int
    raised: int
    unfinished: int
    dropped: int
    different: int
    seconds: float | None


class OperatorTotal(NamedTuple):
    """The calls of an operator. paths: the kernels that they run, up to one that calls the operator again."""

    operator: str
    calls: int
    microseconds: int
    paths: tuple[PathTotal, ...]


class PathTotal(NamedTuple):
    """Kernels in turn by key, and how many calls run them."""

    keys: tuple[str, ...]
    calls: int


@dataclass(frozen=True, slots=True)
class TraceReport:
    """recording: the file. torch, python, argv, directory, started: of the program.

    universe: the key layout. embedded: the embedded state by which the calls are explained; None where it is the
    program's own, recorded at its end. seen: which kernels are observed. lines: whether Python lines were recorded.
    not_recorded: why something is missing. threads: the trees, made as they are read.
    kernels: those of the files that are asked about, and how often each ran; None where no file is.
    """

    REPORT: ClassVar[str] = "trace"

    recording: str
    torch: str | None
    python: str | None
    argv: tuple[str, ...]
    directory: str | None
    started: float | None
    universe: str
    embedded: str | None
    seen: KernelsSeen
    lines: bool
    counts: TraceCounts
    not_recorded: tuple[NotRecorded, ...]
    threads: Iterator[TraceThread]
    operators: tuple[OperatorTotal, ...]
    findings: tuple[TraceFinding, ...]
    kernels: tuple[KernelReached, ...] | None


def trace_report(view: TraceView, wanted: Wanted, levels: int | None = None, own: State | None = None) -> TraceReport:
    """The report of a recording.

    levels: of calls inside of calls, None for all. own: the state of files, whose kernels are asked about.
    """
    recording, head = view.recording, view.recording.head
    chosen = view.select(wanted)
    return TraceReport(
        recording=recording.file,
        torch=head.torch,
        python=head.python,
        argv=head.argv,
        directory=head.directory,
        started=head.started,
        universe=view.state.dispatcher.universe.name,
        embedded=view.base if view.known.is_base else None,
        seen=KernelsSeen.ALL if recording.kernels else KernelsSeen.FIRST,
        lines=head.lines,
        counts=_counts(view, chosen),
        not_recorded=_not_recorded(recording),
        threads=_threads(view, chosen, levels),
        operators=_totals(view, chosen),
        findings=trace_findings(view, chosen),
        kernels=None if own is None else kernels_reached(view, own),
    )


def _counts(view: TraceView, chosen: Selected) -> TraceCounts:
    recording = view.recording
    calls, end = recording.calls, recording.end
    return TraceCounts(
        calls=len(calls),
        shown=chosen.calls,
        distinct=len({*calls.signature}),
        operators=len({recording.signatures[one]["operator"] for one in {*calls.signature}}),
        threads=len({*calls.thread}),
        raised=sum(one == RAISED for one in calls.raised),
        unfinished=sum(one == NONE for one in calls.end),
        dropped=0 if end is None else end.dropped,
        different=sum(view.difference(call) is not None for call in recording.kernels),
        seconds=None if end is None else end.seconds,
    )


def _not_recorded(recording: Recording) -> tuple[NotRecorded, ...]:
    found = [*recording.stopped]
    if recording.more:
        found.append(
            NotRecorded("too-large", f"the recording has more calls than the {len(recording.calls):,} that are read")
        )
    if recording.end is None:
        what = "the program was ended before the recording was" if not recording.more else ""
        found += [NotRecorded("no-end", what)] if what else []
    return tuple(found)


def _threads(view: TraceView, chosen: Selected, levels: int | None) -> Iterator[TraceThread]:
    for thread, numbers in enumerate(chosen.of_thread):
        if numbers:
            tree = CallTree(numbers, chosen.parents, view.kind)
            yield TraceThread(view.recording.threads[thread], len(numbers), _rows(view, tree, levels))


def _rows(view: TraceView, tree: CallTree, levels: int | None) -> Iterator[TraceRow]:
    for item in tree.items(levels):
        if item.is_group:
            yield TraceRow(
                item.call, item.level, item.times, 0, item.calls, None, None, (), None, None, None, None, 0, None
            )
        else:
            yield _row(view, item)


def _row(view: TraceView, item: Item) -> TraceRow:
    recording, call = view.recording, item.call
    times = [recording.calls.microseconds(one) for one in item.every]
    known = [one for one in times if one is not None]
    forward = view.backward.forward_of(call)
    return TraceRow(
        number=call,
        level=item.level,
        times=item.times,
        all=len(item.every),
        calls=item.calls,
        operator=recording.operator_of(call),
        path=view.path(call),
        facts=view.facts.of_call(call),
        place=recording.place_of(call),
        forward=forward,
        forward_place=None if forward is None else recording.place_of(forward),
        microseconds=sum(known) if known else None,
        raised=sum(recording.calls.raised[one] == RAISED for one in item.every),
        mismatch=view.difference(call),
    )


def _totals(view: TraceView, chosen: Selected) -> tuple[OperatorTotal, ...]:
    """The operators, those with the most calls first."""
    calls = view.recording.calls
    counts: Counter[int] = Counter()
    times: Counter[int] = Counter()
    for numbers in chosen.of_thread:
        for call in numbers:
            signature = calls.signature[call]
            counts[signature] += 1
            times[signature] += calls.microseconds(call) or 0
    by_name: dict[str, Counter[tuple[str, ...]]] = {}
    spent: Counter[str] = Counter()
    for signature, count in counts.items():
        name = view.recording.operators[view.recording.signatures[signature]["operator"]]
        keys = tuple(one.key for one in view.path_of(signature).own)
        by_name.setdefault(name, Counter())[keys] += count
        spent[name] += times[signature]
    found = [
        OperatorTotal(name, sum(paths.values()), spent[name], tuple(PathTotal(*one) for one in paths.most_common()))
        for name, paths in by_name.items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.calls, one.operator)))
