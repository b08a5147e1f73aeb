"""A check's docstring is its documentation, and its examples are true."""

from __future__ import annotations

import json
import re

import pytest
import yaml

from dispatch_cli.checks.all_checks import CHECKS
from dispatch_cli.checks.check import Check, Need, Severity
from dispatch_cli.model.built import BuiltLibrary
from dispatch_cli.render.data import data_of
from tests.answers.random_declarations import changed
from tests.checks.helpers import StateOf, findings, library_of

EXAMPLE = re.compile(r"^(Bad|Good)\b[^\n]*(?:\n[^\n]+)*:\n\n```yaml\n(.*?)^```$", re.M | re.S)
NO_FAKE = "no-fake-kernel"


BUILT = re.compile(r"^In the examples the library registers this:\n\n```yaml\n(.*?)^```$", re.M | re.S)


def built_library(check: Check, state_of: StateOf) -> BuiltLibrary | None:
    """The library that the examples of a check are held against, where there is one."""
    match = BUILT.search(check.documentation)
    return None if match is None else library_of(state_of(match[1]))


def examples(check: Check) -> list[tuple[str, str]]:
    """The examples of a check's docstring: ``Bad`` or ``Good``, and the declaration."""
    return EXAMPLE.findall(check.documentation)


def test_ids_are_unique_and_the_files_names() -> None:
    assert [check.id for check in CHECKS] == [
        check.find.__module__.rpartition(".")[2].replace("_", "-") for check in CHECKS
    ]
    assert len({check.id for check in CHECKS}) == len(CHECKS)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_a_check_is_documented(check: Check) -> None:
    first, *rest = check.documentation.strip().split("\n\n")
    assert first.endswith(".")
    assert rest
    kinds = [kind for kind, _ in examples(check)]
    assert check.documentation.count("```yaml") == len(kinds) + len(BUILT.findall(check.documentation))
    assert (Need.BUILT in check.needs) is (BUILT.search(check.documentation) is not None)
    assert set(kinds) == {"Bad", "Good"}
    assert "\nFix: " in check.documentation


@pytest.mark.parametrize(
    ("check", "kind", "text"),
    [
        pytest.param(check, kind, text, id=f"{check.id}-{kind}-{number}")
        for check in CHECKS
        for number, (kind, text) in enumerate(examples(check))
    ],
)
def test_an_example(check: Check, kind: str, text: str, state_of: StateOf) -> None:
    """Examples of other checks are short, and say nothing of fake tensors."""
    built = built_library(check, state_of)
    checks = {finding.check for finding in findings(state_of(text), select=f"default,{check.id}", built=built)}
    checks -= {NO_FAKE} - {check.id}
    assert check.id in checks if kind == "Bad" else not checks


@pytest.mark.parametrize(
    ("check", "text"),
    [
        pytest.param(check, text, id=f"{check.id}-{number}")
        for check in CHECKS
        for number, (kind, text) in enumerate(examples(check))
        if kind == "Bad"
    ],
)
def test_a_fix_takes_its_finding_away(check: Check, text: str, state_of: StateOf) -> None:
    """A finding that names a fix is gone after the fix, and no error is new."""
    before = findings(state_of(text))
    for finding in (finding for finding in before if finding.check == check.id and finding.fix):
        after = findings(state_of(json.dumps(changed(yaml.safe_load(text), data_of(finding.fix)))))
        what = (check.id, finding.operator, finding.key, finding.subject)
        assert what not in {(finding.check, finding.operator, finding.key, finding.subject) for finding in after}
        assert {finding.check for finding in after if finding.severity is Severity.ERROR} <= {
            finding.check for finding in before
        }
