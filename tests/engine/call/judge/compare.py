"""The engine's answer to an observed call, and where it is not what ran."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from dispatch_cli.engine.call.simulate import CallSimulator
from dispatch_cli.engine.call.tensors import TensorMaker, Value
from dispatch_cli.engine.call.thread import Thread
from dispatch_cli.engine.call.trace import Does, End, Hop, Reached
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.layout import KeyLayout
from dispatch_cli.model.calls.options import Options
from dispatch_cli.model.declarations import Declarations, PythonKernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.trace.explained import observed
from dispatch_cli.trace.happened import is_seen, slot_of
from tests.engine.call.judge.chain import Ran, chain_of

_NUMBER = re.compile(r"_[0-9]+$")
_SOURCE = re.compile(r"([\w.]+\.(?:cpp|h|py)):\d+")


class Judgement(NamedTuple):
    """Result of one observed call.

    first: the first kernel and its key set are the same. chain: so are all kernels of this operator that follow.
    cause: of a difference: what ran and what was said. raised: the last kernel that ran raised an error.
    """

    first: bool
    chain: bool
    cause: str | None
    raised: bool = False


Seen = tuple[str, str, str]
"""A kernel that ran: the file of its source, without a number; the key it is registered at; the operator."""


class Tally:
    """The judgements of one context, counted by calls."""

    def __init__(self) -> None:
        self.calls = self.distinct = self.first = self.chain = self.raised = 0
        self.causes: Counter[str] = Counter()
        self.examples: dict[str, Counter[str]] = {}

    def add(self, call: ObservedCall, judgement: Judgement) -> None:
        self.calls += call.count
        self.distinct += 1
        self.first += call.count * judgement.first
        self.chain += call.count * judgement.chain
        self.raised += call.count * judgement.raised
        if judgement.cause is not None:
            self.causes[judgement.cause] += call.count
            self.examples.setdefault(judgement.cause, Counter())[str(call.operator)] += call.count

    def differences(self) -> list[tuple[str, str]]:
        """Every cause of a difference, with every operator that has it."""
        return [(cause, operator) for cause, names in self.examples.items() for operator in names]


class Judge:
    """Asks the engine. python: the kernels of the Python dispatcher, by operator."""

    def __init__(self, dispatcher: Dispatcher, python: dict[str, dict[str, str]]) -> None:
        self._dispatcher = dispatcher
        kernels = [(OperatorName.parse(name), *item) for name, by_key in python.items() for item in by_key.items()]
        declared = Declarations(dispatcher.universe, python_kernels=tuple(PythonKernel(*kernel) for kernel in kernels))
        self._state = State(dispatcher, declarations=declared)
        self._maker = TensorMaker(dispatcher.universe)
        self._machines: dict[Any, CallSimulator] = {}

    def judge(self, call: ObservedCall) -> Judgement:
        """Compare the kernels that the engine names with those that ran."""
        hops, end = self._simulated(call)
        ours = [hop for hop in hops if is_seen(hop)]
        theirs = chain_of(call.operator, call.kernels, self._dispatcher)
        first = bool(ours) and _same(ours[0], theirs[0], is_first=True)
        for number, (hop, kernel) in enumerate(zip(ours, theirs, strict=False)):
            if not _same(hop, kernel, is_first=number == 0):
                return Judgement(first, False, _difference(ours, theirs, number))
        last = theirs[-1]
        if len(ours) > len(theirs) and last.raised:
            return Judgement(first, True, None, raised=True)
        if len(ours) != len(theirs):
            return Judgement(first, False, _difference(ours, theirs, min(len(ours), len(theirs))))
        if end.error is not None and not last.raised:
            return Judgement(first, False, f"{_kernel_of(ours[-1])} raises no error; ours: {end.error.text[:60]}")
        return Judgement(first, True, None, raised=last.raised)

    def kernels(self, call: ObservedCall) -> Iterator[Seen]:
        """The kernels that ran in a call."""
        live = self._dispatcher.operator(call.operator).live
        slots = self._dispatcher.universe.slot
        for kernel in chain_of(call.operator, call.kernels, self._dispatcher):
            registration = live[kernel.slot].registration if kernel.slot in slots else None
            source = _SOURCE.search(registration.kernel.debug) if registration is not None else None
            if registration is not None and source is not None:
                yield _NUMBER.sub("", source[1].rpartition(".")[0]), registration.key, str(call.operator)

    def _simulated(self, call: ObservedCall) -> tuple[tuple[Hop, ...], End]:
        key = (call.operator, call.options)
        machine = self._machines.get(key)
        if machine is None:
            machine = CallSimulator(self._state, call.operator, self._maker, call.options)
            self._machines[key] = machine
        given = DispatchKeySet(self._dispatcher.layout, call.kernels[0].raw) if call.redispatched else None
        return machine.run(call.values, call.thread, given)


def _same(hop: Hop, kernel: Ran, is_first: bool) -> bool:
    redispatched = hop.reached is Reached.REDISPATCH
    alike = slot_of(hop) == kernel.slot and hop.keyset.bits == kernel.raw
    return alike and (is_first or redispatched == kernel.redispatched)


def _difference(ours: list[Hop], theirs: list[Ran], at: int) -> str:
    """The prediction and the kernel that ran, where they first differ."""
    predicted = _next(slot_of(ours[at]), ours[at].reached is Reached.REDISPATCH, at) if at < len(ours) else None
    ran = _next(theirs[at].slot, theirs[at].redispatched, at) if at < len(theirs) else None
    if predicted == ran and predicted is not None:
        seen = DispatchKeySet(ours[at].keyset.layout, theirs[at].raw)
        extra = [str(key) for key in seen if not ours[at].keyset.has(key)]
        lacking = [str(key) for key in ours[at].keyset if not seen.has(key)]
        ran = f"{ran} with {' '.join(f'+{key}' for key in extra)}{' '.join(f'-{key}' for key in lacking)}"
    if at == 0:
        return f"first: {ran}; ours: {predicted or 'no kernel'}"
    before = ours[at - 1]
    ending = before.does.value if before.does is not Does.REDISPATCHES else "ends"
    return f"{_kernel_of(before)}: {ran or 'goes no further'}; ours: {predicted or ending}"


def _next(slot: str | None, redispatched: bool, at: int) -> str:
    return str(slot) if at == 0 else f"{'redispatches to' if redispatched else 'calls anew to'} {slot}"


def _kernel_of(hop: Hop) -> str:
    """The kernel at which they part, by its slot, rule and source."""
    kernel = hop.live.kernel
    source = _SOURCE.search(kernel.debug) if kernel is not None else None
    return f"{hop.slot} [{hop.live.rule.name.lower()}] {source[1] if source else '?'}"


class Judged(NamedTuple):
    """The tally of each context, and every kernel that ran."""

    tallies: dict[str, Tally]
    seen: set[Seen]


def judge_all(judge: Judge, calls: Iterable[ObservedCall]) -> Judged:
    """Every call in turn."""
    tallies: dict[str, Tally] = {}
    seen: set[Seen] = set()
    for call in calls:
        tallies.setdefault(call.context, Tally()).add(call, judge.judge(call))
        seen.update(judge.kernels(call))
    return Judged(dict(sorted(tallies.items())), seen)


def table(tallies: dict[str, Tally]) -> str:
    """The figures of each context, and every cause of a difference with its count, the most frequent first."""
    lines = [f"{'context':20} {'calls':>8} {'distinct':>8} {'raised':>7} {'first':>8} {'chain':>8}"]
    lines += [
        f"{context:20} {tally.calls:8} {tally.distinct:8} {tally.raised:7} "
        f"{tally.first / tally.calls:8.3%} {tally.chain / tally.calls:8.3%}"
        for context, tally in tallies.items()
    ]
    for context, tally in tallies.items():
        for cause, count in tally.causes.most_common():
            names = ", ".join(f"{name} {seen}" for name, seen in tally.examples[cause].most_common(4))
            lines.append(f"{context}: {count} of {cause} ({names})")
    return "\n".join(lines)


# Observations of a live PyTorch by judge.cpp, in the engine's own types.


class ObservedCall(NamedTuple):
    """A call, and how often it was seen in a context.

    redispatched: another operator's kernel went straight to a key set; there was no selection.
    kernels: those that ran, also those of the same operator that they reached, as they began.
    """

    context: str
    operator: OperatorName
    redispatched: bool
    values: tuple[Value, ...]
    thread: Thread
    options: Options
    kernels: tuple[Ran, ...]
    count: int
    data: dict[str, Any]


def names_in(path: Path) -> set[str]:
    """The operators that were called."""
    with path.open(encoding="utf-8") as lines:
        return {json.loads(line)["operator"] for line in lines}


def observed_calls(path: Path, layout: KeyLayout) -> Iterator[ObservedCall]:
    """The calls of a file, one a line."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield _call(json.loads(line), layout)


def _call(data: dict[str, Any], layout: KeyLayout) -> ObservedCall:
    return ObservedCall(
        data["context"],
        OperatorName.parse(data["operator"]),
        data["redispatched"],
        *observed(data, layout),
        tuple(_kernels(data["kernels"], 0)),
        data["count"],
        data,
    )


def _kernels(data: list[Any], depth: int) -> Iterator[Ran]:
    slot, bits, reached, raised, continuations = data
    yield Ran(slot, bits, reached == "redispatch", raised, depth)
    for continuation in continuations:
        yield from _kernels(continuation, depth + 1)
