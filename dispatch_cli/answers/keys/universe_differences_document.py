"""Two universes held against each other: the differences by aspect, what one has beside what the other has."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from dispatch_cli.answers.keys.key_wording import listed
from dispatch_cli.answers.keys.universe_differences import DifferenceRow, DifferencesReport
from dispatch_cli.engine.keys.universe_differences import Aspect
from dispatch_cli.render.document import (
    Block,
    Column,
    Fact,
    Facts,
    Gap,
    Paragraph,
    ParagraphKind,
    Run,
    TableBlock,
    Tone,
    Under,
)
from dispatch_cli.render.sheet import Sheet
from dispatch_cli.render.words import plural

TITLES = {
    Aspect.KEY: "Keys that only one has, or that are of another kind",
    Aspect.BACKEND: "Backend components",
    Aspect.PRIORITY: "Functionalities that moved, and the one below them",
    Aspect.BACKEND_ORDER: "Backends that moved, and the one below them",
    Aspect.COVERAGE: "Alias keys cover",
    Aspect.AUTOGRAD_BACKENDS: "Backends of autograd keys",
    Aspect.AUTOGRADOTHER: "Backends that make AutogradOther ambiguous",
    Aspect.REFRESHES: "A registration at the key recomputes",
    Aspect.FALLBACK: "Core fallbacks",
    Aspect.PARSER: "PyTorch's parser knows",
    Aspect.DEVICE: "Devices",
    Aspect.INCLUDED: "A fresh thread includes",
    Aspect.EXCLUDED: "A fresh thread excludes",
    Aspect.FULL_AFTER: "In every FULL_AFTER set",
    Aspect.AFTER_AUTOGRAD: "after_autograd_keyset is FULL_AFTER of",
    Aspect.AFTER_AD_INPLACE_OR_VIEW: "after_ADInplaceOrView_keyset is FULL_AFTER of",
    Aspect.HIGHER_ORDER_FALLTHROUGH: "Higher-order operators fall through by default at",
    Aspect.WRAPPED: "Functorch's wrappers take over",
    Aspect.PLAIN_DEVICES: "Devices with strided tensors only",
    Aspect.MASK_BY_ARGUMENTS: "The backend of the arguments alone chooses the fallthrough mask",
    Aspect.GRAD_ENDS_INFERENCE: "functorch's grad leaves inference mode",
    Aspect.OTHER: "Other fields of the universe",
    Aspect.ID: "Enum ids",
}
_SHOWN_IDS = 3


def document(report: DifferencesReport, _: int | None = None) -> Iterator[Block]:
    """The differences by aspect."""
    own, other = (f"{report.universe} (PyTorch {report.torch})", f"{report.against} (PyTorch {report.against_torch})")
    yield Paragraph(f"{own} and {other}", kind=ParagraphKind.TITLE)
    if report.equal:
        yield Paragraph(f"{outcome(report)}.")
        return
    yield Paragraph(Run("Only what differs is listed.", Tone.DIM))
    for aspect, rows in groupby(report.differences, key=lambda row: row.aspect):
        yield Gap()
        if aspect is Aspect.ID:
            yield Paragraph(_ids([*rows]))
        else:
            yield Paragraph(TITLES[aspect])
            yield _section(report, [*rows])


def outcome(report: DifferencesReport) -> str:
    """Number of differences, in words."""
    return plural(len(report.differences), "difference") if report.differences else "No difference"


def _section(report: DifferencesReport, rows: list[DifferenceRow]) -> Block:
    if any(row.subject for row in rows):
        return TableBlock(_columns(report), rows, indent=2)
    sides = [
        (name, keys) for row in rows for name, keys in zip((report.universe, report.against), row[2:], strict=True)
    ]
    return Facts([Fact(name, listed(keys)) for name, keys in sides if keys], indent=2)


def _columns(report: DifferencesReport) -> list[Column[DifferenceRow]]:
    return [
        Column("Key", lambda row, short: Run(row.subject or "-", Tone.HEAD if short else Tone.PLAIN)),
        Column(report.universe, lambda row, short: _side(report.universe, row.only_universe, short), Under("Key")),
        Column(report.against, lambda row, short: _side(report.against, row.only_against, short), Under("Key")),
    ]


def _side(name: str, keys: tuple[str, ...], short: bool) -> str:
    """Keys that only one of the two has; where there is little room, with the name of the universe."""
    if not short:
        return listed(keys, "-")
    return f"{name}: {listed(keys)}" if keys else ""


def _ids(rows: list[DifferenceRow]) -> str:
    examples = "; ".join(f"{row.subject} {row.only_universe[0]} and {row.only_against[0]}" for row in rows[:_SHOWN_IDS])
    more = "" if len(rows) <= _SHOWN_IDS else " …"
    return f"Enum ids: {len(rows)} keys have another one ({examples}{more})"


def sheet(report: DifferencesReport) -> Sheet:
    """A row per difference."""
    return Sheet(DifferenceRow._fields, report.differences)
