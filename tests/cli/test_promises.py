"""Promises in CI: one that is broken on purpose is seen where the operator is, in the formats of CI systems."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.support import call

LIBRARY = """\
dispatch: 1
operators:
  - func: mylib::f(Tensor x) -> Tensor
    dispatch: {CPU: f_cpu, Autograd: f_autograd}
"""
PROJECT = """\
[tool.dispatch-cli]
select = "broken-promise"

[[tool.dispatch-cli.support]]
op = "mylib::*"
backends = ["cpu", "cuda"]
contexts = ["eager"]
reason = "the README says so"
"""
MESSAGE = "mylib::f: the promise of eager on CUDA is broken: no kernel serves the backend"
HELP = "register a kernel for the backend, or a composite one"


def test_a_broken_promise_in_ci(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ops.yaml").write_text(LIBRARY, encoding="utf-8")
    Path("pyproject.toml").write_text(PROJECT, encoding="utf-8")
    run = ("check-invariants", "ops.yaml", "--format")
    github = call(*run, "github")
    assert (github.code, github.err) == (1, "")
    assert github.out.startswith(f"::error file=ops.yaml,line=3,col=11,title=broken-promise::{MESSAGE}%0A")
    assert "%0Areason: the README says so%0A" in github.out
    assert "it is promised here, for mylib::* (pyproject.toml:5:1)" in github.out
    (result,) = json.loads(call(*run, "sarif").out)["runs"][0]["results"]
    (place,) = result["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "ops.yaml"
    assert (place["physicalLocation"]["region"]["startLine"], result["level"]) == (3, "error")
    (promised,) = result["relatedLocations"]
    assert promised["physicalLocation"]["artifactLocation"]["uri"] == "pyproject.toml"
    (failure,) = ElementTree.fromstring(call(*run, "junit").out).iter("failure")
    assert (failure.get("type"), failure.get("message")) == ("broken-promise", MESSAGE)
    assert failure.text is not None
    assert failure.text.startswith(f"ops.yaml:3:11: error: {MESSAGE}\n")
    assert failure.text.endswith(f"tip: {HELP}")
    Path("ops.yaml").write_text(LIBRARY.replace("CPU:", "'CPU, CUDA':"), encoding="utf-8")
    assert call(*run, "github").code == 0
