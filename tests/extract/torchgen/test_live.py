"""From the two files of torchgen alone: what the generated code of that PyTorch registers, and nothing else.

Opt in by naming a Python that has PyTorch in ``DISPATCH_CLI_TORCH_PYTHON``; any version with torchgen's packaged files.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli.extract.sources import Sources
from dispatch_cli.extract.torchgen import extract_torchgen
from dispatch_cli.model.extracted import ExtractedDefinition, ExtractedKernel, Extraction, SourceKind
from dispatch_cli.model.schema import parse_printed_schema, parse_schema
from tests import in_pytorch
from tests.capture.support import torch_python

_KERNEL = re.compile(r"(\w+)(?:\[alias\])?(?: \(inactive\))?: registered at (.*?) :: ")
_GENERATED = re.compile(
    r"(?:build/)?aten/src/ATen/Register[A-Za-z0-9]+(?:_\d+)?\.cpp|torch/csrc/autograd/generated/\w+\.cpp"
)
"""Where generated files are when PyTorch is built; those that are written by hand are in other directories."""

pytestmark = pytest.mark.live


@cache
def live() -> dict[str, Any]:
    script = Path(__file__).with_name("live_registrations.py")
    run = in_pytorch.run([torch_python(), str(script)])
    said: dict[str, Any] = json.loads(run.stdout)
    return said


@cache
def extracted(backends: tuple[str, ...] | None) -> Extraction:
    packaged = Path(live()["torchgen"], "packaged")
    files = {
        SourceKind.NATIVE_FUNCTIONS: [str(packaged / "ATen" / "native" / "native_functions.yaml")],
        SourceKind.DERIVATIVES: [str(packaged / "autograd" / "derivatives.yaml")],
    }
    return extract_torchgen(Sources(files), backends)


def backends() -> tuple[str, ...]:
    return ("CPU", "CUDA") if live()["cuda"] else ("CPU",)


def generated() -> set[tuple[str, str]]:
    """Operator and key of each registration whose debug text names a generated file."""
    found = set()
    for name, dump in live()["dumps"].items():
        for line in dump.splitlines():
            kernel = _KERNEL.match(line)
            if kernel is not None and _GENERATED.search(kernel[2]) is not None:
                found.add((name, kernel[1]))
    return found


def test_codegen_registrations_equal_the_live_ones() -> None:
    ours = [one for one in extracted(backends()).found if isinstance(one, ExtractedKernel)]
    pairs = {(str(one.operator), str(one.key)) for one in ours}
    expected = generated()
    assert len(expected) > 10_000
    assert len(pairs) == len(ours)
    assert sorted(expected - pairs) == []
    assert sorted(pairs - expected) == []
    assert not any(one.when or one.block.when for one in ours)


def test_definitions_equal_the_live_ones() -> None:
    ours = {str(one.name): one for one in extracted(backends()).found if isinstance(one, ExtractedDefinition)}
    expected = {}
    for name, dump in live()["dumps"].items():
        lines = dump.splitlines()
        if "RegisterSchema.cpp" in lines[2]:
            expected[name] = lines[1].removeprefix("schema: ")
    template = Path(live()["torchgen"], "packaged", "ATen", "templates", "RegisterSchema.cpp").read_text()
    by_hand = [name for name in expected if f'"{name.removeprefix("aten::")}(' in template]
    assert len(by_hand) < 3
    for name in by_hand:
        del expected[name]
    assert len(expected) > 2_500
    assert sorted(expected) == sorted(ours)
    different = [
        name
        for name, one in ours.items()
        if parse_schema(one.schema or "") != parse_printed_schema(expected[name])
        and str(parse_schema(one.schema or "")) != expected[name]
    ]
    assert different == []
    tags = live()["tags"]
    assert sum(tags.get(name) is not None for name in ours) > 2_500
    assert [name for name, one in ours.items() if tags.get(name) is not None and sorted(one.tags) != tags[name]] == []


def test_what_depends_on_the_build_is_conditional() -> None:
    whole = [one for one in extracted(None).found if isinstance(one, ExtractedKernel)]
    without = {(one.operator, one.key) for one in extracted(("CPU",)).found if isinstance(one, ExtractedKernel)}
    assert {(one.operator, one.key) for one in whole if not one.block.when} == without
    conditions = {str(condition) for one in whole for condition in one.block.when}
    assert {"codegen backend CUDA", "codegen backend MPS"} <= conditions


def test_every_place_is_where_the_file_says_so() -> None:
    lines: dict[str, list[str]] = {}
    for one in extracted(None).found:
        if one.at.file not in lines:
            lines[one.at.file] = Path(one.at.file).read_text(encoding="utf-8").splitlines()
        here = lines[one.at.file][one.at.line - 1][one.at.column - 1 :]
        key = one.key if isinstance(one, ExtractedKernel) else getattr(one, "dispatch_key", None)
        words = ("func:", "name:", "autogen:", "structured", "ufunc_inner_loop:", "Autograd", "Default", str(key))
        assert here.startswith((*words, "CPU", "CUDA", "MPS", "XPU", "MTIA")), (one, here)
    assert extracted(None).not_understood == ()
    assert extracted(None).problems == ()
