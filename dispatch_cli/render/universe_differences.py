"""Two universes held against each other, for people."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rich.console import RenderableType
from rich.text import Text

from dispatch_cli.engine.keys.universe_differences import Aspect, UniverseDifference
from dispatch_cli.render import console
from dispatch_cli.render.console import Rows, fits, plain, to_text
from dispatch_cli.render.facts import Fact, facts
from dispatch_cli.render.style import Style
from dispatch_cli.render.text_safety import safe
from dispatch_cli.report.universe_differences import DifferencesReport

TITLES = {
    Aspect.KEY: "Keys that one has not, or has as something else",
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


def differences_text(report: DifferencesReport, style: Style) -> Iterator[str]:
    """The differences by aspect, what only the one has beside what only the other has."""
    yield to_text(_parts(report, style), style)


def _parts(report: DifferencesReport, style: Style) -> Iterator[RenderableType]:
    yield plain(
        f"{report.one} (PyTorch {report.one_torch}) and {report.other} (PyTorch {report.other_torch})", console.HEAD
    )
    if report.equal:
        yield plain("No difference.")
        return
    yield plain("Only what differs is listed.", console.DIM)
    for aspect, found in groupby(report.differences, key=lambda one: one.aspect):
        yield Text()
        yield plain(TITLES[aspect])
        yield from _section(report, [*found], style)
    if report.ids:
        yield Text()
        yield plain(_ids(report))


def _section(report: DifferencesReport, found: list[UniverseDifference], style: Style) -> Iterator[RenderableType]:
    rows = Rows(["Key", safe(report.one), safe(report.other)], indent=2)
    for one in found:
        rows.add_row(plain(one.subject or "-"), plain(_names(one.one)), plain(_names(one.other)))
    if any(one.subject for one in found) and fits(rows, style):
        yield rows
        return
    for one in found:
        sides = [(report.one, one.one), (report.other, one.other)]
        shown = [Fact(name, plain(_names(keys))) for name, keys in sides if keys]
        if one.subject:
            yield plain(f"  {one.subject}", console.HEAD)
        yield from facts(shown, style, indent=4 if one.subject else 2)


def _names(keys: tuple[str, ...]) -> str:
    return ", ".join(keys) or "-"


def _ids(report: DifferencesReport) -> str:
    examples = "; ".join(f"{one.subject} {one.one[0]} and {one.other[0]}" for one in report.ids[:_SHOWN_IDS])
    more = "" if len(report.ids) <= _SHOWN_IDS else " …"
    return f"Enum ids: {len(report.ids)} keys have another one ({examples}{more})"
