"""A recorded program as a report: its calls as a tree, what they come to, and what is worth knowing of them."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import count, groupby
from typing import ClassVar, NamedTuple

from dispatch_cli.answers.trace.findings.report import TraceFinding, trace_findings
from dispatch_cli.answers.trace.view import TracePath, TraceView
from dispatch_cli.model.calls.call import CallEnd
from dispatch_cli.trace.facts import CallFact
from dispatch_cli.trace.happened import Difference
from dispatch_cli.trace.recording import NotRecorded, PythonPlace, Recording
from dispatch_cli.trace.selected import Selected, Wanted
from dispatch_cli.trace.tree import Item, tree_items


class OperatorTotal(NamedTuple):
    """The calls of an operator.

    microseconds: that they took, with the calls inside of them and with what recording costs; a call inside of another
    one of the operator is counted once. paths: the kernels that they run, up to one that calls the operator again.
    """

    operator: str
    calls: int
    microseconds: int
    paths: tuple[PathTotal, ...]


class PathTotal(NamedTuple):
    """Kernels in turn by key, and how many calls run them.

    ended: how the calls ended.
    """

    keys: tuple[str, ...]
    ended: CallEnd
    calls: int


def operator_totals(view: TraceView, chosen: Selected) -> tuple[OperatorTotal, ...]:
    """The operators, those with the most calls first."""
    calls = view.recording.calls
    counts: Counter[int] = Counter()
    times: Counter[int] = Counter()
    for numbers in chosen.of_thread:
        around: list[int] = []
        operators: Counter[int] = Counter()
        """The calls around, and how many of them each operator has."""
        for call in numbers:
            number, parent = view.happened.number_of(call), chosen.parents[call]
            while around and around[-1] != parent:
                operators[_operator(view, around.pop())] -= 1
            counts[number] += 1
            operator = _operator(view, call)
            if not operators[operator]:
                times[number] += calls.microseconds(call) or 0
            around.append(call)
            operators[operator] += 1
    by_name: dict[str, Counter[PathTotal]] = {}
    spent: Counter[str] = Counter()
    for number, calls_of in counts.items():
        happened, path = view.happened.of_number(number), view.path_of(number)
        name = str(happened.operator)
        total = PathTotal(tuple(kernel.key for kernel in path.kernels), happened.ended, calls=0)
        by_name.setdefault(name, Counter())[total] += calls_of
        spent[name] += times[number]
    totals = [
        OperatorTotal(
            name,
            paths.total(),
            spent[name],
            tuple(path._replace(calls=count) for path, count in paths.most_common()),
        )
        for name, paths in by_name.items()
    ]
    return tuple(sorted(totals, key=lambda total: (-total.calls, total.operator)))


def _operator(view: TraceView, call: int) -> int:
    """The number of the operator that was called."""
    number: int = view.recording.signatures[view.recording.calls.signature[call]]["operator"]
    return number


class KernelsSeen(Enum):
    """Kernels of a call that were observed; the others are predicted by the engine."""

    FIRST = "first-kernel"
    """The one that the observed key sets and thread state select."""
    ALL = "all-kernels"


class TraceRow(NamedTuple):
    """A line of the tree: calls that are alike, inside of the same line.

    number: of the first call, for --explain: its position in the recording, from 0. level: how deep it is. times: how
    many calls they are. place: the line of Python, where it is recorded. forward, forward_place: of a backward call,
    the forward call that it belongs to, and its line; forwards: how many such calls those of the row belong to.
    calls_again: one of the calls right inside of it is of the same operator. microseconds: that all of them took, with
    the calls inside of them and with what recording costs. raised: how many raised; unfinished: how many have no end in
    the recording. mismatch: where the kernels that ran are not those that the engine predicts; predicted: then the keys
    of those, up to one that calls the operator again.
    """

    number: int
    level: int
    times: int
    operator: str
    path: TracePath
    facts: tuple[CallFact, ...] = ()
    place: PythonPlace | None = None
    forward: int | None = None
    forward_place: PythonPlace | None = None
    forwards: int = 0
    calls_again: bool = False
    microseconds: int | None = None
    raised: int = 0
    unfinished: int = 0
    mismatch: Difference | None = None
    predicted: tuple[str, ...] = ()


class TraceThread(NamedTuple):
    """The calls of a thread."""

    name: str
    calls: int
    rows: Iterable[TraceRow]


class TraceCounts(NamedTuple):
    """Content of a recording, in numbers.

    shown: the calls that are asked for. distinct: different calls: by operator, keys, thread state and options.
    raised: calls that raised; unfinished: those whose end is not recorded. dropped: those that were not recorded.
    different: those whose kernels are not what the engine predicts. seconds: how long the program ran, imports and
    recording included. microseconds: from the start of the first call to the end of the last one.
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
    microseconds: int | None


@dataclass(frozen=True, slots=True)
class TraceReport:
    """recording: the file. torch, python, argv, directory: of the program.

    universe: the key layout. embedded: the embedded state by which the calls are explained; None where it is the
    program's own, recorded at its end. seen: which kernels are observed. not_recorded: why something is missing.
    threads: the trees, made as they are read.
    """

    REPORT: ClassVar[str] = "trace"

    recording: str
    torch: str
    python: str | None
    argv: tuple[str, ...]
    directory: str | None
    universe: str
    embedded: str | None
    seen: KernelsSeen
    counts: TraceCounts
    not_recorded: tuple[NotRecorded, ...]
    threads: Iterable[TraceThread]
    operators: tuple[OperatorTotal, ...]
    findings: tuple[TraceFinding, ...]


def trace_report(view: TraceView, wanted: Wanted) -> TraceReport:
    """The report of a recording."""
    recording, head = view.recording, view.recording.head
    chosen = view.select(wanted)
    return TraceReport(
        recording=recording.file,
        torch=head.torch,
        python=head.python,
        argv=head.argv,
        directory=head.directory,
        universe=view.state.dispatcher.universe.name,
        embedded=view.known.base if view.known.is_base else None,
        seen=KernelsSeen.ALL if recording.kernels else KernelsSeen.FIRST,
        counts=_counts(view, chosen),
        not_recorded=_not_recorded(recording),
        threads=_threads(view, chosen),
        operators=operator_totals(view, chosen),
        findings=trace_findings(view, chosen),
    )


def _counts(view: TraceView, chosen: Selected) -> TraceCounts:
    recording = view.recording
    calls, end = recording.calls, recording.end or {}
    ends = Counter(map(view.happened.ended_as, range(len(calls))))
    return TraceCounts(
        calls=len(calls),
        shown=sum(map(len, chosen.of_thread)),
        distinct=len({*calls.signature}),
        operators=len({recording.signatures[signature]["operator"] for signature in {*calls.signature}}),
        threads=len({*calls.thread}),
        raised=ends[CallEnd.RAISED],
        unfinished=ends[CallEnd.UNFINISHED],
        dropped=end.get("dropped", 0),
        different=sum(view.happened.difference(call) is not None for call in recording.kernels),
        seconds=end.get("seconds"),
        microseconds=max(max(calls.end), max(calls.start)) - min(calls.start) if len(calls) else None,
    )


def _not_recorded(recording: Recording) -> tuple[NotRecorded, ...]:
    missing = [*recording.stopped]
    if recording.end is None and all(reason != "too-large" for reason, _ in missing):
        what = "what came after the last of these calls: the program was killed, or is still running"
        missing.append(NotRecorded("no-end", what))
    return tuple(missing)


def _threads(view: TraceView, chosen: Selected) -> Iterator[TraceThread]:
    for thread, numbers in enumerate(chosen.of_thread):
        if numbers:
            items = tree_items(numbers, chosen.parents, view.kind)
            yield TraceThread(view.recording.threads[thread], len(numbers), (_row(view, item) for item in items))


def _row(view: TraceView, item: Item) -> TraceRow:
    recording, call = view.recording, item.calls[0]
    times = [recording.calls.microseconds(number) for number in item.calls]
    known = [time for time in times if time is not None]
    forward = view.recording.forward_of(call)
    ends = Counter(map(view.happened.ended_as, item.calls))
    mismatch = view.happened.difference(call)
    return TraceRow(
        number=call,
        level=item.level,
        times=len(item.calls),
        operator=recording.operator_of(call),
        path=view.path(call),
        facts=view.facts.of_call(call),
        place=recording.place_of(call),
        forward=forward,
        forward_place=None if forward is None else recording.place_of(forward),
        forwards=0 if forward is None else len({*map(view.recording.forward_of, item.calls)}),
        calls_again=view.calls_again(call),
        microseconds=sum(known) if known else None,
        raised=ends[CallEnd.RAISED],
        unfinished=ends[CallEnd.UNFINISHED],
        mismatch=mismatch,
        predicted=() if mismatch is None else tuple(hop.slot for hop in view.explainer.of_call(call).hops),
    )


class _Line(NamedTuple):
    """A line in its tree. number: of all lines. parent: the one that it is inside of."""

    number: int
    thread: TraceThread
    row: TraceRow
    parent: _Line | None


def heaviest_lines(threads: Iterable[TraceThread], most: int) -> tuple[tuple[TraceThread, ...], int]:
    """The *most* lines of calls that took longest, in the threads that have some, and the number of all lines.

    Each is there with the lines that it is inside of. Calls whose end is not recorded come first: the program was in
    them when it was killed.
    """
    numbers = count()
    lines = (line for thread in threads for line in _lines(thread, numbers))
    shown: dict[int, _Line] = {}
    for chosen in heapq.nlargest(most, lines, key=lambda line: (line.row.unfinished > 0, line.row.microseconds or 0)):
        outer: _Line | None = chosen
        while outer is not None and outer.number not in shown:
            shown[outer.number] = outer
            outer = outer.parent
    in_order = [shown[number] for number in sorted(shown)]
    shown_threads = (
        thread._replace(rows=iter([line.row for line in of_thread]))
        for thread, of_thread in groupby(in_order, key=lambda line: line.thread)
    )
    return tuple(shown_threads), next(numbers)


def _lines(thread: TraceThread, numbers: Iterator[int]) -> Iterator[_Line]:
    around: list[_Line] = []
    for row, number in zip(thread.rows, numbers, strict=False):  # the rows end first
        del around[row.level :]
        around.append(_Line(number, thread, row, around[-1] if around else None))
        yield around[-1]
