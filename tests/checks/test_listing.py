"""Choice of the findings that are listed of very many, and the count of all."""

from __future__ import annotations

from dispatch_cli.checks.listing import Limits, Listing, Unlisted
from dispatch_cli.model.severity import Severity
from dispatch_cli.model.span import Span

HERE, THERE = Span("a.yaml", 1, 1), Span("a.yaml", 2, 1)
LIMITS = Limits(of_check=6, of_group=3)


def listing(*findings: tuple[Span | None, str | None, int], limits: Limits | None = LIMITS) -> Listing:
    """findings: places, reasons, and how many of each, about operators ``o0``, ``o1``, …"""
    result = Listing("guard", limits)
    for span, reason, count in findings:
        for number in range(count):
            if result.admit(f"o{number}", Severity.ERROR, span, reason):
                result.keep(None)  # type: ignore[arg-type]
    return result


def test_the_first_of_each_group_are_listed() -> None:
    result = listing((HERE, "x", 5), (THERE, "x", 2))
    assert len(result.listed) == 5
    assert list(result.unlisted()) == [Unlisted("guard", Severity.ERROR, HERE, "x", 3, 2)]
    assert result.counts == {Severity.ERROR: 7}
    counts = {name: of[Severity.ERROR] for name, of in result.by_operator.items()}
    assert counts == {"o0": 2, "o1": 2, "o2": 1, "o3": 1, "o4": 1}


def test_one_of_each_group_is_listed_beyond_the_limit_of_the_check() -> None:
    result = listing(*((HERE, str(number), 4) for number in range(4)))
    assert [(rest.reason, rest.listed, rest.findings) for rest in result.unlisted()] == [
        ("0", 3, 1),
        ("1", 3, 1),
        ("2", 1, 3),
        ("3", 1, 3),
    ]


def test_groups_have_a_limit_too() -> None:
    result = listing(*((HERE, str(number), 2) for number in range(100)))
    others = [rest for rest in result.unlisted() if rest.span is None]
    assert [(other.reason, other.listed, other.findings) for other in others] == [(None, 0, 2 * 94)]
    assert len(result.listed) + sum(rest.findings for rest in result.unlisted()) == 200
    assert len(result.listed) < 2 * LIMITS.of_check


def test_findings_without_a_place_have_the_limit_of_the_check_only() -> None:
    result = listing((None, None, 9))
    assert len(result.listed) == 6
    assert list(result.unlisted()) == [Unlisted("guard", Severity.ERROR, None, None, 6, 3)]


def test_without_limits_all_are_listed() -> None:
    result = listing((HERE, "x", 5000), limits=None)
    assert len(result.listed) == 5000
    assert not list(result.unlisted())
