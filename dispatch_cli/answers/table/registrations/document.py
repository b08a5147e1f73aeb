"""The registrations: each operator with its kernels, then backend fallbacks and higher-order operators."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.answers.table.registrations.report import (
    FallbackRow,
    KernelRow,
    OperatorRegistrations,
    PythonKernelRow,
    RegistrationsReport,
)
from dispatch_cli.model.origin import Origin
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import (
    Block,
    Column,
    Gap,
    Inline,
    Narrow,
    Paragraph,
    ParagraphKind,
    Run,
    TableBlock,
    Tone,
    Under,
)
from dispatch_cli.render.sheet import Sheet
from dispatch_cli.render.words import (
    inherited_lines,
    kernel_runs,
    origins_of,
    place_cell,
    plural,
    schema_label,
)


def document(report: RegistrationsReport, _: int | None = None) -> Iterator[Block]:
    """Each operator with its kernels; then the declared fallbacks and higher-order operators; then the counts."""
    kernels = overridden = dangling = count = 0
    inherited: dict[tuple[Span | None, Origin], None] = {}
    for operator in report.operators:
        yield from _operator(operator)
        yield Gap()
        count += 1
        kernels += len(operator.kernels)
        overridden += sum(not row.active for row in operator.kernels)
        dangling += operator.schema is None
        inherited |= dict.fromkeys(origins_of(operator, *operator.kernels))
    if report.fallbacks:
        yield Paragraph("Backend fallbacks, for all operators", kind=ParagraphKind.SECTION)
        yield Gap()
        yield TableBlock(FALLBACKS, report.fallbacks)
        yield Gap()
        inherited |= dict.fromkeys(origins_of(*report.fallbacks))
    yield from _higher_order(report)
    if lines := inherited_lines(inherited):
        yield from (Paragraph(Run(line, Tone.DIM)) for line in lines)
        yield Gap()
    parts = [plural(count, "operator"), plural(kernels, "kernel")]
    if report.higher_order_operators:
        parts.append(plural(len(report.higher_order_operators), "higher-order operator"))
    if overridden:
        parts.append(f"{overridden} overridden")
    if dangling:
        parts.append(f"{dangling} without a schema")
    parts.append(f"{plural(report.core_fallbacks, 'core fallback')} of {report.universe}")
    yield Paragraph(Run(", ".join(parts), Tone.DIM))


def _operator(operator: OperatorRegistrations) -> Iterator[Block]:
    yield Paragraph(schema_label(operator.operator, operator.schema), kind=ParagraphKind.TITLE)
    facts = [f"defined at {operator.span}"] if operator.span is not None else []
    if operator.alias_analysis:
        facts.append(f"alias analysis {operator.alias_analysis}")
    if operator.tags:
        facts.append(f"tags {', '.join(operator.tags)}")
    if facts:
        yield Paragraph(Run("; ".join(facts), Tone.DIM))
    if operator.kernels:
        yield Gap()
        placed = any(row.span is not None for row in operator.kernels)
        yield TableBlock(KERNELS if placed else KERNELS[:-1], operator.kernels)
    if operator.python_kernels:
        yield Gap()
        yield TableBlock(PYTHON_KERNELS, operator.python_kernels)


def _higher_order(report: RegistrationsReport) -> Iterator[Block]:
    if not report.higher_order_operators:
        return
    from dispatch_cli.answers.table.higher_order.document import impls

    for operator in report.higher_order_operators:
        yield from impls(operator)
        yield Gap()


def _key(row: KernelRow, _: bool) -> Inline:
    return (Run(row.key, Tone.ALIAS), Run(" [alias]")) if row.alias else row.key


def _kernel(row: KernelRow, short: bool) -> Inline:
    kernel = kernel_runs(row.kernel, "fallthrough" in row.flags, row.span, short)
    signature = "" if row.signature is None or short else f" {row.signature}"
    return *kernel, Run(signature + _fake_words(row), Tone.DIM)


def _fake_words(row: KernelRow) -> str:
    """Words for the kernel of a fake implementation: of which function it is."""
    if row.fake is None:
        return ""
    if row.fake.function is None:
        return " [no fake implementation]"
    return (
        " [fake implementation]" if row.fake.function == row.kernel else f" [fake implementation {row.fake.function}]"
    )


def _state(row: KernelRow, _: bool) -> Inline:
    return Run("active", Tone.KERNEL) if row.active else Run("overridden", Tone.WARN)


def _fills(row: KernelRow, _: bool) -> Inline:
    if not row.active:
        return Run("-", Tone.DIM)
    return f"{row.fills} of {row.covers} slots" if row.alias else plural(row.fills, "slot")


KERNELS: list[Column[KernelRow]] = [
    Column("Key", _key),
    Column("Kernel", _kernel, Under("Key")),
    Column("State", _state, wraps=False),
    Column("Fills", _fills),
    Column("When", lambda row, _: row.when or "", Under("Key"), optional=True),
    Column("Declared at", lambda row, _: place_cell(row.span, row.origin), Narrow.BELOW, optional=True),
]
PYTHON_KERNELS: list[Column[PythonKernelRow]] = [
    Column("Python dispatcher key", lambda row, _: row.key),
    Column("Kernel", lambda row, _: row.kernel, Under("Python dispatcher key")),
    Column("When", lambda row, _: row.when or "", Under("Python dispatcher key"), optional=True),
    Column("Declared at", lambda row, _: place_cell(row.span), Narrow.BELOW),
]
FALLBACKS: list[Column[FallbackRow]] = [
    Column("Key", lambda row, _: row.key),
    Column("Kernel", lambda row, _: kernel_runs(row.kernel, row.fallthrough, row.span), Under("Key")),
    Column("When", lambda row, _: row.when or "", Under("Key"), optional=True),
    Column("Declared at", lambda row, _: place_cell(row.span), Narrow.BELOW),
]


def sheet(report: RegistrationsReport) -> Sheet:
    """One row per kernel, per kernel of the Python dispatcher, and per implementation of a higher-order operator.

    An operator without kernels has one row without. fake: the function of a fake implementation. kind: ``python`` for
    the Python dispatcher's, the kind of implementation of a higher-order operator's, and ``kernel`` for all others.
    """
    columns = (
        "operator",
        "key",
        "alias",
        "kernel",
        "state",
        "fills",
        "signature",
        "flags",
        "declared_at",
        "kind",
        "fake",
    )
    return Sheet(columns, _cells(report))


def _cells(report: RegistrationsReport) -> Iterator[tuple[object, ...]]:
    for item in report.operators:
        if not item.kernels:
            yield (item.operator, *_NOTHING, item.span, None, None)
        for row in item.kernels:
            state = "active" if row.active else "overridden"
            cells = (row.key, row.alias, row.kernel, state, row.fills, row.signature, row.flags)
            yield (item.operator, *cells, row.span, "kernel", None if row.fake is None else row.fake.function)
        for other in item.python_kernels:
            yield (item.operator, other.key, None, other.kernel, "active", None, None, None, other.span, "python", None)
    for operator in report.higher_order_operators:
        from dispatch_cli.answers.table.higher_order.document import flags_of

        if not operator.impls:
            yield (operator.name, *_NOTHING, operator.span, None, None)
        for impl in operator.impls:
            filled = (impl.registered_at, None, impl.kernel, "active", impl.fills, None, flags_of(impl))
            yield (operator.name, *filled, impl.span, impl.kind, None)


_NOTHING = (None,) * 7
"""The cells of a kernel, where there is none."""
