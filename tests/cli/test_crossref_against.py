"""``dispatch-cli crossref --against``: what files register, beside what a state holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.support import call

SOURCE = """\
TORCH_LIBRARY(demo, m) {
  m.def("f(Tensor x) -> Tensor");
}
TORCH_LIBRARY_IMPL(demo, CPU, m) {
  m.impl("f", f);
}
"""
STATE = """\
dispatch: 1
operators:
  - func: demo::f(Tensor x) -> Tensor
    dispatch: {CPU: f}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.cpp").write_text(SOURCE, encoding="utf-8")
    Path("state.yaml").write_text(STATE, encoding="utf-8")


def test_a_file_that_declares_the_same() -> None:
    result = call("crossref", "a.cpp", "--against", "state.yaml", "--format", "json")
    assert result.code == 0
    report = json.loads(result.out)
    assert (report["report"], report["equal"], report["state"]) == ("against", True, "state.yaml")
    counts = {count["registered"]: count["same"] for count in report["counts"]}
    assert (counts, report["differences"]) == ({"definition": 1, "kernel": 1, "fallback": 0}, [])


def test_what_the_sources_lack() -> None:
    with Path("state.yaml").open("a", encoding="utf-8") as file:
        file.write("  - func: demo::g() -> ()\n")
    result = call("crossref", "a.cpp", "--against", "state.yaml", "--format", "csv")
    assert result.code == 1
    assert result.out.splitlines()[1].startswith("only-in-state,definition,demo::g,,,,,demo::g() -> (),")


def test_declarations_are_compared_as_sources_are() -> None:
    assert call("crossref", "state.yaml", "--against", "state.yaml").code == 0
    Path("other.yaml").write_text(STATE.replace("{CPU: f}", "{CUDA: f}"), encoding="utf-8")
    result = call("crossref", "other.yaml", "--against", "state.yaml", "--format", "json")
    assert result.code == 1
    rows = {(row["outcome"], row["operator"], row["key"]) for row in json.loads(result.out)["differences"]}
    assert ("only-in-sources", "demo::f", "CUDA") in rows


def test_only_the_operators_that_are_chosen() -> None:
    with Path("state.yaml").open("a", encoding="utf-8") as file:
        file.write("  - func: demo::g() -> ()\n")
    line = ("crossref", "a.cpp", "--against", "state.yaml", "--op")
    assert (call(*line, "demo::f").code, call(*line, "demo::g").code) == (0, 1)
