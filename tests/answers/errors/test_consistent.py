"""Answers to recorded texts and public reports are consistent: each slot has one content, and it is the right one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from dispatch_cli.answers.errors.answer import answer, bases_of
from dispatch_cli.answers.errors.conclude import NO_KERNEL_RULES, Fact, Proof
from dispatch_cli.answers.errors.messages import AMBIGUOUS, MESSAGES
from dispatch_cli.answers.errors.printed import printed_table
from dispatch_cli.answers.errors.read import find_errors
from dispatch_cli.answers.errors.report import ErrorReport
from dispatch_cli.answers.explain.report import ExplainReport, SlotExplanation, explain_report
from dispatch_cli.api import load_state
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.state import State
from dispatch_cli.model.names import OperatorName
from tests.messages.table import read_texts
from tests.reports.table import TEXTS
from tests.support import load_recording, slot_errors

VERSIONS = ("2.4.1", "2.13.0", "2.15.0")
Statement = tuple[Proof, str, bool]
"""The text or the state; a slot; True for a kernel of the operator there."""


def texts() -> Iterator[str]:
    for version in VERSIONS:
        yield from (error["text"] for error in slot_errors(version))
        yield from (message["text"] for message in load_recording(f"{version}.messages")["messages"])
    yield from (text.text for text in read_texts())
    yield from (path.read_text(encoding="utf-8") for path in sorted(TEXTS.glob("*.txt")))


@cache
def state_of(bases: tuple[str, ...]) -> State:
    return load_state([], bases=bases)


def statements(report: ErrorReport) -> Iterator[Statement]:
    """Statements of an answer about slots: by its title, its facts and its slot."""
    if report.key is None or not MESSAGES[report.kind].rules:
        return
    if report.kind != AMBIGUOUS:
        yield Proof.TEXT, report.key, False
    for fact in report.facts:
        yield from _of_fact(fact, report.key)
    what = report.explained.what if isinstance(report.explained, ExplainReport) else None
    if isinstance(what, SlotExplanation) and what.python is None:
        yield Proof.STATE, what.key, what.answer.rule not in NO_KERNEL_RULES


def _of_fact(fact: Fact, key: str) -> Iterator[Statement]:
    match fact.kind:
        case "only-at":
            yield from ((fact.proof, slot, True) for slot in fact.keys)
            if fact.kind == "only-at":
                yield fact.proof, key, False
        case "nowhere":
            yield fact.proof, key, False
        case "here":
            yield fact.proof, key, True
        case _:
            pass


@pytest.mark.slow
def test_each_slot_has_one_content_and_each_answer_a_headline() -> None:
    compared = answered = 0
    for text in texts():
        errors = find_errors(text)
        if not errors:
            continue
        state = state_of(bases_of(text, errors[0]))
        report = answer(text, errors, state)
        answered += 1
        if not MESSAGES[report.kind].general:
            headline = report.says.removeprefix("the operator")
            assert len(headline.split()) > 2, (report.says, text[:300])
        contents: dict[tuple[Proof, str], bool] = {}
        for proof, slot, kernel in statements(report):
            assert contents.setdefault((proof, slot), kernel) is kernel, (text[:200], slot)
        shown = printed_table(state.dispatcher.universe, errors[0])
        of_all = [fact for fact in report.facts if fact.kind in ("only-at", "nowhere")]
        assert shown.whole or all(fact.proof is Proof.STATE for fact in of_all), text[:200]
        for (proof, slot), kernel in contents.items():
            compared += 1
            if proof is Proof.STATE:
                entry = state.dispatcher.table(OperatorName.parse(report.operator or ""))[slot]
                assert (entry.rule not in NO_KERNEL_RULES) is kernel, (text[:200], slot)
            elif slot in shown.lines:
                assert (shown.lines[slot] is not Rule.FALLBACK) is kernel, (text[:200], slot)
            elif kernel:
                assert slot in (shown.listed or ()), (text[:200], slot)
    assert answered > 500
    assert compared > 500
    print(f"{answered} texts, {compared} statements")


@pytest.mark.parametrize("version", VERSIONS)
def test_the_slot_is_what_explain_says(version: str) -> None:
    compared = 0
    for error in slot_errors(version):
        errors = find_errors(error["text"])
        state = state_of(bases_of(error["text"], errors[0]))
        explained = answer(error["text"], errors, state).explained
        if isinstance(explained, ExplainReport) and isinstance(explained.what, SlotExplanation):
            name = OperatorName.parse(explained.operator)
            assert explained == explain_report(state, name, explained.what.key)
            compared += 1
    assert compared > 20
