"""The differences between two PyTorch builds, from the text of their own dumps alone; nothing of the engine is used."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

RAW = """
import json, re, sys, torch
C = torch._C
names = sorted(C._dispatch_get_all_op_names())
keys = re.findall(r"\\w+", str(C._dispatch_keyset_full()).split("(", 1)[1])
print(json.dumps({
    "runtime": keys,
    "ops": {name: {"dump": C._dispatch_dump(name), "table": C._dispatch_dump_table(name)} for name in names},
}))
"""
"""Code that a Python with PyTorch runs to print its raw dumps."""

_LINE = re.compile(r"(\w+)(?:\[alias\])?( \(inactive\))?: (.*) :: .* \[ ([a-z ]*)\]")
_ALIASES_OF_RULES = {
    "default backend kernel": ("CompositeExplicitAutogradNonFunctional", "CompositeExplicitAutograd"),
    "nested kernel": ("CompositeImplicitAutogradNestedTensor",),
    "math kernel": ("CompositeImplicitAutograd",),
    "autograd kernel": ("Autograd",),
    "batched kernel": ("FuncTorchBatchedDecomposition",),
}
Kernel = tuple[bool, str]
"""True if it falls through, and its debug text."""


class RawOperator(NamedTuple):
    """An operator as a build prints it. kernels: newest first. slots: fallthrough, debug text, rule, source key."""

    schema: str
    alias_analysis: str
    kernels: dict[str, list[Kernel]]
    slots: dict[str, tuple[bool, str, str, str]]


class RawDifferences(NamedTuple):
    """Differences of two builds. registrations and slots: of the operators that both have."""

    added: set[str]
    removed: set[str]
    schemas: dict[str, tuple[str, str]]
    alias_analysis: set[str]
    registrations: dict[tuple[str, str], str]
    slots: set[tuple[str, str]]


def read(raw: Mapping[str, Any]) -> dict[str, RawOperator]:
    """The operators of a recording, or of what `RAW` prints."""
    return {name: _operator(one["dump"], one["table"]) for name, one in raw["ops"].items()}


def raw_differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> RawDifferences:
    """Differences between two recordings."""
    sides, keys = (read(old), read(new)), {"Undefined", *old["runtime"]} & {"Undefined", *new["runtime"]}
    before, after = sides
    both = before.keys() & after.keys()
    return RawDifferences(
        set(after) - set(before),
        set(before) - set(after),
        {
            name: schemas
            for name in both
            if (schemas := (before[name].schema, after[name].schema)) and schemas[0] != schemas[1]
        },
        {name for name in both if before[name].alias_analysis != after[name].alias_analysis},
        {(name, key): what for name in both for key, what in _registrations(before[name], after[name])},
        {
            (name, key)
            for name in both
            for key in keys
            if not _same_slot(before[name].slots.get(key), after[name].slots.get(key))
        },
    )


def _operator(dump: str, table: str) -> RawOperator:
    heading = dict(line.split(": ", 1) for line in dump.splitlines()[:4] if ": " in line)
    kernels: dict[str, list[Kernel]] = {}
    for line in dump.splitlines()[4 if "debug" in heading else 2 :]:
        match = _LINE.fullmatch(line)
        assert match is not None, line
        kernels.setdefault(match[1], []).append(("fallthrough" in match[4].split(), match[3]))
    slots = {}
    for line in table.splitlines():
        key, _, answer = line.partition(": ")
        debug, _, rule = answer[:-1].rpartition(" [")
        skips = debug.startswith("fallthrough ")
        debug = debug.removeprefix("fallthrough ")
        slots[key] = (skips, debug, rule, _source(kernels, key, debug, rule))
    return RawOperator(heading["schema"], heading.get("alias analysis kind", ""), kernels, slots)


def _source(kernels: Mapping[str, list[Kernel]], key: str, debug: str, rule: str) -> str:
    """The key at which the kernel in a slot is registered; nothing for a fallback and an ambiguous slot."""
    if rule == "kernel":
        return key
    return next(
        (alias for alias in _ALIASES_OF_RULES.get(rule, ()) if alias in kernels and kernels[alias][0][1] == debug), ""
    )


def _registrations(old: RawOperator, new: RawOperator) -> Iterable[tuple[str, str]]:
    for key in old.kernels.keys() | new.kernels.keys():
        before, after = old.kernels.get(key), new.kernels.get(key)
        if before is None or after is None:
            yield key, "added" if before is None else "removed"
        elif not _same(before[0], after[0]):
            yield key, "replaced"
        elif len(before) != len(after) or not all(map(_same, before, after)):
            yield key, "beneath"


def _same_slot(old: tuple[bool, str, str, str] | None, new: tuple[bool, str, str, str] | None) -> bool:
    if old is None or new is None:
        return old is new
    return old[2:] == new[2:] and _same(old[:2], new[:2])


def _same(old: Kernel, new: Kernel) -> bool:
    files = (file_of(old[1]), file_of(new[1]))
    if old[0] != new[0]:
        return False
    # a Python kernel, of which older versions do not say the file, is not one of a C++ file
    return files[0] == files[1] or ("null" in files and not any(file.endswith((".cpp", ".cu", ".h")) for file in files))


@cache
def file_of(debug: str) -> str:
    """``registered at a/b/RegisterCPU_0.cpp:12`` → ``RegisterCPU.cpp``; a text without a path stays as it is."""
    if not debug.startswith("registered at "):
        return debug
    path = debug.removeprefix("registered at ").rsplit(":", 1)[0]
    stem, dot, ending = path.rsplit("/", 1)[-1].partition(".")
    return re.sub(r"_\d+$", "", stem) + dot + ending


def live(python: str) -> dict[str, Any]:
    """Dumps that a live build prints."""
    done = subprocess.run([python, "-c", RAW], check=True, capture_output=True, text=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def of_report(report: Mapping[str, Any]) -> RawDifferences:
    """The same of the JSON of ``dispatch-cli diff``."""
    registrations = {
        (registration["operator"], registration["key"]): registration["change"]
        for registration in report["registrations"]
    }
    alone = {row["operator"] for which in ("added", "removed") for row in report[f"operators_{which}"]}
    for key in report["keys"]:
        change = "removed" if key["side"] == report["old"]["universe"] else "added"
        registrations |= {(name, key["key"]): change for name in key["operators"] if name not in alone}
    return RawDifferences(
        {row["operator"] for row in report["operators_added"]},
        {row["operator"] for row in report["operators_removed"]},
        {
            schema["operator"]: (schema["old_schema"], schema["new_schema"])
            for schema in report["schemas"]
            if schema["old_schema"] != schema["new_schema"]
        },
        {schema["operator"] for schema in report["schemas"] if schema["new_alias_analysis"] is not None},
        registrations,
        {
            (operator["operator"], key)
            for group in report["slots"]
            for key in group["keys"]
            for operator in group["operators"]
        },
    )
