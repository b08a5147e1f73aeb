"""Comparison of a recording with what the logging kernels saw, and of the program with a run without them."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, NamedTuple

from tests.trace.recorded import read

FIELDS = (
    *("tensors", "keys", "layers", "inference", "modes", "python_dispatcher", "device", "layout", "dtype"),
    *("grad_mode", "requires_grad", "devices"),
)
"""Fields of a call's inputs; those before ``grad_mode`` decide which kernels run."""


class Pair(NamedTuple):
    """A call as it was recorded and as the kernels saw it; None where it was not."""

    recorded: Seen | None
    seen: Seen | None


class Causes:
    """Differences by cause, each with the operators that have it, counted."""

    def __init__(self) -> None:
        self._found: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def add(self, cause: str, operator: str) -> None:
        self._found[cause][operator] += 1

    def total(self) -> int:
        return sum(item.total() for item in self._found.values())

    def lines(self) -> list[str]:
        """Each cause with its count and some of its operators, the most frequent first."""
        causes = sorted(self._found.items(), key=lambda one: -one[1].total())
        return [
            f"{names.total()} of {cause} ({', '.join(f'{name} {count}' for name, count in names.most_common(4))})"
            for cause, names in causes
        ]


@dataclass
class Compared:
    """Figures of calls, and what is different.

    seen: calls that the logging kernels saw and PyTorch announced. recorded: of these, those in the recording.
    alike: of these, those that were made with the same. kernels: of these, those with the same kernels.
    silent: calls that PyTorch does not announce.
    by_key: kernels that another operator's kernel, or Python, asked for by a key set or a key: no calls.
    """

    seen: int = 0
    recorded: int = 0
    alike: int = 0
    kernels: int = 0
    silent: Counter[str] = field(default_factory=Counter)
    by_key: Counter[str] = field(default_factory=Counter)
    differences: Causes = field(default_factory=Causes)


def compare(recorded: Threads, seen: Threads) -> Compared:
    """The calls of all threads."""
    compared = Compared()
    for thread in seen.values():
        for call in thread:
            if not call.announced:
                (compared.by_key if call.data["redispatched"] else compared.silent)[call.operator] += 1
    announced = {number: [call for call in calls if call.announced] for number, calls in seen.items()}
    for pair in _pairs(recorded, {number: calls for number, calls in announced.items() if calls}):
        _add(compared, *pair)
    return compared


def _add(found: Compared, recorded: Seen | None, seen: Seen | None) -> None:
    if seen is None:
        assert recorded is not None
        if recorded.kernels:
            found.differences.add("kernels of a call that was not seen", recorded.operator)
        return
    found.seen += 1
    if recorded is None:
        found.differences.add("not recorded", seen.operator)
        return
    found.recorded += 1
    unlike = [*_unlike(recorded.data, seen.data)]
    for pair in unlike:
        found.differences.add(pair, seen.operator)
    if not unlike:
        found.alike += 1
    if recorded.kernels == seen.kernels:
        found.kernels += 1
    else:
        found.differences.add(f"kernels: {recorded.kernels or 'none'}; ran: {seen.kernels}", seen.operator)


def _unlike(recorded: dict[str, Any], seen: dict[str, Any]) -> Iterator[str]:
    for name in FIELDS:
        ours, theirs = recorded.get(name), seen.get(name)
        if name == "modes" and isinstance(theirs, int) and isinstance(ours, list):
            ours = len(ours)
        if name == "devices" and ours is not None and theirs is not None:
            theirs = [one if two is not None else None for one, two in zip(theirs, ours, strict=False)]
        if ours != theirs:
            yield f"{name} left out" if ours is None else f"{name} {ours}; were: {theirs}"


def _pairs(recorded: Threads, seen: Threads) -> Iterator[Pair]:
    """The calls of both, in order. Threads are numbered differently: those belong together that called the same."""
    left = dict(recorded)
    for calls in sorted(seen.values(), key=len, reverse=True):
        names = Counter(call.operator for call in calls)
        best = max(left, key=lambda one: _common(left[one], names), default=None)
        yield from aligned(left.pop(best) if best is not None else [], calls)
    for calls in left.values():
        yield from aligned(calls, [])


def _common(calls: Sequence[Seen], names: Counter[str]) -> float:
    ours = Counter(call.operator for call in calls)
    return (ours & names).total() - 0.5 * (ours - names).total()


def aligned(recorded: Sequence[Seen], seen: Sequence[Seen]) -> Iterator[Pair]:
    """The same calls of two sequences, and those that only one has."""
    ours, theirs = ([f"{call.operator} {call.data.get('tensors')}" for call in calls] for calls in (recorded, seen))
    if len(ours) == len(theirs) and [call.operator for call in recorded] == [call.operator for call in seen]:
        yield from map(Pair, recorded, seen)
        return
    for what, first, last, start, end in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if what in ("equal", "replace"):
            yield from map(Pair, recorded[first:last], seen[start:end])
            first, start = (first + min(last - first, end - start), start + min(last - first, end - start))
        yield from (Pair(call, None) for call in recorded[first:last])
        yield from (Pair(None, call) for call in seen[start:end])


def undisturbed(wrapped: Threads, unwrapped: Threads) -> Causes:
    """Differences in the run without logging kernels."""
    causes = Causes()
    for pair in _pairs(wrapped, unwrapped):
        if pair.seen is None or pair.recorded is None:
            call = pair.seen or pair.recorded
            assert call is not None
            causes.add(f"calls only {'without' if pair.recorded is None else 'with'} logging kernels", call.operator)
        elif pair.recorded.operator != pair.seen.operator:
            causes.add(f"with logging kernels {pair.recorded.operator}", pair.seen.operator)
        else:
            for one_unlike in _unlike(pair.recorded.data, pair.seen.data):
                causes.add(f"with logging kernels {one_unlike}", pair.seen.operator)
    return causes


# Calls of a program: as the recorder wrote them down, and as the logging kernels saw them.


Threads = dict[int, list["Seen"]]
"""The calls of each thread in the order in which they began."""


@dataclass
class Seen:
    """A call. data: what it was made with, as the recorder's signatures have it.

    kernels: the first one, and those that each redispatches to: slot, key set, raised.
    announced: PyTorch told of the call; not so for operators that are not observed, and for redispatches to another
    operator. number: of a recorded call, its position in the recording.
    """

    operator: str
    data: dict[str, Any]
    kernels: list[list[Any]] = field(default_factory=list)
    announced: bool = True
    number: int = -1


@dataclass
class Trace:
    """A recording. stopped: why it is not whole. state: the registry at the end."""

    threads: Threads
    stopped: list[str]
    state: dict[str, Any] | None


def traced(path: Path) -> Trace:
    """The calls of a recording."""
    operators: list[str] = []
    signatures: list[dict[str, Any]] = []
    threads: Threads = defaultdict(list)
    running: dict[int, list[Seen]] = defaultdict(list)
    stopped, state, count = [], None, 0
    for tag, *values in read(path)[1:]:
        if tag == "o":
            operators.append(values[1])
        elif tag == "s":
            signatures.append(values[1])
        elif tag == "c":
            signature = signatures[values[0]]
            call = Seen(operators[signature["operator"]], signature, number=count)
            count += 1
            threads[values[1]].append(call)
            running[values[1]].append(call)
        elif tag == "k":
            running[values[0]][-1].kernels.append(values[1:])
        elif tag == "e":
            running[values[0]].pop()
        elif tag == "x":
            if values[0]["reason"] != "fork":
                stopped.append(values[0]["text"])
        elif tag == "state":
            state = values[0]
    return Trace(dict(threads), stopped, state)


def logged(path: Path) -> Threads:
    """The calls that the logging kernels wrote down, each when its first kernel had ended."""
    threads: Threads = defaultdict(list)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for line in sorted(lines, key=lambda one: one["number"]):
        kernels = [*_chain(line["kernels"])]
        threads[line["thread"]].append(Seen(line["operator"], line, kernels, line["announced"]))
    return dict(threads)


def _chain(node: list[Any]) -> Iterator[list[Any]]:
    slot, keyset, _, raised, continuations = node
    yield [slot, keyset, raised]
    yield from next((_chain(inner) for inner in continuations if inner[2] == "redispatch"), ())
