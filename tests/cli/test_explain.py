"""explain on the command line: what it takes, what it says in each format, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dispatch_cli import bases
from tests.cli.support import ROOT, Result, call
from tests.support import load_recording, slot_errors

USAGE = "Usage: dispatch-cli explain [OPTIONS] [OP KEY] [FILE]...\nTry 'dispatch-cli explain --help' for help.\n\n"
OVERRIDE = "examples/scenarios/01_composite_override.yaml"
NEWEST = bases.names()[0]
ERRORS = slot_errors("2.15.0")


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def refused(message: str) -> Result:
    return Result(2, "", f"{USAGE}Error: {message}\n")


def error_text(operator: str, key: str | None) -> str:
    return str(next(error["text"] for error in ERRORS if (error["operator"], error["key"]) == (operator, key)))


def test_without_a_base_it_is_the_newest() -> None:
    result = call("explain", "aten::to.dtype", "CPU")
    assert (result.code, result.err) == (0, "")
    over = f"over {NEWEST} (assumed; `dispatch-cli bases` lists others)"
    assert result.out.splitlines()[1] == over
    named = call("explain", "aten::to.dtype", "CPU", "--base", NEWEST)
    assert named.out.splitlines()[1] == f"over {NEWEST}"
    assert named.out.splitlines()[2:] == result.out.splitlines()[2:]
    assert call("explain", "aten::to.dtype", "CPU", "--universe", "torch-2.4").out.splitlines()[1] == "over torch-2.4"


def test_an_operator_and_a_key_are_needed() -> None:
    message = "Give an operator and a key, such as `explain aten::add.Tensor CPU`, or --from-error FILE."
    assert call("explain") == refused(message)
    assert call("explain", "aten::add.Tensor") == refused(message)


def test_an_unknown_operator() -> None:
    hint = "Did you mean stale::fine?"
    message = f"Invalid value for 'OP': there is no operator 'stale::fin'. {hint}"
    assert call("explain", "stale::fin", "CPU", "examples/stale.yaml") == refused(message)
    nothing = "Invalid value for 'OP': there is no operator '\\x1b[31m'."
    assert call("explain", "\x1b[31m", "CPU", "examples/stale.yaml") == refused(nothing)
    overloads = call("explain", "aten::add", "CPU").err
    assert "there is no operator 'aten::add'. Did you mean aten::add.Scalar or" in overloads
    overloads = call("explain", "aten::pow", "CPU").err
    assert " Name an overload: aten::pow.Scalar, " in overloads
    assert overloads.endswith(" or one of 2 more.\n")


def test_where_python_chooses_another_kernel() -> None:
    """As the recorded answers of resolve_key have it: the decomposition at Autograd is Python's alone."""
    answers = load_recording("2.15.0.resolve_key")
    row = answers["rows"][answers["row_of"]["aten::hardshrink"]]
    chosen = row[answers["slots"].index("AutogradCPU")]
    python = f"torch._refs.nn.functional.hardshrink from {chosen}, autograd kernel."
    lines = call("explain", "aten::hardshrink", "AutogradCPU").out.splitlines()
    assert f"Here the Python dispatcher (resolve_key) chooses another kernel: {python}" in lines
    assert "the Python dispatcher" not in call("explain", "aten::add.Tensor", "CPU").out


def test_an_unknown_key() -> None:
    message = "Invalid value for 'KEY': torch-2.15 has no dispatch key 'AutogradCPUU'. Did you mean AutogradCPU?"
    result = call("explain", "stale::fine", "AutogradCPUU", "examples/stale.yaml")
    assert (result.code, result.out) == (2, "")
    assert message in result.err


def test_json_of_other_keys() -> None:
    alias = json.loads(call("explain", "aten::to.dtype", "Autograd", OVERRIDE, "--format", "json").out)
    assert (alias["kind"], alias["registered"], alias["fills"]) == ("alias", [], ["AutogradPrivateUse1"])
    block = json.loads(call("explain", "aten::to.dtype", "Dense", OVERRIDE, "--format", "json").out)
    assert block["kind"] == "functionality"
    assert [slot["keys"] for slot in block["slots"]][1] == ["PrivateUse1"]


def test_an_error_that_is_not_so_here() -> None:
    text = b"Could not run 'aten::relu' with arguments from the 'CPU' backend."
    out = call("explain", "--from-error", "-", stdin=text).out.splitlines()
    assert out[0] == "standard input, line 1: aten::relu has no kernel at CPU"
    assert out[1] == "The call was made with a tensor on CPU. torch-2.15 has a kernel there."
    assert any(line.startswith("In torch-2.15 the slot holds something else at CPU:") for line in out)


@pytest.mark.parametrize("key", ["Autograd", "CompositeImplicitAutograd", "Dense"])
def test_an_error_at_a_key_without_a_slot(key: str) -> None:
    text = f"Could not run 'broken::scale' with arguments from the '{key}' backend.".encode()
    result = call("explain", "--from-error", "-", "tests/answers/broken.yaml", stdin=text)
    assert (result.code, result.err) == (0, "")
    assert f"`explain broken::scale {key}` says more" in result.out


def test_an_error_of_operators_that_are_not_declared() -> None:
    """No slot is shown, as nothing proves what else it holds."""
    for text in (
        error_text("broken::cuda_only", "CPU"),
        "Could not run 'a::b' with arguments from the 'CPU' backend. Available functions are [CUDA]",
        "Could not run 'a::b' with arguments from the 'CPU' backend.",
        error_text("broken::scale", None),
        error_text("broken::scale", "Meta"),
    ):
        result = call("explain", "--from-error", "-", stdin=text.encode())
        assert (result.code, result.err) == (0, "")
        assert "\n  #  Rule" not in result.out
        assert "holds something else at" not in result.out
        assert "\nWhat you can do:\n- " in result.out
        assert "\nWhat the author of the operator can do:\n- " in result.out
    ambiguous = "a::b has kernels registered to both CompositeImplicitAutograd and a backend mapped to AutogradOther."
    unknown = call("explain", "--from-error", "-", stdin=ambiguous.encode())
    assert (unknown.code, unknown.err) == (0, "")
    assert unknown.out.startswith("standard input, line 1: a::b is ambiguous at AutogradOther\n")
    assert "\nWhat you can do:\n- " in unknown.out


def test_a_text_without_an_error() -> None:
    result = call("explain", "--from-error", "-", stdin=b"\xff\x00 all is well \x1b[31m")
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "Error: no text in standard input is one that dispatch-cli explains; the whole text, with its traceback, may "
        "have one.\n"
    )


def test_an_ambiguity_without_an_operator() -> None:
    """The text of the Python dispatcher names none."""
    unnamed = call("explain", "--from-error", "-", stdin=b"RuntimeError: ambiguous autogradother kernel")
    assert (unnamed.code, unnamed.err) == (0, "")
    assert unnamed.out.startswith("standard input, line 1: the operator is ambiguous at AutogradOther\n")


def test_a_table_without_the_line_that_names_the_operator() -> None:
    lines = [line for line in error_text("aten::cumsum", "NestedTensorCPU").splitlines() if line.endswith("fallback]")]
    for count in (1, 5):
        result = call("explain", "--from-error", "-", stdin="\n".join(lines[-count:]).encode())
        assert (result.code, result.out) == (2, "")
        assert "standard input has lines of a dispatch table, but not the line before it that names" in result.err


def test_a_text_that_can_not_be_read(tmp_path: Path) -> None:
    for path, message in ((tmp_path / "none", "does not exist"), (tmp_path, "is a directory")):
        result = call("explain", "--from-error", str(path))
        assert (result.code, result.out) == (2, "")
        assert message in result.err
    both = call("explain", "--from-error", "x.yaml", "x.yaml")
    assert both == refused("x.yaml cannot be both the error text and a declaration file.")


def test_a_text_as_windows_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "error.txt"
    path.write_bytes("Could not run 'aten::relu' with arguments from the 'CPU' backend.\r\n".encode("utf-16"))
    result = call("explain", "--from-error", str(path))
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"{path}, line 1: aten::relu has no kernel at CPU")


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


def test_one_operator_of_a_base_is_taken_in(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    original = bases.Base.operator

    def operator(self: bases.Base, name: str) -> object:
        read.append(name)
        return original(self, name)

    monkeypatch.setattr(bases.Base, "operator", operator)
    assert call("explain", "aten::to.dtype", "AutogradPrivateUse1", OVERRIDE).code == 0
    assert set(read) == {"aten::to.dtype"}


def test_a_key_that_the_text_cuts_off(tmp_path: Path) -> None:
    text = tmp_path / "error.txt"
    text.write_text("Could not run 'aten::add.Tensor' with arguments from the 'Dispa' backend", encoding="utf-8")
    result = call("explain", "--from-error", str(text))
    assert (result.code, result.err) == (0, "")
    assert "torch-2.15 has no key Dispa: the text is from another version or a fork, or it is cut there." in result.out


def test_an_error_about_pytorchs_operator_is_judged_by_the_newest_state(tmp_path: Path) -> None:
    """The files do not declare the operator, so that they say nothing of it."""
    own, text = tmp_path / "own.yaml", tmp_path / "error.txt"
    own.write_text("dispatch: 1\noperators:\n  - {func: mylib::f(Tensor x) -> Tensor, dispatch: {CPU: f_cpu}}\n")
    text.write_text(
        "NotImplementedError: Could not run 'aten::cumsum' with arguments from the 'NestedTensorCPU' backend.\n"
    )
    result = call("explain", "--from-error", str(text), str(own))
    assert result.code == 0
    assert "over torch-2.15" in result.out
    assert "NestedTensorCPU holds nothing (rule 10, missing)" in result.out


def test_what_was_there_before_is_named(tmp_path: Path) -> None:
    """A file that is extended is named as the source of the earlier kernel, like PyTorch."""
    operator = '{name: "aten::mul.Tensor", dispatch: {%s}}'
    texts = {
        "first.yaml": f"extends: torch-2.15\noperators:\n- {operator % 'PrivateUse1: first'}\n",
        "second.yaml": f"extends: first.yaml\noperators:\n- {operator % 'CPU: second, PrivateUse1: other'}\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(f"dispatch: 1\n{text}", encoding="utf-8")
    first, second = (str(tmp_path / name) for name in texts)
    explained = {key: call("explain", "aten::mul.Tensor", key, second) for key in ("CPU", "PrivateUse1", "CUDA")}
    below = f"torch-2.15 with {first}"
    for key, held in (("PrivateUse1", "first [kernel]"), ("CUDA", "the same")):
        assert f"\nover {below}\n" in explained[key].out
        assert f"\nIn {below}, {key} holds {held}.\n" in explained[key].out
    alone = call("explain", "aten::mul.Tensor", "PrivateUse1", first)
    assert "\nover torch-2.15\n" in alone.out
    assert "\nIn torch-2.15, PrivateUse1 holds the kernel registered at " in alone.out
    answer = json.loads(call("explain", "aten::mul.Tensor", "CPU", second, "--format", "json").out)
    assert (answer["over"], answer["over_files"]) == (["torch-2.15"], [first])
