"""Which findings of very many are listed, and that all are counted."""

from __future__ import annotations

from dispatch_cli.checks.listing import Limits, Listing, Unlisted
from dispatch_cli.model.severity import Severity
from dispatch_cli.model.span import Span

HERE, THERE = Span("a.yaml", 1, 1), Span("a.yaml", 2, 1)
LIMITS = Limits(of_check=6, of_group=3)


def listing(*findings: tuple[Span | None, str | None, int], limits: Limits | None = LIMITS) -> Listing:
    """findings: places, reasons, and how many of each, about operators ``o0``, ``o1``, …"""
    found = Listing("guard", limits)
    for span, reason, count in findings:
        for number in range(count):
            if found.admit(f"o{number}", Severity.ERROR, span, reason):
                found.keep(None)  # type: ignore[arg-type]
    return found


def test_the_first_of_each_group_are_listed() -> None:
    found = listing((HERE, "x", 5), (THERE, "x", 2))
    assert len(found.listed) == 5
    assert list(found.unlisted()) == [Unlisted("guard", Severity.ERROR, HERE, "x", 3, 2)]
    assert found.counts == {Severity.ERROR: 7}
    counts = {name: of[Severity.ERROR] for name, of in found.by_operator.items()}
    assert counts == {"o0": 2, "o1": 2, "o2": 1, "o3": 1, "o4": 1}


def test_one_of_each_group_is_listed_beyond_the_limit_of_the_check() -> None:
    found = listing(*((HERE, str(number), 4) for number in range(4)))
    assert [(one.reason, one.listed, one.findings) for one in found.unlisted()] == [
        ("0", 3, 1),
        ("1", 3, 1),
        ("2", 1, 3),
        ("3", 1, 3),
    ]


def test_groups_have_a_limit_too() -> None:
    found = listing(*((HERE, str(number), 2) for number in range(100)))
    others = [one for one in found.unlisted() if one.span is None]
    assert [(other.reason, other.listed, other.findings) for other in others] == [(None, 0, 2 * 94)]
    assert len(found.listed) + sum(one.findings for one in found.unlisted()) == 200
    assert len(found.listed) < 2 * LIMITS.of_check


def test_findings_without_a_place_have_the_limit_of_the_check_only() -> None:
    found = listing((None, None, 9))
    assert len(found.listed) == 6
    assert list(found.unlisted()) == [Unlisted("guard", Severity.ERROR, None, None, 6, 3)]


def test_without_limits_all_are_listed() -> None:
    found = listing((HERE, "x", 5000), limits=None)
    assert len(found.listed) == 5000
    assert not list(found.unlisted())
