"""Make a universe file from a recording of a live PyTorch.

usage: python -m dispatch_cli.universes.build STATE.json.xz HISTORIES.json.xz OUT.json

STATE is what ``tests/recordings/record.py`` writes, HISTORIES what ``tests/recordings/record_sequences.py`` writes.
The state holds the layout of keys; which slots a registration recomputes is not in it. That follows from
``OperatorEntry::updateDispatchTable_``, except that some versions' alias keys refresh nothing: the histories show it,
where an operator with nothing but that alias registered already breaks PyTorch's invariants.
"""

from __future__ import annotations

import json
import lzma
import re
import sys
from pathlib import Path
from typing import Any

from dispatch_cli.model.universe import UNDEFINED

FILLS_UNDEFINED = ("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")
NO_AUTOGRAD_KEY_OF_THEIR_OWN = ("HIP", "VE")
"""Backends that ``getAutogradKeyFromBackend`` sends to AutogradOther although an autograd slot exists for them."""


def build(state: dict[str, Any], histories: dict[str, Any]) -> dict[str, Any]:
    """The fields of a universe file."""
    recorded = state["universe"]
    autograd = {key: keys for key, keys in recorded["autograd_backends"].items() if keys}
    lowest = recorded["functionality"][0]
    version = re.match(r"\d+\.\d+", state["torch"])
    assert version is not None, state["torch"]
    return {
        "format": 1,
        "name": f"torch-{version[0]}",
        "torch": state["torch"],
        "git": state["git"],
        "functionalities": recorded["functionality"],
        "backends": recorded["per_backend"][lowest],
        "per_backend": recorded["per_backend"],
        "runtime": recorded["runtime"],
        "aliases": recorded["alias"],
        "autograd_backends": autograd,
        "autogradother_backends": recorded["autogradother_backends"],
        "ids": recorded["ids"],
        "unparseable": sorted(set(recorded["ids"]) - set(recorded["parseable"])),
        "refreshes": _refreshes(recorded, _silent_aliases(recorded, histories)),
        "full_after_always": recorded["full_after"][lowest],
        "after_autograd": _functionality_of(recorded, recorded["after_autograd"]),
        "after_ADInplaceOrView": _functionality_of(recorded, recorded["after_ADInplaceOrView"]),
        "default_included": recorded["default_included"],
        "default_excluded": recorded["default_excluded"],
        "devices": recorded["device_key"],
        "fallbacks": fallbacks(state["empty_table"]),
    }


def fallbacks(empty_table: str) -> list[dict[str, Any]]:
    """The core fallbacks, read off the table of an operator that has no kernels."""
    found = []
    for key, through, debug in re.findall(r"^(\w+): (fallthrough )?(.*) \[backend fallback\]$", empty_table, re.M):
        found.append({"key": key, "debug": debug, "fallthrough": bool(through)})
    assert len(found) == len(empty_table.splitlines()), "a line of the empty table is not a backend fallback"
    return found


def _functionality_of(recorded: dict[str, Any], keyset: list[str]) -> str:
    full_after: dict[str, list[str]] = recorded["full_after"]
    return next(key for key, after in full_after.items() if after == keyset)


def _silent_aliases(recorded: dict[str, Any], histories: dict[str, Any]) -> set[str]:
    """Aliases whose registration, alone on a new operator, leaves the live table behind."""
    silent = set()
    for history in histories["histories"]:
        first = history[0]
        if first["do"] == "impl" and first["key"] in recorded["alias"] and not first["after"]["invariants"]:
            silent.add(first["key"])
    return silent


def _refreshes(recorded: dict[str, Any], silent: set[str]) -> dict[str, list[str]]:
    refreshes: dict[str, list[str]] = {}
    for alias, covered in recorded["alias"].items():
        undefined = [UNDEFINED] if alias in FILLS_UNDEFINED else []
        refreshes[alias] = [] if alias in silent else [*covered, *undefined]
    dense = recorded["per_backend"][recorded["functionality"][0]]
    autograd = recorded["per_backend"]["AutogradFunctionality"]
    own = dict(zip(dense, autograd, strict=True))
    backends = {*dense, *recorded["autogradother_backends"]}
    for functionality in recorded["functionality"]:
        keys = recorded["per_backend"].get(functionality)
        if keys is None:
            if functionality in backends:
                refreshes[functionality] = [functionality, "AutogradOther"]
            continue
        # the functionality's own name can be registered at, too: it has no slot, only the autograd key is recomputed
        refreshes[functionality] = ["AutogradOther"] if keys[0] in backends else []
        for key, backend in zip(keys, dense, strict=True):
            if key in backends:
                other = backend in NO_AUTOGRAD_KEY_OF_THEIR_OWN
                refreshes[key] = [key, "AutogradOther" if other else own[backend]]
    return refreshes


def render(data: dict[str, Any]) -> str:
    """The file's text: one field a line, so that a change of version reads well in a diff."""
    lines = []
    for field, value in data.items():
        if isinstance(value, dict) and value and not all(isinstance(item, int | str) for item in value.values()):
            inner = ",\n".join(f"  {json.dumps(key)}: {json.dumps(item)}" for key, item in value.items())
            lines.append(f"{json.dumps(field)}: {{\n{inner}\n}}")
        elif field == "fallbacks":
            inner = ",\n".join(f"  {json.dumps(item)}" for item in value)
            lines.append(f"{json.dumps(field)}: [\n{inner}\n]")
        else:
            lines.append(f"{json.dumps(field)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main(state: str, histories: str, out: str) -> None:
    """Read the two recordings and write the universe file."""
    with lzma.open(state, "rt") as file:
        state_data = json.load(file)
    with lzma.open(histories, "rt") as file:
        histories_data = json.load(file)
    Path(out).write_text(render(build(state_data, histories_data)), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
