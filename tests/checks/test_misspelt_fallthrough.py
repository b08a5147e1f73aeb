"""Kernels whose name is almost the word ``fallthrough``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dispatch_cli.api import load_state
from dispatch_cli.model.names import OperatorName
from tests.checks.helpers import StateOf, findings

ID = "misspelt-fallthrough"
HEAD = "dispatch: 1\noperators:\n  - func: demo::op(Tensor x) -> Tensor\n    dispatch: "


@pytest.mark.parametrize(
    "word", ["fallthru", "falltrough", "fall_through", "Fallthrough", "fallthroughs", "makeFallthrough"]
)
def test_a_kernel_of_such_a_name(word: str, state_of: StateOf) -> None:
    (finding,) = findings(state_of(f"{HEAD}{{CPU: a, Autograd: {word}}}\n"), select=ID)
    assert (finding.key, finding.tip) == ("Autograd", "did you mean fallthrough?")
    assert finding.message == f"demo::op: the kernel at Autograd is named {word}, and does not fall through"


@pytest.mark.parametrize("ending", ["yaml", "json"])
def test_the_word_in_quotes_is_a_name(ending: str, tmp_path: Path) -> None:
    """In JSON every text has them. What the tip says is understood."""
    operator = {"func": "demo::op(Tensor x) -> Tensor", "dispatch": {"CPU": "a", "Autograd": "fallthrough"}}
    path = tmp_path / f"d.{ending}"
    path.write_text(json.dumps({"dispatch": 1, "operators": [operator]}), encoding="utf-8")
    (finding,) = findings(load_state([str(path)]), select=ID)
    assert finding.tip == "in quotes it is a name: write fallthrough without them, or {fallthrough: true}, as in JSON"
    path.write_text(path.read_text(encoding="utf-8").replace('"fallthrough"', '{"fallthrough": true}'), "utf-8")
    state = load_state([str(path)])
    assert findings(state, select=ID) == ()
    assert state.dispatcher.active(OperatorName.parse("demo::op"))["Autograd"].kernel.fallthrough


def test_a_backend_fallback(state_of: StateOf) -> None:
    (finding,) = findings(state_of("dispatch: 1\nfallbacks: {AutocastPrivateUse1: fallthru}\n"), select=ID)
    assert finding.message.startswith("the backend fallback at AutocastPrivateUse1 is named fallthru")


@pytest.mark.parametrize("word", ["fallthrough", "fallback", "through", "npu_fallthrough", "passthrough", "full"])
def test_other_names(word: str, state_of: StateOf) -> None:
    assert findings(state_of(f"{HEAD}{{CPU: a, Autograd: {word}}}\n"), select=ID) == ()
