"""The command ``checks``: the list of checks, and the documentation of some."""

from __future__ import annotations

import json

import pytest

from dispatch_cli.checks import CHECKS
from tests.cli.support import call


def test_the_list_has_every_check() -> None:
    result = call("checks")
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    for check in CHECKS:
        (line,) = [line for line in lines if line.startswith(f"  {check.code}  {check.id} ")]
        assert line.split()[2 if check.default else 3] == check.severity.value
        assert line.endswith(check.title)
    assert lines[-1].startswith(f"{len(CHECKS)} checks")


@pytest.mark.parametrize("name", ["stale-live-table", "DC004", "dc004", "stale"])
def test_one_check(name: str) -> None:
    out = call("checks", name).out
    assert out.startswith("stale-live-table (DC004)\nSeverity error.\n\nThe live table equals the canonical one.\n")
    assert "\n    dispatch: 1\n    operators:\n" in out
    assert "```" not in out


def test_the_whole_documentation_is_there_in_every_format() -> None:
    documents = json.loads(call("checks", "all", "--format", "json").out)["checks"]
    markdown = call("checks", "all", "--format", "markdown").out
    text = " ".join(call("checks", "all").out.split())
    assert [document["documentation"] for document in documents] == [check.documentation.strip() for check in CHECKS]
    for check in CHECKS:
        assert f"## {check.id} ({check.code})\n" in markdown
        assert check.documentation.strip() in markdown
        for paragraph in check.documentation.strip().replace("```yaml", "").replace("```", "").split("\n\n"):
            assert " ".join(paragraph.split()) in text


def test_the_list_as_markdown_has_a_table_for_each_group() -> None:
    lines = call("checks", "--format", "markdown").out.splitlines()
    assert lines[:3] == ["### PyTorch's own invariants (DC0)", "", "| Code | Check | Severity | What should hold |"]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| DC")]
    assert rows == [
        [check.code, check.id if check.default else rf"{check.id} \*", check.severity.value, check.title]
        for check in CHECKS
    ]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gaurd", "there is no check 'gaurd'; did you mean guard?"),
        ("zzz", "there is no check 'zzz'; `dispatch-cli checks` lists the checks"),
        ("\x1b[31m", "there is no check '\\x1b[31m'; `dispatch-cli checks` lists the checks"),
    ],
)
def test_an_unknown_check(name: str, message: str) -> None:
    result = call("checks", name)
    assert (result.code, result.out) == (2, "")
    assert result.err.endswith(f"Error: {message}\n")
