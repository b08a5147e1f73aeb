"""Kernels whose name is almost the word ``fallthrough``."""

from __future__ import annotations

import pytest

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


def test_a_backend_fallback(state_of: StateOf) -> None:
    (finding,) = findings(state_of("dispatch: 1\nfallbacks: {AutocastPrivateUse1: fallthru}\n"), select=ID)
    assert finding.message.startswith("the backend fallback at AutocastPrivateUse1 is named fallthru")


@pytest.mark.parametrize("word", ["fallthrough", "fallback", "through", "npu_fallthrough", "passthrough", "full"])
def test_other_names(word: str, state_of: StateOf) -> None:
    assert findings(state_of(f"{HEAD}{{CPU: a, Autograd: {word}}}\n"), select=ID) == ()
