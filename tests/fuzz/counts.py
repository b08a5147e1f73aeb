"""Results of many cases, added up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Counts:
    """Figures of many cases.

    cases: how many there were of a command and a format, and how many of them were answered: past the parser, with exit
        code 0 or 1. runs: those in every format as well. slowest: seconds of processor time, and the case. greatest:
        megabytes of the process of a case, and the case; measured: how many there were.
    """

    cases: Counter[tuple[str, str]] = field(default_factory=Counter)
    answered: Counter[tuple[str, str]] = field(default_factory=Counter)
    runs: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    slowest: tuple[float, str] = (0, "")
    greatest: tuple[int, str] = (0, "")
    measured: int = 0

    def add(self, other: Counts) -> None:
        """Add the figures of more cases."""
        self.cases += other.cases
        self.answered += other.answered
        self.runs += other.runs
        self.failures += other.failures
        self.slowest = max(self.slowest, other.slowest)
        self.greatest = max(self.greatest, other.greatest)
        self.measured += other.measured


def table(counts: Counts, pairs: list[tuple[str, str]]) -> Iterator[str]:
    """The lines of a table: a row for each command in each format, then one for each command."""
    yield f"{'command':18}{'format':10}{'cases':>8}{'answered':>10}{'runs':>9}{'exit 0':>9}{'1':>8}{'2':>8}"
    for pair in pairs:
        codes = [counts.runs[(*pair, code)] for code in (0, 1, 2)]
        shown = "".join(f"{code:8}" for code in codes)
        yield f"{pair[0]:18}{pair[1]:10}{counts.cases[pair]:8}{counts.answered[pair]:10}{sum(codes):9} {shown}"
    for command in dict.fromkeys(name for name, _ in pairs):
        of_it = [pair for pair in pairs if pair[0] == command]
        cases, answered = (sum(counter[pair] for pair in of_it) for counter in (counts.cases, counts.answered))
        least = min(counts.cases[pair] for pair in of_it)
        share = answered / max(1, cases)
        too_few = "" if share > 0.5 else "  (not more than half)"
        yield f"{command:18}{cases:8} cases, at least {least} in a format; {share:.0%} answered{too_few}"
    cases, answered, runs = (counter.total() for counter in (counts.cases, counts.answered, counts.runs))
    yield f"{cases} cases, {answered} ({answered / max(1, cases):.0%}) answered; {runs} runs"
    yield f"slowest: {counts.slowest[0]:.1f} s of processor time ({counts.slowest[1]})"
    yield f"greatest: {counts.greatest[0]} MB ({counts.greatest[1]}) of {counts.measured} measured processes"
    yield f"{len(counts.failures)} failures"
