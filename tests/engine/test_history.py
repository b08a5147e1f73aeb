"""Histories on a dispatcher that is there: all or nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dispatch_cli import Declarations, Dispatcher, InputError, apply_to, load, universes
from tests.engine.dispatcher.everything import everything

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


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("universe: torch-2.4\noperators: []", "universe-conflict"),
        ("extends: [torch-2.15]\noperators: []", "state-conflict"),
        ("fallbacks: none\noperators: []", "core-fallbacks-conflict"),
    ],
)
def test_declarations_for_another_state_are_refused(write: Write, text: str, code: str) -> None:
    with pytest.raises(InputError) as raised:
        apply_to(Dispatcher(universes.load("torch-2.15")), write(text))
    assert [problem.code for problem in raised.value.problems] == [code]
