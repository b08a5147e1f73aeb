"""The history of operators computed from raw dumps alone, and how it differs from what ``history`` says.

Nothing of the engine is used: registrations, slots and schemas are read out of the texts that PyTorch prints, and
compared by text. A kernel is the source file that its text names; ``/dev/null`` is a Python function of which nothing
is known.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tests.cli.support import call
from tests.engine.comparison.dumps import RawOperator, file_of, live, read


class Kernel(NamedTuple):
    """file: None where it is not known."""

    file: str | None
    fallthrough: bool


class Slot(NamedTuple):
    """source: the key at which the kernel is registered; None where it is none of the operator's."""

    rule: str
    source: str | None
    kernel: Kernel | None


NOTHING = Slot("", None, None)
Changes = dict[str, Any]
"""Per version: ``schema`` (both texts), ``kernels`` and ``slots`` (both sides by key), ``defined``, ``gone``."""


def ask(python: str) -> dict[str, Any]:
    """Output of a Python's PyTorch for all operators, and its version, such as ``2.15``."""
    script = "from importlib.metadata import version; print(version('torch'))"
    done = subprocess.run([python, "-c", script], capture_output=True, text=True, check=True)
    return {"version": ".".join(done.stdout.split(".")[:2]), **live(python)}


def expected(versions: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Changes]]:
    """Changes that the dumps have, by operator and version: only where something changed."""
    changes: dict[str, dict[str, Changes]] = {name: {} for version in versions for name in version["ops"]}
    seen = [read(version) for version in versions]
    for place in range(1, len(versions)):
        shared = {"Undefined", *versions[place - 1]["runtime"]} & {"Undefined", *versions[place]["runtime"]}
        for name, by_version in changes.items():
            changed = _changes(seen[place - 1].get(name), seen[place].get(name), shared)
            if changed:
                by_version[versions[place]["version"]] = changed
    return changes


def _changes(old: RawOperator | None, new: RawOperator | None, shared: set[str]) -> Changes:
    if old is None or new is None:
        return {} if old is new else {"defined" if old is None else "gone": True}
    results: Changes = {}
    if old.schema != new.schema:
        results["schema"] = (old.schema, new.schema)
    kernels = {}
    for key in {*old.kernels, *new.kernels}:
        before, after = (_active(side, key) for side in (old, new))
        if not _same(before, after):
            kernels[key] = (before, after)
    slots = {}
    for key in shared:
        was, became = _slot(old, key), _slot(new, key)
        if was[:2] != became[:2] or not _same(was.kernel, became.kernel):
            slots[key] = (was, became)
    return results | ({"kernels": kernels} if kernels else {}) | ({"slots": slots} if slots else {})


def _kernel(skips: bool, debug: str) -> Kernel:
    file = file_of(debug)
    return Kernel(None if file == "null" else file, skips)


def _active(operator: RawOperator, key: str) -> Kernel | None:
    return _kernel(*operator.kernels[key][0]) if key in operator.kernels else None


def _slot(operator: RawOperator, key: str) -> Slot:
    if key not in operator.slots:
        return NOTHING
    skips, debug, rule, source = operator.slots[key]
    return Slot(rule, source or None, None if rule.startswith("ambiguous") else _kernel(skips, debug))


def _same(one: Kernel | None, other: Kernel | None) -> bool:
    if one is None or other is None:
        return one is other
    files = (one.file, other.file)
    of_python = not any(file is not None and file.endswith((".cpp", ".cu", ".h")) for file in files)
    return one.fallthrough == other.fallthrough and (files[0] == files[1] or (None in files and of_python))


def said(history: Mapping[str, Any]) -> dict[str, Changes]:
    """The same of the JSON of ``history``; what the dumps do not show is left out."""
    results = {}
    for change in history["changes"]:
        version: Changes = {}
        if change["change"] != "replaced":
            version["defined" if change["change"] == "added" else "gone"] = True
        if change["schema"] and change["schema"]["old"] != change["schema"]["new"]:
            version["schema"] = (change["schema"]["old"], change["schema"]["new"])
        kernels = {
            row["key"]: (_said_kernel(row["before"]), _said_kernel(row["after"]))
            for row in change["registrations"]
            if row["change"] != "beneath"
        }
        for move in change["moves"]:
            moved = _said_kernel([move["kernel"]])
            kernels |= dict.fromkeys(move["old_keys"], (moved, None))
            kernels |= dict.fromkeys(move["new_keys"], (None, moved))
        slots = {
            key: (_said_slot(row["before"]), _said_slot(row["after"])) for row in change["slots"] for key in row["keys"]
        }
        version |= ({"kernels": kernels} if kernels else {}) | ({"slots": slots} if slots else {})
        if version:
            results[change["version"].removeprefix("torch-")] = version
    return results


def _said_kernel(rows: Sequence[Mapping[str, Any]]) -> Kernel | None:
    if not rows:
        return None
    debug = rows[0]["debug"]
    return Kernel(rows[0]["file"] or (None if debug.startswith("registered at ") else debug), rows[0]["fallthrough"])


_FALLBACK = "backend fallback"
RULES = {
    "kernel": "kernel",
    "default": "default backend kernel",
    "nested": "nested kernel",
    "ambiguous": "ambiguous autogradother",
    "math": "math kernel",
    "autograd": "autograd kernel",
    "batched": "batched kernel",
    "fallback": _FALLBACK,
}
"""Names of a rule in JSON, and in a dump."""


def _said_slot(row: Mapping[str, Any]) -> Slot:
    if row["rule"] == "missing":
        return NOTHING
    return Slot(RULES[row["rule"]], row["source"], None if row["kernel"] is None else _said_kernel([row["kernel"]]))


def differences(versions: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Iterator[str]:
    """Differences between ``history`` and the dumps, of some operators."""
    answers = (json.loads(call("history", name, "--format", "json").out)["operators"] for name in names)
    by_name = {row["operator"]: row for answer in answers for row in answer if not row["higher_order"]}
    for name, mine in expected(versions).items():
        if name not in names:
            continue
        its = said(by_name[name])
        for version in dict.fromkeys((*mine, *its)):
            my_changes, other = mine.get(version, {}), its.get(version, {})
            for what in sorted({*my_changes, *other}):
                sides = _sides(my_changes.get(what)), _sides(other.get(what))
                for key in sorted({*sides[0], *sides[1]}):
                    if sides[0].get(key) != sides[1].get(key):
                        shown = f"PyTorch {sides[0].get(key)}, history {sides[1].get(key)}"
                        yield f"{name} {version} {what} {key}: {shown}"


def _sides(found: Any) -> dict[str, Any]:
    """By key, both sides. Where slots of one row have different fallbacks, ``history`` names none: none counts."""
    by_key = found if isinstance(found, dict) else {} if found is None else {"": found}
    return {key: tuple(map(_but_fallback, pair)) if isinstance(pair, tuple) else pair for key, pair in by_key.items()}


def _but_fallback(side: Any) -> Any:
    return side._replace(kernel=None) if isinstance(side, Slot) and side.rule == _FALLBACK else side
