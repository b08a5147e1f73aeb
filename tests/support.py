"""Shared parts of the tests: the recordings of live PyTorch dispatchers, and how to replay them."""

from __future__ import annotations

import json
import lzma
import re
from functools import cache
from pathlib import Path
from typing import Any

from dispatch_cli import universes
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.model.kernel import AliasAnalysisKind, Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.parser import parse_printed_schema, parse_signature

RECORDINGS = Path(__file__).parent / "recordings"
SOME_UNIVERSES = (universes.names()[0], universes.names()[len(universes.names()) // 2], universes.names()[-1])
"""The newest embedded universe, one in the middle and the oldest: for tests that take long in each."""
UNIVERSE_OF = {"2.4.1": "torch-2.4", "2.15.0": "torch-2.15"}
"""Recorded PyTorch version → the embedded universe made from it."""

_KERNEL = re.compile(r"(\w+)(\[alias\])?( \(inactive\))?: (.*) :: (.*) \[ ([a-z ]*)\]")


@cache
def load_recording(name: str) -> Any:
    """A recording by the middle of its file name, such as ``2.15.0.state``."""
    with lzma.open(RECORDINGS / f"torch-{name}.json.xz", "rt") as file:
        return json.load(file)


def slot_errors(version: str) -> list[dict[str, Any]]:
    """Recorded errors that PyTorch's C++ prints of slots; those of Python's ``resolve_key`` are not explained."""
    return of_slots(load_recording(f"{version}.errors")["errors"])


def of_slots(errors: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those of recorded errors that C++ prints."""
    return [error for error in errors if "could not find kernel for" not in error["text"]]


@cache
def libraries() -> dict[str, dict[str, Any]]:
    """Output of PyTorch for real libraries: by library, the PyTorch, all schemas and all kernels' signatures."""
    with lzma.open(RECORDINGS / "libraries.printed_schemas.json.xz", "rt") as file:
        answer: dict[str, dict[str, Any]] = json.load(file)
        return answer


def replay_dump(dispatcher: Dispatcher, dump: str) -> OperatorName:
    """Register what a recorded registration dump shows, oldest kernel first."""
    lines = dump.splitlines()
    name = OperatorName.parse(lines[0].removeprefix("name: "))
    schema = lines[1].removeprefix("schema: ")
    first_kernel = 2
    if schema != "(none)":
        first_kernel = 4
        kind = lines[3].removeprefix("alias analysis kind: ")
        alias_analysis = None if kind.endswith("(default)") else AliasAnalysisKind[kind]
        dispatcher.define(parse_printed_schema(schema), lines[2].removeprefix("debug: "), alias_analysis)
    for line in reversed(lines[first_kernel:]):
        match = _KERNEL.fullmatch(line)
        assert match is not None, line
        key, _, _, debug, signature, flags = match.groups()
        dispatcher.implement(
            name,
            key,
            Kernel(
                debug=debug,
                signature=None if signature == "(none)" else parse_signature(signature),
                boxed="boxed" in flags.split(),
                unboxed="unboxed" in flags.split(),
                fallthrough="fallthrough" in flags.split(),
            ),
        )
    return name


MISSPELT = (
    ("lienar", "aten::linear"),
    ("LIENAR", "aten::linear"),
    ("convoluiton", "aten::convolution"),
    ("clmap", "aten::clamp"),
    ("dequantzie", "aten::dequantize.self"),
    ("aten::gruop_norm", "aten::group_norm"),
)
"""Names with two letters in each other's place, and the operators that they mean."""
