"""The guards of a state for people."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from dispatch_cli.render import console
from dispatch_cli.render.console import Rows, fits, plain, to_text
from dispatch_cli.render.guards import title, verdict
from dispatch_cli.render.style import Style
from dispatch_cli.render.words import keys_label, place_label
from dispatch_cli.report.guards import GuardRow, GuardsReport

MAX_BROKEN = 3
"""So many places where a guard does not hold are listed; check-invariants shows all."""


def guards_text(report: GuardsReport, style: Style) -> Iterator[str]:
    """A row for each guard, what is broken below, and the count."""
    if report.rows:
        full = _table(report, short=False)
        yield to_text([full if fits(full, style) else _table(report, short=True), Text()], style)
    yield to_text(_closing(report), style)


def _table(report: GuardsReport, short: bool) -> Rows:
    rows = Rows(["", "Guard"])
    rows.add_column("Speaks of")
    rows.add_column("Declared at")
    for row in report.rows:
        look = console.KERNEL if row.holds else console.BAD
        place = plain(place_label(row.guard.span, short), console.PLACE)
        rows.add_row(Text(verdict(row), look), plain(title(row.guard)), plain(_about(row)), place)
        for one in row.broken[:MAX_BROKEN]:
            at = f" at {keys_label(one.keys)}" if one.keys else ""
            rows.add_row(
                Text(), plain(f"  {one.operator}{at}: {_found(one.found, short)}", console.DIM), Text(), Text()
            )
        if (more := len(row.broken) - MAX_BROKEN) > 0:
            rows.add_row(Text(), plain(f"  and {more} more", console.DIM), Text(), Text())
        for what, glob in row.unmatched:
            rows.add_row(Text(), plain(f"  no {what} {glob}", console.DIM), Text(), Text())
    return rows


def _found(text: str, short: bool) -> str:
    """What is there; in short, files without their directories."""
    return re.sub(r"registered at (?:\S*/)?([^/\s]+:\d+)", r"\1", text) if short else text


def _about(row: GuardRow) -> str:
    operators = f"{row.operators} operator{'' if row.operators == 1 else 's'}"
    return f"{operators}, {row.slots} slot{'' if row.slots == 1 else 's'}" if row.slots else operators


def _closing(report: GuardsReport) -> Iterator[RenderableType]:
    count = len(report.rows)
    bad = sum(not row.holds for row in report.rows)
    guards = f"{count} guard{'' if count == 1 else 's'}"
    if not count:
        yield plain(f"No guards ({report.universe})", console.DIM)
    elif bad:
        yield Text(f"{bad} of {guards} {'does' if bad == 1 else 'do'} not hold ({report.universe})", console.BAD)
    else:
        yield Text(f"{'It holds' if count == 1 else 'All hold'}: {guards} ({report.universe})", console.KERNEL)
    if report.repeated:
        yield plain(f"{report.repeated} more say the same as one of them", console.DIM)
