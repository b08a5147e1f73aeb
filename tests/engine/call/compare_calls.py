"""Random calls of random operators on a live PyTorch, compared with ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from dispatch_cli.engine.call.trace import Call, ErrorKind
from dispatch_cli.model.universe import Universe
from tests import in_pytorch
from tests.engine.call.random_calls import AskedOperator, Generator, asked_of, is_error, normal, said_of, simulated


class RandomCalls(NamedTuple):
    """wrong: the calls that went otherwise here, in words. unmade: of how many there is nothing to compare.

    endings: how many of the others ended in each way.
    """

    calls: int
    wrong: list[str]
    unmade: int
    endings: dict[str, int]


def compare(python: str, universe: Universe, seed: int, size: tuple[int, int], directory: Path) -> RandomCalls:
    """size: of how many operators, and how many calls of each. directory: for temporary files."""
    operators = [_without_crashes(universe, operator) for operator in Generator(universe, seed).operators(*size)]
    answers = run_live(python, asked_of(universe, operators), directory)
    wrong, unmade, endings = [], 0, dict.fromkeys(("ended", "error"), 0)
    for number, (operator, recorded) in enumerate(zip(operators, answers, strict=True)):
        for asked, call, recorded_call in zip(
            operator.calls, simulated(universe, number, operator), recorded, strict=True
        ):
            if "unmade" in recorded_call or failed_on_the_way(call, recorded_call):
                unmade += 1
                continue
            problem = difference(call, recorded_call)
            endings[recorded_call["end"]] = endings.get(recorded_call["end"], 0) + 1
            if problem:
                wrong.append(f"op{number}{operator.schema} {operator.kernels}\n {asked}\n  {problem}")
    return RandomCalls(size[0] * size[1], wrong, unmade, endings)


def _without_crashes(universe: Universe, operator: AskedOperator) -> AskedOperator:
    """An operator without the calls that end the process: PyTorch would say nothing of any other."""
    pairs = zip(operator.calls, simulated(universe, 0, operator), strict=True)
    kept = (asked for asked, call in pairs if call.end.error is None or call.end.error.kind is not ErrorKind.CRASH)
    return operator._replace(calls=tuple(kept))


def run_live(python: str, asked: dict[str, Any], directory: Path) -> list[list[dict[str, Any]]]:
    """Answers of PyTorch for the calls."""
    question, answer = directory / "asked.json", directory / "said.json"
    question.write_text(json.dumps(asked), encoding="utf-8")
    script = Path(__file__).with_name("live_calls.py")
    in_pytorch.run([python, str(script), str(question), str(answer)])
    answers: list[list[dict[str, Any]]] = json.loads(answer.read_text(encoding="utf-8"))
    return answers


ON_THE_WAY = ("aten::", "aten.", "version_counter")


def failed_on_the_way(call: Call, said: dict[str, Any]) -> bool:
    """True if another operator failed, which a core fallback called: to clone a tensor, or to slice one.

    Where the simulation says that this happens, it is judged.
    """
    ours = call.end.error
    if said["error"] is None or (ours is not None and any(text in ours.text for text in ON_THE_WAY)):
        return False
    return any(text in said["error"][1] for text in ON_THE_WAY)


def difference(call: Call, said: dict[str, Any]) -> str | None:
    """The difference of a simulated call from what PyTorch did, or None."""
    ours, whole = said_of(call), call.end.error is None or call.end.error.whole
    if call.end.error is not None and call.end.error.kind is ErrorKind.KERNEL and said["end"] == "error":
        same_error = True  # it is the kernel's own
    else:
        same_error = is_error(normal(ours["error"]), normal(said["error"]), whole)
    if ours["end"] == said["end"] == "too deep":
        said["log"] = said["log"][: len(ours["log"])]  # the simulation stops where the circle closes
    wrong = [
        f"{field}: {said[field]}\n   ours: {ours[field]}"
        for field in ours
        if (not same_error if field == "error" else ours[field] != said[field])
    ]
    return "\n  ".join(wrong) or None
