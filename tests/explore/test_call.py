"""The view of calls: what it says is what `resolve` and `keys` print, and what a live PyTorch did."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from functools import cache

import pytest

from dispatch_cli import api, bases, universes
from dispatch_cli.answers.resolve.call_words import context_completions, tensor_completions
from dispatch_cli.answers.resolve.report import ResolveReport
from dispatch_cli.engine.call.options import option_argument
from dispatch_cli.engine.history.state import State
from dispatch_cli.explore.answers.call import (
    OPTIONS,
    Draft,
    call_answer,
    call_before,
    first_draft,
    keys_answer,
    schema_of,
)
from dispatch_cli.explore.call_blocks import CalledLine, StepLine, call_blocks, target_of
from dispatch_cli.explore.call_line import PARTS, call_of, completions, line_of
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.model.call import CONTEXT_WORDS, TENSOR_WORDS
from dispatch_cli.model.change import Removal
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.options import NO_OPTIONS, Options
from dispatch_cli.model.problem import InputError
from dispatch_cli.render.data import json_text
from dispatch_cli.render.document import TableBlock
from tests.cli.support import call
from tests.engine.call.random_calls import Generator
from tests.engine.call.recorded_calls import names, operator_of, recorded_of
from tests.support import load_recording

COUNT = int(os.environ.get("DISPATCH_CLI_CALLS", "40"))
"""Random calls; 200 and more in a run of its own."""
SOURCES = (
    (),
    ("--base", "torch-2.4"),
    ("examples/custom_library.yaml",),
    ("examples/real_operators.yaml",),
    ("examples/stale.yaml",),
    ("-k", "CPU", "-k", "Autograd"),
)


@cache
def session_of(source: tuple[str, ...]) -> Session:
    if not source:
        state = api.load_state((), bases=[bases.names()[0]])
        state.over_assumed = True
    elif source[0] == "-k":
        state = api.what_if_state(source[1::2])
    elif source[0] == "--base":
        state = api.load_state((), bases=source[1:])
    else:
        state = api.load_state([text for text in source if not text.startswith("-")])
    return Session(state, source)


def random_calls(seed: int, count: int) -> Iterator[tuple[tuple[str, ...], Spot, Draft]]:
    """Operators of several sources with tensors, contexts, key sets and options, of which some are refused."""
    chosen = random.Random(seed)
    asked = [
        example
        for operator in Generator(universes.load("torch-2.15"), seed).operators(count, 4)
        for example in operator.calls
    ]
    for number in range(count):
        source = chosen.choice([SOURCES[0], *SOURCES])
        state = session_of(source).state
        if state.higher_order_operators and chosen.random() < 0.1:
            spot = Spot(higher_order=chosen.choice(state.higher_order_operators).name)
        else:
            spot = Spot(OperatorName.parse(chosen.choice(list(state.dispatcher.names()))))
        question = asked[number]
        texts = [text for other in chosen.sample(asked, 6) for text in other.tensors] or ["cpu"]
        first = first_draft(state, spot)
        layers = [text for text in texts if "=" not in text or chosen.random() < 0.2] or ["cpu"]
        tensors = tuple(chosen.choice([text, *layers]) for text in first.tensors)
        schema = schema_of(state, spot)
        own = [option for option in OPTIONS if option_argument(schema, option) is not None]
        options = Options(
            **{option: getattr(question.options, option) for option in own if chosen.random() < 0.5},
        )
        keyset = "|".join(question.keyset) if question.keyset else None
        yield source, spot, Draft(tensors, question.contexts, options or NO_OPTIONS, keyset)


def test_answers_are_what_the_command_prints() -> None:
    """The call, and its key set."""
    count = refused = 0
    for source, spot, draft in random_calls(5, COUNT):
        session = session_of(source)
        for of_keys in (False, True):
            try:
                answer = keys_answer(session, draft) if of_keys else call_answer(session, spot, draft)
            except InputError:
                refused += 1
                continue
            if answer is None:
                continue
            count += 1
            result = call(*answer.command, "--format", "json")
            assert result.code in (0, 1), (answer.command, result.err)
            assert result.out == "".join(json_text(answer.report)), answer.command
    assert count > COUNT


def test_what_is_refused_is_refused_by_the_command() -> None:
    session = session_of(())
    spot = Spot(OperatorName.parse("aten::add.Tensor"))
    for draft in (Draft(("cpu sparse quantized",)), Draft(("cpu",), ("autocast meta",)), Draft(keyset="Cpu7")):
        with pytest.raises(InputError) as refused:
            call_answer(session, spot, draft)
        words = [word for text in draft.tensors for word in ("--tensor", text)]
        words += [word for text in draft.contexts for word in ("--context", text)]
        result = call("resolve", str(spot.operator), *words, *(["--keyset", draft.keyset] if draft.keyset else []))
        assert result.code == 2
        assert refused.value.problems[0].message in result.err


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2.13.0", "2.15.0"])
def test_recorded_calls_of_pytorch(version: str) -> None:
    """The steps that are shown are the kernels that ran: where registered, at which slot, with which keys."""
    compared = 0
    for number, case in enumerate(load_recording(f"{version}.calls")["cases"][:: 1 if COUNT > 100 else 24]):
        dispatcher, name = operator_of(universes.load("torch-2.15"), number, case)
        session = Session(State(dispatcher), ())
        for recorded in case["calls"]:
            contexts = (recorded["context"],) if recorded["context"] else ()
            answer = call_answer(session, Spot(name), Draft((recorded["tensor"],), contexts))
            shown = [row.step.hop for row in step_lines(session.state, answer.report)]
            log = [
                [hop.live.registration.key, hop.slot, list(hop.keyset)]
                for hop in shown
                if hop.does.value != "raises"
                and hop.live.registration is not None
                and hop.live.registration.operator is not None
            ]
            recorded_call = recorded_of(recorded)
            assert log == recorded_call["log"], (case["registrations"], recorded)
            assert names(answer.report.selections[0].selection.keyset) == recorded_call["tensor_keys"]
            assert answer.report.fails == (recorded_call["error"] is not None)
            compared += 1
    assert compared > 40


def step_lines(state: State, report: ResolveReport) -> list[StepLine]:
    tables = [block for block in call_blocks(state, report) if isinstance(block, TableBlock)]
    return [row for row in tables[0].rows if isinstance(row, StepLine)]


def test_a_composite_kernel_leads_to_the_operator_that_it_calls() -> None:
    session = session_of(())
    spot = Spot(OperatorName.parse("aten::_foreach_acos"))
    answer = call_answer(session, spot, Draft(("meta",)))
    rows = [
        row
        for block in call_blocks(session.state, answer.report)
        if isinstance(block, TableBlock)
        for row in block.rows
        if isinstance(row, CalledLine)
    ]
    assert [str(row.operator) for row in rows] == ["aten::acos"]


def test_first_drafts_have_a_tensor_for_each_argument() -> None:
    state = session_of(()).state
    expected = {
        "aten::add.Tensor": ("cpu", "cpu"),
        "aten::ones": (),
        "aten::cat": ("cpu",),
        "aten::convolution": ("cpu", "cpu", "none"),
        "aten::index.Tensor": ("cpu", "cpu"),
    }
    for name, tensors in expected.items():
        spot = Spot(OperatorName.parse(name))
        draft = first_draft(state, spot)
        assert draft.tensors == tensors
        assert call_answer(session_of(()), spot, draft).report.left_out == ()


def test_words_are_those_that_a_shell_completes() -> None:
    universe = universes.load("torch-2.15")
    words = {one.rstrip("=") for one, _ in completions(universe, "--tensor '")}
    assert words == {completion.text.rstrip("=") for completion in tensor_completions(universe, "")}
    assert {*TENSOR_WORDS, *universe.devices} == words
    contexts = [one for one, _ in completions(universe, "--tensor cpu --context '")]
    assert contexts == [completion.text for completion in context_completions(universe, "", ("cpu",))]
    assert {*CONTEXT_WORDS} == {context.partition(" ")[0].partition("=")[0].partition("(")[0] for context in contexts}


@pytest.mark.parametrize(
    ("typed", "following"),
    [
        ("", "--tensor "),
        ("--te", "--tensor "),
        ("--tensor cpu ", "--tensor cpu --tensor "),
        ("--tensor cu", "--tensor cuda"),
        ("--tensor=cu", "--tensor=cuda"),
        ("--tensor ", "--tensor 'cpu"),
        ("--tensor 'cuda spar", "--tensor 'cuda sparse"),
        ("--tensor cuda --context 'autocast c", "--tensor cuda --context 'autocast cuda"),
        ("--context 'exclude=CPU,AutogradCU", "--context 'exclude=CPU,AutogradCUDA"),
        ("--argument dev", "--argument device="),
        ("--argument device=cu", "--argument device=cuda"),
        ("--keyset 'CPU | AutogradCP", "--keyset 'CPU | AutogradCPU"),
    ],
)
def test_a_line_is_completed(typed: str, following: str) -> None:
    assert next(iter(completions(universes.load("torch-2.15"), typed)))[1] == following


def test_a_line_is_the_call_that_it_is_made_of() -> None:
    for _, _, draft in random_calls(17, 60):
        assert call_of(line_of(draft)).draft == draft


def test_a_command_line_is_a_call() -> None:
    line = "$ dispatch-cli resolve aten::mm my.yaml --base torch-2.4 --tensor 'cuda fake' --tensor=cpu --full"
    typed = call_of(line)
    assert typed.operator == "aten::mm"
    assert typed.draft == Draft(("cuda fake", "cpu"))
    for text in ("--tensr cpu", "cpu", "--argument colour=red", "--argument device"):
        with pytest.raises(InputError):
            call_of(text)
    assert call_of("--tensor 'cpu spar").draft.tensors == ("cpu spar",)
    assert call_of(f"{PARTS[0]} ").draft == Draft()


def test_what_is_tried_is_marked() -> None:
    """A call without the kernel that is taken away, and what it did with it."""
    state = api.load_state(["examples/custom_library.yaml"])
    session, spot = Session(state, ("examples/custom_library.yaml",)), Spot(OperatorName.parse("mylib::norm2"))
    draft = Draft(("cpu",))
    assert call_before(session, spot, draft) is None
    before = call_answer(session, spot, draft).report
    slot = before.steps[-1].hop.slot
    registration = before.steps[-1].hop.live.registration
    registered = session.whatif.registrations(spot.operator)
    which = next(other.name for other in registered if other.name.key == registration.key)
    session.whatif.make(Removal(which))
    after = call_answer(session, spot, draft).report
    assert call_before(session, spot, draft) == before
    rows = step_lines(session.state, after)
    assert slot in [step.hop.slot for step in before.steps]
    marked = [
        row
        for block in call_blocks(session.state, after, before)
        if isinstance(block, TableBlock)
        for row in block.rows
        if isinstance(row, StepLine) and row.is_changed
    ]
    steps = [(step.hop.slot, step.entry.kernel) for step in after.steps]
    old = [(step.hop.slot, step.entry.kernel) for step in before.steps]
    different = [number for number, step in enumerate(steps, 1) if step not in old[number - 1 : number]]
    assert [row.step.number for row in marked] == different != []
    assert [row.step for row in rows] == [*after.steps]
    assert registration.kernel.label not in [kernel for _, kernel in steps]


def test_slots_that_higher_order_operators_do_not_have_are_not_opened() -> None:
    """A call without tensors comes to Undefined, which `explain` takes for ordinary operators alone."""
    session, spot = session_of(()), Spot(higher_order="cond")
    report = call_answer(session, spot, Draft()).report
    assert report.steps[0].hop.key == "Undefined"
    assert target_of(report.steps[0]) is None
    opened = [target_of(row) for row in report.steps[0].keys]
    assert opened and all(slot is None or slot.key != "Undefined" for slot in opened)
