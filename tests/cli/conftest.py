"""The tests of the command line run at the project's root, in an environment that says nothing about colour."""

from __future__ import annotations

import pytest

from tests.cli.support import COLOR_VARIABLES, ROOT


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for name in COLOR_VARIABLES:
        monkeypatch.delenv(name, raising=False)
