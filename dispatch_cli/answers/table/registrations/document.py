"""The registrations of each operator; in their order; and the backend fallbacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any

from dispatch_cli.answers.shared.slot_row import PythonKernelRow
from dispatch_cli.answers.table.registrations.report import (
    BackendFallback,
    BackendFallbacksReport,
    KernelRow,
    OperatorRegistrations,
    OrderedRegistration,
    RegistrationOrderReport,
    RegistrationsReport,
)
from dispatch_cli.model.kernel import THE_FAKE, AliasAnalysisKind
from dispatch_cli.model.span import Origin, Span
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
    inherited,
    kernel_runs,
    origins_of,
    over_label,
    place_cell,
    plural,
    schema_label,
    undecided_lines,
    when_label,
)

_CAPTURED = (
    "Those of embedded states and captures come first, as in PyTorch's dump: their order between keys is not known."
)


def document(report: RegistrationsReport, base: bool = True) -> Iterator[Block]:
    """Each operator with its kernels; then the declared fallbacks and higher-order operators; then the counts.

    base: the kernels of embedded states are listed, too, and not only counted.
    """
    kernels = overridden = dangling = count = others = 0
    states = ", ".join(report.over)
    origins: dict[tuple[Span | None, Origin], None] = {}
    for operator in report.operators:
        listed = operator if base else _without_base(operator)
        more = _count(operator) - _count(listed)
        yield from _operator(listed, f"{plural(more, 'kernel')} of {states}" if more else "")
        yield Gap()
        count += 1
        kernels += len(listed.kernels)
        overridden += sum(not row.active for row in listed.kernels)
        dangling += operator.schema is None
        others += more
        origins |= dict.fromkeys(origins_of(operator, *operator.kernels))
    if report.fallbacks:
        yield Paragraph("Backend fallbacks, for all operators", kind=ParagraphKind.SECTION)
        yield Gap()
        yield TableBlock(FALLBACK_COLUMNS, report.fallbacks)
        yield Gap()
        origins |= dict.fromkeys(origins_of(*report.fallbacks))
    yield from _higher_order(report)
    if lines := inherited(origins):
        yield from lines
        yield Gap()
    parts = [plural(count, "operator"), plural(kernels, "kernel")]
    if report.higher_order_operators:
        parts.append(plural(len(report.higher_order_operators), "higher-order operator"))
    if overridden:
        parts.append(f"{overridden} overridden")
    if dangling:
        parts.append(f"{dangling} without a schema")
    if others:
        parts.append(f"{plural(others, 'kernel')} of {states} (--op lists them)")
    parts.append(f"{plural(report.core_fallbacks, 'core fallback')} of {report.universe}")
    yield Paragraph(Run(", ".join(parts), Tone.DIM))
    yield from undecided_lines(report.undecided_kernels)


def _count(operator: OperatorRegistrations) -> int:
    return len(operator.kernels) + len(operator.python_kernels)


def _without_base(operator: OperatorRegistrations) -> OperatorRegistrations:
    """An operator without the kernels of embedded states, but for those at the keys of other kernels."""
    own = {row.key for row in operator.kernels if row.origin.state is None}
    return operator._replace(
        kernels=tuple(row for row in operator.kernels if row.key in own),
        python_kernels=tuple(row for row in operator.python_kernels if row.span is not None),
    )


def _operator(operator: OperatorRegistrations, others: str) -> Iterator[Block]:
    """The kernels of an operator. others: words for those that are not listed."""
    yield Paragraph(schema_label(operator.operator, operator.schema), kind=ParagraphKind.TITLE)
    facts = [f"defined at {operator.span}"] if operator.span is not None else []
    if operator.alias_analysis not in (None, AliasAnalysisKind.FROM_SCHEMA.value):
        facts.append(f"alias analysis {operator.alias_analysis}")
    if operator.tags:
        facts.append(f"tags {', '.join(operator.tags)}")
    if others:
        facts.append(others)
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
    from dispatch_cli.answers.table.higher_order_document import impls

    for operator in report.higher_order_operators:
        yield from impls(operator)
        yield Gap()


def _key(row: KernelRow, _: bool) -> Inline:
    return (Run(row.key, Tone.ALIAS), Run(" [alias]")) if row.alias else row.key


def _kernel(row: KernelRow, short: bool) -> Inline:
    kernel = kernel_runs(row.kernel, "fallthrough" in row.flags, row.span, short)
    return *kernel, Run(_fake_words(row), Tone.DIM)


def _fake_words(row: KernelRow) -> str:
    """Words for the kernel of a fake implementation: of which function it is."""
    if row.fake is None or row.kernel == THE_FAKE:
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
    Column("When", lambda row, _: when_label(row.when), Under("Key"), optional=True),
    Column("Declared at", lambda row, _: place_cell(row.span, row.origin), Narrow.BELOW, optional=True),
]
PYTHON_KERNELS: list[Column[PythonKernelRow]] = [
    Column("Python dispatcher key", lambda row, _: row.key),
    Column("Kernel", lambda row, _: row.kernel, Under("Python dispatcher key")),
    Column("When", lambda row, _: when_label(row.when), Under("Python dispatcher key"), optional=True),
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
        from dispatch_cli.answers.table.higher_order_document import flags_of

        if not operator.impls:
            yield (operator.name, *_NOTHING, operator.span, None, None)
        for impl in operator.impls:
            filled = (impl.registered_at, None, impl.kernel, "active", impl.fills, None, flags_of(impl))
            yield (operator.name, *filled, impl.span, impl.kind, None)


_NOTHING = (None,) * 7
"""The cells of a kernel, where there is none."""


def order_document(report: RegistrationOrderReport) -> Iterator[Block]:
    """Each operator with its registrations."""
    operators = registrations = captured = 0
    for operator in report.operators:
        rows = [*enumerate(operator.registrations, 1)]
        yield Paragraph(Run(operator.operator, Tone.HEAD), kind=ParagraphKind.TITLE)
        yield Gap()
        yield TableBlock(_ORDER_COLUMNS, rows) if rows else Paragraph("Nothing is registered.")
        yield Gap()
        operators += 1
        registrations += len(rows)
        captured += sum(registration.captured for _, registration in rows)
    if captured:
        yield Paragraph(Run(_CAPTURED, Tone.DIM))
    counted = f"{plural(operators, 'operator')}, {plural(registrations, 'registration')}"
    yield Paragraph(Run(f"{counted}, {over_label(report)}.", Tone.DIM))


def _order_key(row: tuple[int, OrderedRegistration], _: bool) -> Inline:
    return f"{row[1].key} (in Python)" if row[1].python else row[1].key


def _order_kernel(row: tuple[int, OrderedRegistration], short: bool) -> Inline:
    _, registration = row
    return kernel_runs(registration.kernel, registration.fallthrough, registration.span, short, Tone.KERNEL)


_ORDER_COLUMNS: list[Column[tuple[int, OrderedRegistration]]] = [
    Column("", lambda row, _: str(row[0]), right=True),
    Column("Key", _order_key),
    Column("Kernel", _order_kernel, Under("Key")),
    Column("When", lambda row, _: when_label(row[1].when), Under("Key"), optional=True),
    Column("Declared at", lambda row, _: place_cell(row[1].span), Narrow.BELOW, optional=True),
]


def order_sheet(report: RegistrationOrderReport) -> Sheet:
    """Sheet with a row for each registration."""
    rows = (
        (operator.operator, number, row.key, row.python, row.kernel, row.fallthrough, row.captured, row.span, row.when)
        for operator in report.operators
        for number, row in enumerate(operator.registrations, 1)
    )
    columns = ("operator", "number", "key", "python", "kernel", "fallthrough", "captured", "declared_at", "when")
    return Sheet(columns, rows)


def fallbacks_document(report: BackendFallbacksReport) -> Iterator[Block]:
    """Number of backend fallbacks, then each of them."""
    count = len(report.fallbacks)
    own = sum(fallback.core for fallback in report.fallbacks)
    whose = f", {own} of them PyTorch's own" if own else ""
    yield Paragraph((Run(plural(count, "backend fallback"), Tone.HEAD), Run(whose)), kind=ParagraphKind.TITLE)
    over = over_label(report)
    yield Paragraph(Run(f"They serve all operators, at keys that nothing else fills; {over}.", Tone.DIM))
    if report.fallbacks:
        yield Gap()
        yield TableBlock(FALLBACK_COLUMNS, report.fallbacks)
    if lines := inherited(dict.fromkeys(origins_of(*report.fallbacks))):
        yield Gap()
        yield from lines


def kernel_columns(header: str, name: Callable[[Any], str], tone: Tone) -> list[Column[Any]]:
    """The columns of kernels, each with what it is for. tone: of those that do not fall through."""

    def kernel(row: BackendFallback, short: bool) -> Inline:
        return kernel_runs(row.kernel, row.fallthrough, row.span, short, tone)

    return [
        Column(header, lambda row, _: name(row)),
        Column("Kernel", kernel, Under(header)),
        Column("When", lambda row, _: when_label(row.when), Under(header), optional=True),
        Column("Declared at", lambda row, _: place_cell(row.span, row.origin), Narrow.BELOW, optional=True),
    ]


FALLBACK_COLUMNS = kernel_columns("Key", attrgetter("key"), Tone.FALLBACK)


def fallbacks_sheet(report: BackendFallbacksReport) -> Sheet:
    """Sheet with a row for each backend fallback."""
    columns = ("key", "kernel", "fallthrough", "core", "declared_at", "when")
    rows = ((row.key, row.kernel, row.fallthrough, row.core, row.span, row.when) for row in report.fallbacks)
    return Sheet(columns, rows)
