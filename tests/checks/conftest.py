"""The fixture of the tests of checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.helpers import StateOf, loader


@pytest.fixture
def state_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StateOf:
    return loader(tmp_path, monkeypatch)
