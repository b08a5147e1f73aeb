"""The place of a fallthrough, and how much of a long error is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.support import call

LONG = ("resolve", "aten::relu", "--tensor", "fpga")
"""A call whose error lists every registration of the operator, in 7,000 characters."""


def whole_text() -> str:
    data = json.loads(call(*LONG, "--format", "json").out)
    text: str = data["end"]["error"]["text"]
    assert len(text) > 5_000
    return text


@pytest.mark.parametrize("format_", ["text", "markdown", "html"])
def test_a_long_error_is_shown_by_its_first_sentence(format_: str) -> None:
    output = call(*LONG, "--format", format_).out
    assert "arguments from the" in output
    assert "This could be because" not in output
    assert "--full shows the whole text" in output
    assert max(map(len, output.splitlines())) < 700 or format_ == "html"


def test_it_is_whole_in_full() -> None:
    lines = whole_text().rstrip().split("\n")
    for format_ in ("text", "markdown"):
        output = call(*LONG, "--full", "--format", format_).out
        assert "--full shows" not in output
        if format_ == "text":
            assert "\n".join(f"  {line}".rstrip() for line in lines) in output
        else:
            assert "This could be because" in output
    assert json.loads(call(*LONG, "--full", "--format", "json").out)["end"]["error"]["text"] == whole_text()


def test_a_short_error_is_whole() -> None:
    output = call("resolve", "aten::_conj", "--tensor", "undefined").out
    assert "--full" not in output


@pytest.mark.parametrize("command", ["check-invariants", "guards"])
@pytest.mark.parametrize("format_", ["text", "markdown", "csv"])
def test_a_guard_that_meets_a_long_error_shows_its_beginning(command: str, format_: str, tmp_path: Path) -> None:
    file = tmp_path / "guards.yaml"
    file.write_text(
        "dispatch: 1\nextends: [torch-2.15]\nguards:\n  - {op: aten::relu, tensors: [fpga], resolves: cpu_relu}\n",
        encoding="utf-8",
    )
    result = call(command, str(file), "--format", format_)
    assert result.code == 1
    assert max(map(len, result.out.splitlines())) < 400
    assert ("Could not run" in result.out) == ((command, format_) != ("guards", "csv"))


DECLARED = (
    "dispatch: 1\noperators:\n  - func: mylib::op(Tensor a) -> Tensor\n    dispatch:\n      CPU: native\n"
    "      AutogradCPU: fallthrough\n      Tracer: {fallthrough: true, debug: 'its own text'}\n"
    "fallbacks:\n  PrivateUse1: fallthrough\n"
)
ABOUT_IT = (
    ("register", "{}"),
    ("table", "{}"),
    ("table", "{}", "--full"),
    ("table", "{}", "--resolver", "python"),
    ("explain", "mylib::op", "AutogradCPU", "{}"),
    ("explain", "mylib::op", "PrivateUse1", "{}"),
    ("resolve", "mylib::op", "{}", "--tensor", "cpu"),
)


@pytest.mark.parametrize("args", ABOUT_IT, ids=" ".join)
def test_a_fallthrough_has_one_place(args: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own: line 6 or 9. The operator's entry, which PyTorch's dump would name, begins in line 3."""
    monkeypatch.chdir(tmp_path)
    Path("m.yaml").write_text(DECLARED, encoding="utf-8")
    output = call(*(word.format("m.yaml") for word in args)).out
    assert "registered at m.yaml" not in output
    assert "fallthrough" in output
    assert "m.yaml:6:20" in output or "m.yaml:9:16" in output


def test_the_text_that_a_fallthrough_was_given_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.yaml").write_text(DECLARED, encoding="utf-8")
    assert "fallthrough its own text" in call("register", "m.yaml").out
    assert "a fallthrough, its own text" in call("explain", "mylib::op", "Tracer", "m.yaml").out
    raw = call("register", "m.yaml", "--format", "raw").out
    assert "AutogradCPU: registered at m.yaml:3 :: (none) [ fallthrough boxed ]" in raw
