"""The verdicts of the engine against what a live PyTorch did, cell by cell."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dispatch_cli.api import document_of_sources, load_state
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.support.cell import Cell, Column, SupportContext, Verdict
from dispatch_cli.engine.support.support import support_rows
from dispatch_cli.model.names import OperatorName

_NUMBER = re.compile(r"(?<=judge::op)[0-9]+")
BACKENDS = {"cpu": "CPU", "meta": "Meta"}
DERIVATIVES = ("train", "grad", "jvp")
OUTCOMES = {
    Verdict.NO_KERNEL: "raises",
    Verdict.RAISES: "raises",
    Verdict.GRADIENT_LOST: "gradient",
    Verdict.WRONG: "wrong",
    Verdict.NOT_APPLICABLE: "none",
    Verdict.NOT_KNOWN: "not known",
}
"""Verdict → the outcome that `live.py` has for it; any other one works."""


class Judged(NamedTuple):
    """A cell. live, seen: the outcome, and what was seen. apart: why it does not count."""

    operator: str
    device: str
    context: str
    live: str
    seen: str
    ours: Cell
    apart: str = ""

    @property
    def verdict(self) -> str:
        """In the words of `live.py`."""
        return OUTCOMES.get(self.ours.verdict, "works")

    @property
    def result(self) -> str:
        """``equal``, ``different``, ``not known`` (by the engine) or ``not judged``."""
        if self.apart:
            return "apart"
        if self.live == "not judged" or "none" in (self.live, self.verdict):
            return "not judged"
        if self.verdict == "not known":
            return "not known"
        return "equal" if self._agree() else "different"

    def _agree(self) -> bool:
        if self.device == "meta" and self.live == "works":
            return self.verdict != "raises"  # there are no values that could be wrong
        lost = ("gradient", "wrong")  # a derivative that is wrong is lost
        return self.live == self.verdict or (self.context in DERIVATIVES and self.live in lost and self.verdict in lost)

    @property
    def is_false_promise(self) -> bool:
        """Whether the engine says that a call works which does not."""
        return self.result == "different" and self.verdict == "works"

    @property
    def why(self) -> str:
        """Why it is not judged."""
        if self.live == "none" or self.verdict == "none":
            by = "both" if self.live == self.verdict else "live" if self.live == "none" else "ours"
            return f"means nothing here, by {by}"
        return self.seen


def state_of(operators: Sequence[Any], base: str, folder: Path) -> State:
    """What the engine reads in the sources of operators."""
    sources = folder / "library"
    sources.mkdir()
    for operator in operators:
        name = operator["name"].partition("::")[2].replace(".", "_")
        (sources / f"{name}.py").write_text(operator["source"], encoding="utf-8")
    return load_state([document_of_sources([str(sources)])], bases=[base])


def judged(state: State, answers: Iterable[Any], apart: Iterable[str] = ()) -> Iterator[Judged]:
    """Every cell of the operators of which `live.py` gives cells. apart: operators that are counted apart."""
    contexts = list(SupportContext)[:-1]
    columns = [Column(key, device, context) for device, key in BACKENDS.items() for context in contexts]
    by_name = {one["name"]: one["cells"] for one in answers}
    names = [OperatorName.parse(name) for name in by_name]
    for row in support_rows(state, names, columns):
        ours = {(column.device, column.context.value): found for column, found in zip(columns, row.cells, strict=True)}
        name = str(row.operator)
        for device, context, live, seen in by_name[name]:
            reason = "its body does not do what its schema says" if name in apart else ""
            yield Judged(name, device, context, live, seen, ours[device, context], reason)


def unfaithful(operators: Iterable[Any]) -> list[str]:
    """The operators whose bodies do not do what their schemas say."""
    return [operator["name"] for operator in operators if not operator["faithful"]]


def differing(cells: Iterable[Judged]) -> list[str]:
    """Each difference in words."""
    return [
        f"{cell.operator} {cell.device} {cell.context}: {cell.live} {cell.seen}; ours: {cell.ours.verdict.value}"
        for cell in cells
        if cell.result == "different"
    ]


def summary(cells: Sequence[Judged]) -> str:
    """The figures, those of each context, why cells are not judged, and every kind of difference."""
    results = Counter(cell.result for cell in cells)
    count = results["equal"] + results["different"]
    false = sum(cell.is_false_promise for cell in cells)
    lines = [
        f"{len(cells)} cells: {count} judged, {results['equal']} equal ({results['equal'] / max(count, 1):.2%}), "
        f"{results['different']} different, {results['not known']} not known, {results['not judged']} not judged, "
        f"{results['apart']} apart; {false} said to work that do not"
    ]
    for key in dict.fromkeys((cell.device, cell.context) for cell in cells):
        several = Counter(cell.result for cell in cells if (cell.device, cell.context) == key)
        lines.append(f"  {' '.join(key):15} " + ", ".join(f"{n} {word}" for word, n in several.most_common()))
    for why, number in Counter(cell.why[:80] for cell in cells if cell.result == "not judged").most_common(8):
        lines.append(f"  not judged: {number} {why}")
    kinds = Counter(
        f"{cell.device} {cell.context}: live {cell.live} ({_NUMBER.sub('', cell.seen)[:70]}), "
        f"ours {cell.ours.verdict.value} {cell.ours.reason.value if cell.ours.reason else ''}"
        for cell in cells
        if cell.result in ("different", "not known")
    )
    return "\n".join([*lines, *(f"  {number} of {kind}" for kind, number in kinds.most_common())])


def write_differences(cells: Iterable[Judged], operators: Iterable[Any], path: Path) -> None:
    """Each operator that has a difference: its source, what it was called with, and both outcomes."""
    found: dict[str, Any] = {}
    known = {operator["name"]: operator for operator in operators}
    for cell in cells:
        if cell.result in ("different", "not known"):
            entry = found.setdefault(cell.operator, {**known.get(cell.operator, {}), "cells": []})
            ours = cell.ours
            said = [
                ours.verdict.value,
                ours.reason and ours.reason.value,
                ours.key,
                ours.kernel,
                (ours.error or "")[:200],
            ]
            entry["cells"].append({"at": f"{cell.device} {cell.context}", "live": [cell.live, cell.seen], "ours": said})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1), encoding="utf-8")
