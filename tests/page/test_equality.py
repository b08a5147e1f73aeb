"""Answers of a page's own script equal those of the engine: tables, registrations, coverage, slots, searches."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest

from dispatch_cli.answers.coverage.document import trains, words
from dispatch_cli.answers.coverage.report import coverage_report
from dispatch_cli.answers.explain.advice.adviser import slot_advice
from dispatch_cli.answers.explain.advice.document import advice_lines, fragment, new_changes
from dispatch_cli.answers.explain.report import ExplainReport, explain_slot
from dispatch_cli.answers.explain.wording import stale_sentence
from dispatch_cli.answers.keys.report import universe_report
from dispatch_cli.answers.table.registrations.report import backend_fallbacks_report, registrations_report
from dispatch_cli.answers.table.report import table_report
from dispatch_cli.engine.coverage.answers import backend_of
from dispatch_cli.engine.state import State
from dispatch_cli.model.names import OperatorName
from dispatch_cli.render.data import data_of, report_data
from tests.cli.support import ROOT
from tests.page.support import Script, needs_node, page_of, script_of, state_of

_MORE_IN_RULES = ("name", "text")
_MORE_IN_REGISTRATIONS = ("text", "tone")
_NOT_IN_PAGE = (
    "kind",
    "error",
    "universe",
    "over",
    "over_files",
    "over_assumed",
    "cause",
    "next_is_overridden",
    "python",
)


def tables(state: State, script: Script, names: Sequence[OperatorName]) -> Iterator[str]:
    """Differences in the tables of operators. Errors are sentences."""
    for table in table_report(state, names).operators:
        yield from differing(f"table {table.operator}", data_of(table), script.ask("table", table.operator))


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


_OF_KERNEL = (
    "key",
    "alias",
    "kernel",
    "active",
    "fills",
    "covers",
    "declared_at",
    "signature",
    "wraps",
    "when",
    "state",
)
_OF_PYTHON_KERNEL = ("key", "kernel", "declared_at", "when")


def registrations(state: State, script: Script, names: Sequence[OperatorName]) -> Iterator[str]:
    """The same of their registrations."""
    for operator in registrations_report(state, names).operators:
        expected, shown = data_of(operator), script.ask("register", operator.operator)
        for field in ("alias_analysis", "tags"):
            yield from differing(f"{field} of {operator.operator}", expected[field] or None, shown.get(field) or None)
        for kind, fields in (("kernels", _OF_KERNEL), ("python_kernels", _OF_PYTHON_KERNEL)):
            rows = [[[row.get(field) for field in fields] for row in answer[kind]] for answer in (expected, shown)]
            yield from differing(f"{kind} of {operator.operator}", *rows)


def fallbacks(state: State, script: Script) -> Iterator[str]:
    """The same of the backend fallbacks."""
    expected = [data_of(fallback) for fallback in backend_fallbacks_report(state).fallbacks]
    yield from differing("fallbacks", expected, script.ask("fallbacks"))


_OF_COVERED = ("operator", "service", "slot", "rule", "source", "kernel", "declared_at", "state")


def coverage(state: State, script: Script, keys: Iterable[str]) -> Iterator[str]:
    """The same of what serves all operators on backends."""
    names = [OperatorName.parse(name) for name in state.dispatcher.names()]
    for key in keys:
        backend = backend_of(state.dispatcher.universe, key)
        report = coverage_report(state, backend, names)
        expected, shown = report_data(report)["operators"], script.ask("coverage", key)
        written = [[words(row), trains(row)] for row in report.operators]
        yield from differing(f"words of coverage {key}", written, [row["words"] for row in shown])
        rows = [[[row.get(field) for field in _OF_COVERED] for row in answer] for answer in (expected, shown)]
        yield from differing(f"coverage {key}", *rows)


def slots(state: State, script: Script, asked: Sequence[tuple[OperatorName, str]]) -> Iterator[str]:
    """The same of slots that are explained."""
    for name, key in asked:
        slot = script.ask("explain", str(name), key)
        has_advice = slot["advice"] is not None
        yield from differing(f"explain {name} {key}", _explained(state, name, key, has_advice), slot | _cut(slot))


def _cut(shown: Any) -> Any:
    rules = [{name: value for name, value in rule.items() if name not in _MORE_IN_RULES} for rule in shown["rules"]]
    others = [
        {k: v for k, v in registration.items() if k not in _MORE_IN_REGISTRATIONS}
        for registration in shown["registrations"]
    ]
    return {"rules": rules, "registrations": others}


def _explained(state: State, name: OperatorName, key: str, has_advice: bool) -> Any:
    what = explain_slot(state, name, key)
    header = state.dispatcher.header(name)
    report = ExplainReport(
        *(state.dispatcher.universe.name, state.over, state.over_files, False, str(name), header.schema, header.span),
        *(state.operator_origin(name), state.base is not None and name not in state.base, what),
    )
    expected = {field: value for field, value in data_of(report).items() if field not in _NOT_IN_PAGE}
    is_stale = what.live is not None and what.cause is not None
    stale = stale_sentence(key, what.live, what.cause) if is_stale else None
    advice = _advised(state, name, key) if has_advice else None
    return expected | {"stale": stale, "advice": advice}


def _advised(state: State, name: OperatorName, key: str) -> Any:
    advice = slot_advice(state, name, key)
    texts = [[run.text for run in runs] for runs in advice_lines(advice)]
    fixes = [fragment(changes[0].edits if changes else ()) for changes in new_changes(advice)]
    return {"lines": texts, "fixes": fixes}


def advised(state: State, script: Script) -> list[tuple[OperatorName, str]]:
    """The slots with advice in the page."""
    names, slots = state.dispatcher.names(), state.dispatcher.universe.slots
    operators = script.ask("data")["advice"]["operators"]
    return [
        (OperatorName.parse(names[int(number)]), slots[slot])
        for number, numbers in operators.items()
        for slot in numbers[::2]
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


def universes(state: State, script: Script) -> Iterator[str]:
    """The same of the keys."""
    expected, shown = report_data(universe_report(state.dispatcher.universe)), script.ask("keys")
    yield from differing("keys", {part: expected[part] for part in shown}, shown)


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
def test_the_script_of_a_page_says_what_the_engine_says(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    page, state = page_of(*PAGES[name]), state_of(PAGES[name])
    assert page.stat().st_size < 1_000_000
    names = [OperatorName.parse(operator) for operator in state.dispatcher.names()]
    dice = random.Random(15)
    some = [*state.own_operators(), *dice.sample(names, min(len(names), OPERATORS))][: 2 * OPERATORS]
    keys = state.dispatcher.universe.slots
    asked = [(operator, key) for operator in some for key in dice.sample(keys, 4)]
    with script_of(page) as script:
        differences = [
            *universes(state, script),
            *tables(state, script, some),
            *registrations(state, script, some),
            *fallbacks(state, script),
            *slots(state, script, [*asked, *advised(state, script)[::5]]),
        ]
        if name == "a file over a base":
            differences += [*coverage(state, script, ("PrivateUse1",)), *search(script)]
    assert differences == []
