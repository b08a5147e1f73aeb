"""A trace in the Trace Event Format, which chrome://tracing, Perfetto and Speedscope open: an event for each call.

The format: "Trace Event Format" by the authors of Chrome's tracing, its JSON object form. Times are microseconds.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator
from typing import Any

from dispatch_cli.answers.trace.view import TraceView
from dispatch_cli.answers.trace.wording import path_text
from dispatch_cli.engine.call.trace import Does
from dispatch_cli.trace.calls import NONE, CallEnd
from dispatch_cli.trace.selected import Selected


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
