"""From the two files of torchgen alone: what the generated code of that PyTorch registers, and nothing else.

Opt in by naming a Python that has PyTorch in ``DISPATCH_CLI_TORCH_PYTHON``; any version with torchgen's packaged files.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli.extract.sources import Sources
from dispatch_cli.extract.torchgen.run import extract_torchgen
from dispatch_cli.model.schema.parser import parse_printed_schema, parse_schema
from dispatch_cli.model.sources.extracted import ExtractedDefinition, ExtractedKernel, Extraction, SourceKind
from tests.capture.support import live_state
from tests.extract.torchgen.test_backend_live import torchgen_parent

_GENERATED = re.compile(
    r"(?:build/)?aten/src/ATen/Register[A-Za-z0-9]+(?:_\d+)?\.cpp|torch/csrc/autograd/generated/\w+\.cpp"
)
"""Paths of generated files when PyTorch is built; those that are written by hand are in other directories."""

pytestmark = pytest.mark.live


@cache
def packaged() -> Path:
    return Path(torchgen_parent(), "torchgen", "packaged")


@cache
def operators() -> list[dict[str, Any]]:
    """The live operators, as a capture has them."""
    found: list[dict[str, Any]] = live_state()["operators"]
    return found


@cache
def extracted(backends: tuple[str, ...] | None) -> Extraction:
    files = {
        SourceKind.NATIVE_FUNCTIONS: [str(packaged() / "ATen" / "native" / "native_functions.yaml")],
        SourceKind.DERIVATIVES: [str(packaged() / "autograd" / "derivatives.yaml")],
    }
    return extract_torchgen(Sources(files), backends)


def backends() -> tuple[str, ...]:
    return ("CPU", "CUDA") if live_state()["build"].startswith("cuda") else ("CPU",)


def generated() -> set[tuple[str, str]]:
    """Operator and key of each registration whose debug text names a generated file."""
    return {
        (operator["name"], key)
        for operator in operators()
        for key, kernels in operator["kernels"].items()
        if any(_GENERATED.search(kernel["debug"]) for kernel in kernels)
    }


def test_codegen_registrations_equal_the_live_ones() -> None:
    ours = [item for item in extracted(backends()).items if isinstance(item, ExtractedKernel)]
    pairs = {(str(kernel.operator), str(kernel.key)) for kernel in ours}
    expected = generated()
    assert len(expected) > 10_000
    assert len(pairs) == len(ours)
    assert sorted(expected - pairs) == []
    assert sorted(pairs - expected) == []
    assert not any(kernel.when or kernel.block.when for kernel in ours)


def test_definitions_equal_the_live_ones() -> None:
    ours = {str(item.name): item for item in extracted(backends()).items if isinstance(item, ExtractedDefinition)}
    expected = {row["name"]: row["schema"] for row in operators() if "RegisterSchema.cpp" in (row["debug"] or "")}
    template = Path(packaged(), "ATen", "templates", "RegisterSchema.cpp").read_text()
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
    tags = {row["name"]: row["tags"] for row in operators()}
    assert [name for name, one in ours.items() if sorted(one.tags) != sorted(tags[name])] == []


def test_what_depends_on_the_build_is_conditional() -> None:
    whole = [item for item in extracted(None).items if isinstance(item, ExtractedKernel)]
    without = {(item.operator, item.key) for item in extracted(("CPU",)).items if isinstance(item, ExtractedKernel)}
    assert {(kernel.operator, kernel.key) for kernel in whole if not kernel.block.when} == without
    conditions = {str(condition) for kernel in whole for condition in kernel.block.when}
    assert {"codegen backend CUDA", "codegen backend MPS"} <= conditions


def test_every_place_is_where_the_file_says_so() -> None:
    lines: dict[str, list[str]] = {}
    for item in extracted(None).items:
        if item.at.file not in lines:
            lines[item.at.file] = Path(item.at.file).read_text(encoding="utf-8").splitlines()
        here = lines[item.at.file][item.at.line - 1][item.at.column - 1 :]
        key = item.key if isinstance(item, ExtractedKernel) else getattr(item, "dispatch_key", None)
        words = ("func:", "name:", "autogen:", "structured", "ufunc_inner_loop:", "Autograd", "Default", str(key))
        assert here.startswith((*words, "CPU", "CUDA", "MPS", "XPU", "MTIA")), (item, here)
    assert extracted(None).not_understood == ()
    assert extracted(None).problems == ()
