"""Words of a page, as its own script puts them together, are those of the engine: tables, slots, coverage, searches."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest

from dispatch_cli.answers.coverage.document import trains, words
from dispatch_cli.answers.coverage.report import coverage_report
from dispatch_cli.answers.explain.advice_document import advice_lines, fragment, new_changes
from dispatch_cli.answers.explain.adviser import slot_advice
from dispatch_cli.answers.explain.document import REGISTRATIONS, RULES
from dispatch_cli.answers.explain.report import explain_slot
from dispatch_cli.answers.explain.wording import stale_sentence
from dispatch_cli.answers.shared.slot_row import SlotRow
from dispatch_cli.answers.table.document import document, stale_note
from dispatch_cli.answers.table.grid_document import CODES, CORE_FALLBACK, FALLTHROUGH, MARKS, code_of
from dispatch_cli.answers.table.registrations.document import KERNELS
from dispatch_cli.answers.table.registrations.report import registrations_report
from dispatch_cli.answers.table.report import OperatorTable, fold_table, table_report
from dispatch_cli.answers.table.wording import before_label, kernel_label, mark_of
from dispatch_cli.engine.backend_answers import backend_of
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.state import State
from dispatch_cli.model.names import OperatorName
from dispatch_cli.page.blocks import written_blocks
from dispatch_cli.page.texts import ShownKernel
from dispatch_cli.render.document import Block, Column, Inline, Run, TableBlock, runs_of
from dispatch_cli.render.printed import safe
from dispatch_cli.render.words import inherited, keys_label, origins_of, place_cell
from tests.page.support import Script, needs_node, page_of, script_of, state_of


def text(inline: Inline) -> str:
    return safe("".join(run.text for run in runs_of(inline)))


def cells(columns_of: Sequence[Column[Any]], row: Any, *headers: str) -> list[str]:
    """The short cells of a row, under some of the headers."""
    return [
        text(next(column for column in columns_of if column.header == header).cell(row, True)) for header in headers
    ]


def kernel(row: Any) -> str:
    return "" if row.kernel is None else safe(kernel_label(row, True))


def tables(state: State, script: Script, names: Sequence[OperatorName]) -> Iterator[str]:
    """Differences in the tables of operators. Errors are sentences."""
    universe = state.dispatcher.universe
    for table in table_report(state, names).operators:
        shown = script.ask("table", safe(table.operator))
        what = f"table {table.operator}"
        yield from differing(what, [slot(row) for row in table.entries], [shown_slot(row) for row in shown["slots"]])
        folding = fold_table(table.entries, frozenset(universe.covered_by("Autograd")))
        rows = [[keys_label(run.keys), list(map(universe.slot.__getitem__, run.keys))] for run in folding.rows]
        yield from differing(f"{what}, rows", rows, shown["rows"])
        yield from differing(f"{what}, codes", codes(table), [line[0::2] for line in shown["legend"]])
        stale = len([*written_blocks(stale_note(table))])
        first = len(shown["notes"]) - stale
        below = [*shown["notes"][:first], *shown["asides"], *shown["notes"][first:]]
        yield from differing(f"{what}, below", [*written_blocks(below_rows(state, table))], below)


def below_rows(state: State, table: OperatorTable) -> Sequence[Block]:
    """The document of a table below its rows; without the lines on files that the user did not name."""
    report = table_report(state, [OperatorName.parse(table.operator)])
    blocks = [*document(report, universe=state.dispatcher.universe)]
    rows = next(at for at, block in enumerate(blocks) if isinstance(block, TableBlock))
    lines = inherited(dict.fromkeys(origins_of(table, *table.entries)))
    return blocks[rows + 1 : len(blocks) - len(lines)]


def codes(table: OperatorTable) -> list[list[str]]:
    """The codes and marks of the grid's slots, in the order of its legend, with the number of slots."""
    counts = Counter(map(code_of, table.entries))
    marked = Counter(map(mark_of, table.entries))
    known = (*CODES.values(), CORE_FALLBACK, FALLTHROUGH)
    lines = [[code.letter, f"{code.meaning}, {counts[code]}"] for code in known if counts[code]]
    return lines + [[mark, f"{meaning}, {marked[mark]}"] for mark, (meaning, _) in MARKS.items() if marked[mark]]


def slot(row: SlotRow) -> list[Any]:
    """The words for a slot."""
    without = None
    if (rest := row.otherwise) is not None:
        label = kernel(
            ShownKernel(rest.kernel, rest.fallthrough, rest.rule is Rule.FALLBACK and not rest.span, rest.span)
        )
        without = [rest.rule.dump_text, label]
    return [
        *(row.key, row.rule.dump_text, row.rule_number, kernel(row), row.source, row.when or ""),
        *(text(place_cell(row.span, row.origin)), code_of(row).meaning),
        "" if row.before is None else safe(before_label(row.before, True)),
        *(row.stale, without),
    ]


def shown_slot(row: Any) -> list[Any]:
    """The same, as a page has them."""
    without = row.get("without")
    return [
        *(row[field] for field in ("key", "rule", "ruleNumber", "kernel", "source", "when")),
        *(row["place"]["whole"], row["cell"][0], row["before"], row["live"] is not None),
        None if without is None else [without["rule"], without["kernel"]],
    ]


SEARCHED = {
    "ADD.Tensor": "aten::add.Tensor",
    "native norm": "aten::native_norm",
    "torch.ops.aten.add.Tensor": "aten::add.Tensor",
    "aten.linear.default": "aten::linear",
    "convol backw": "aten::convolution_backward",
    "higher_order::cond": "cond",
}
"""Texts that are typed to find operators, and the operator that comes first."""


def search(script: Script) -> Iterator[str]:
    """Differences in the operators that are found first, and letters of them that no text has."""
    for query, name in SEARCHED.items():
        first = script.ask("search", query)[0]["name"]
        yield from differing(f"search {query!r}", name, first)
    if script.ask("search", "zzzzz"):
        yield "zzzzz finds an operator"


def registrations(state: State, script: Script, names: Sequence[OperatorName]) -> Iterator[str]:
    """The same of their registrations."""
    for operator in registrations_report(state, names).operators:
        shown = script.ask("table", safe(operator.operator))
        expected = [
            [
                *cells(KERNELS, row, "Key", "State", "When", "Declared at"),
                "" if not row.active else cells(KERNELS, row, "Fills")[0],
                safe(row.signature or ""),
            ]
            for row in operator.kernels
        ]
        rows = [
            [
                *(row["key"] + " [alias]" * row["isAlias"], row["state"], row["when"], row["place"]["whole"]),
                *("" if row["state"] != "active" else row["fills"], row["signature"]),
            ]
            for row in shown["registrations"]
        ]
        yield from differing(f"registrations of {operator.operator}", expected, rows)
        python = [[row.key, row.kernel, text(place_cell(row.span)), row.when or ""] for row in operator.python_kernels]
        others = [[row["key"], row["kernel"], row["place"]["whole"], row["when"]] for row in shown["python"]]
        yield from differing(f"Python kernels of {operator.operator}", python, others)


def coverage(state: State, script: Script, keys: Iterable[str]) -> Iterator[str]:
    """The same of what serves all operators on backends."""
    names = [OperatorName.parse(name) for name in state.dispatcher.names()]
    for key in keys:
        report = coverage_report(state, backend_of(state.dispatcher.universe, key), names)
        shown = script.ask("coverage", key)
        expected = [
            [
                str(row.operator),
                words(row),
                trains(row),
                row.covered.slot,
                row.covered.source,
                text(place_cell(row.span, row.origin)),
                ""
                if row.kernel is None
                else kernel(
                    ShownKernel(row.kernel, False, row.covered.rule is Rule.FALLBACK and not row.span, row.span)
                ),
            ]
            for row in report.operators
        ]
        rows = [
            [
                *(row["operator"], *row["words"], row["slot"], row["source"]),
                *(row["place"]["whole"], row["kernel"]),
            ]
            for row in shown
        ]
        yield from differing(f"coverage {key}", expected, rows)


def slots(state: State, script: Script, asked: Sequence[tuple[OperatorName, str]]) -> Iterator[str]:
    """The same of slots that are explained."""
    for name, key in asked:
        shown, what = script.ask("explain", safe(str(name)), key), explain_slot(state, name, key)
        rules = [
            [
                [run.text, run.tone.value]
                for run in (column.cell(line, False) for column in RULES)
                if isinstance(run, Run)
            ]
            for line in what.rules
        ]
        concerned = [
            cells(REGISTRATIONS, row, "Registered at", "Kernel", "What it does", "When", "Declared at")
            for row in what.registrations
        ]
        following = (
            None if what.next is None or what.answer.otherwise else [what.next.rule.dump_text, kernel(what.next)]
        )
        stale = what.live is not None and what.cause is not None and stale_sentence(key, what.live, what.cause)
        expected = {
            "answer": slot(what.answer),
            "rules": rules,
            "registrations": concerned,
            "next": following,
            "above": None if what.above is None else slot(what.above._replace(before=None)),
            "below": None if what.below is None else slot(what.below._replace(before=None)),
            "stale": safe(stale) if stale else None,
            "advice": None if shown["advice"] is None else _advised(state, name, key),
        }
        words_shown = {
            "answer": shown_slot(shown["answer"]),
            "rules": shown["rules"],
            "registrations": [
                [row["key"], row["kernel"], row["does"], row["when"], row["place"]["whole"]]
                for row in shown["registrations"]
            ],
            "next": shown["next"] and [shown["next"]["rule"], shown["next"]["kernel"]],
            **{part: shown[part] and shown_slot({**shown[part], "before": ""}) for part in ("above", "below")},
            "stale": shown["answer"]["live"] and shown["answer"]["live"][0],
            "advice": shown["advice"],
        }
        yield from differing(f"explain {name} {key}", expected, words_shown)


def _advised(state: State, name: OperatorName, key: str) -> Any:
    advice = slot_advice(state, name, key)
    texts = [[safe(run.text) for run in runs] for runs in advice_lines(advice)]
    fixes = [fragment(changes[0].edits if changes else ()) for changes in new_changes(advice)]
    return {"lines": texts, "fixes": fixes}


def advised(state: State, script: Script) -> list[tuple[OperatorName, str]]:
    """The slots with advice in the page."""
    names, slots = state.dispatcher.names(), state.dispatcher.universe.slots
    operators = script.ask("data")["advice"]["operators"]
    return [
        (OperatorName.parse(names[int(number)]), slots[slot])
        for number, numbers in operators.items()
        for slot in map(int, numbers)
    ]


def differing(what: str, expected: Any, shown: Any, path: str = "") -> Iterator[str]:
    """The first difference of two values, as a sentence."""
    expected = json.loads(json.dumps(expected)) if not path else expected
    if expected == shown:
        return
    if isinstance(expected, dict) and isinstance(shown, dict):
        for name in {**expected, **shown}:
            missing = object()
            ours, other = expected.get(name, missing), shown.get(name, missing)
            if ours != other:
                if missing in (ours, other):
                    yield f"{what}{path}.{name}: only {'shown' if ours is missing else 'expected'}"
                else:
                    yield from differing(what, ours, other, f"{path}.{name}")
                return
    if isinstance(expected, list) and isinstance(shown, list) and len(expected) == len(shown):
        place = next(at for at, (item, other) in enumerate(zip(expected, shown, strict=True)) if item != other)
        yield from differing(what, expected[place], shown[place], f"{path}[{place}]")
        return
    yield f"{what}{path}: expected {str(expected)[:200]}, shown {str(shown)[:200]}"


PAGES: dict[str, tuple[str, ...]] = {
    "a file over a base": ("examples/overlay.yaml",),
    "a state that is incomplete": ("--base", "torch-2.13", "--base", "torch-2.13-mps"),
    "a stale table": ("examples/stale.yaml",),
    "hostile names": ("tests/page/hostile.yaml",),
}
OPERATORS = 4


LONG = ("a file over a base", "a state that is incomplete", "hostile names")


@needs_node
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in PAGES]
)
def test_the_script_of_a_page_says_what_the_engine_says(name: str) -> None:
    page, state = page_of(*PAGES[name]), state_of(PAGES[name])
    assert page.stat().st_size < 1_000_000
    names = [OperatorName.parse(operator) for operator in state.dispatcher.names()]
    dice = random.Random(15)
    some = [*state.own_operators(), *dice.sample(names, min(len(names), 4 * OPERATORS))][: 4 * OPERATORS]
    keys = state.dispatcher.universe.slots
    asked = [(operator, key) for operator in some[: 2 * OPERATORS] for key in dice.sample(keys, 4)]
    with script_of(page) as script:
        differences = [
            *tables(state, script, some),
            *registrations(state, script, some),
            *slots(state, script, [*asked, *advised(state, script)[::5]]),
        ]
        if name == "a file over a base":
            differences += [*coverage(state, script, ("PrivateUse1",)), *search(script)]
    assert differences == []


@needs_node
def test_operators_of_the_files_come_first_among_equals() -> None:
    with script_of(page_of("examples/overlay.yaml")) as script:
        names = [entry["name"] for entry in script.ask("search", "dty")]
        shown = [row["operator"] for row in script.ask("coverage", "CUDA")]
    assert names[0] == shown[0] == "aten::to.dtype"
    assert len(names[1]) < len(names[0])
    assert shown[1:] == sorted(shown[1:])


@needs_node
def test_a_page_offers_each_service_once_and_says_once_what_is_pytorchs_own() -> None:
    with script_of(page_of("examples/overlay.yaml")) as script:
        backends = script.ask("data")["coverage"]["backends"]
        above = script.ask("explain", "aten::to.dtype", "PrivateUse1")["above"]
        words = script.ask("slotWords", above)
    assert any(len(backend["services"]) > 3 for backend in backends)
    assert all(len(dict(backend["services"])) == len(backend["services"]) for backend in backends)
    assert above["key"] == "AutogradPrivateUse1"
    assert words.startswith("PyTorch's own fallback, VariableFallbackKernel.cpp:")
