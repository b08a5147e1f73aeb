"""What each version of torchgen registers from its own files, by its own functions, and we from the same files.

Opt in by naming folders that have a ``torchgen`` in ``DISPATCH_CLI_TORCHGEN``, separated as in ``PATH``: the
``site-packages`` of a PyTorch, or where ``torchgen/*`` of a wheel was unpacked. PyTorch itself need not run there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dispatch_cli.extract.sources import Sources
from dispatch_cli.extract.torchgen import extract_torchgen
from dispatch_cli.extract.torchgen.operator_tables import BACKEND_SELECT_BY_HAND
from dispatch_cli.model.extracted import ExtractedDefinition, ExtractedKernel, SourceKind

FOLDERS = list(filter(None, os.environ.get("DISPATCH_CLI_TORCHGEN", "").split(os.pathsep)))


@pytest.mark.skipif(not FOLDERS, reason="DISPATCH_CLI_TORCHGEN names no folder with torchgen")
@pytest.mark.parametrize("parent", FOLDERS)
def test_registrations_and_definitions_equal_those_of_torchgen(parent: str) -> None:
    command = [sys.executable, "-m", "tests.extract.torchgen.torchgen_pairs", parent]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    pairs, schemas = json.loads(run.stdout)
    packaged = Path(parent, "torchgen", "packaged")
    files = {
        SourceKind.NATIVE_FUNCTIONS: [str(packaged / "ATen" / "native" / "native_functions.yaml")],
        SourceKind.DERIVATIVES: [str(packaged / "autograd" / "derivatives.yaml")],
    }
    extraction = extract_torchgen(Sources(files))
    kernels = [one for one in extraction.found if isinstance(one, ExtractedKernel)]
    ours = {(str(one.operator).removeprefix("aten::"), str(one.key)) for one in kernels}
    template = (packaged / "ATen" / "templates" / "RegisterBackendSelect.cpp").read_text(encoding="utf-8")
    by_hand = {(name, "BackendSelect") for name in BACKEND_SELECT_BY_HAND if f'"aten::{name}"' in template}
    expected = {(name, key) for name, key in pairs} | by_hand
    assert sorted(expected - ours) == []
    assert sorted(ours - expected) == []
    definitions = [one for one in extraction.found if isinstance(one, ExtractedDefinition)]
    tags = {str(one.schema).removeprefix("aten::"): sorted(one.tags) for one in definitions}
    assert tags == {_without_dimname(schema): those for schema, those in schemas.items()}
    assert extraction.not_understood == ()


def _without_dimname(schema: str) -> str:
    name, parenthesis, rest = schema.partition("(")
    return name + parenthesis + rest.replace("Dimname", "str")
