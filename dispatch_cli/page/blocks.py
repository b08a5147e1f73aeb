"""Documents as data that the page shows, so that each name in them is set as text; coverage and support."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

from dispatch_cli.answers.coverage.counts import OperatorClasses, coverage_counts
from dispatch_cli.answers.coverage.document import served_blocks
from dispatch_cli.answers.coverage.overview import overview_report
from dispatch_cli.answers.coverage.overview_document import document as overview_document
from dispatch_cli.answers.coverage.report import groups_of
from dispatch_cli.answers.coverage.wording import SERVICE_NAMES, served_by, served_share, service_words, training_words
from dispatch_cli.answers.support.document import call_blocks, cell_title
from dispatch_cli.answers.support.document import document as support_document
from dispatch_cli.answers.support.report import MOST_OF_A_LIBRARY, SupportReport, support_report
from dispatch_cli.answers.table.slot_notes import overlay_of
from dispatch_cli.checks.support_words import call_options
from dispatch_cli.engine.backend_answers import Covered, CoveredBackend
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.state import State
from dispatch_cli.engine.support.cell import Cell
from dispatch_cli.engine.support.columns import support_columns
from dispatch_cli.engine.support.verdicts import support_rows
from dispatch_cli.model.names import OperatorName
from dispatch_cli.page.commands import words_text
from dispatch_cli.page.pool import Pool
from dispatch_cli.render.document import (
    Block,
    Facts,
    Inline,
    Mark,
    Matrix,
    Paragraph,
    TableBlock,
    Tone,
    cells_of,
    lines_of,
    runs_of,
    title_of,
)
from dispatch_cli.render.printed import safe
from dispatch_cli.render.words import not_built_sentence, plural

Address = Callable[[Any], str]
"""Address in the page that the target of a cell leads to."""


def written_blocks(blocks: Iterable[Block], address: Address | None = None) -> Iterator[Any]:
    """Blocks as lists, each with its kind first.

    A paragraph has its text. Facts have pairs of label and text. A table has heads, each a text and whether its cells
    stand to the right, and rows, whose cells are texts or have a text and a tone. A matrix has its data.
    """
    for block in blocks:
        if isinstance(block, Paragraph):
            yield block.kind.value, _text(block.inline)
        elif isinstance(block, Facts):
            yield "facts", [[_text(row.label), _text(row.inline)] for row in block.rows]
        elif isinstance(block, TableBlock):
            shown = cells_of(block)
            heads = [[column.header, column.right] for column in shown.columns]
            yield "table", heads, [[*map(_toned, row)] for row in shown.rows]
        elif isinstance(block, Matrix):
            yield "matrix", _matrix(block, address)


def _text(inline: Inline) -> str:
    """A text with its lines; a line break in a run is none of them."""
    return "\n".join("".join(safe(run.text) for run in line) for line in lines_of(inline))


def _toned(inline: Inline) -> Any:
    runs = runs_of(inline)
    return [_text(inline), runs[0].tone.value] if len(runs) == 1 and runs[0].tone is not Tone.PLAIN else _text(inline)


def _matrix(matrix: Matrix, address: Address | None) -> dict[str, Any]:
    """heads: a name and a group each. rows: a label, then the cells: marks, title and address.

    legend: the marks that are explained. A mark: its text, tone and meaning.
    """
    return {
        "corner": matrix.corner,
        "heads": [[head.name, head.group] for head in matrix.heads],
        "rows": [
            [
                row.label,
                *([[*map(_mark, cell.marks)], title_of(cell), address and address(cell.target)] for cell in row.cells),
            ]
            for row in matrix.rows
        ],
        "legend": [*map(_mark, matrix.legend)],
    }


def _mark(mark: Mark) -> list[str]:
    return [mark.text, mark.tone.value, mark.meaning]


def coverage_data(state: State, names: Sequence[OperatorName]) -> dict[str, Any]:
    """class, groups: of each operator. backends: of each the words, and the answer for each class.

    overview: groups of operators on backends, whose cells lead to lists. options: those of the command that choose a
    group, by its name.
    """
    classes, answers, groups = OperatorClasses(state, names), Pool(), Pool()
    report = overview_report(state, names, classes=classes)
    return {
        "class": classes.numbers,
        "groups": [groups.add(tuple(groups_of(state, name))) for name in names],
        "group_lists": groups.values,
        "backends": [_backend(state, backend, classes, answers) for backend in classes.backends],
        "answers": answers.values,
        "overview": [*written_blocks(overview_document(report, most=None), _coverage_address)],
        "options": {group.chosen_by[-1]: words_text(group.chosen_by) for group in report.groups if group.chosen_by},
    }


def _coverage_address(target: tuple[str, tuple[str, ...]]) -> str:
    backend, options = target
    chosen = f"?{urlencode({'group': options[-1]})}" if options else ""
    return f"#!coverage/{quote(backend)}{chosen}"


def _backend(state: State, backend: CoveredBackend, classes: OperatorClasses, answers: Pool) -> dict[str, Any]:
    kinds, answered = classes.answers(backend), Counter[Covered]()
    for number, operators in classes.sizes.items():
        answered[kinds[number]] += operators
    sums = coverage_counts(answered)
    overlay = overlay_of(state.dispatcher, backend.key)
    others = plural(len(state.higher_order_operators), "higher-order operator")
    facts = {
        "Served by": served_by(sums),
        "Device": backend.device,
        "Autograd at": backend.autograd,
        "Not counted": state.higher_order_operators and f"{others}, which no backend has kernels for",
    }
    return {
        "key": backend.key,
        "name": f"{backend.key} ({backend.device})" if backend.device else backend.key,
        "share": served_share(sums),
        "facts": [[label, text] for label, text in facts.items() if text],
        "services": [[count.service.value, SERVICE_NAMES[count.service]] for count in sums.services],
        "tables": [*written_blocks(served_blocks(sums, backend.key))],
        "not_built": None if overlay is None else not_built_sentence(backend.key, overlay),
        "answers": [answers.build(kind, _covered) for kind in kinds],
    }


def _covered(kind: Covered) -> Any:
    """source: where the kernel is registered; is_fallback: as the backend fallback. words: what serves an operator,
    and how it trains."""
    service = service_words(kind.service, kind.source, kind.lack, kind.otherwise)
    return {
        "service": kind.service.value,
        "slot": kind.slot,
        "source": kind.source,
        "is_fallback": kind.rule is Rule.FALLBACK,
        "words": [service, training_words(kind.training, kind.gradient)],
    }


def support_data(state: State) -> dict[str, Any] | None:
    """blocks: the document of ``support``, whose cells lead to calls. calls: for each its title, its operator, and a
    number of *answers*, which have the options of ``resolve`` and the facts.

    None where the files have no operators, or too many.
    """
    names = state.own_operators()
    if not 0 < len(names) <= MOST_OF_A_LIBRARY:
        return None
    columns = support_columns(state, names)
    report = support_report(state, columns, [*support_rows(state, names, columns)])
    answers, calls = Pool(), {}
    for row in report.operators:
        for at, (column, cell) in enumerate(zip(report.columns, row.cells, strict=True)):
            number = answers.build(cell, partial(_call, report))
            calls[f"{at},{row.operator}"] = [cell_title(row.operator, column, cell), str(row.operator), number]
    blocks = [*written_blocks(support_document(report, full=True), _support_address)]
    return {"blocks": blocks, "calls": calls, "answers": answers.values}


def _support_address(target: tuple[OperatorName, int, Cell]) -> str:
    operator, at, _ = target
    return f"#!support/{at},{quote(safe(str(operator)), safe=':')}"


def _call(report: SupportReport, cell: Cell) -> Any:
    _, *facts = call_blocks(report, report.operators[0].operator, 0, cell)  # the first block is the title
    options = None if cell.call is None else words_text(call_options(cell.call))
    return {"options": options, "blocks": [*written_blocks(facts)]}
