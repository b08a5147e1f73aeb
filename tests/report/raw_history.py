"""The history of operators computed from raw dumps alone, and how it differs from what ``history`` says.

Nothing of the engine is used: registrations, slots and schemas are read out of the texts that PyTorch prints, and
compared by text. A kernel is the source file that its text names; ``/dev/null`` is a Python function of which nothing
is known. A number at the end of a generated file's name does not count.

usage: python -m tests.report.raw_history [--all] PYTHON...   (the oldest PyTorch first; all that are embedded)
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tests.cli.support import call
from tests.recordings.record_raw_dumps import ask

OPERATORS = (
    "aten::_cdist_backward",
    "aten::_flash_attention_backward",
    "aten::_flash_attention_forward",
    "aten::_scaled_mm",
    "aten::add.Tensor",
    "aten::align_as",
    "aten::kthvalue",
    "aten::qr",
    "aten::tril",
    "prims::slice",
)
_KERNEL = re.compile(r"(\w+)(?:\[alias\])?( \(inactive\))?: (.*) :: .* \[ ([a-z ]*)\]")
_FILE = re.compile(r"registered at (?:\S*/)?([^/\s]+?)(?:_\d+)?(\.\w+):\d+")
_SLOT = re.compile(r"(\w+): (fallthrough )?(.*) \[([a-z A-Z]+)\]")
_ALIASES = {
    "math kernel": ("CompositeImplicitAutograd",),
    "default backend kernel": ("CompositeExplicitAutogradNonFunctional", "CompositeExplicitAutograd"),
    "autograd kernel": ("Autograd",),
    "nested kernel": ("CompositeImplicitAutogradNestedTensor",),
    "batched kernel": ("FuncTorchBatchedDecomposition",),
}
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
"""What JSON calls a rule, and what a dump does."""


class Kernel(NamedTuple):
    """file: None where it is not known."""

    file: str | None
    fallthrough: bool


class Slot(NamedTuple):
    """source: the key at which the kernel is registered; None where the table's text does not tell."""

    rule: str
    source: str | None
    kernel: Kernel | None


NOTHING = Slot("", None, None)


class Operator(NamedTuple):
    """What the dumps of an operator say. kernels: newest first."""

    schema: str
    kernels: dict[str, list[Kernel]]
    slots: dict[str, Slot]


def kernel(debug: str, fallthrough: bool) -> Kernel:
    """A kernel by its debug text."""
    match = _FILE.match(debug)
    return Kernel(None if match is None else match[1] + match[2], fallthrough)


def operator(dump: str, table: str) -> Operator:
    """Read the two dumps of an operator."""
    schema, texts = "", dict[str, str]()
    kernels: dict[str, list[Kernel]] = {}
    for line in dump.splitlines():
        if line.startswith("schema: "):
            schema = line.removeprefix("schema: ")
        elif match := _KERNEL.fullmatch(line):
            key, inactive, debug, flags = match.groups()
            kernels.setdefault(key, []).append(kernel(debug, "fallthrough" in flags.split()))
            if inactive is None:
                texts[key] = debug
    slots = {}
    for line in table.splitlines():
        match = _SLOT.fullmatch(line)
        assert match is not None, line
        key, falls, debug, rule = match.groups()
        of_rule = (key,) if rule == "kernel" else _ALIASES.get(rule, ())
        source = next((one for one in of_rule if texts.get(one) == debug), None)
        slots[key] = Slot(rule, source, None if rule.startswith("ambiguous") else kernel(debug, falls is not None))
    return Operator(schema, kernels, slots)


def same(one: Kernel | None, other: Kernel | None) -> bool:
    """Whether two kernels at one key are the same, as far as the texts tell."""
    if one is None or other is None:
        return one is other
    files = (one.file, other.file)
    return one.fallthrough == other.fallthrough and (None in files or files[0] == files[1])


Changes = dict[str, Any]
"""Of a version: ``schema`` (both texts), ``kernels`` and ``slots`` (both sides by key), ``defined``, ``gone``."""


def changes(old: Operator | None, new: Operator | None, shared: set[str]) -> Changes:
    """What changed from one version to the next. shared: the keys that both have."""
    if old is None or new is None:
        return {} if old is new else {"defined" if old is None else "gone": True}
    found: Changes = {}
    if old.schema != new.schema:
        found["schema"] = (old.schema, new.schema)
    pairs = {key: (old.kernels.get(key, []), new.kernels.get(key, [])) for key in {*old.kernels, *new.kernels}}
    kernels = {
        key: tuple(side[0] if side else None for side in pair)
        for key, pair in pairs.items()
        if not pair[0] or not pair[1] or not same(pair[0][0], pair[1][0])
    }
    slots = {}
    for key in shared:
        was, became = old.slots.get(key, NOTHING), new.slots.get(key, NOTHING)
        if (was.rule, was.source) != (became.rule, became.source) or not same(was.kernel, became.kernel):
            slots[key] = (was, became)
    return found | ({"kernels": kernels} if kernels else {}) | ({"slots": slots} if slots else {})


def expected(versions: Sequence[Mapping[str, Any]], name: str) -> dict[str, Changes]:
    """What the dumps say of an operator, by version: only where something changed."""
    seen = [operator(*one["dumps"][name]) if name in one["dumps"] else None for one in versions]
    found = {}
    for place in range(1, len(versions)):
        shared = {*versions[place - 1]["keys"]} & {*versions[place]["keys"]}
        version = changes(seen[place - 1], seen[place], shared)
        if version:
            found[_version(versions[place])] = version
    return found


def _version(one: Mapping[str, Any]) -> str:
    return ".".join(one["torch"].split(".")[:2])


def said(history: Mapping[str, Any]) -> dict[str, Changes]:
    """The same of the JSON of ``history``; what the dumps do not show is left out."""
    found = {}
    for one in history["changes"]:
        version: Changes = {}
        if one["change"] != "replaced":
            version["defined" if one["change"] == "added" else "gone"] = True
        if one["schema"] and one["schema"]["old"] != one["schema"]["new"]:
            version["schema"] = (one["schema"]["old"], one["schema"]["new"])
        kernels = {
            row["key"]: (_kernel(row["before"]), _kernel(row["after"]))
            for row in one["registrations"]
            if row["change"] != "beneath"
        }
        for move in one["moves"]:
            moved = _kernel([move["kernel"]])
            kernels |= dict.fromkeys(move["old_keys"], (moved, None))
            kernels |= dict.fromkeys(move["new_keys"], (None, moved))
        slots = {key: (_slot(row["before"]), _slot(row["after"])) for row in one["slots"] for key in row["keys"]}
        version |= ({"kernels": kernels} if kernels else {}) | ({"slots": slots} if slots else {})
        if version:
            found[one["version"].removeprefix("torch-")] = version
    return found


def _kernel(rows: Sequence[Mapping[str, Any]]) -> Kernel | None:
    return Kernel(rows[0]["file"], rows[0]["fallthrough"]) if rows else None


def _slot(row: Mapping[str, Any]) -> Slot:
    if row["rule"] == "missing":
        return NOTHING
    text = RULES[row["rule"]]
    return Slot(text, row["source"], None if row["kernel"] is None else _kernel([row["kernel"]]))


def differences(versions: Sequence[Mapping[str, Any]], names: Sequence[str], glob: str) -> Iterator[str]:
    """Where ``history`` says something else than the dumps. glob: finds all of the names, perhaps more."""
    line = ["history", glob, "--from", f"torch-{_version(versions[0])}", "--to", f"torch-{_version(versions[-1])}"]
    reports = json.loads(call(*line, "--format", "json").out)["operators"]
    by_name = {one["operator"]: one for one in reports if not one["higher_order"]}
    for name in names:
        mine, its = expected(versions, name), said(by_name[name]) if name in by_name else {}
        for version in sorted({*mine, *its}, key=lambda text: int(text.partition(".")[2])):
            one, other = mine.get(version, {}), its.get(version, {})
            for what in sorted({*one, *other}):
                sides = _sides(one.get(what)), _sides(other.get(what))
                for key in sorted({*sides[0], *sides[1]}):
                    mine_there, its_there = (side.get(key) for side in sides)
                    if mine_there != its_there:
                        yield f"{name} {version} {what} {key}: PyTorch {mine_there}, history {its_there}"


def _sides(found: Any) -> dict[str, Any]:
    """By key, both sides. Where slots of one row have different fallbacks, ``history`` names none: none counts."""
    by_key = found if isinstance(found, dict) else {} if found is None else {"": found}
    return {key: tuple(map(_but_fallback, pair)) if isinstance(pair, tuple) else pair for key, pair in by_key.items()}


def _but_fallback(side: Any) -> Any:
    return side._replace(kernel=None) if isinstance(side, Slot) and side.rule == _FALLBACK else side


def main(*arguments: str) -> None:
    """Ask every Python, compare, and print what differs and how much was compared."""
    is_all = arguments[:1] == ("--all",)
    versions = [ask(python, () if is_all else OPERATORS) for python in arguments[is_all:]]
    names = sorted({name for one in versions for name in one["dumps"]})
    found = [
        one
        for name in ([""] if is_all else names)
        for one in differences(versions, [name] if name else names, name or "*")
    ]
    for one in found:
        print(one)
    counted = [expected(versions, name) for name in names]
    kinds = ("defined", "gone", "schema", "kernels", "slots")
    said_of = ", ".join(f"{sum(kind in one for each in counted for one in each.values())} {kind}" for kind in kinds)
    print(f"{len(versions)} versions, {len(names)} operators; versions in which something changed: {said_of}")
    print(f"{len(found)} differences")
    sys.exit(bool(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
