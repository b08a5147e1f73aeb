"""A baseline without what is fixed, and with what is new."""

from __future__ import annotations

from collections import Counter

import pytest

from dispatch_cli.answers.findings.baseline.report import BaselineFilter, Entry, FixedEntry
from dispatch_cli.checks.check import Finding, Severity


def finding(operator: str) -> Finding:
    return Finding("guard", Severity.ERROR, f"{operator} does not hold", operator)


def entry(operator: str) -> Entry:
    return Entry.of(finding(operator))


@pytest.mark.parametrize(
    ("had", "found", "judged", "fixed", "after"),
    [
        ({}, "aab", True, {}, {"a": 2, "b": 1}),
        ({"a": 2, "b": 1}, "aab", True, {}, {"a": 2, "b": 1}),
        ({"a": 3, "b": 1}, "a", True, {"a": 2, "b": 1}, {"a": 1}),
        ({"a": 1}, "aaa", True, {}, {"a": 3}),
        ({"a": 2}, "", False, {}, {"a": 2}),
        ({"a": 2}, "a", False, {}, {"a": 2}),
    ],
)
def test_what_a_baseline_becomes(
    had: dict[str, int], found: str, judged: bool, fixed: dict[str, int], after: dict[str, int]
) -> None:
    entries = Counter({entry(name): count for name, count in had.items()})
    known = BaselineFilter(entries, renews=True)
    new = [name for name in found if known.is_new(*entry(name))]
    use = known.use(lambda _: judged)
    assert use.fixed == tuple(FixedEntry("guard", name, None, "", count) for name, count in fixed.items())
    assert use.known + len(new) == len(found)
    assert known.renewed(use) == {entry(name): count for name, count in after.items()}
