"""A universe at a glance: priority, grid, aliases, defaults and devices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from dispatch_cli.answers.keys.key_document import groups_label
from dispatch_cli.answers.keys.report import AliasRow, CoreAnswer, FunctionalityRow, KeyRow, UniverseReport
from dispatch_cli.model.universe import Universe
from dispatch_cli.render.document import (
    Block,
    Column,
    Fact,
    Facts,
    Gap,
    Inline,
    Mark,
    Matrix,
    MatrixCell,
    MatrixHead,
    MatrixRow,
    Paragraph,
    ParagraphKind,
    Run,
    TableBlock,
    Tone,
    joined,
    lines,
)
from dispatch_cli.render.printed import safe
from dispatch_cli.render.sheet import Sheet
from dispatch_cli.render.words import listed

CODES = {
    CoreAnswer.KERNEL: Mark("f", Tone.FALLBACK, "PyTorch's own fallback"),
    CoreAnswer.FALLTHROUGH: Mark(">", Tone.WARN, "PyTorch's own fallthrough"),
    CoreAnswer.NOTHING: Mark(".", Tone.DIM, "neither"),
}
"""The letters are those of a table's grid."""
UNNAMED = Mark("'", meaning="PyTorch's parser does not know the name")


def document(report: UniverseReport, *, universe: Universe) -> Iterator[Block]:
    """Priority, grid, aliases, defaults and devices."""
    rows = {row.key: row for row in report.keys}
    yield Paragraph(f"{report.universe}: the dispatch keys of PyTorch {report.torch}", kind=ParagraphKind.TITLE)
    functionalities, backends = len(report.functionalities), len(report.backends)
    counts = f"{functionalities} functionalities and {backends} backends make {len(rows)} runtime keys"
    yield Paragraph(
        Run(f"{counts}: {len(report.keys) + 1} slots with Undefined; {len(report.aliases)} alias keys", Tone.DIM)
    )
    yield Gap()
    yield Paragraph("Priority, highest first: a call goes to the highest key of its set")
    yield _priorities([_functionality(row, rows) for row in report.functionalities])
    yield Gap()
    yield Paragraph("Functionalities that are per backend: each cell is a runtime key")
    per_backend = [row for row in reversed(report.functionalities) if row.per_backend]
    cells = [MatrixRow(_label(row, rows), [_cell(rows[key]) for key in row.keys]) for row in per_backend]
    marks = [*CODES.values(), *([UNNAMED] if any(not row.parseable for row in report.keys) else [])]
    yield Matrix([MatrixHead(row.backend) for row in report.backends], cells, explained=marks)
    yield Gap()
    yield Paragraph("Alias keys, in the order of the rules that use them, and the keys that they cover")
    yield Facts([_alias(row, universe) for row in report.aliases])
    yield Gap()
    yield Facts([*_others(report)])


def _label(row: FunctionalityRow, rows: dict[str, KeyRow]) -> str:
    """Common start of the keys of a functionality; its own name where that is empty."""
    first = row.keys[0] if row.keys else row.functionality
    return first.removesuffix(rows[first].backend or "") or row.functionality


def _functionality(row: FunctionalityRow, rows: dict[str, KeyRow]) -> tuple[Run, ...]:
    number = Run(f"{row.priority:>2} ", Tone.DIM)
    if row.per_backend:
        return joined(number, f"  {safe(row.functionality)}, {len(row.keys)} keys")
    code = CODES[rows[row.keys[0]].core]
    return joined(number, Run(code.text, code.tone), f" {safe(row.functionality)}")


def _priorities(cells: Sequence[tuple[Run, ...]]) -> TableBlock[tuple[tuple[Run, ...], tuple[Run, ...]]]:
    """The functionalities in two columns, the upper half on the left."""
    half = -(-len(cells) // 2)
    rows = [*zip_longest(cells[:half], cells[half:], fillvalue=())]
    return TableBlock([Column("Priority", lambda row, _: row[0]), Column("Priority", lambda row, _: row[1])], rows)


def _cell(key: KeyRow) -> MatrixCell:
    marks = (CODES[key.core], *(() if key.parseable else (UNNAMED,)))
    return MatrixCell(marks, f"{key.key}: {', '.join(mark.meaning for mark in marks)}", key.key)


def _alias(row: AliasRow, universe: Universe) -> Fact:
    also = "; Undefined" if row.fills_undefined else ""
    label = f"{'-' if row.rule_number is None else row.rule_number} {row.alias}"
    return Fact(label, f"{groups_label(universe, row.covers)}{also}", row.alias)


def _others(report: UniverseReport) -> Iterator[Fact]:
    defaults = lines(f"includes {listed(report.default_included)}", f"excludes {listed(report.default_excluded)}")
    yield Fact("Fresh thread", defaults)
    yield Fact("Higher-order", f"operators fall through by default at {listed(report.higher_order_fallthrough)}")
    yield Fact("FULL_AFTER(K)", f"every key below K's functionality, and {listed(report.full_after_always)}")
    yield Fact("Autograd keys", _autograd(report))
    same = [device for device, key in report.devices.items() if key.lower() == device]
    others = [f"{device} is {key}" for device, key in report.devices.items() if key.lower() != device]
    yield Fact("Devices", "; ".join([", ".join(same), *others]))


def _autograd(report: UniverseReport) -> Inline:
    named = {row.backend: (row.key,) for row in report.keys if row.functionality == "AutogradFunctionality"}
    shared: dict[tuple[str, ...], list[str]] = {}
    for row in report.backends:
        if row.autograd_keys != named.get(row.backend):
            shared.setdefault(row.autograd_keys, []).append(row.backend)
    exceptions = "; ".join(
        f"{', '.join(names)} {'has' if len(names) == 1 else 'have'} {listed(keys)}" for keys, names in shared.items()
    )
    sentences = [f"each backend has its own{f', but {exceptions}' if exceptions else ''}"]
    if report.autograd_keys_without_backends:
        keys = ", ".join(report.autograd_keys_without_backends)
        sentences.append(f"no backend kernel displaces the math kernel at {keys}")
    return lines(*sentences)


def sheet(report: UniverseReport) -> Sheet:
    """A row per runtime key."""
    return Sheet(KeyRow._fields, report.keys)
