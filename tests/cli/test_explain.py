"""explain on the command line: what it takes, what it says in each format, and how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli import bases
from tests.cli.support import call
from tests.support import load_recording

NEWEST = bases.names()[0]


def test_without_a_base_it_is_the_newest() -> None:
    result = call("explain", "aten::to.dtype", "CPU")
    assert (result.code, result.err) == (0, "")
    over = f"over {NEWEST} (assumed; `dispatch-cli bases` lists others)"
    assert result.out.splitlines()[1] == over
    named = call("explain", "aten::to.dtype", "CPU", "--base", NEWEST)
    assert named.out.splitlines()[1] == f"over {NEWEST}"
    assert named.out.splitlines()[2:] == result.out.splitlines()[2:]
    assert call("explain", "aten::to.dtype", "CPU", "--universe", "torch-2.4").out.splitlines()[1] == "over torch-2.4"


def test_where_python_chooses_another_kernel() -> None:
    """As the recorded answers of resolve_key have it: the decomposition at Autograd is Python's alone."""
    answers = load_recording("2.15.0.resolve_key")
    row = answers["rows"][answers["row_of"]["aten::hardshrink"]]
    chosen = row[answers["slots"].index("AutogradCPU")]
    python = f"torch._refs.nn.functional.hardshrink from {chosen}, autograd kernel."
    lines = call("explain", "aten::hardshrink", "AutogradCPU").out.splitlines()
    assert f"Here the Python dispatcher (resolve_key) chooses another kernel: {python}" in lines
    assert "the Python dispatcher" not in call("explain", "aten::add.Tensor", "CPU").out


def test_a_text_without_an_error() -> None:
    result = call("explain", "--from-error", "-", stdin=b"\xff\x00 all is well \x1b[31m")
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "Error: no text in standard input is one that dispatch-cli explains; the whole text, with its traceback, may "
        "have one.\n"
    )


@pytest.mark.parametrize("format_", ["text", "json", "markdown"])
def test_escapes_in_a_text_stand_for_characters_or_for_themselves(format_: str) -> None:
    """Halves of surrogate pairs, characters that there are not, and characters that no terminal may get."""
    names = r"\ud800 \udfff \ud83d\ude00 \U00110000 \U000e0001 \u0000 \x1b]0;x\x07 \u202e \u009b1m \q"
    text = (
        rf"{{'error': \'Could not run \'a::b\' with arguments from the \'CPU\' backend.\n\nCUDA: {names} [kernel]\n\'}}"
    )
    result = call("explain", "--from-error", "-", "--format", format_, stdin=text.encode())
    assert (result.code, result.err) == (0, "")
    assert not set("\x00\x1b\x07\x9b\u202e") & set(result.out)
    assert result.out.encode()


def test_an_error_about_pytorchs_operator_is_judged_by_the_newest_state(tmp_path: Path) -> None:
    """The files do not declare the operator, so that they say nothing of it."""
    own, text = tmp_path / "own.yaml", tmp_path / "error.txt"
    own.write_text("dispatch: 1\noperators:\n  - {func: mylib::f(Tensor x) -> Tensor, dispatch: {CPU: f_cpu}}\n")
    text.write_text(
        "NotImplementedError: Could not run 'aten::cumsum' with arguments from the 'NestedTensorCPU' backend.\n"
    )
    result = call("explain", "--from-error", str(text), str(own))
    assert result.code == 0
    assert "torch-2.15 has kernels of aten::cumsum at " in result.out
    assert ", and none at NestedTensorCPU" in result.out
