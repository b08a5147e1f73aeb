"""Replaying recorded registration histories (``tests/recordings/record_sequences.py``) through the bindings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dispatch_cli.bindings import Bindings

State = dict[str, Any]


def replay(bindings: Bindings, history: list[State], index: int) -> Iterator[tuple[State, State]]:
    """Do one history again. Yields, per step, what was recorded after it and what the bindings say now."""
    namespace = f"seq{index}"
    libraries: dict[int, Any] = {}
    for number, step in enumerate(history):
        error = None
        if step["do"] == "drop":
            del libraries[step["step"]]
        else:
            library = _open(bindings, namespace, step)
            try:
                _register(library, step)
                libraries[number] = library
            except RuntimeError as refused:
                error = str(refused)
            del library
        yield {**step["after"], "error": step.get("error")}, {**_state(bindings, f"{namespace}::foo"), "error": error}


def differences(bindings: Bindings, histories: list[list[State]]) -> tuple[int, list[str]]:
    """Replay all of them. The number of steps, and a line for each that is not as it was recorded."""
    steps, problems = 0, []
    for index, history in enumerate(histories):
        for number, (recorded, now) in enumerate(replay(bindings, history, index)):
            steps += 1
            if recorded != now:
                what = {field: (now[field], recorded[field]) for field in recorded if recorded[field] != now[field]}
                problems.append(f"history {index}, step {number}: {what}")
        left = [name for name in bindings._dispatch_get_all_op_names() if name.startswith(f"seq{index}::")]
        if left:
            problems.append(f"history {index} left {left}")
    return steps, problems


def _open(bindings: Bindings, namespace: str, step: State) -> Any:
    if step["do"] == "fallback_fallthrough":
        return bindings._dispatch_library("IMPL", "_", step["key"])
    return bindings._dispatch_library("FRAGMENT", namespace, "")


def _register(library: Any, step: State) -> None:
    if step["do"] == "def":
        library.def_(step["schema"], step["alias"])
    elif step["do"] == "impl":
        library.impl_t_t("foo", dispatch=step["key"], debug=step["debug"])
    else:
        library.fallback_fallthrough()


def _state(bindings: Bindings, name: str) -> State:
    return {
        "dump": bindings._dispatch_dump(name),
        "table": bindings._dispatch_dump_table(name),
        "invariants": invariants_hold(bindings, name),
    }


def invariants_hold(bindings: Bindings, name: str) -> bool:
    """True if ``_dispatch_check_invariants`` passes."""
    try:
        bindings._dispatch_check_invariants(name)
    except RuntimeError:
        return False
    return True
