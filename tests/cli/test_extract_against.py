"""``dispatch-cli extract --against``"""

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
    result = call("extract", "a.cpp", "--against", "state.yaml", "--format", "json", "--no-cache")
    assert result.code == 0
    report = json.loads(result.out)
    assert (report["report"], report["equal"], report["state"], report["differences"]) == (
        "against",
        True,
        "state.yaml",
        [],
    )
    assert [(one["registered"], one["same"]) for one in report["counts"]] == [
        ("definition", 1),
        ("kernel", 1),
        ("fallback", 0),
    ]


def test_what_the_sources_lack() -> None:
    with Path("state.yaml").open("a", encoding="utf-8") as file:
        file.write("  - func: demo::g() -> ()\n")
    result = call("extract", "a.cpp", "--against", "state.yaml", "--format", "csv", "--no-cache")
    assert result.code == 1
    assert result.out.splitlines()[1].startswith("only-in-state,definition,demo::g,,,,,demo::g() -> (),")


def test_strict_counts_what_is_not_understood() -> None:
    with Path("a.cpp").open("a", encoding="utf-8") as file:
        file.write("TORCH_LIBRARY_FRAGMENT(demo, m) { if (x) { SOMETHING_UNKNOWN(m); } }\n")
    options = ("extract", "a.cpp", "--against", "state.yaml", "--no-cache")
    assert call(*options).code == 0
    assert call(*options, "--strict").code == 1


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--against", "nowhere.yaml"), "nowhere.yaml"),
        (("--against", "a.cpp"), "a.cpp"),
        (("--against", "state.yaml", "--import", "demo"), "need --against live"),
        (("--python", "python3"), "need --against live"),
        (("--format", "markdown"), "--format markdown needs --against"),
        (("--against", "state.yaml", "--format", "yaml"), "--against writes a comparison"),
        (("--against", "live", "--import", "1x"), "is not the name of a module"),
    ],
)
def test_what_cannot_be_compared(options: tuple[str, ...], says: str) -> None:
    result = call("extract", "a.cpp", *options, "--no-cache")
    assert result.code == 2
    assert says in (result.err or result.out)


def test_it_can_be_written_to_a_file() -> None:
    result = call("extract", "a.cpp", "--against", "state.yaml", "-o", "out.md", "--format", "markdown", "--no-cache")
    assert (result.code, result.out) == (0, "")
    assert "No difference in 2 registrations" in result.err
    assert "The sources and state.yaml" in Path("out.md").read_text(encoding="utf-8")
