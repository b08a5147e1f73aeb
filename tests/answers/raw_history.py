"""The history of operators computed from raw dumps alone, and how it differs from what ``history`` says.

Nothing of the engine is used: see `tests.engine.comparison.dumps`.
"""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from tests.cli.support import call
from tests.engine.comparison.dumps import live, raw_differences

Changes = dict[str, Any]
"""``schema`` (both texts), ``kernels`` (by key what became of it), ``slots`` (the keys), ``defined``, ``gone``."""


def ask(python: str) -> dict[str, Any]:
    """Output of a Python's PyTorch for all operators, and its version, such as ``2.15``."""
    script = "from importlib.metadata import version; print(version('torch'))"
    done = subprocess.run([python, "-c", script], capture_output=True, text=True, check=True)
    return {"version": ".".join(done.stdout.split(".")[:2]), **live(python)}


def expected(versions: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Changes]]:
    """Changes that the dumps have, by operator and version: only where something changed."""
    changes: dict[str, dict[str, Changes]] = {name: {} for version in versions for name in version["ops"]}
    for old, new in pairwise(versions):
        between = raw_differences(old, new)
        changed: defaultdict[str, Changes] = defaultdict(dict)
        for name in between.added:
            changed[name]["defined"] = True
        for name in between.removed:
            changed[name]["gone"] = True
        for name, schemas in between.schemas.items():
            changed[name]["schema"] = schemas
        for (name, key), what in between.registrations.items():
            if what != "beneath":
                changed[name].setdefault("kernels", {})[key] = what
        for name, key in between.slots:
            changed[name].setdefault("slots", set()).add(key)
        for name, row in changed.items():
            changes[name][new["version"]] = row
    return changes


def said(history: Mapping[str, Any]) -> dict[str, Changes]:
    """The same of the JSON of ``history``; what the dumps do not show is left out."""
    results = {}
    for change in history["changes"]:
        version: Changes = {}
        if change["change"] != "replaced":
            version["defined" if change["change"] == "added" else "gone"] = True
        if change["schema"] and change["schema"]["old"] != change["schema"]["new"]:
            version["schema"] = (change["schema"]["old"], change["schema"]["new"])
        kernels = {row["key"]: row["change"] for row in change["registrations"] if row["change"] != "beneath"}
        slots = {key for row in change["slots"] for key in row["keys"]}
        version |= ({"kernels": kernels} if kernels else {}) | ({"slots": slots} if slots else {})
        if version:
            results[change["version"].removeprefix("torch-")] = version
    return results


def differences(versions: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Iterator[str]:
    """Differences between ``history`` and the dumps, of some operators."""
    by_dumps = expected(versions)
    for name in names:
        (row,) = json.loads(call("history", name, "--format", "json").out)["operators"]
        mine, its = by_dumps[name], said(row)
        for version in dict.fromkeys((*mine, *its)):
            if mine.get(version) != its.get(version):
                yield f"{name} {version}: PyTorch {mine.get(version)}, history {its.get(version)}"
