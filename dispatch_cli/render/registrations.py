"""The registrations for people."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from dispatch_cli.model.origin import Origin
from dispatch_cli.model.span import Span
from dispatch_cli.render import console
from dispatch_cli.render.console import Rows, fits, plain, to_text
from dispatch_cli.render.style import Style
from dispatch_cli.render.text_safety import safe
from dispatch_cli.render.words import inherited_lines, origin_place, place_label, short_kernel
from dispatch_cli.report.registrations import KernelRow, OperatorRegistrations, RegistrationsReport


def registrations_text(report: RegistrationsReport, style: Style) -> Iterator[str]:
    """Each operator with its kernels; then the declared fallbacks and higher-order operators; then the counts."""
    kernels = overridden = dangling = count = 0
    inherited: dict[tuple[Span | None, Origin], None] = {}
    for operator in report.operators():
        yield to_text([*_operator(operator, style), Text()], style)
        count += 1
        kernels += len(operator.kernels)
        overridden += sum(not row.active for row in operator.kernels)
        dangling += operator.schema is None
        inherited |= dict.fromkeys(_origins(operator))
    yield to_text([*_fallbacks(report), *_higher_order(report, style)], style)
    inherited |= dict.fromkeys((row.span, row.origin) for row in report.fallbacks if row.origin.through)
    if lines := inherited_lines(inherited):
        yield to_text([*(plain(line, console.DIM) for line in lines), Text()], style)
    parts = [_plural(count, "operator"), _plural(kernels, "kernel")]
    if report.higher_order:
        parts.append(_plural(len(report.higher_order), "higher-order operator"))
    if overridden:
        parts.append(f"{overridden} overridden")
    if dangling:
        parts.append(f"{dangling} without a schema")
    parts.append(f"{_plural(report.core_fallbacks, 'core fallback')} of {report.universe}")
    yield to_text([plain(", ".join(parts), console.DIM)], style)


def _origins(operator: OperatorRegistrations) -> Iterator[tuple[Span | None, Origin]]:
    """The declarations of an operator that came through others; one for each file."""
    for span, origin in ((operator.span, operator.origin), *((row.span, row.origin) for row in operator.kernels)):
        if origin.through:
            yield (None if span is None else span._replace(line=1, column=1)), origin


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _operator(operator: OperatorRegistrations, style: Style) -> Iterator[RenderableType]:
    yield plain(operator.schema or f"{operator.operator} (no schema: dangling)", console.HEAD)
    facts = [f"alias analysis {operator.alias_analysis}"] if operator.alias_analysis else []
    if operator.tags:
        facts.append(f"tags {', '.join(operator.tags)}")
    if operator.span is not None:
        facts.insert(0, f"defined at {operator.span}")
    if facts:
        yield plain("; ".join(facts), console.DIM)
    if operator.kernels:
        yield Text()
        full = _kernels(operator.kernels, short=False)
        yield full if fits(full, style) else _kernels(operator.kernels, short=True)
    if operator.python_kernels:
        yield Text()
        table = Rows(["Python dispatcher key", "Kernel", "Declared at"])
        for key, kernel, span in operator.python_kernels:
            table.add_row(plain(key), plain(kernel), plain(place_label(span), console.PLACE))
        yield table


def _kernels(rows: tuple[KernelRow, ...], short: bool) -> Rows:
    placed = any(row.span is not None for row in rows)
    table = Rows(["Key", "Kernel", "State", "Fills", *(["Declared at"] if placed else [])])
    for row in rows:
        key = Text.assemble((safe(row.key), console.ALIAS if row.alias else ""), (" [alias]" if row.alias else ""))
        cells = [key, _kernel(row, short), _state(row), _fills(row)]
        if placed:
            cells.append(plain(origin_place(row.span, row.origin, short), console.PLACE))
        table.add_row(*cells)
    return table


def _kernel(row: KernelRow, short: bool) -> Text:
    text = plain(short_kernel(row.kernel) if short else row.kernel)
    if "fallthrough" in row.flags:
        text = Text.assemble(("fallthrough ", console.WARN), text)
    if row.signature is not None and not short:
        text = Text.assemble(text, (f" {safe(row.signature)}", console.DIM))
    return text


def _state(row: KernelRow) -> Text:
    return Text("active", console.KERNEL) if row.active else Text("overridden", console.WARN)


def _fills(row: KernelRow) -> Text:
    if not row.active:
        return Text("-", console.DIM)
    return Text(f"{row.fills} of {row.covers} slots" if row.alias else _plural(row.fills, "slot"))


def _fallbacks(report: RegistrationsReport) -> Iterator[RenderableType]:
    if not report.fallbacks:
        return
    yield Text("Backend fallbacks, for all operators", console.HEAD)
    yield Text()
    table = Rows(["Key", "Kernel", "Declared at"])
    for row in report.fallbacks:
        kernel = Text.assemble(("fallthrough " if row.fallthrough else "", console.WARN), safe(row.kernel))
        table.add_row(plain(row.key), kernel, plain(place_label(row.span), console.PLACE))
    yield table
    yield Text()


def _higher_order(report: RegistrationsReport, style: Style) -> Iterator[RenderableType]:
    if not report.higher_order:
        return
    from dispatch_cli.render.higher_order import rules
    from dispatch_cli.render.text import text

    for operator in report.higher_order:
        yield Text("".join(text(rules(operator), style)).rstrip("\n"))
        yield Text()
