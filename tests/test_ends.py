"""The guard of what must end."""

from __future__ import annotations

import re

import pytest

from tests import ends


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ends, "LIMIT", 0.2)


def test_a_regular_expression_is_interrupted() -> None:
    with pytest.raises(AssertionError, match="not at its end"), ends.ends():
        re.match(r"(a*)*b", "a" * 60)


def test_python_is_interrupted() -> None:
    with pytest.raises(AssertionError, match="not at its end"), ends.ends():
        while True:
            pass
