"""The README's reference is the one that the code gives."""

from __future__ import annotations

from tests.write_reference import README, with_reference


def test_the_reference_is_up_to_date() -> None:
    text = README.read_text(encoding="utf-8")
    assert with_reference(text) == text
