"""The view of calls: what it says is what `resolve` and `keys` print; a line that is typed is a call."""

from __future__ import annotations

from functools import cache

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from dispatch_cli import api, universes
from dispatch_cli.answers.resolve.call_words import context_completions, tensor_completions
from dispatch_cli.explore.answers.call import Draft, call_answer, first_draft, keys_answer
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.panes.call import CallPane
from dispatch_cli.explore.panes.call_line import PARTS, call_of, completions, line_of
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.model.calls.call import CONTEXT_WORDS, TENSOR_WORDS
from dispatch_cli.model.calls.options import Options
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import InputError
from dispatch_cli.render.data import json_text
from tests.cli.support import call
from tests.explore.support import drive, newest, screen_text, until

BASE = ("--base", "torch-2.15")
ADD = Spot(OperatorName("aten::add", "Tensor"))
NORM = "examples/custom_library.yaml"
CALLS = (
    (BASE, ADD, Draft(("cpu requires_grad", "cuda"))),
    (BASE, ADD, Draft(("cpu sparse", "cpu sparse"), ("inference_mode",))),
    (BASE, Spot(OperatorName("aten::ones")), Draft((), (), Options(device="cuda"))),
    (BASE, Spot(OperatorName("aten::linear")), Draft(("cpu", "cpu", "none"), ("autocast cpu", "functionalize"))),
    (BASE, ADD, Draft(keyset="CPU|AutogradCPU")),
    (BASE, Spot(higher_order="cond"), Draft(("cpu",), ("mode=FakeTensorMode",))),
    (("--base", "torch-2.4"), Spot(OperatorName("aten::to", "dtype")), Draft(("privateuseone",))),
    ((NORM,), Spot(OperatorName("mylib::norm2")), Draft(("cpu fake",), ("vmap",))),
    (("examples/stale.yaml",), Spot(OperatorName("stale::explicit")), Draft(("cuda",))),
)
"""Sources, operators and calls."""


@cache
def session_of(source: tuple[str, ...]) -> Session:
    if source[0] == "--base":
        return Session(api.load_state((), bases=source[1:]), source)
    return Session(api.load_state(source), source)


@pytest.mark.parametrize(("source", "spot", "draft"), CALLS)
def test_answers_are_what_the_command_prints(source: tuple[str, ...], spot: Spot, draft: Draft) -> None:
    """The call, and its key set."""
    for answer in (call_answer(session_of(source), spot, draft), keys_answer(session_of(source), draft)):
        if answer is not None:
            result = call(*answer.command, "--format", "json")
            assert result.code in (0, 1), (answer.command, result.err)
            assert result.out == "".join(json_text(answer.report)), answer.command
    assert call_of(line_of(draft)).draft == draft


def test_what_is_refused_is_refused_by_the_command() -> None:
    for draft in (Draft(("cpu sparse quantized",)), Draft(("cpu",), ("autocast meta",)), Draft(keyset="Cpu7")):
        with pytest.raises(InputError) as refused:
            call_answer(session_of(BASE), ADD, draft)
        words = [word for text in draft.tensors for word in ("--tensor", text)]
        words += [word for text in draft.contexts for word in ("--context", text)]
        result = call("resolve", str(ADD.operator), *words, *(["--keyset", draft.keyset] if draft.keyset else []))
        assert result.code == 2
        assert refused.value.problems[0].message in result.err


def test_first_drafts_have_a_tensor_for_each_argument() -> None:
    expected = {
        "aten::add.Tensor": ("cpu", "cpu"),
        "aten::ones": (),
        "aten::cat": ("cpu",),
        "aten::convolution": ("cpu", "cpu", "none"),
    }
    for name, tensors in expected.items():
        spot = Spot(OperatorName.parse(name))
        draft = first_draft(session_of(BASE).state, spot)
        assert draft.tensors == tensors
        assert call_answer(session_of(BASE), spot, draft).report.left_out == ()


def test_words_are_those_that_a_shell_completes() -> None:
    universe = universes.load("torch-2.15")
    words = {word.rstrip("=") for word, _ in completions(universe, "--tensor '")}
    assert words == {completion.text.rstrip("=") for completion in tensor_completions(universe, "")}
    assert {*TENSOR_WORDS, *universe.devices} == words
    contexts = [word for word, _ in completions(universe, "--tensor cpu --context '")]
    assert contexts == [completion.text for completion in context_completions(universe, "")]
    assert {*CONTEXT_WORDS} == {context.partition(" ")[0].partition("=")[0].partition("(")[0] for context in contexts}


@pytest.mark.parametrize(
    ("typed", "following"),
    [
        ("", "--tensor "),
        ("--te", "--tensor "),
        ("--tensor cpu ", "--tensor cpu --tensor "),
        ("--tensor=cu", "--tensor=cuda"),
        ("--tensor ", "--tensor 'cpu"),
        ("--tensor 'cuda spar", "--tensor 'cuda sparse"),
        ("--tensor cuda --context 'autocast cu", "--tensor cuda --context 'autocast cuda"),
        ("--context 'exclude=CPU,AutogradCU", "--context 'exclude=CPU,AutogradCUDA"),
        ("--argument dev", "--argument device="),
        ("--argument device=cu", "--argument device=cuda"),
        ("--keyset 'CPU | AutogradCP", "--keyset 'CPU | AutogradCPU"),
    ],
)
def test_a_line_is_completed(typed: str, following: str) -> None:
    assert next(iter(completions(universes.load("torch-2.15"), typed)))[1] == following


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


HOSTILE = "[bold]x[/] [@click=app.quit]y[/]\u202e"


def test_a_call_that_is_typed() -> None:
    """Words that do not go together are refused at once; the last answer stays, and says of which call it is."""

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(ADD, "call")
        await until(pilot, lambda: bool(app.query(CallPane)))
        pane, line = app.query_one(CallPane), app.query_one(CallPane).query_one(Input)
        await pilot.press("t")
        line.value = "--tensor 'cpu sparse' --tensor cpu"
        await pilot.press("enter", "t")
        line.value += " --tensor 'cpu sparse nested'"
        await until(pilot, lambda: "! --tensor 'cpu sparse nested'" in pane.view.text)
        assert "The last call that could be made: --tensor 'cpu sparse' --tensor cpu" in pane.view.text
        line.value = HOSTILE
        await until(pilot, lambda: "[bold]x[/]" in pane.view.text)
        assert "\u202e" not in pane.view.text
        await pilot.press("enter")
        await until(pilot, lambda: line.value == "--tensor 'cpu sparse' --tensor cpu" and "!" not in pane.view.text)
        await pilot.press("t")
        line.value = "--tensor cpu --tensor cpu"
        await pilot.press("enter")
        await until(pilot, lambda: app.command_bar.line.endswith("--tensor cpu --tensor cpu"))
        await pilot.press("c", *"inf")
        await until(pilot, lambda: "--context 'inf" in screen_text(app))
        lines = [line.strip("▕ ") for line in screen_text(app).splitlines()]
        at = next(number for number, text in enumerate(lines) if "--context 'inf" in text)
        assert "inference_mode" in lines[at + 1], lines

    drive(Session(newest(), BASE), steps, (80, 24))


def test_a_step_opens_its_slot() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(Spot(OperatorName("aten::_foreach_acos")), "call")
        await pilot.pause()
        shown = app.query_one(CallPane).view
        keys = [shown.choice(number).target.key for number in range(shown.choices())]
        assert keys.count("CPU") == 2  # its row, and its step
        await pilot.press("home", *["down"] * keys.index("CPU"), "enter")
        await until(pilot, lambda: (app.stage.front, app.spot.key) == ("slot", "CPU"))

    drive(Session(newest(), BASE), steps, (80, 24))


def test_another_call_is_shown_from_its_top() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(ADD, "call")
        (pane,) = app.query(CallPane)
        await until(pilot, lambda: pane.answer is not None and pane.view.choices() > 1)
        pane.view.focus()
        for keys in (("t", "ctrl+u", *"--tensor cuda --tensor cuda", "enter"), ("slash", *"aten::mul.Tensor", "enter")):
            await pilot.press("end")
            assert pane.view.scroll_offset.y > 0 and pane.view.cursor > 0
            before = pane.answer
            await pilot.press(*keys)
            await until(pilot, lambda before=before: pane.answer is not before)  # type: ignore[misc]
            await pilot.pause()
            assert (pane.view.scroll_offset.y, pane.view.cursor) == (0, 0)
        await pilot.press("end")
        where = pane.view.scroll_offset
        pane.open(pane.spot)  # the same call, as after a change on trial
        assert pane.view.scroll_offset == where

    drive(session_of(BASE), steps, (80, 24))
