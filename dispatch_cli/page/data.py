"""The data of a page: everything that it shows, with nothing repeated."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from dispatch_cli import __version__, bases
from dispatch_cli.answers.diff.document import document as diff_document
from dispatch_cli.answers.diff.report import DiffArguments, as_side, diff_report
from dispatch_cli.answers.diff.wording import outcome
from dispatch_cli.answers.explain.advice_document import advice_lines, fragment, new_changes
from dispatch_cli.answers.explain.advice_report import Advice
from dispatch_cli.answers.explain.adviser import slot_advice
from dispatch_cli.answers.findings.report import FindingsReport
from dispatch_cli.answers.keys.document import document as keys_document
from dispatch_cli.answers.keys.report import universe_argument, universe_report
from dispatch_cli.answers.shared.report_parts import undecided_kernels
from dispatch_cli.answers.table.higher_order_document import tables as higher_order_tables
from dispatch_cli.answers.table.higher_order_report import slots_of
from dispatch_cli.answers.table.registrations.document import fallbacks_document
from dispatch_cli.answers.table.registrations.report import backend_fallbacks_report
from dispatch_cli.answers.table.report import changed_slots
from dispatch_cli.answers.table.slot_notes import backend_key_below
from dispatch_cli.engine.history import run
from dispatch_cli.engine.state import State
from dispatch_cli.model.declarations import Declarations
from dispatch_cli.model.names import OperatorName, some_of
from dispatch_cli.model.universe import autograd_key_of
from dispatch_cli.page.blocks import written_blocks
from dispatch_cli.page.commands import command_lines, operator_words
from dispatch_cli.page.coverage import coverage_data
from dispatch_cli.page.findings import findings_data
from dispatch_cli.page.listing import Listed, every_operator, listing_data, listing_order, operators_block
from dispatch_cli.page.operators import OperatorColumns
from dispatch_cli.page.outcomes import Outcomes
from dispatch_cli.page.pool import Pool
from dispatch_cli.page.support import support_data
from dispatch_cli.page.tables import Tables
from dispatch_cli.page.texts import Texts
from dispatch_cli.render.document import Block, Column, Fact, Facts, Paragraph, ParagraphKind, TableBlock
from dispatch_cli.render.printed import safe
from dispatch_cli.render.words import below_names, plural, undecided_lines

MOST_ADVISED = 40
"""Slots with advice; each takes some hundredths of a second."""
MOST_LOOKED_AT = 2_000
"""Slots for which advice is looked for."""


class PageSource(NamedTuple):
    """Source of a page.

    arguments: the source options, as they were given; the first *named* are files. more_files: the number of files
    that are not in *files*. names: of the state's files and folders, for people. url: of the repository that they are
    in. folders: those that are left out in front of the names of files, the longest first.
    """

    arguments: tuple[str, ...]
    files: tuple[str, ...]
    more_files: int = 0
    named: int = 0
    names: tuple[str, ...] = ()
    url: str | None = None
    folders: tuple[str, ...] = ()


def page_data(
    state: State, findings: FindingsReport, source: PageSource, progress: Callable[[str], object]
) -> dict[str, Any]:
    """Everything that the page shows, as what JSON knows. progress: told what is made next."""
    dispatcher = state.dispatcher
    universe = dispatcher.universe
    keys = tuple(dict.fromkeys((*universe.slots, *universe.keys_by_id)))
    names = [OperatorName.parse(name) for name in dispatcher.names()]
    known = every_operator(state, names, findings)
    order = listing_order(state, known)
    listed = [known[number] for number in order]
    texts = Texts(universe.torch, source.url, source.files, source.folders)
    outcomes = Outcomes(dispatcher, keys)
    tables = Tables(state, outcomes)
    progress("page: the tables of all operators")
    operators = OperatorColumns(state, tables, texts, keys).data(known)
    progress("page: coverage, support and advice")
    above, below = (
        [-1 if other is None else universe.slot[other] for other in (of(universe, key) for key in universe.slots)]
        for of in (autograd_key_of, backend_key_below)
    )
    changes = changes_data(state, source.arguments[: source.named], source.arguments[source.named :])
    argument = universe_argument(state, source.arguments)
    data = {
        "about": _about(state, source, changes, known),
        "views": {name: [title, [*blocks]] for name, (title, blocks) in _views(state, source, changes, listed).items()},
        "commands": command_lines(
            source.arguments, argument, universe.backend_name, None if changes is None else changes["arguments"]
        ),
        "operator_words": operator_words(state),
        "key_names": keys,
        "slots": len(universe.slots),
        "above": above,
        "below": below,
        "grid": tables.layout(names[0]) if names else None,
        "decisions": outcomes.decisions.values,
        "lines": outcomes.lines.values,
        "reasons": outcomes.reasons.values,
        "operators": operators,
        "tables": tables.values,
        "cells": tables.cells.values,
        "order": order,
        "listing": listing_data(known),
        "higher_order": [
            [table.name, [*written_blocks(higher_order_tables((table,), False))]]
            for table in slots_of(state, state.higher_order_operators)
        ],
        "coverage": coverage_data(state, names),
        "support": support_data(state),
        "findings": findings_data(findings, texts, frozenset(row.name for row in known)),
        "advice": advice_data(state, findings, {str(name): number for number, name in enumerate(names)}),
        # what the parts above have in common comes last
        "kernels": texts.kernels.values,
        "fronts": texts.fronts.values,
        "places": texts.places.values,
    }
    folders = "|".join(map(re.escape, source.folders))
    shown: dict[str, Any] = _shown(data, re.compile(rf"(?<![\w./~-])(?:{folders})/") if folders else None)
    return shown


def _shown(value: Any, above: re.Pattern[str] | None) -> Any:
    """The data, with every text as it may be shown: without the folders above files, and nothing in it unseen."""
    if isinstance(value, str):
        text = value if above is None else above.sub("", value)
        return text if text.isascii() and text.isprintable() else "\n".join(map(safe, text.split("\n")))
    if isinstance(value, dict):
        return {_shown(name, above): _shown(item, above) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [item if type(item) is int else _shown(item, above) for item in value]
    return value


def _about(state: State, source: PageSource, changes: dict[str, Any] | None, known: Sequence[Listed]) -> dict[str, Any]:
    """The description of the state, in words.

    has_changes: there is a state below the files that they can be compared with. changes: how much they change, in the
    words of `diff`; of a state that it cannot compare, the number of operators.
    """
    universe, names = state.dispatcher.universe, source.names
    named = some_of(names, 3)
    over = f"{'over' if names else 'of'} {', '.join(state.over)}" if state.over else ""
    title = " ".join(filter(None, (named, over))) or universe.name
    operators = len(state.dispatcher)
    counts = f"{plural(operators, 'operator')} with {plural(operators * len(universe.slots), 'slot')}"
    others = plural(len(state.higher_order_operators), "higher-order operator")
    stale = sum(row.stale for row in known)
    return {
        "title": title,
        "lead": f"{counts}, and {others}: {title}.",
        "foot": f"dispatch-cli {__version__}; universe {universe.name}",
        "universe": universe.name,
        "below": below_names(state.over, state.over_files) or "PyTorch",
        "has_changes": state.base is not None and bool(names),
        "changes": plural(len(_changed(known)), "operator") if changes is None else changes["outcome"],
        "stale": f"{stale:,}" * bool(stale),
        "url": source.url,
    }


def _changed(known: Sequence[Listed]) -> list[Listed]:
    return [row for row in known if row.changed or row.new]


def _views(
    state: State, source: PageSource, changes: dict[str, Any] | None, listed: Sequence[Listed]
) -> dict[str, tuple[str, Iterable[Any]]]:
    """Views that are written here, by name: the title and the blocks."""
    universe = state.dispatcher.universe
    keys = written_blocks(keys_document(universe_report(universe), universe=universe))
    changed = operators_block(_changed(listed)) or [("prose", "There is none.")]
    undecided = written_blocks(undecided_lines(undecided_kernels(state, state.own_operators())))
    others = operators_block([row for row in listed if row.higher_order]) or [("prose", "There is none.")]
    return {
        "keys": (f"Dispatch keys of {universe.name}", keys),
        "fallbacks": ("Backend fallbacks", written_blocks(fallbacks_document(backend_fallbacks_report(state)))),
        "higher-order": ("Higher-order operators", others),
        "changes": (
            "What the files change",
            (*([] if changes is None else changes["blocks"]), ("section", "Operators that change"), *changed),
        ),
        "own": ("Operators of these files", (*undecided, *operators_block([row for row in listed if row.own]))),
        "about": ("What this page was made from", written_blocks(_made_from(state, source))),
    }


def _made_from(state: State, source: PageSource) -> Iterator[Block]:
    universe = state.dispatcher.universe
    assumed = " (assumed: neither files nor --base name another)" * state.over_assumed
    facts = (
        Fact("dispatch-cli", __version__),
        Fact("Universe", universe.name),
        Fact("PyTorch", universe.torch or ""),
        Fact("Over", f"{', '.join((*state.over, *state.over_files))}{assumed}"),
    )
    yield Facts(facts)
    if source.files:
        yield Paragraph("Files", kind=ParagraphKind.SECTION)
        yield TableBlock(_FILE_COLUMNS, source.files)
    if source.more_files:
        yield Paragraph(f"{plural(source.more_files, 'more file')} that the page does not name.")


_FILE_COLUMNS: list[Column[str]] = [Column("File", lambda file, _: file)]


def changes_data(state: State, files: tuple[str, ...], options: tuple[str, ...]) -> dict[str, Any] | None:
    """The arguments of ``diff``, its outcome and its document.

    None where ``diff`` cannot compare the two. files, options: the source options as they were given.
    """
    below = as_side(state.over)
    if not files or len(below) != 1 or below[0] not in (*bases.names(), *bases.overlay_names()):
        return None
    before = run(Declarations(state.dispatcher.universe), state.source)
    report = diff_report(before, state, (below, files))
    universes = (before.dispatcher.universe, state.dispatcher.universe)
    return {
        "arguments": DiffArguments(below, files, options).arguments,
        "outcome": outcome(report),
        "blocks": [*written_blocks(diff_document(report, universes=universes))],
    }


def advice_data(state: State, findings: FindingsReport, numbers: Mapping[str, int]) -> dict[str, Any]:
    """values: the advice in sentences with their labels, and the fixes. operators: by number, for slots their values.

    It is for slots of the files' operators, those with findings first; for the others, the page has the command to run.
    numbers: of the operators, by name. A slot of which it was found that there is none has it, too: an empty one.
    """
    values = Pool()
    operators: dict[int, dict[int, int]] = {}
    advised = 0
    for name, key in islice(dict.fromkeys(_slots(state, findings)), MOST_LOOKED_AT):
        if advised == MOST_ADVISED:
            break
        pieces = slot_advice(state, name, key)
        advised += bool(pieces)
        slot = state.dispatcher.universe.slot[key]
        operators.setdefault(numbers[str(name)], {})[slot] = values.build(pieces, _advice)
    return {"values": values.values, "operators": operators}


def _advice(advice: tuple[Advice, ...]) -> Any:
    best = (changes[0].edits if changes else () for changes in new_changes(advice))
    return {
        "lines": [[run.text for run in runs] for runs in advice_lines(advice)],
        "fixes": [*map(fragment, best)],
    }


def _slots(state: State, findings: FindingsReport) -> Iterator[tuple[OperatorName, str]]:
    """Slots of the operators of files, those first that findings are about; a slot can come again."""
    dispatcher = state.dispatcher
    universe = dispatcher.universe
    own = state.own_operators()
    by_name = {str(name): name for name in own}
    for finding in (row.finding for row in findings.findings):
        name = by_name.get(finding.operator or "")
        if name is not None and finding.key is not None and finding.key in universe.slot:
            yield name, finding.key
    for name in own:
        yield from ((name, key) for key in dispatcher.stale_slots(name))
    for name in own:
        yield from ((name, key) for key in changed_slots(state, name))
    for name in own:
        for key in dispatcher.operator(name).kernels:
            if key in universe.slot:
                above = autograd_key_of(universe, key)
                yield from ((name, slot_key) for slot_key in (key, above) if slot_key is not None)
