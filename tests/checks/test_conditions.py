"""Findings about conditional registrations: once each, with the conditions under which they hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dispatch_cli.answers.findings.report import FindingsReport, findings_report
from dispatch_cli.api import load_state, run_variant
from tests.cli.support import call

CPP = """\
TORCH_LIBRARY(mylib, m) {
  m.def("scale(Tensor x) -> Tensor");
  // dispatch-cli: ignore[no-autograd-kernel] it is for inference
  m.impl("scale", torch::kCPU, &f);
  m.def("other(Tensor x) -> Tensor");
  m.impl("other", torch::kCPU, &g);  // dispatch-cli: ignore[no-autograd-kernel] this one, too
}
"""
EXTRACTED = """\
dispatch: 1
extracted: true
libraries:
  - kind: DEF
    namespace: mylib
    at: ops.cpp:1:1
    define:
      - {func: "scale(Tensor x) -> Tensor", at: "ops.cpp:2:3"}
      - {func: "other(Tensor x) -> Tensor", at: "ops.cpp:5:3"}
    impl:
      scale: {kernel: f, dispatch_key: CPU, at: "ops.cpp:4:3"}
      other: {kernel: g, dispatch_key: CPU, at: "ops.cpp:6:3"}
"""
CONDITIONAL = """\
  - {func: "m::always(Tensor x) -> Tensor", dispatch: {CPU: {kernel: f, when: A}, CUDA: g}}
  - func: m::never(Tensor x) -> Tensor
    dispatch: {CPU: {kernel: f, when: A}, Autograd: {kernel: a, when: A}}
  - {func: "m::one(Tensor x) -> Tensor", dispatch: {CPU: f, Autograd: {kernel: a, when: A}}}
  - func: m::two(Tensor x) -> Tensor
    dispatch: {CPU: {kernel: f, when: B}, Autograd: {kernel: a, when: A}}
  - {func: "m::either(Tensor x) -> Tensor", dispatch: {CPU: {kernel: f, when: A or B}}}
  - {name: "m::lost", when: "C >= 2", dispatch: {CPU: f}}
"""


def checked(path: Path, when: dict[str, str] | None = None) -> FindingsReport:
    state = load_state([str(path)], when=when)
    variants = [] if state.variants is None else state.variants.variants[1:]
    return findings_report(
        state, state.own_operators(), further=((run_variant(state, variant), variant.cases) for variant in variants)
    )


def rows(report: FindingsReport, check: str) -> list[tuple[str | None, str | None]]:
    return [
        (finding.finding.operator, finding.finding.when)
        for finding in report.findings
        if finding.finding.check == check
    ]


def write(tmp_path: Path, operators: str) -> Path:
    file = tmp_path / "a.yaml"
    file.write_text(f"dispatch: 1\noperators:\n{operators}")
    return file


def test_a_finding_says_under_which_conditions_it_holds(tmp_path: Path) -> None:
    file = write(tmp_path, CONDITIONAL)
    report = checked(file)
    assert rows(report, "no-autograd-kernel") == [
        ("m::always", "A"),  # for AutogradCPU
        ("m::always", "not A"),  # for AutogradCUDA
        ("m::one", "not A"),
        ("m::two", "B and not A"),
        ("m::either", "A or B"),
    ]
    assert rows(report, "dangling-implementation") == [("m::lost", "C >= 2")]
    (lost,) = [
        finding.finding for finding in report.findings if finding.finding.operator == "m::lost" and finding.finding.when
    ]
    assert lost.message.endswith("(when C >= 2)")


@pytest.mark.parametrize(("others", "severity"), [("", "INFO"), ("Meta: g", "WARNING")])
def test_a_library_without_fakes_in_a_build_is_meant_so(tmp_path: Path, others: str, severity: str) -> None:
    """A decorator that does nothing on one platform leaves all fake implementations out there."""
    file = write(
        tmp_path,
        '  - {func: "m::a(Tensor x) -> Tensor", dispatch: {CPU: f, Meta: {kernel: g, when: A}}}\n'
        f'  - {{func: "m::b(Tensor(a!) x) -> ()", dispatch: {{CPU: f, {others}}}}}\n',
    )
    shown = [item.finding for item in checked(file).findings if item.finding.check == "no-fake-kernel"]
    assert [(finding.severity.name, finding.when) for finding in shown] == [(severity, "not A")]


@pytest.mark.parametrize(
    ("rest", "severities"),
    [
        ("", ["info"]),
        ("else:\n    lib = None\n", ["info"]),
        ("if not is_built():\n    torch.library.impl('ns::f', 'CUDA')(f)\n", ["warning"]),
    ],
)
def test_an_absent_guard_of_python_is_no_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rest: str, severities: list[str]
) -> None:
    """is_built() may ask for the very library that defines the operator."""
    monkeypatch.chdir(tmp_path)
    tags = "{at::Tag::pt2_compliant_tag}"
    Path("ops.cpp").write_text(
        f'TORCH_LIBRARY(ns, m) {{\n  m.def("f(Tensor x) -> Tensor", {tags});\n  m.impl("f", torch::kCPU, &f);\n}}\n'
    )
    Path("ops.py").write_text(
        "import torch\nfrom built import is_built\ndef f(x): return x.clone()\n"
        f"if is_built():\n    torch.library.register_fake('ns::f')(f)\n{rest}"
    )
    report = json.loads(call("check-invariants", ".", "--format", "json", "--base", "torch-2.13").out)
    findings = [finding for finding in report["findings"] if finding["check"] == "no-fake-kernel"]
    assert [finding["severity"] for finding in findings] == severities
    assert all(finding["when"] == "not is_built()" for finding in findings)


@pytest.mark.parametrize("operators", [2, 14])
def test_a_finding_of_any_of_several_registrations_says_so_shortly(tmp_path: Path, operators: int) -> None:
    names = ", ".join(f"{{kernel: f{number}, when: C{number:02}}}" for number in range(operators))
    file = write(tmp_path, f'  - {{func: "m::a(Tensor x) -> Tensor", dispatch: {{CPU: [{names}]}}}}\n')
    ((_, when),) = rows(checked(file), "no-autograd-kernel")
    assert when is not None and when.startswith("C00 or C01") and len(when) <= 240


def test_comments_in_sources_accept_findings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ops.cpp").write_text(CPP)
    Path("a.yaml").write_text(EXTRACTED)
    report = checked(Path("a.yaml"))
    assert rows(report, "no-autograd-kernel") == []
    assert [finding.reason for finding in report.suppressed] == ["it is for inference", "this one, too"]
    Path("ops.cpp").write_text(CPP.replace("dispatch-cli:", "nothing:"))
    assert rows(checked(Path("a.yaml")), "no-autograd-kernel") == [("mylib::scale", None), ("mylib::other", None)]
