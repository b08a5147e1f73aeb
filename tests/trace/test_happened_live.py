"""Kernels of a user that do not redispatch: the programs say themselves which kernels ran."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.capture.support import torch_python
from tests.cli.support import COMMAND, call, environment
from tests.trace.recorded import cache_with_recorder

pytestmark = pytest.mark.live

LIBRARY = """
import torch
lib = torch.library.Library(__name__, "DEF")
lib.define("gelu(Tensor x) -> Tensor")


@torch.library.impl(lib, "gelu", "CPU")
def cpu(x):
    print("CPU ran")
    return x.sigmoid() * x
"""
COMPUTES = f"""{LIBRARY}

@torch.library.impl(lib, "gelu", "AutogradCPU")
def autograd(x):
    print("AutogradCPU ran")
    return x * torch.sigmoid(1.702 * x)


torch.ops.computes.gelu(torch.randn(3, requires_grad=True))
"""
AGAIN = f"""{LIBRARY}

@torch.library.impl(lib, "gelu", "AutogradCPU")
def autograd(x):
    print("AutogradCPU ran")
    with torch._C._AutoDispatchBelowAutograd():
        return torch.ops.again.gelu(x)


torch.ops.again.gelu(torch.randn(3))
"""
ONLY_AUTOGRAD = """
import torch
lib = torch.library.Library(__name__, "DEF")
lib.define("gelu(Tensor x) -> Tensor")
lib.define("passes_on(Tensor x) -> Tensor")


@torch.library.impl(lib, "gelu", "AutogradCPU")
def computes(x):
    print("AutogradCPU ran")
    return x * torch.sigmoid(1.702 * x)


def passes_on(keyset, x):
    return torch.ops.only_autograd.passes_on.default.redispatch(keyset & torch._C._after_autograd_keyset, x)


lib.impl("passes_on", passes_on, "AutogradCPU", with_keyset=True)
torch.ops.only_autograd.gelu(torch.randn(3, requires_grad=True))
try:
    torch.ops.only_autograd.passes_on(torch.randn(3))
except NotImplementedError:
    print("raised")
"""
GRADIENTS = """
import torch
lib = torch.library.Library(__name__, "DEF")
lib.define("swish(Tensor x) -> Tensor")
lib.define("lost(Tensor x) -> Tensor")
lib.impl("swish", lambda x: x.sin(), "CPU")
lib.impl("lost", lambda x: torch.from_numpy(x.detach().numpy() * 2), "CPU")
for name in ("swish", "lost"):
    x = torch.randn(3, requires_grad=True)
    getattr(torch.ops.gradients, name)(x * 2).sum().backward()
    print("none" if x.grad is None else "gradient")
"""


CASES = {"computes": COMPUTES, "again": AGAIN, "only_autograd": ONLY_AUTOGRAD, "gradients": GRADIENTS}
"""Modules with operators in a namespace of the same name."""


class Traced:
    """The recording of a program that imports modules, and what each of them printed."""

    def __init__(self, folder: Path, cases: Iterable[str], verify: bool, *options: str) -> None:
        for case in cases:
            (folder / f"{case}.py").write_text(CASES[case], encoding="utf-8")
        program = folder / "program.py"
        program.write_text("".join(f"print('# {case}')\nimport {case}\n" for case in cases), encoding="utf-8")
        cache = cache_with_recorder(torch_python())
        words = ["--python", torch_python(), "--save", "r", "-o", "out", *options]
        words += ["--verify", str(program)] if verify else [str(program)]
        env = environment(DISPATCH_CLI_CACHE_DIR=str(cache))
        done = subprocess.run(
            [*COMMAND, "trace", *words], cwd=folder, env=env, capture_output=True, check=True, text=True
        )
        self._said = done.stdout
        self.folder, self.file = folder, str(folder / "r")

    def program(self, case: str) -> str:
        """The file of a module."""
        return str(self.folder / f"{case}.py")

    def ran(self, case: str) -> list[str]:
        """The first words of the lines that a module printed."""
        printed = self._said.partition(f"# {case}\n")[2].partition("# ")[0]
        return [line.partition(" ")[0] for line in printed.splitlines()]

    def answer(self, *options: str) -> Any:
        result = call("trace", self.file, *options, "--format", "json")
        assert result.code == 0, result.err
        return json.loads(result.out)

    def kernels(self, case: str) -> dict[str, tuple[int, int]]:
        """In how many calls each kernel of a module ran, and is only predicted to have run."""
        report = self.answer("--kernels", self.program(case))["kernels"]
        return {entry["key"]: (entry["calls"], entry["predicted"]) for entry in report}

    def text(self, *options: str) -> str:
        result = call("trace", self.file, *options)
        assert result.code == 0, result.err
        return result.out


@pytest.fixture(scope="module")
def predicted(tmp_path_factory: pytest.TempPathFactory) -> Traced:
    """All modules in one program, whose kernels are not observed."""
    return Traced(tmp_path_factory.mktemp("predicted"), CASES, False)


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> Traced:
    """All modules in one program, with --verify."""
    return Traced(tmp_path_factory.mktemp("observed"), CASES, True)


def test_what_is_only_predicted_did_not_run(predicted: Traced) -> None:
    assert predicted.ran("computes") == ["AutogradCPU"]
    assert predicted.kernels("computes") == {"CPU": (0, 1), "AutogradCPU": (1, 0)}
    text = predicted.text("--kernels", predicted.program("computes"))
    assert "1 of 2 kernels ran, 1 is predicted to have run; `dispatch-cli trace --verify` observes which run.\n" in text


def test_what_was_observed_wins(observed: Traced) -> None:
    assert observed.ran("computes") == ["AutogradCPU"]
    assert observed.kernels("computes") == {"CPU": (0, 0), "AutogradCPU": (1, 0)}
    text = observed.text("--kernels", observed.program("computes"), "--op", "computes::gelu")
    assert "1 of 2 kernels ran, 1 never ran.\n" in text
    assert " AutogradCPU (predicted: AutogradCPU → CPU)\n" in text
    assert "This is a mistake of dispatch-cli" not in text
    report = observed.answer("--op", "computes::gelu")
    (operator,) = report["operators"]
    assert [path["keys"] for path in operator["paths"]] == [["AutogradCPU"]]
    (finding,) = report["findings"]
    assert (finding["kind"], finding["key"], finding["keys"]) == ("not-by-convention", "AutogradCPU", ["CPU"])
    assert "redispatches: false" in finding["text"]
    (row,) = report["threads"][0]["rows"]
    explained = observed.answer("--explain", str(row["number"]))
    assert [step["slot"] for selection in explained["selections"] for step in selection["steps"]] == ["AutogradCPU"]
    assert explained["predicted"] == ["AutogradCPU", "CPU"]
    assert "this is not what is predicted, which is AutogradCPU > CPU" in observed.text("--explain", str(row["number"]))


@pytest.mark.parametrize("how", ["predicted", "observed"])
def test_a_kernel_that_calls_its_operator_again(how: str, request: pytest.FixtureRequest) -> None:
    traced: Traced = request.getfixturevalue(how)
    assert traced.ran("again") == ["AutogradCPU", "CPU"]
    assert traced.kernels("again") == {"CPU": (1, 0), "AutogradCPU": (1, 0)}
    report = traced.answer("--op", "again::gelu")
    outer, inner = report["threads"][0]["rows"]
    assert [(kernel["key"], kernel["does"]) for kernel in outer["path"]["kernels"]] == [
        ("AutogradCPU", "calls-anew"),
        ("CPU", "ends"),
    ]
    assert [kernel["key"] for kernel in inner["path"]["kernels"]] == ["CPU"]
    assert {tuple(path["keys"]): path["calls"] for path in report["operators"][0]["paths"]} == {
        ("AutogradCPU",): 1,
        ("CPU",): 1,
    }
    assert "AutogradCPU (calls again)" in traced.text("--op", "again::gelu")
    text = traced.text("--explain", str(outer["number"]))
    assert "calls the operator again, as was observed" in text
    assert [finding["kind"] for finding in report["findings"]] == (["not-by-convention"] if how == "observed" else [])


@pytest.mark.parametrize("how", ["predicted", "observed"])
def test_a_call_that_returned_does_not_raise(how: str, request: pytest.FixtureRequest) -> None:
    """By convention a kernel at Autograd redispatches, which fails here: there is no kernel below it."""
    traced: Traced = request.getfixturevalue(how)
    verify = how == "observed"
    assert traced.ran("only_autograd") == ["AutogradCPU", "raised"]
    report = traced.answer("--op", "only_autograd::*")
    returned, raised = report["threads"][0]["rows"]
    assert [(kernel["key"], kernel["does"]) for kernel in returned["path"]["kernels"]] == [("AutogradCPU", "ends")]
    assert (returned["path"]["end"], returned["raised"]) == ("kernel", 0)
    assert (raised["path"]["end"], raised["raised"]) == ("error", 1)
    text = traced.text("--op", "only_autograd::gelu")
    assert "(raises)" not in text
    assert (" AutogradCPU (predicted: AutogradCPU → CPU)\n" in text) is verify
    assert [finding["kind"] for finding in report["findings"]] == (["not-by-convention"] if verify else [])
    assert report["counts"]["different"] == (3 if verify else 0)  # in the whole program: a call in each module but one
    explained = traced.text("--explain", str(returned["number"]))
    assert "The call fails" not in explained
    assert "this is not what is predicted, which is AutogradCPU > CPU" in explained


def test_kernels_whose_calls_record_the_gradient_are_no_finding(predicted: Traced) -> None:
    assert predicted.ran("gradients") == ["gradient", "none"]
    findings = predicted.answer("--op", "gradients::*")["findings"]
    assert [finding["operator"] for finding in findings if finding["kind"] == "no-gradient"] == ["gradients::lost"]


def test_a_registry_without_room_is_said_to_be_missing(tmp_path: Path) -> None:
    traced = Traced(tmp_path, ["computes"], False, "--max-size", "1")
    assert "see --max-size" in traced.text()
