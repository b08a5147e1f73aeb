"""Kernels of a user that do not redispatch: the programs say themselves which kernels ran."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.capture.support import torch_python
from tests.cli.support import COMMAND, call, environment
from tests.trace.recorded import LIVE_PROGRAMS, cache_with_recorder

pytestmark = pytest.mark.live

CASES = {name.removesuffix(".py"): text for name, text in LIVE_PROGRAMS["kernels that do not redispatch"].items()}
"""Modules with operators in a namespace of the same name."""


class Traced:
    """The recording of a program that imports modules, and what each of them printed."""

    def __init__(self, folder: Path, verify: bool) -> None:
        for case in CASES:
            (folder / f"{case}.py").write_text(CASES[case], encoding="utf-8")
        program = folder / "program.py"
        program.write_text("".join(f"print('# {case}')\nimport {case}\n" for case in CASES), encoding="utf-8")
        cache = cache_with_recorder(torch_python())
        words = ["--python", torch_python(), "--save", "r", "-o", "out"]
        words += ["--verify", str(program)] if verify else [str(program)]
        env = environment(DISPATCH_CLI_CACHE_DIR=str(cache))
        done = subprocess.run(
            [*COMMAND, "trace", *words], cwd=folder, env=env, capture_output=True, check=True, text=True
        )
        self._said = done.stdout
        self.file = str(folder / "r")

    def ran(self, case: str) -> list[str]:
        """The first words of the lines that a module printed."""
        printed = self._said.partition(f"# {case}\n")[2].partition("# ")[0]
        return [line.partition(" ")[0] for line in printed.splitlines()]

    def answer(self, *options: str) -> Any:
        result = call("trace", self.file, *options, "--format", "json")
        assert result.code == 0, result.err
        return json.loads(result.out)

    def kernels(self, case: str) -> dict[str, tuple[int, int]]:
        """In how many calls each kernel of a module was observed, and is only predicted; a further call is its own."""
        counts = {"AutogradCPU": (0, 0), "CPU": (0, 0)}
        for thread in self.answer("--op", f"{case}::*")["threads"]:
            for row in thread["rows"]:
                for kernel in row["path"]["kernels"]:
                    observed, predicted = counts[kernel["key"]]
                    counts[kernel["key"]] = observed + kernel["observed"], predicted + (not kernel["observed"])
        return counts


@pytest.fixture(scope="module")
def predicted(tmp_path_factory: pytest.TempPathFactory) -> Traced:
    """All modules in one program, whose kernels are not observed."""
    return Traced(tmp_path_factory.mktemp("predicted"), False)


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> Traced:
    """All modules in one program, with --verify."""
    return Traced(tmp_path_factory.mktemp("observed"), True)


RAN = {"computes": ["AutogradCPU"], "again": ["AutogradCPU", "CPU"]}
KERNELS = {
    "predicted": {"computes": {"CPU": (0, 1), "AutogradCPU": (1, 0)}, "again": {"CPU": (1, 0), "AutogradCPU": (1, 0)}},
    "observed": {"computes": {"CPU": (0, 0), "AutogradCPU": (1, 0)}, "again": {"CPU": (1, 0), "AutogradCPU": (1, 0)}},
}
"""Of each module, in how many calls a kernel ran, and is only predicted to have run."""


@pytest.mark.parametrize("case", RAN)
@pytest.mark.parametrize("how", KERNELS)
def test_the_kernels_that_ran(how: str, case: str, request: pytest.FixtureRequest) -> None:
    traced: Traced = request.getfixturevalue(how)
    assert traced.ran(case) == RAN[case]
    assert traced.kernels(case) == KERNELS[how][case]


def test_what_was_observed_wins(observed: Traced) -> None:
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


@pytest.mark.parametrize("how", KERNELS)
def test_a_kernel_that_calls_its_operator_again(how: str, request: pytest.FixtureRequest) -> None:
    report = request.getfixturevalue(how).answer("--op", "again::gelu")
    outer, inner = report["threads"][0]["rows"]
    assert [(kernel["key"], kernel["does"]) for kernel in outer["path"]["kernels"]] == [("AutogradCPU", "calls-anew")]
    assert [kernel["key"] for kernel in inner["path"]["kernels"]] == ["CPU"]
    assert [finding["kind"] for finding in report["findings"]] == (["not-by-convention"] if how == "observed" else [])


@pytest.mark.parametrize("how", KERNELS)
def test_a_call_that_returned_does_not_raise(how: str, request: pytest.FixtureRequest) -> None:
    """By convention a kernel at Autograd redispatches, which fails here: there is no kernel below it."""
    traced: Traced = request.getfixturevalue(how)
    assert traced.ran("only_autograd") == ["AutogradCPU", "raised"]
    report = traced.answer("--op", "only_autograd::*")
    returned, raised = report["threads"][0]["rows"]
    assert [(kernel["key"], kernel["does"]) for kernel in returned["path"]["kernels"]] == [("AutogradCPU", "ends")]
    assert (returned["path"]["end"], returned["raised"]) == ("kernel", 0)
    assert (raised["path"]["end"], raised["raised"]) == ("error", 1)
    explained = traced.answer("--explain", str(returned["number"]))
    assert explained["predicted"] == ["AutogradCPU", "CPU"]


def test_kernels_whose_calls_record_the_gradient_are_no_finding(predicted: Traced) -> None:
    assert predicted.ran("gradients") == ["gradient", "none"]
    findings = predicted.answer("--op", "gradients::*")["findings"]
    assert [finding["operator"] for finding in findings if finding["kind"] == "no-gradient"] == ["gradients::lost"]
