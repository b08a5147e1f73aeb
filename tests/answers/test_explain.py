"""Explanations: complete, one decision with the table, and what they foretell comes true."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest

from dispatch_cli import universes
from dispatch_cli.answers.explain.adviser import slot_advice
from dispatch_cli.answers.explain.report import explain_alias, explain_slot
from dispatch_cli.answers.explain.rule_steps import RuleState
from dispatch_cli.answers.explain.rules_report import RuleExample, rules_report
from dispatch_cli.answers.shared.notes import NoteKind
from dispatch_cli.api import load_state, what_if_state
from dispatch_cli.engine.rules import PRECEDENCE, Rule
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.table import TableEntry
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import UNDEFINED
from tests.cli.support import call
from tests.support import SOME_UNIVERSES

FOO = OperatorName("__test__::foo")
MATH, DEFAULT = "CompositeImplicitAutograd", "CompositeExplicitAutograd"
KEYS = (
    "CPU",
    "QuantizedCPU",
    "MkldnnCPU",
    "AutogradCPU",
    "AutogradOther",
    *(alias_rule.alias for alias_rule in PRECEDENCE),
)
PATTERNS = [
    pattern
    for size in range(4)
    for pattern in combinations(KEYS, size)
    if not {MATH, DEFAULT}.issubset(pattern)  # the what-if refuses both, as PyTorch's helper does
]


def answer(entry: TableEntry) -> tuple[object, ...]:
    return entry.rule, entry.kernel and entry.kernel.debug


@pytest.mark.parametrize("universe", SOME_UNIVERSES)
def test_every_rule_of_every_slot_and_one_fires(universe: str) -> None:
    for pattern in PATTERNS[::30]:
        state = what_if_state(pattern, universe=universe)
        table = state.dispatcher.table(FOO)
        for key in table:
            what = explain_slot(state, FOO, key)
            assert [line.rule_number for line in what.rules] == list(range(1, 11))
            (fired,) = (line for line in what.rules if line.outcome is RuleState.FIRED)
            assert (fired.rule, fired.rule_number) == (table[key].rule, table[key].decision.number)
            assert all(
                line.reached == (line.rule_number <= fired.rule_number) for line in what.rules if line.rule_number != 4
            )
            assert (what.answer.rule, what.answer.kernel) == answer(table[key])


@pytest.mark.parametrize("universe", SOME_UNIVERSES)
def test_what_is_next_is_there_when_the_kernel_is_dropped(universe: str) -> None:
    for pattern in PATTERNS[::20]:
        for key in ("CPU", "QuantizedCPU", "AutogradCPU", "AutogradOther", "NestedTensorCPU", UNDEFINED):
            state = what_if_state(pattern, universe=universe)
            what, dispatcher = explain_slot(state, FOO, key), state.dispatcher
            fired = next(line for line in what.rules if line.outcome is RuleState.FIRED)
            if what.next is None:
                assert what.answer.rule in (Rule.FALLBACK, Rule.MISSING)
                continue
            dispatcher.drop(dispatcher.operator(FOO).kernels[fired.looks_at[0]][0])
            assert answer(dispatcher.table(FOO)[key]) == (what.next.rule, what.next.kernel)


@pytest.mark.parametrize("universe", SOME_UNIVERSES)
def test_an_alias_fills_what_the_table_says_and_would_fill_what_it_says_then(universe: str) -> None:
    for pattern in PATTERNS[::20]:
        state = what_if_state(pattern, universe=universe)
        for alias in state.dispatcher.universe.aliases:
            what = explain_alias(state, FOO, alias)
            fills = [key for run in what.fills for key in run]
            parts = [
                *fills,
                *(key for run in what.lost for key in run.keys),
                *(k for run in what.uncovered for k in run),
            ]
            assert sorted(parts) == sorted(state.dispatcher.universe.slots)
            there = what_if_state(pattern, universe=universe).dispatcher
            if not what.registered:
                there.implement(FOO, alias, Kernel("new"))
            table = there.table(FOO)
            assert fills == [key for key in table if table[key].decision.source == alias]


def state_of(tmp_path: Path, *keys: str, schema: str = "demo::op(Tensor x) -> Tensor", **header: object) -> State:
    declared = {"dispatch": 1, **header, "operators": [{"func": schema, "dispatch": {key: f"k_{key}" for key in keys}}]}
    path = tmp_path / "x.json"
    path.write_text(json.dumps(declared), encoding="utf-8")
    return load_state([str(path)])


NOTES = [
    (("CPU", MATH), "AutogradCPU", [(NoteKind.DISPLACED, ("CPU",)), (NoteKind.NO_DERIVATIVE, ("CPU",))]),
    (("CPU", MATH), "CPU", [(NoteKind.DISPLACED, ("CPU",))]),
    (("CPU",), "AutogradCPU", [(NoteKind.NO_DERIVATIVE, ("CPU",))]),
    (("HIP",), "AutogradHIP", []),  # tensors of HIP carry AutogradOther
    (("CPU",), "AutogradNestedTensor", [(NoteKind.UNREGISTERED, ("CPU",))]),
    (("CPU",), "AutocastXLA", [(NoteKind.NO_AUTOCAST, ())]),
    (("CPU",), "AutocastCPU", []),
    (("HIP",), "AutogradOther", [(NoteKind.NO_DERIVATIVE, ("HIP",))]),
    (("PrivateUse2",), "AutogradPrivateUse2", [(NoteKind.NO_AUTOGRAD, ("PrivateUse2",))]),
    (("CPU", "Autograd"), "AutogradCPU", []),
    (("CPU",), "CUDA", [(NoteKind.UNREGISTERED, ("CPU",))]),
    (("CPU",), "Tracer", []),
    (("CPU",), "Meta", [(NoteKind.NO_META, ("CPU",))]),
    (("CPU",), "FuncTorchBatched", [(NoteKind.NO_BATCHING, ("CPU",))]),
    (("CPU",), UNDEFINED, [(NoteKind.NO_TENSORS, ("CPU",))]),
    ((DEFAULT,), "NestedTensorCPU", [(NoteKind.UNCOVERED, (DEFAULT,))]),
    ((DEFAULT, "Autograd"), "AutogradCPU", [(NoteKind.SKIPPED, ("Autograd",))]),
    ((DEFAULT, "Autograd"), "CPU", []),
    (("SparseCPU", MATH), "SparseCPU", [(NoteKind.BYPASSED, ("SparseCPU",))]),
    (("SparseCPU", MATH), "CPU", []),
    (("QuantizedCPU", MATH), "AutogradOther", [(NoteKind.AMBIGUOUS, ("QuantizedCPU",))]),
]


@pytest.mark.parametrize(("keys", "key", "expected"), NOTES)
def test_what_is_advised(
    tmp_path: Path, keys: tuple[str, ...], key: str, expected: list[tuple[NoteKind, tuple[str, ...]]]
) -> None:
    advice = slot_advice(state_of(tmp_path, *keys), OperatorName("demo::op"), key)
    kinds = [(note.note.kind, note.note.culprits) for note in advice if note.note.kind is not NoteKind.STALE]
    assert kinds == expected
    assert all(note.changes or note.note.kind is NoteKind.SKIPPED for note in advice)


def test_a_factory_is_advised_a_place_that_it_reaches(tmp_path: Path) -> None:
    state = state_of(tmp_path, "CPU", schema="demo::op(int n, *, Device device) -> Tensor")
    for key in ("CPU", UNDEFINED):
        (advice,) = slot_advice(state, OperatorName("demo::op"), key)
        assert (advice.note.kind, advice.changes[0].fills.key) == (NoteKind.UNREACHABLE, "BackendSelect")


# The examples of the rules show the rule that they are for.


DEMO = OperatorName.parse("demo::op")
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


@pytest.mark.parametrize("example", [example for _, example in examples()])
def test_the_declarations_of_an_example_are_the_example(example: RuleExample, tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(example.declarations, encoding="utf-8")
    state = load_state([str(file)])
    assert set(state.dispatcher.operator(DEMO).kernels) == set(example.registered)
    explained = explain_slot(state, DEMO, example.slot.key)
    assert explained.rules == example.rules
    assert explained.answer._replace(span=None) == example.slot


def test_what_comes_next_is_not_known_where_a_rule_is_not() -> None:
    result = call("explain", "aten::_linalg_svd.U", "MPS", "--base", "torch-2.15", "--base", "torch-2.15-mps")
    assert "backend fallback        MPS                                     not known" in result.out
    assert "It is not known what MPS would hold without structured__linalg_svd_out_out." in result.out
    assert "would hold nothing" not in result.out


def test_an_operator_without_a_schema_whose_overloads_have_one(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    operators = "".join(
        f"  - {{name: 'aten::{name}', dispatch: {{PrivateUse1: a}}}}\n" for name in ("softmax", "softmaxx")
    )
    file.write_text(f"dispatch: 1\noperators:\n{operators}", encoding="utf-8")
    advice = call("explain", "aten::softmax", "PrivateUse1", str(file), "--base", "torch-2.15").out
    overloads = "aten::softmax.int, aten::softmax.int_out"
    sentence = f"aten::softmax lacks a schema; the overloads of that operator are {overloads}. Name one of these."
    assert sentence in advice
    near = call("explain", "aten::softmaxx", "PrivateUse1", str(file), "--base", "torch-2.15").out
    assert "aten::softmaxx has kernels (PrivateUse1) and lacks a schema, and aten::" in near


MISSPELT_KERNEL = """
dispatch: 1
operators:
  - func: mylib::mul_add(Tensor a, Tensor b) -> Tensor
  - {name: "mylib::muladd", dispatch: {CPU: mul_add_native}}
"""


def test_a_misspelt_registration_comes_before_general_advice(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(MISSPELT_KERNEL, encoding="utf-8")
    for command in (["explain", "mylib::mul_add", "CPU", str(file)], ["resolve", "mylib::mul_add", str(file)]):
        tensors = ["--tensor", "cpu", "--tensor", "cpu"] if command[0] == "resolve" else []
        first, *others = call(*command, *tensors).out.split("Advice: ")[1:]
        assert "mylib::muladd has kernels (CPU) and lacks a schema" in first
        assert any(text.startswith("No kernel is registered at CPU") for text in others)
