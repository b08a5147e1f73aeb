"""``torch-2.9.1`` means ``torch-2.9`` wherever the name of a state or universe is taken, and standard error says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli import bases
from tests.cli.support import Result, call

PATCH = "torch-2.9.1"
NOTE = f"note: {PATCH} means torch-2.9, which is of PyTorch {bases.load('torch-2.9').description.torch}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "line",
    [
        *("table --base {} --op aten::relu", "table --universe {} -k CPU", "table --universe {} --op aten::relu"),
        *("explain aten::relu CPU --base {}", "keys --universe {}", "keys --universe torch-2.8 --against {}"),
        *("keys --universe {} --against torch-2.8",),
    ],
)
def test_options(line: str) -> None:
    expected = call(*line.format("torch-2.9").split())
    assert call(*line.format(PATCH).split()) == Result(expected.code, expected.out, NOTE + expected.err)


def test_files() -> None:
    text = "dispatch: 1\nuniverse: {}\nextends: [{}]\noperators:\n  - func: a::b(Tensor x) -> Tensor\n"
    Path("a.yaml").write_text(text.format("torch-2.9", "torch-2.9"), encoding="utf-8")
    expected = call("table", "a.yaml")
    Path("a.yaml").write_text(text.format(PATCH, PATCH), encoding="utf-8")
    note = NOTE.removeprefix("note: ")
    notes = f"note: a.yaml:2:11: {note}note: a.yaml:3:11: {note}"
    assert sorted(call("table", "a.yaml").err.splitlines()) == notes.splitlines()
    assert (call("table", "a.yaml").out, expected.err) == (expected.out, "")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("torch-2.16", "the nearest is torch-2.15"),
        ("torch-2.16.1", "the nearest is torch-2.15"),
        ("torch-2.99", "the nearest is torch-2.15"),
        ("torch-2.3", "the nearest is torch-2.4"),
        ("torch-1.13.1", "the nearest is torch-2.4"),
        ("2.9", "did you mean torch-2.9?"),
        ("2.9.1", "did you mean torch-2.9?"),
    ],
)
def test_the_nearest_version_is_suggested(name: str, hint: str) -> None:
    result = call("table", "--base", name, "--op", "aten::relu")
    assert result.code == 2
    assert f"  help: {hint}\n" in result.err
