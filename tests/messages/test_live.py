"""The table has every message of a live PyTorch, and what it prints is understood."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dispatch_cli.answers.errors.read import find_errors
from tests import in_pytorch
from tests.capture.support import torch_python
from tests.cli.support import ROOT
from tests.messages.collect import build_of, messages_of, package_of, version_of
from tests.messages.table import read

pytestmark = pytest.mark.live
BUILDS = ("2.4.1+cu121", "2.13.0+cpu", "2.15.0+cu132")
"""Those whose libraries were read; other builds of a version have other strings in them."""


def test_the_collector_finds_no_message_that_is_not_in_the_table() -> None:
    package = package_of(torch_python())
    known = {(row.text, row.error) for row in read()}
    if version_of(package) not in {version for row in read() for version in row.versions}:
        pytest.skip("the table is of other versions")
    messages = [
        message for message in messages_of(package) if build_of(package) in BUILDS or "lib/" not in message.source
    ]
    missing = {message[:2] for message in messages} - known
    assert missing == set()


def test_what_it_prints_is_understood(tmp_path: Path) -> None:
    path = tmp_path / "messages.json"
    script = ROOT / "tests/recordings/record_messages.py"
    in_pytorch.run([torch_python(), str(script), str(path)])
    messages = json.loads(path.read_text(encoding="utf-8"))["messages"]
    assert len(messages) > 120
    for message in messages:
        if message["kind"] == "not explained":
            continue
        errors = {(error.kind, error.operator) for error in find_errors(message["text"])}
        assert any(kind == message["kind"] and message["operator"] in (None, operator) for kind, operator in errors), (
            message
        )
