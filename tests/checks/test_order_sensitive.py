"""Order sensitivity as a finding: which order, where it is harmless, and when it is for information only."""

from __future__ import annotations

from dispatch_cli.checks.check import Finding, Severity
from tests.checks.helpers import StateOf, findings


def rows(state_of: StateOf, text: str, *ops: str) -> list[Finding]:
    return [finding for finding in findings(state_of(text), *ops) if finding.check == "order-sensitive"]


def test_a_captured_state_has_an_order_of_its_own(state_of: StateOf) -> None:
    """A finding only about PyTorch is for information, and is not repeated for files over PyTorch."""
    over = "dispatch: 1\nextends: [torch-2.15]\noperators:\n  - name: aten::linear\n    dispatch: {{{}}}\n"
    (finding,) = rows(state_of, "dispatch: 1\nextends: [torch-2.15]\noperators: []\n", "aten::linear")
    assert (finding.severity, finding.span, finding.subject) == (
        Severity.INFO,
        None,
        "Autograd CompositeImplicitAutograd NestedTensorCPU",
    )
    assert rows(state_of, over.format("PrivateUse1: mine"), "aten::linear") == []
