"""A comparison with PyTorch for people."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from dispatch_cli.crossref.compare import Compared, Comparison
from dispatch_cli.render import console
from dispatch_cli.render.console import Rows, plain, to_text
from dispatch_cli.render.divergence_wording import REASONS, because_of
from dispatch_cli.render.divergences import choice_label, wrapped
from dispatch_cli.render.style import Style
from dispatch_cli.render.words import runs_label
from dispatch_cli.report.crossref import CrossrefReport, FoldedDifference, folded
from dispatch_cli.report.divergences import DivergenceGroup

_PARTS = {
    Compared.OPERATOR: "Operators",
    Compared.DUMP: "Registration dumps",
    Compared.TABLE: "Table slots",
    Compared.INVARIANTS: "Invariants",
    Compared.RESOLVE_KEY: "resolve_key answers",
    Compared.HIGHER_ORDER: "Slots of higher-order operators",
}
_SHOWN_OPERATORS = 3


def crossref_text(report: CrossrefReport, style: Style) -> Iterator[str]:
    """How much agrees, what does not by operator, where C++ and Python differ, and the sum."""
    comparison = report.comparison
    yield to_text([plain(f"The engine and {comparison.source}", console.HEAD), _counts(comparison), Text()], style)
    for operator, differences in folded(comparison):
        yield to_text([plain(operator or "-", console.HEAD), _differences(differences), Text()], style)
    if comparison.divergences is not None:
        yield to_text(_divergences(report, style), style)
    yield to_text([_sum(comparison)], style)


def _counts(comparison: Comparison) -> Rows:
    rows = Rows([""])
    for header in ("Compared", "Equal", "Different"):
        rows.add_column(header, justify="right")
    for count in comparison.counts:
        different = Text(f"{count.different:,}", console.BAD) if count.different else Text("·", console.DIM)
        equal = Text(f"{count.compared - count.different:,}")
        rows.add_row(Text(_PARTS[count.part]), Text(f"{count.compared:,}"), equal, different)
    return rows


def _differences(differences: list[FoldedDifference]) -> Rows:
    rows = Rows(["What", "Key", "The engine", "PyTorch"], indent=2)
    for one in differences:
        cells = (one.part.value, runs_label(one.keys), _said(one.ours), _said(one.theirs))
        rows.add_row(*map(plain, cells))
    return rows


def _said(text: str | None) -> str:
    return "-" if text is None else text


def _divergences(report: CrossrefReport, style: Style) -> Iterator[Text]:
    divergences = report.comparison.divergences or ()
    if not divergences:
        yield Text("Python's resolve_key chooses the C++ table's key everywhere.")
        yield Text()
        return
    operators = len({operator for operator, _ in divergences})
    yield Text(
        f"Python's resolve_key chooses another key than the C++ table at {_slots(len(divergences))} "
        f"of {_operators(operators)}. That is PyTorch's own doing, and no difference:"
    )
    yield Text()
    for count in report.reasons:
        yield Text.assemble(
            (REASONS[count.reason], console.HEAD), f": {_slots(count.slots)} of {_operators(count.operators)}"
        )
        for group in report.groups:
            if group.reason is count.reason:
                yield from _group(group, style)
        yield Text()


def _group(group: DivergenceGroup, style: Style) -> Iterator[Text]:
    because = because_of(group)
    chosen = f"C++ chooses {choice_label(group.cpp)}, Python {choice_label(group.python)}, because of {because}"
    yield from wrapped(f"{runs_label(group.keys)}: {chosen}", 2, style)
    shown = ", ".join(group.operators[:_SHOWN_OPERATORS])
    more = len(group.operators) - _SHOWN_OPERATORS
    others = f" and {more:,} more" if more > 0 else ""
    yield from wrapped(f"{_operators(len(group.operators))}: {shown}{others}", 6, style)


def _slots(number: int) -> str:
    return f"{number:,} slot{'' if number == 1 else 's'}"


def _operators(number: int) -> str:
    return f"{number:,} operator{'' if number == 1 else 's'}"


def _sum(comparison: Comparison) -> Text:
    counts = {count.part: count for count in comparison.counts}
    operators = counts[Compared.OPERATOR]
    higher_order = 0
    if Compared.HIGHER_ORDER in counts:
        higher_order = counts[Compared.HIGHER_ORDER].compared // len(comparison.slots)
    compared = _operators(operators.compared)
    if higher_order:
        compared += f" and {higher_order:,} higher-order operator{'' if higher_order == 1 else 's'}"
    number = len(comparison.differences)
    if not number:
        return plain(f"Equal: {compared} ({comparison.universe})", console.KERNEL)
    noun = "difference" if number == 1 else "differences"
    others = {one.operator for one in comparison.differences if one.part is Compared.HIGHER_ORDER}
    different = operators.different + len(others)
    return plain(f"{number:,} {noun} in {different:,} of {compared} ({comparison.universe})", console.BAD)
