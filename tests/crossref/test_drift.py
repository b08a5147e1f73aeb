"""``crossref FILE --against live``: declarations against a built library, in every format, without a PyTorch."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli.api import load_state
from dispatch_cli.crossref.live import ask_built, built_of
from dispatch_cli.model.problem import InputError
from tests import in_pytorch
from tests.capture.support import state_of, torch_python, universe_data
from tests.checks.helpers import findings
from tests.cli.support import call
from tests.crossref.test_stand_in import python_that_answers
from tests.extract.cases import cases, write

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the stand-in for Python is a shell script")

DECLARED = """\
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch:
      CPU: op_cpu
      CUDA: op_cuda
      AutocastCPU: op_cast
"""


def kernel(debug: str, fallthrough: bool = False) -> list[dict[str, Any]]:
    return [{"debug": debug, "signature": None, "fallthrough": fallthrough, "boxed": True, "unboxed": False}]


def answer() -> dict[str, Any]:
    """Answer of a PyTorch 2.4 whose library has no kernel at CUDA, one at XLA, and another one at AutocastCPU."""
    operator = {
        "name": "demo::op",
        "schema": "demo::op(Tensor x) -> Tensor",
        "debug": "registered at demo.cpp:1",
        "alias_analysis": "FROM_SCHEMA",
        "kernels": {
            "CPU": kernel("registered at demo.cpp:12"),
            "XLA": kernel("registered at demo.cpp:14"),
            "AutocastCPU": kernel("registered at demo.cpp:13", fallthrough=True),
        },
        "imported": {"schema": True, "kernels": {"CPU": 1, "XLA": 1, "AutocastCPU": 1}},
    }
    return {**state_of([operator], universe_data("torch-2.4")), "modules": ["demo"]}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(DECLARED, encoding="utf-8")
    python_that_answers(answer(), tmp_path)
    return tmp_path


def drift(*args: str) -> Any:
    return call("crossref", "a.yaml", "--python", "./python", "--import", "demo", *args)


def test_the_text_names_each_difference_at_its_declaration() -> None:
    result = drift()
    assert (result.code, result.err) == (1, "")
    heads = [line for line in result.out.splitlines() if line.startswith("a.yaml:")]
    source = f"PyTorch {universe_data('torch-2.4')['torch']} with demo"
    assert heads == [
        f"a.yaml:6:7: error[drift-missing]: demo::op: the kernel at CUDA is declared, but not registered in {source}",
        f"a.yaml:7:7: error[drift-different]: demo::op: the kernel at AutocastCPU falls through in {source}, but is "
        "declared as a kernel that runs",
        f"a.yaml:3:11: warning[drift-undeclared]: demo::op: the kernel at XLA is registered in {source}, but not "
        "declared",
    ]
    assert result.out.endswith(f"2 errors, 1 warning in 1 operator; checked: 1 operator, 5 checks ({source})\n")


def test_no_drift() -> None:
    text = DECLARED.replace("CUDA: op_cuda", "XLA: another_name").replace(
        "AutocastCPU: op_cast", "AutocastCPU: fallthrough"
    )
    Path("a.yaml").write_text(text, encoding="utf-8")
    result = drift()
    assert (result.code, result.err) == (0, "")
    source = f"PyTorch {universe_data('torch-2.4')['torch']} with demo"
    assert result.out == f"All checks passed: 1 operator, 5 checks ({source})\n"


def test_what_that_pytorch_refuses_is_a_difference() -> None:
    """It is not among what is compared, and so nothing else tells of it."""
    block = '{kind: IMPL, namespace: _, dispatch_key: AutogradCPU, at: "a.cpp:1:1", fallback: fallthrough}'
    Path("a.yaml").write_text(f"dispatch: 1\nextracted: true\nlibraries:\n  - {block}\n", encoding="utf-8")
    result = drift()
    assert result.code == 1
    assert "a.cpp:1:1: error[refused-registration]: PyTorch refuses this registration: Tried to register" in result.out


@pytest.mark.parametrize(("module", "apart"), [("demo", True), ("torch.testing", False)])
def test_what_modules_of_pytorch_register_is_pytorchs(module: str, apart: bool) -> None:
    """It is not told apart from the rest, nor is anything where PyTorch was there before anybody could look."""
    data = {**answer(), "modules": [module]}
    assert built_of(data).apart is apart
    assert built_of({**data, "known": False}).apart is False


def test_the_project_and_suppressions_have_a_say() -> None:
    Path("pyproject.toml").write_text(
        '[tool.dispatch-cli]\nignore = ["drift-different"]\n[tool.dispatch-cli.severity]\ndrift-undeclared = "info"\n',
        encoding="utf-8",
    )
    text = DECLARED.replace("op_cuda\n", "op_cuda # dispatch-cli: ignore[drift-missing] not in builds for the CPU\n")
    Path("a.yaml").write_text(text, encoding="utf-8")
    report = json.loads(drift("--format", "json").out)
    assert [(finding["check"], finding["severity"]) for finding in report["findings"]] == [("drift-undeclared", "info")]
    assert [finding["check"] for finding in report["suppressed"]] == ["drift-missing"]
    assert drift().code == 0


def test_bad_declarations_are_refused_before_pytorch_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.yaml").write_text(DECLARED.replace("CUDA", "CUDDA"), encoding="utf-8")

    def fail(*_: object) -> None:
        raise InputError(())

    monkeypatch.setattr("dispatch_cli.capture.run._run", fail)
    result = drift("--format", "sarif")
    assert result.code == 2
    assert "did you mean CUDA?" in result.err
    assert json.loads(result.out)["runs"][0]["invocations"][0]["exitCode"] == 2


@pytest.mark.live
def test_a_live_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (library_and_declarations,) = cases(Path(__file__).with_name("drifting.txt"))
    write(library_and_declarations, tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    library, universe, _ = ask_built(torch_python(), ["drifting"])
    per_name = {}
    for name in ("right", "wrong"):
        state = load_state([f"{name}.yaml"], universe=universe)
        per_name[name] = {
            (finding.check, finding.operator, finding.key) for finding in findings(state, select="drift", built=library)
        }
    assert per_name == {
        "right": set(),
        "wrong": {
            ("drift-different", "drifting::norm", None),
            ("drift-different", "drifting::norm", "AutocastCPU"),
            ("drift-missing", "drifting::norm", "CUDA"),
            ("drift-undeclared", "drifting::norm", "CompositeImplicitAutograd"),
            ("drift-missing", "drifting::sin", "CUDA"),
            ("drift-undeclared", "drifting::sin", "CompositeExplicitAutograd"),
            ("drift-missing", "drifting::cos", "Meta"),
            ("drift-undeclared", "drifting::cos", "Autograd"),
            ("drift-missing", "drifting::gone", None),
            ("drift-missing", "drifting::clampi", None),
            ("drift-undeclared", "drifting::clampy", None),
            ("drift-missing", "aten::to.dtype", "CPU"),  # as PyTorch's own is composite
            ("drift-missing", "aten::sin", "CPU"),  # where PyTorch has one
            ("drift-undeclared", "aten::relu", "PrivateUse1"),
            ("drift-missing", "aten::gelu", "PrivateUse1"),
            ("drift-missing", None, "PrivateUse1"),
        },
    }


@pytest.mark.live
def test_conditions_are_those_of_the_python_that_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Registrations for a device that is not there are not missing; those under a condition that holds are."""
    (tmp_path / "drifting.py").write_text(
        "import torch\n"
        "lib = torch.library.Library('drifting', 'DEF')\n"
        "lib.define('norm(Tensor x) -> Tensor')\n"
        "if torch.backends.mps.is_available():\n"
        "    lib.impl('norm', lambda x: x, 'MPS')\n"
        "if torch.nothing_of_the_name():\n"
        "    lib.impl('norm', lambda x: x, 'XLA')\n",
        encoding="utf-8",
    )
    declared = (tmp_path / "drifting.py").read_text("utf-8") + (
        "if torch.distributed.is_available():\n    lib.impl('norm', lambda x: x, 'CPU')\n"
        "if torch.onnx.is_in_onnx_export():\n    lib.impl('norm', lambda x: x, 'Meta')\n"  # registers operators itself
    )
    (tmp_path / "declared.py").write_text(declared, encoding="utf-8")
    (tmp_path / "drifting.py").write_text(declared.partition("if torch.nothing")[0], encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    python = torch_python()
    program = "import torch; print(torch.backends.mps.is_available(), torch.distributed.is_available())"
    asked = in_pytorch.run([python, "-c", program])
    assert asked.stdout == "False True\n", "this PyTorch is not one that the test is for"
    answer = call("crossref", "declared.py", "--python", python, "--import", "drifting", "--format", "json")
    findings_of_keys = {(finding["check"], finding["key"]) for finding in json.loads(answer.out)["findings"]}
    assert findings_of_keys == {("drift-missing", "CPU"), ("drift-missing", "XLA")}
