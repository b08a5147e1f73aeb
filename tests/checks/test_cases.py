"""Cases of checks: what each finds in a declaration, and where."""

from __future__ import annotations

import pytest

from dispatch_cli.checks import CHECKS
from tests.checks.cases import FOLDER, documents, rendered


@pytest.mark.parametrize(
    ("check", "text"), [pytest.param(check, text, id=f"{check}-{number}") for check, number, text in documents()]
)
def test_a_case(check: str, text: str) -> None:
    assert rendered(check, text) == text


def test_each_file_is_about_a_check() -> None:
    assert {path.stem for path in FOLDER.iterdir()} <= {check.id for check in CHECKS}
