"""The fixture of the tests of checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.api import load_state
from dispatch_cli.engine.state import State
from tests.checks.helpers import StateOf


@pytest.fixture
def state_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StateOf:
    """A function from a declaration to its state; the file is ``x.yaml``."""
    monkeypatch.chdir(tmp_path)

    def state_of(text: str) -> State:
        Path("x.yaml").write_text(text, encoding="utf-8")
        return load_state(["x.yaml"])

    return state_of
