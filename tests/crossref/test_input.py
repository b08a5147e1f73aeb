"""Files that cannot be compared, and usage that cannot be followed: exit code 2 and a reason."""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli.declarations import source
from dispatch_cli.model import budget
from tests.cli.support import ROOT, call
from tests.crossref.support import ADD, recording_of, written


def refused(*args: str) -> str:
    result = call("crossref", *args)
    assert (result.code, result.out) == (2, "")
    return result.err


@pytest.mark.parametrize("compress", [bytes, gzip.compress, lzma.compress])
def test_a_recording_may_be_compressed(compress: Callable[[bytes], bytes], tmp_path: Path) -> None:
    file = tmp_path / "recording"
    file.write_bytes(compress(json.dumps(recording_of((ADD,))).encode()))
    assert call("crossref", str(file)).code == 0


def test_nothing_to_compare_with() -> None:
    assert "Nothing to compare: give declarations, sources or a recording, or --against live." in refused()


def test_declarations_have_no_answers() -> None:
    example = str(ROOT / "examples" / "add.yaml")
    assert refused(example) == (
        f"error[no-answers]: {example} has registrations, but no answers of a PyTorch to compare them with\n"
        "  help: compare it with a running PyTorch: --against live, or --python PATH\n"
        "\n"
        "1 error; nothing was done.\n"
    )


def test_standard_input_can_only_be_a_recording() -> None:
    recording = json.dumps(recording_of((ADD,))).encode()
    assert call("crossref", "-", stdin=recording).code == 0
    result = call("crossref", "-", stdin=b"dispatch: 1\n")
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "error[not-a-recording]: standard input is not a recording\n"
        "  help: give declarations as a file\n"
        "\n"
        "1 error; nothing was done.\n"
    )


def test_a_file_that_is_not_there() -> None:
    assert "error[file-not-found]: /no/such/file.json does not exist\n" in refused("/no/such/file.json")


def test_a_file_that_is_neither() -> None:
    assert ": error[yaml-syntax]: this is not valid YAML: " in refused(str(ROOT / "LICENSE"))


@pytest.mark.parametrize(
    "content", ["{", "[" * 100_000, "{" * 100_000, '{"ops": {}}', '{"universe": {}, "ops": {}, "dispatch": 2}']
)
def test_json_that_is_no_recording(content: str, tmp_path: Path) -> None:
    """It is read as declarations, and refused as such."""
    file = tmp_path / "a.json"
    file.write_text(content, encoding="utf-8")
    assert refused(str(file)).startswith(f"{file}:")


def test_an_operator_that_is_not_there(tmp_path: Path) -> None:
    assert "no operator matches 'aten::nothing*'" in refused(
        written(tmp_path, recording_of((ADD,))), "--op", "aten::nothing*"
    )


def test_a_module_that_is_no_name() -> None:
    assert "'os; x' is not the name of a module" in refused("--import", "os; x")


def test_a_python_that_is_none() -> None:
    assert "error[no-python]: /no/such/python is not an executable Python\n" in refused("--python", "/no/such/python")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda data: data["universe"].pop("runtime"), "field 'runtime' must be a list of strings"),
        (lambda data: data["universe"].update(runtime=[1]), "field 'runtime' must be a list of strings"),
        (lambda data: data["universe"].update(ids={"CPU": "x"}), "field 'ids' must map keys to numbers"),
        (lambda data: data["universe"].update(functionality=[]), "it has no functionality key"),
        (lambda data: data["universe"].update(per_backend={}), "field 'Dense' must be a list of strings"),
        (lambda data: data["universe"].update(after_autograd=["CPU"]), "no functionality has the key set"),
        (lambda data: data["universe"].update(alias={}), "field 'aliases' must have CompositeImplicitAutograd"),
        (lambda data: data.update(universe=[]), "field 'universe' must be a mapping"),
        (lambda data: data.update(ops=[]), "field 'ops' must be a mapping"),
        (lambda data: data.update(ops={"a::b": "x"}), "the operator 'a::b' has no dumps"),
        (lambda data: data.update(ops={"a::b": {"dump": ""}}), "field 'table' must be a string"),
        (lambda data: data.update(empty_table="CPU: x [kernel]\n"), "CPU: x [kernel]"),
        (lambda data: data.pop("empty_table"), "field 'empty_table' must be a string"),
        (lambda data: data.update(torch=None), "field 'torch' must be a string"),
    ],
)
def test_a_recording_that_does_not_hold_together(
    spoil: Callable[[dict[str, Any]], object], words: str, tmp_path: Path
) -> None:
    recording = recording_of((ADD,))
    recording["universe"] = dict(recording["universe"])
    spoil(recording)
    error = refused(written(tmp_path, recording))
    assert error.startswith("error[bad-recording]: ")
    assert words in error


@pytest.mark.parametrize("end", [10, 100, -8, -1])
def test_a_damaged_xz_file(end: int, tmp_path: Path) -> None:
    file = tmp_path / "recording.json.xz"
    file.write_bytes(lzma.compress(json.dumps(recording_of((ADD,))).encode())[:end])
    assert "error[unreadable-file]: the compressed file is damaged: " in refused(str(file))


def test_a_file_that_grows_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MAX_BYTES", 1 << 20)
    file = tmp_path / "recording.json.xz"
    file.write_bytes(lzma.compress(b" " * (1 << 22)))
    assert "error[too-large]: the file is larger than 1 MiB" in refused(str(file))


def test_an_xz_file_that_wants_too_much_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "recording.json.xz"
    file.write_bytes(lzma.compress(json.dumps(recording_of((ADD,))).encode()))
    assert call("crossref", str(file)).code == 0
    monkeypatch.setattr(source, "_XZ_MEMORY", 1 << 16)
    assert "error[unreadable-file]: the compressed file is damaged: Memory usage limit exceeded" in refused(str(file))
