"""Histories on a dispatcher that is there: all or nothing, and block by block as PyTorch's static initialisers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli import Declarations, Dispatcher, InputError, OperatorName, apply_blocks_to, apply_to, load, universes
from dispatch_cli.engine.dispatcher.dump import dump_registrations, dump_table
from dispatch_cli.engine.history.apply import apply
from dispatch_cli.model.declarations import Block, Define, Implement, LibraryKind, Step
from dispatch_cli.model.kernel import AliasAnalysisKind, Kernel
from dispatch_cli.model.schema import parse_schema, parse_signature
from tests.engine.dispatcher.everything import everything
from tests.engine.live_cases import LiveCase, Side, answers_to

NAMES = ("demo::op", "demo::other", "aten::add.Tensor")
Write = Callable[[str], Declarations]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def load_text(text: str) -> Declarations:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.yaml"
        path.write_text(f"dispatch: 1\n{text}", encoding="utf-8")
        return load([str(path)])

    return load_text


FIRST = """
libraries:
  - {kind: DEF, namespace: demo, define: ["op(Tensor x) -> Tensor"]}
  - {kind: IMPL, namespace: demo, dispatch_key: CompositeImplicitAutograd, impl: {op: math}}
  - {kind: IMPL, namespace: demo, dispatch_key: QuantizedCPU, impl: {op: quantized}}
"""
PARTLY_REFUSED = """
libraries:
  - kind: FRAGMENT
    namespace: demo
    define: ["other(Tensor x) -> Tensor", "op(Tensor x) -> Tensor", "third(Tensor x) -> Tensor"]
    impl: {op: second}
  - {kind: IMPL, namespace: demo, dispatch_key: CPU, impl: {op: cpu}}
  - {kind: DEF, namespace: demo, define: ["fourth(Tensor x) -> Tensor"]}
fallbacks: {PrivateUse1: mine}
"""


def test_a_load_with_a_refusal_leaves_a_dispatcher_exactly_as_it_was(write: Write) -> None:
    dispatcher = Dispatcher(universes.load("torch-2.15"))
    assert apply_to(dispatcher, write(FIRST)) == ()
    before = everything(dispatcher, NAMES)
    with pytest.raises(InputError) as raised:
        apply_to(dispatcher, write(PARTLY_REFUSED))
    assert [problem.code for problem in raised.value.problems] == ["duplicate-definition", "duplicate-library"]
    assert everything(dispatcher, NAMES) == before
    (override,) = apply_to(dispatcher, write("operators: [{name: demo::op, dispatch: {QuantizedCPU: mine}}]"))
    assert override.overrides is not None
    assert override.overrides.debug == "quantized"


def test_an_interruption_leaves_a_dispatcher_exactly_as_it_was(monkeypatch: pytest.MonkeyPatch, write: Write) -> None:
    dispatcher, declarations = Dispatcher(universes.load("torch-2.15")), write(FIRST)
    before = everything(dispatcher, NAMES)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dispatch_cli.engine.history.apply.refuse", interrupted)
    with pytest.raises(KeyboardInterrupt):
        apply_to(dispatcher, declarations)
    assert everything(dispatcher, NAMES) == before


def test_a_block_that_throws_is_taken_back_and_the_others_stand(write: Write) -> None:
    dispatcher = Dispatcher(universes.load("torch-2.15"))
    apply_to(dispatcher, write(FIRST))
    name = OperatorName("demo::op")
    applied = apply_blocks_to(dispatcher, write(PARTLY_REFUSED))
    assert [problem.code for problem in applied.problems] == ["duplicate-definition", "duplicate-library"]
    assert sorted(map(str, dispatcher)) == ["demo::op"], "the rest of the block did not run"
    assert "CPU" in dispatcher.operator(name).kernels
    assert "PrivateUse1" in dispatcher.fallbacks


def test_what_a_block_overrode_before_it_threw_is_no_override() -> None:
    dispatcher = Dispatcher(universes.load("torch-2.15"))
    steps = _steps("demo", [[["impl", "CPU", "first"]], [["impl", "CPU", "second"], ["impl", "NoSuchKey", "third"]]])
    applied = apply(dispatcher, steps, drop_blocks=True)
    assert [problem.code for problem in applied.problems] == ["unknown-dispatch-key"]
    assert applied.overrides == ()
    assert [
        registered.kernel.debug for registered in dispatcher.operator(OperatorName("demo::foo")).kernels["CPU"]
    ] == ["first"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("universe: torch-2.4\noperators: []", "universe-conflict"),
        ("extends: [torch-2.15]\noperators: []", "state-conflict"),
        ("core_fallbacks: false\noperators: []", "core-fallbacks-conflict"),
    ],
)
def test_declarations_for_another_state_are_refused(write: Write, text: str, code: str) -> None:
    for run in (apply_to, apply_blocks_to):
        with pytest.raises(InputError) as raised:
            run(Dispatcher(universes.load("torch-2.15")), write(text))
        assert [problem.code for problem in raised.value.problems] == [code]


def _steps(namespace: str, history: list[list[list[str]]], function: str | None = None) -> list[Step]:
    """The steps of blocks. function: what every kernel's function is taken to be."""
    results: list[Step] = []
    name, signature = OperatorName(f"{namespace}::foo"), parse_signature("(Tensor _0) -> Tensor _0")
    for number, steps in enumerate(history):
        block = Block(LibraryKind.FRAGMENT, namespace, None, "/dev/null", number)
        for step in steps:
            if step[0] == "def":
                results.append(Define(block, parse_schema(step[1]), AliasAnalysisKind.FROM_SCHEMA))
            else:
                kernel = Kernel(step[2], function, signature, unboxed=True)
                results.append(Implement(block, name, step[1], kernel))
    return results


def _wrong(side: Side, histories: Any, answers: Any) -> list[str]:
    """Blocks that throw are taken back; errors, dumps and invariants after each are ours."""
    wrong, threw, stale = [], 0, 0
    for number, (blocks, after) in enumerate(zip(histories, answers, strict=True)):
        dispatcher, name = Dispatcher(side.universe), OperatorName(f"blocks{number}::foo")
        for block, theirs in zip(blocks, after, strict=True):
            applied = apply(dispatcher, _steps(f"blocks{number}", [block], "impl_t_t"), drop_blocks=True)
            error = applied.problems[0].message if applied.problems else None
            holds = name not in dispatcher or not dispatcher.stale_entries(name)
            ours = (error, dump_registrations(dispatcher, name), dump_table(dispatcher, name), holds)
            if ours != tuple(theirs.values()):
                wrong.append(f"{number} {blocks}: {theirs}, ours: {ours}")
            threw += error is not None
            stale += not holds
    assert threw > len(answers) / 2
    assert stale > len(answers) / 8
    return wrong


CASE = LiveCase(answers_to("blocks"), _wrong)
