"""Random calls of random operators on a live PyTorch, compared with ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from dispatch_cli.engine.call.trace import Call, ErrorKind
from dispatch_cli.model.options import Options
from dispatch_cli.model.universe import Universe
from tests.engine.call.random_calls import (
    Asked,
    AskedKernel,
    AskedOperator,
    Generator,
    asked_of,
    is_error,
    normal,
    said_of,
    simulated,
)
from tests.engine.live_cases import LiveCase, Side

SCRIPT = Path(__file__).with_name("live_calls.py")
SIZE = (150, 8)


class RandomCalls(NamedTuple):
    """wrong: the calls that went otherwise here, in words. unmade: of how many there is nothing to compare.

    endings: how many of the others ended in each way.
    """

    calls: int
    wrong: list[str]
    unmade: int
    endings: dict[str, int]


def ask(universe: Universe, seed: int, size: tuple[int, int]) -> dict[str, Any]:
    """Input of live_calls.py. size: of how many operators, and how many calls of each.

    Calls that end the process are left out: PyTorch would say nothing of any other.
    """
    operators = [*Generator(universe, seed).operators(*size)]
    for number, operator in enumerate(operators):
        pairs = zip(operator.calls, simulated(universe, 0, operator), strict=True)
        kept = (asked for asked, call in pairs if call.end.error is None or call.end.error.kind is not ErrorKind.CRASH)
        operators[number] = operator._replace(calls=tuple(kept))
    return asked_of(universe, operators)


def compare(universe: Universe, asked: dict[str, Any], answers: list[list[dict[str, Any]]]) -> RandomCalls:
    """Answers of a PyTorch compared with ours."""
    wrong, unmade, endings = [], 0, dict.fromkeys(("ended", "error"), 0)
    operators = [operator_of(operator) for operator in asked["operators"]]
    for number, (operator, recorded) in enumerate(zip(operators, answers, strict=True)):
        calls = zip(operator.calls, simulated(universe, number, operator), recorded, strict=True)
        for asked_call, call, recorded_call in calls:
            if "unmade" in recorded_call or failed_on_the_way(call, recorded_call):
                unmade += 1
                continue
            problem = difference(call, recorded_call)
            endings[recorded_call["end"]] = endings.get(recorded_call["end"], 0) + 1
            if problem:
                wrong.append(f"op{number}{operator.schema} {operator.kernels}\n {asked_call}\n  {problem}")
    return RandomCalls(sum(len(operator.calls) for operator in operators), wrong, unmade, endings)


def operator_of(asked: dict[str, Any]) -> AskedOperator:
    """An operator from the input of live_calls.py."""
    calls = tuple(
        Asked(
            tuple(call["tensors"]),
            tuple(call["contexts"]),
            None if call["keyset"] is None else tuple(call["keyset"]),
            Options(**call["options"]),
        )
        for call in asked["calls"]
    )
    kernels = tuple(AskedKernel(*kernel) for kernel in asked["kernels"])
    return AskedOperator(asked["schema"], kernels, calls, asked["custom"])


ON_THE_WAY = ("aten::", "aten.", "version_counter")


def failed_on_the_way(call: Call, said: dict[str, Any]) -> bool:
    """True if another operator failed, which a core fallback called: to clone a tensor, or to slice one.

    Or the fake mode looked for the module of a device that the build does not have. Where the simulation says that this
    happens, it is judged.
    """
    ours = call.end.error
    if said["error"] is not None and said["error"][1].startswith("module 'torch' has no attribute"):
        return True
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


def _ask(side: Side, seed: int) -> Any:
    return ask(side.universe, seed, SIZE)


def _wrong(side: Side, asked: Any, answers: Any) -> list[str]:
    total, wrong, unmade, endings = compare(side.universe, asked, answers)
    assert unmade < total / 5
    assert min(endings["ended"], endings["error"]) > total / 10, endings
    return wrong


CASE = LiveCase(SCRIPT, _wrong, _ask)
