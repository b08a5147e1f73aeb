"""Each reported problem is caught by the check that is meant for it, and its way out is not."""

from __future__ import annotations

import pytest

from dispatch_cli.api import load_state
from dispatch_cli.checks.check import Severity
from tests.checks.helpers import findings
from tests.cli.support import ROOT

MEANT = {
    "01_composite_override": ("math-kernel-displaced", Severity.ERROR, "aten::to.dtype", "AutogradPrivateUse1"),
    "02_no_grad_fn": ("math-kernel-displaced", Severity.WARNING, "aten::var.dim", "AutogradXLA"),
    "03_fallback_never_asked": ("shadowed-fallback", Severity.INFO, None, "PrivateUse1"),
    "04_alias_gaps": ("alias-gap", Severity.WARNING, "aten::bmm", "SparseXPU"),
    "05_no_autograd_kernel": ("no-autograd-kernel", Severity.INFO, "mylib::scale", "AutogradCPU"),
    "06_factory": ("unreachable-factory", Severity.ERROR, "mylib::filled", "Undefined"),
    "07_stale_batching_rule": ("stale-live-table", Severity.ERROR, "demo::late", "FuncTorchBatched"),
    "08_ambiguous": ("ambiguous-autogradother", Severity.ERROR, "mylib::mix", "AutogradOther"),
    "09_inference_mode": ("autograd-only", Severity.WARNING, "demo::shrink", "Autograd"),
    "10_sparse_bypass": ("sparse-bypass", Severity.WARNING, "mylib::norm", "AutogradCPU"),
}
CHECKS = ",".join(sorted({check for check, *_ in MEANT.values()}))


@pytest.mark.parametrize("name", MEANT)
def test_the_check_meant_for_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    universe = "torch-2.4" if name.startswith("07") else None
    path = f"examples/scenarios/{name}"
    found = findings(load_state([f"{path}.yaml"], universe=universe), select=CHECKS)
    assert MEANT[name] in [(one.check, one.severity, one.operator, one.key) for one in found]
    assert findings(load_state([f"{path}.fixed.yaml"], universe=universe), select=CHECKS) == ()
