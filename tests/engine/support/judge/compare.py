"""The verdicts of the engine against what a live PyTorch did, cell by cell."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dispatch_cli.api import document_of_sources, load_state
from dispatch_cli.engine.support.cell import Cell, Column, Verdict
from dispatch_cli.engine.support.verdicts import support_rows
from dispatch_cli.model.calls.support import SupportContext
from dispatch_cli.model.names import OperatorName
from tests import in_pytorch

BACKENDS = {"cpu": "CPU", "meta": "Meta"}
LOST = ("gradient", "wrong")
OUTCOMES = {
    Verdict.NO_KERNEL: "raises",
    Verdict.RAISES: "raises",
    Verdict.GRADIENT_LOST: "gradient",
    Verdict.WRONG: "wrong",
    Verdict.NOT_APPLICABLE: "none",
    Verdict.NOT_KNOWN: "not known",
}
"""Verdict → the outcome that `live.py` has for it; any other one works."""
_NUMBER = re.compile(r"(?<=judge::op)[0-9]+")
UNREAD = "RegisterOperators::options"
"""A deprecated form of registration, which is not understood."""


class Judged(NamedTuple):
    """A cell. live, seen: the outcome, and what was seen. faithful: the operator does what its schema says."""

    operator: str
    device: str
    context: str
    live: str
    seen: str
    ours: Cell
    faithful: bool

    @property
    def verdict(self) -> str:
        """In the words of `live.py`."""
        return OUTCOMES.get(self.ours.verdict, "works")

    @property
    def result(self) -> str:
        """``equal``, ``different``, ``not known`` (by the engine), ``not judged`` or ``apart``."""
        if not self.faithful:
            return "apart"
        if self.live in ("not judged", "none"):
            return "not judged"
        if self.verdict == "not known":
            return "not known"
        if self.device == "meta" and self.live == "works":  # there are no values that could be wrong
            return "equal" if self.verdict != "raises" else "different"
        # a derivative that is wrong is lost
        lost = self.context in ("train", "grad", "jvp") and self.live in LOST and self.verdict in LOST
        return "equal" if lost or self.live == self.verdict else "different"

    def __str__(self) -> str:
        """Both outcomes, without the number of the operator."""
        seen = _NUMBER.sub("", self.seen.replace("\n", " "))[:70]
        reason = self.ours.reason.value if self.ours.reason else ""
        return f"{self.device} {self.context}: live {self.live} ({seen}), ours {self.ours.verdict.value} {reason}"


def version_of(python: str) -> tuple[int, ...]:
    """The version of the PyTorch of that Python."""
    command = [python, "-c", "import importlib.metadata as m; print(m.version('torch'))"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return tuple(map(int, text.strip().partition("+")[0].split(".")))


def answers_of(python: str, operators: Sequence[Any]) -> list[Any]:
    """Output of `live.py` for operators."""
    done = in_pytorch.run([python, str(Path(__file__).with_name("live.py"))], json.dumps(operators))
    # some versions of PyTorch print to it, too
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"name"')]


def judged(version: Sequence[int], operators: Sequence[Any], answers: Iterable[Any], folder: Path) -> list[Judged]:
    """Every cell of the operators of which there are cells, and whose C++ is read.

    operators: those whose sources the engine reads in *folder*; without any, the answers are of PyTorch's own.
    """
    unread = {operator["name"] for operator in operators if UNREAD in operator["cpp"]}
    cells = {row["name"]: row["cells"] for row in answers if row["cells"][0][0] != "refused"}
    cells = {name: row for name, row in cells.items() if name not in unread}
    faithful = {operator["name"]: operator["faithful"] for operator in operators}
    folder.mkdir(exist_ok=True)
    for operator in operators:
        if operator["name"] in cells:
            name = operator["name"].partition("::")[2].replace(".", "_")
            for suffix, source in (("py", operator["source"]), ("cpp", operator["cpp"])):
                (folder / f"{name}.{suffix}").write_text(source, encoding="utf-8")
    sources = [document_of_sources([str(folder)])] if operators else []
    state = load_state(sources, bases=[f"torch-{version[0]}.{version[1]}"])
    columns = [
        Column(BACKENDS[device], device, context) for device in BACKENDS for context in list(SupportContext)[:-1]
    ]
    results = []
    for row in support_rows(state, [OperatorName.parse(name) for name in cells], columns):
        name = str(row.operator)
        ours = {(column.device, column.context.value): cell for column, cell in zip(columns, row.cells, strict=True)}
        for device, context, live, seen in cells[name]:
            results.append(Judged(name, device, context, live, seen, ours[device, context], faithful.get(name, True)))
    return results
