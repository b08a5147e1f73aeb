"""The examples of the rules show the rule that they are for, and are true of a live PyTorch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dispatch_cli import universes
from dispatch_cli.answers.explain.report import explain_slot
from dispatch_cli.answers.explain.rule_steps import RuleState
from dispatch_cli.answers.explain.rules.report import CASES, RuleExample, rules_report
from dispatch_cli.api import load_state
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.names import OperatorName
from tests import in_pytorch
from tests.capture.support import torch_python

NAME = OperatorName.parse("demo::op")
UNIVERSES = ("torch-2.15", "torch-2.4")


def examples(universe: str = "torch-2.15") -> list[tuple[int, RuleExample]]:
    report = rules_report(universes.load(universe))
    return [(entry.rule_number, example) for entry in report.rules for example in entry.examples]


@pytest.mark.parametrize("universe", UNIVERSES)
def test_each_rule_fills_the_slots_of_its_examples(universe: str) -> None:
    operators = examples(universe)
    assert sorted({number for number, _ in operators}) == list(range(1, 11))
    for number, example in operators:
        (fired,) = [line for line in example.rules if line.outcome is RuleState.FIRED]
        assert (fired.rule_number, fired.rule) == (example.slot.rule_number, example.slot.rule)
        assert [line.rule_number for line in example.rules] == list(range(1, 11))
        if number != 4:
            assert example.slot.rule_number == number


def test_rule_4_is_answered_with_yes_and_with_no() -> None:
    answers = [example.rules[3].outcome for number, example in examples() if number == 4]
    assert answers == [RuleState.YES, RuleState.NO]


def test_rule_6_has_an_ambiguous_example() -> None:
    assert [one.slot.rule for number, one in examples() if number == 6] == [Rule.MATH, Rule.AMBIGUOUS]


def test_some_rules_are_asked_for_by_number() -> None:
    report = rules_report(universes.load("torch-2.15"), (9, 2))
    assert [(entry.rule_number, entry.rule, entry.alias) for entry in report.rules] == [
        (2, Rule.DEFAULT, "CompositeExplicitAutogradNonFunctional"),
        (9, Rule.FALLBACK, None),
    ]


@pytest.mark.parametrize("example", [example for _, example in examples()])
def test_the_declarations_of_an_example_are_the_example(example: RuleExample, tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(example.declarations, encoding="utf-8")
    state = load_state([str(file)])
    assert set(state.dispatcher.operator(NAME).kernels) == set(example.registered)
    explained = explain_slot(state, NAME, example.slot.key)
    assert explained.rules == example.rules
    assert explained.answer._replace(span=None) == example.slot


@pytest.mark.live
def test_a_live_pytorch_gives_the_same_answers() -> None:
    cases = [(case.key, dict(case.kernels), dict(case.fallbacks)) for some in CASES.values() for case in some]
    done = in_pytorch.run([torch_python(), str(Path(__file__).with_name("live_rules.py"))], json.dumps(cases))
    answer = json.loads(done.stdout)
    assert len(answer) == len(cases) > 10
    for (key, kernels, _), (number, example), (kernel, rule) in zip(cases, examples(), answer, strict=True):
        assert example.slot.key == key
        assert rule == (None if number == 10 else example.slot.rule.dump_text)
        if example.slot.kernel in kernels.values():
            assert kernel == example.slot.kernel
        else:
            assert kernel not in kernels.values()
