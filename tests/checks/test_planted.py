"""A library with seven planted mistakes, checked as a CI job would: each is found, and where it is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dispatch_cli.api import load_state
from dispatch_cli.checks.check import Severity
from tests.checks.helpers import findings
from tests.cli.support import ROOT, process

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
    results = findings(load_state([f"{path}.yaml"], universe=universe), select=CHECKS)
    assert MEANT[name] in [(finding.check, finding.severity, finding.operator, finding.key) for finding in results]
    assert findings(load_state([f"{path}.fixed.yaml"], universe=universe), select=CHECKS) == ()


FOLDER = "tests/checks/planted"
PLANTED = re.compile(r"# planted: ([\w-]+)$", re.M)


def planted() -> set[tuple[str, int]]:
    """The checks that the comments name, and their lines."""
    lines = Path(ROOT, FOLDER, "library.yaml").read_text(encoding="utf-8").splitlines()
    matches = ((PLANTED.search(line), number) for number, line in enumerate(lines, start=1))
    return {(match[1], number) for match, number in matches if match is not None}


def test_each_mistake_is_found_by_the_check_meant_for_it() -> None:
    run = process("check-invariants", f"{FOLDER}/library.yaml", "--format", "json")
    findings = json.loads(run.out)["findings"]
    assert len(planted()) == 7
    assert {(finding["check"], finding["declared_at"]["line"]) for finding in findings} == planted()
    assert len(findings) == 7
    assert run.code == 1


def test_without_the_mistakes() -> None:
    run = process("check-invariants", f"{FOLDER}/library.fixed.yaml", "--select", "all", "--format", "json")
    assert (json.loads(run.out)["findings"], run.code) == ([], 0)
