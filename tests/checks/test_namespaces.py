"""Namespaces that are PyTorch's, and namespaces that are nobody's."""

from __future__ import annotations

from pathlib import Path

from tests.checks.helpers import StateOf, findings

MATH = "dispatch: {CompositeImplicitAutograd: math}"


def texts(state_of: StateOf, text: str) -> list[str]:
    """Messages of the two checks."""
    return [finding.message for finding in findings(state_of(text)) if finding.check.endswith("-namespace")]


def test_a_snapshot_may_hold_libraries_of_the_users_own(state_of: StateOf) -> None:
    Path("snapshot.yaml").write_text(
        "dispatch: 1\nuniverse: torch-2.15\nsnapshot: true\noperators:\n"
        "  - {func: 'aten::op() -> ()', dispatch: {CompositeImplicitAutograd: k}}\n"
        "  - {func: 'mylib::op() -> ()', dispatch: {CompositeImplicitAutograd: k}}\n",
        encoding="utf-8",
    )
    text = f"""\
dispatch: 1
extends: [snapshot.yaml]
operators:
  - {{func: 'aten::mine() -> ()', {MATH}}}
  - {{func: 'mylib::mine() -> ()', {MATH}}}
"""
    assert texts(state_of, text) == ["aten::mine is defined in aten, a namespace of PyTorch"]


def test_only_what_is_asked_about(state_of: StateOf) -> None:
    text = f"""\
dispatch: 1
operators:
  - {{func: 'prim::one() -> ()', {MATH}}}
  - {{func: 'prim::two() -> ()', {MATH}}}
libraries:
  - {{kind: IMPL, namespace: nobody, dispatch_key: CPU, impl: {{}}}}
"""
    messages = [finding.message for finding in findings(state_of(text), "prim::two")]
    assert messages == ["prim::two is defined in prim, a namespace of the TorchScript interpreter"]
