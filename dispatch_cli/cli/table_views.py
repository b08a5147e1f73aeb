"""The views of ``dispatch-cli table``: which report in which form."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dispatch_cli.engine.history.state import State
    from dispatch_cli.model.higher_order import HigherOrderOperator
    from dispatch_cli.model.names import OperatorName
    from dispatch_cli.render.machine import Sheet
    from dispatch_cli.render.style import Style
    from dispatch_cli.report.higher_order import HigherOrderReport
    from dispatch_cli.report.python_table import PythonReport
    from dispatch_cli.report.table import TableReport


class TableOptions(NamedTuple):
    """What to show. keys: None for all. view: rows, grid or summary. python: as Python's resolve_key decides."""

    names: tuple[OperatorName, ...]
    higher_order: tuple[HigherOrderOperator, ...]
    keys: frozenset[str] | None
    view: str
    all_rows: bool
    python: bool


def tables(state: State, asked: TableOptions, format_: str, style: Style) -> Iterator[str]:
    """The tables of the operators, then those of the higher-order operators."""
    if format_ == "text":
        texts = []
        if asked.names or not asked.higher_order:
            texts.append(_text(state, asked, style))
        if asked.higher_order:
            texts.append(_higher_order_text(_higher_order_report(state, asked), asked, style))
        return _parted(texts)
    higher_order = _higher_order_report(state, asked)
    if format_ == "json":
        return _json(state, asked, higher_order)
    from dispatch_cli.render.machine import csv_text, markdown_text

    sheet = _sheet(state, asked, higher_order, folded=format_ == "markdown" and not asked.all_rows)
    return (csv_text if format_ == "csv" else markdown_text)(sheet)


def differences(
    state: State, names: list[OperatorName], keys: frozenset[str] | None, format_: str, style: Style
) -> Iterator[str]:
    """The slots at which Python chooses another key than the C++ table."""
    report = _python_report(state, names, keys)
    if format_ == "text":
        from dispatch_cli.render.python_table import differences_text

        return differences_text(report, style)
    from dispatch_cli.render.machine import csv_text, markdown_text
    from dispatch_cli.render.python_table_machine import differences_json, differences_sheet

    if format_ == "json":
        return differences_json(report)
    return (csv_text if format_ == "csv" else markdown_text)(differences_sheet(report))


def _parted(texts: list[Iterator[str]]) -> Iterator[str]:
    for position, text in enumerate(texts):
        if position:
            yield "\n"
        yield from text


def _higher_order_report(state: State, asked: TableOptions) -> HigherOrderReport:
    from dispatch_cli.report.higher_order import higher_order_report

    return higher_order_report(state, asked.higher_order, asked.keys)


def _report(state: State, asked: TableOptions) -> TableReport:
    from dispatch_cli.report.table import table_report

    return table_report(state, asked.names, asked.keys)


def _python_report(
    state: State, names: tuple[OperatorName, ...] | list[OperatorName], keys: frozenset[str] | None
) -> PythonReport:
    from dispatch_cli.report.python_table import python_report

    return python_report(state, names, keys)


def _text(state: State, asked: TableOptions, style: Style) -> Iterator[str]:
    if asked.python:
        from dispatch_cli.render.python_table import python_summary_text, python_tables_text

        found = _python_report(state, asked.names, asked.keys)
        if asked.view == "summary":
            return python_summary_text(found, style)
        return python_tables_text(found, style, asked.all_rows)
    report = _report(state, asked)
    if asked.view == "grid":
        from dispatch_cli.render.grid import grids_text

        return grids_text(report, style, state.dispatcher.universe)
    from dispatch_cli.render.table import summary_text, table_text

    if asked.view == "summary":
        return summary_text(report, style)
    return table_text(report, style, asked.all_rows, _autograd_keys(state))


def _autograd_keys(state: State) -> frozenset[str]:
    return frozenset(state.dispatcher.universe.covered_by("Autograd"))


def _higher_order_text(report: HigherOrderReport, asked: TableOptions, style: Style) -> Iterator[str]:
    from dispatch_cli.render.higher_order import summary_text, tables_text

    return summary_text(report, style) if asked.view == "summary" else tables_text(report, style, asked.all_rows)


def _json(state: State, asked: TableOptions, higher_order: HigherOrderReport) -> Iterator[str]:
    from dispatch_cli.render.higher_order_machine import higher_order_data, summary_data

    summary = asked.view == "summary"
    head = {"higher_order_operators": list((summary_data if summary else higher_order_data)(higher_order))}
    if asked.python:
        from dispatch_cli.render.python_table_machine import python_summary_json, python_table_json

        found = _python_report(state, asked.names, asked.keys)
        return (python_summary_json if summary else python_table_json)(found, head)
    from dispatch_cli.render.table_machine import summary_json, table_json

    return (summary_json if summary else table_json)(_report(state, asked), head)


def _sheet(state: State, asked: TableOptions, higher_order: HigherOrderReport, folded: bool) -> Sheet:
    from dispatch_cli.render import higher_order_machine as others
    from dispatch_cli.render.machine import Sheet

    if asked.python:
        from dispatch_cli.render import python_table_machine as python

        found = _python_report(state, asked.names, asked.keys)
        if asked.view == "summary":
            sheet, more = python.python_summary_sheet(found), others.python_summary_cells(higher_order)
        elif folded:
            sheet, more = python.folded_python_sheet(found), others.folded_python_cells(higher_order)
        else:
            sheet, more = python.python_table_sheet(found), others.python_cells(higher_order)
    else:
        from dispatch_cli.render import table_machine as cpp

        report = _report(state, asked)
        if asked.view == "summary":
            sheet, more = cpp.summary_sheet(report), others.summary_cells(higher_order)
        elif folded:
            sheet, more = cpp.folded_sheet(report, _autograd_keys(state)), others.folded_cells(higher_order)
        else:
            sheet, more = cpp.table_sheet(report), others.table_cells(higher_order)
    return Sheet(sheet.columns, chain(sheet.rows, more))
