"""The tree of calls of a thread, as lines of a table."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from dispatch_cli.answers.trace.report import TraceRow, TraceThread
from dispatch_cli.answers.trace.view import TraceView
from dispatch_cli.answers.trace.wording import (
    TIMES,
    headings_of,
    path_text,
    row_end,
    row_operator,
    row_path,
    short_heading,
)
from dispatch_cli.engine.call.trace import Does
from dispatch_cli.render.document import Column, Inline, Run, Tone, joined
from dispatch_cli.render.words import plural
from dispatch_cli.trace.calls import NONE, CallEnd
from dispatch_cli.trace.recording import PythonPlace
from dispatch_cli.trace.selected import Selected

INDENT = 2
"""Blanks before a call for each call that it is inside of."""
MOST_INDENTED = 24
"""So many levels are indented. Calls that are deeper, as of an operator that calls itself, say their level."""


def thread_title(thread: TraceThread) -> str:
    """The name of a thread, and how many calls it has."""
    return f"{f'Thread {thread.name}' if thread.name else 'unnamed thread'}: {plural(thread.calls, 'call')}"


class ShownLine(NamedTuple):
    """A line of a table: a row, or the lines of Python that the rows below it are from.

    indent: in blanks. place: the line of Python that the heading, or the row, is about.
    """

    row: TraceRow | None
    heading: str
    indent: int
    place: PythonPlace | None = None


def tree_lines(rows: Sequence[TraceRow], directory: str | None) -> Iterator[ShownLine]:
    """The rows, and above those of each line of Python that line."""
    around: list[tuple[str, str] | None] = [("", "")]
    """The headings that are above the rows of each level, and of those inside of it; None where none are."""
    room = 0
    for row in rows:
        del around[row.level + 2 :]
        while len(around) < row.level + 2:
            around.append(around[-1])
        before = around[row.level + 1]
        if row.operator is None:
            around[row.level + 1] = None
            yield ShownLine(row, "", INDENT * row.level)
            continue
        if (headings := headings_of(row, directory)) != before:
            around[row.level + 1] = headings
            place, forward = headings
            if place and (before is None or place != before[0] or not forward):
                room = INDENT
                yield ShownLine(None, place, INDENT * row.level, place=row.place)
            if forward:
                yield ShownLine(None, forward, INDENT * row.level + room, place=row.forward_place)
        yield ShownLine(row, "", INDENT * row.level + room, row.place)


def _columns() -> list[Column[ShownLine]]:
    def number(line: ShownLine, _: bool) -> Inline:
        row = line.row
        return Run("" if row is None or row.operator is None else str(row.number), Tone.DIM)

    def operator(line: ShownLine, short: bool) -> Inline:
        row, indent = line.row, Run(" " * min(line.indent, INDENT * MOST_INDENTED))
        if row is None:
            return (indent, Run(short_heading(line.heading) if short else line.heading, Tone.PLACE))
        label = Run(row_operator(row), Tone.DIM if row.operator is None else Tone.BAD if row.raised else Tone.HEAD)
        if line.indent > INDENT * MOST_INDENTED:
            return (indent, Run(f"level {row.level}: ", Tone.DIM), label)
        return (indent, label)

    def kernels(line: ShownLine, _: bool) -> Inline:
        row = line.row
        if row is None or row.path is None:
            return ""
        return joined(row_path(row), *row_end(row))

    def times(line: ShownLine, _: bool) -> Inline:
        row = line.row
        return "" if row is None or row.operator is None or row.times == 1 else f"{TIMES}{row.times:,}"

    def milliseconds(line: ShownLine, _: bool) -> Inline:
        spent = None if line.row is None else line.row.microseconds
        return "" if spent is None else f"{spent / 1000:,.1f}"

    return [
        Column("Call", number, wraps=False, right=True),
        Column("Operator", operator, wraps=False, overflows=True),
        Column("", times, wraps=False, right=True, optional=True),
        Column("Kernels in turn", kernels),
        Column("ms", milliseconds, wraps=False, right=True, optional=True),
    ]


*COLUMNS, _TIME = _columns()
TIMED_COLUMNS = [*COLUMNS[:-1], _TIME, COLUMNS[-1]]
"""The same with the time of each line."""


def chrome_text(view: TraceView, chosen: Selected) -> Iterator[str]:
    """Every call that is chosen as a complete event, and each backward call tied to its forward call by an arrow."""
    head = view.recording.head
    pid = head.pid or 0
    about = {"torch": head.torch, "python": head.python, "argv": list(head.argv), "directory": head.directory}
    yield f'{{"otherData":{_json(about)},"displayTimeUnit":"ms","traceEvents":[\n'
    yield _json(_meta(pid, 0, "process_name", " ".join(head.argv) or view.recording.file))
    for thread, name in enumerate(view.recording.threads):
        # Perfetto takes an empty name for an error of the file
        yield ",\n" + _json(_meta(pid, thread, "thread_name", name or "unnamed thread"))
    ends = _ends(view)
    for numbers in chosen.of_thread:
        for call in numbers:
            yield ",\n" + _json(_event(view, call, pid, ends[call]))
            for event in _arrow(view, call, pid):
                yield ",\n" + _json(event)
    yield "\n]}\n"


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _meta(pid: int, tid: int, what: str, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": pid, "tid": tid, "ts": 0, "args": {"name": name}}


def _event(view: TraceView, call: int, pid: int, end: int) -> dict[str, Any]:
    calls, path = view.recording.calls, view.path(call)
    place, forward = view.recording.place_of(call), view.recording.forward_of(call)
    args: dict[str, Any] = {"call": call, "kernels": path_text(tuple(kernel.key for kernel in path.own))}
    if path.own:
        args["observed"] = sum(kernel.observed for kernel in path.own)
        args["registered_at"] = path.own[-1].registered_at
        if path.own[-1].does is Does.CALLS_ANEW:
            args["calls_again"] = True
    if path.assumed:
        args["assumed"] = path_text(path.assumed)
    args["end"] = path.end.value if path.end is not None else path.problem
    if path.skipped:
        args["fell_through"] = ", ".join(path.skipped)
    if place is not None:
        args["python"] = str(place)
    if forward is not None:
        args["forward_call"] = forward
    if (ended := view.ended_as(call)) is not CallEnd.RETURNED:
        args[ended.value] = True
    return {
        "name": view.recording.operator_of(call),
        "cat": "dispatch",
        "ph": "X",
        "pid": pid,
        "tid": calls.thread[call],
        "ts": calls.start[call],
        "dur": end - calls.start[call],
        "args": args,
    }


def _ends(view: TraceView) -> array[int]:
    """Time at which each call ended; for one without an end, the last time of its thread, so that calls nest."""
    calls = view.recording.calls
    last = [0] * len(view.recording.threads)
    for call, thread in enumerate(calls.thread):
        last[thread] = max(last[thread], calls.start[call], calls.end[call])
    return array(
        "q",
        (
            max(calls.start[call], last[calls.thread[call]] if end == NONE else end)
            for call, end in enumerate(calls.end)
        ),
    )


def _arrow(view: TraceView, call: int, pid: int) -> Iterator[dict[str, Any]]:
    """Arrow from a forward call to a call of its autograd node: flow events bind to the event that encloses them."""
    forward, calls = view.recording.forward_of(call), view.recording.calls
    parent = calls.parent[call]
    if forward is None or (parent != NONE and calls.forward_thread[parent] != NONE):
        return
    about = {"name": "backward", "cat": "autograd", "id": call, "pid": pid}
    yield {**about, "ph": "s", "tid": calls.thread[forward], "ts": calls.start[forward]}
    yield {**about, "ph": "f", "bp": "e", "tid": calls.thread[call], "ts": calls.start[call]}
