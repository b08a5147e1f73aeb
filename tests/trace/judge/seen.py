"""Calls of a program: as the recorder wrote them down, and as the logging kernels saw them."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.trace.recorded import read

Threads = dict[int, list["Seen"]]
"""The calls of each thread in the order in which they began."""
KERNEL_FIELDS = 4


@dataclass
class Seen:
    """A call. data: what it was made with, as the recorder's signatures have it.

    kernels: those that ran, in the order in which they began: depth, slot, key set, how reached, raised.
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
        kernels = [*_flat(line["kernels"], 0)]
        threads[line["thread"]].append(Seen(line["operator"], line, kernels, line["announced"]))
    return dict(threads)


def _flat(node: list[Any], depth: int) -> list[list[Any]]:
    *fields, continuations = node
    assert len(fields) == KERNEL_FIELDS
    return [[depth, *fields], *(call for next_ in continuations for call in _flat(next_, depth + 1))]
