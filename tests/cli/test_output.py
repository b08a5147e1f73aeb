"""Destinations of the answer, colours, encodings, signals, and files that must not be replaced."""

from __future__ import annotations

import io
import json
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dispatch_cli.cli import output
from dispatch_cli.cli.source_reading import file_line
from tests.cli.support import ROOT, Result, call, environment, in_terminal, process

TABLE = ("table", "examples/ambiguous.yaml", "--key", "CPU")
ESCAPE = "\x1b["


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_gets_what_a_pipe_would(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    result = call(*TABLE, "-o", str(target))
    assert (result.code, result.out, result.err) == (0, "", "")
    assert target.read_text(encoding="utf-8") == call(*TABLE).out
    assert names_in(tmp_path) == ["out.txt"]


def test_nothing_is_written_when_the_input_is_bad(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("as it was", encoding="utf-8")
    for format_ in ("text", "raw"):
        result = call("check-invariants", "examples/broken.yaml", "--format", format_, "-o", str(target))
        assert (result.code, result.out) == (2, "")
    assert target.read_text(encoding="utf-8") == "as it was"
    assert names_in(tmp_path) == ["out.txt"]


@pytest.mark.parametrize(
    "args",
    [
        ("--fail-on", "nosuch", "--format", "sarif", "-o", "{}"),
        ("--nosuch", "--format", "json", "--format", "sarif", "--output={}"),
        ("--output", "{}", "--format", "sarif", "--baseline"),
    ],
    ids=" ".join,
)
def test_an_upload_finds_its_file_whatever_is_wrong_with_the_options(args: tuple[str, ...], tmp_path: Path) -> None:
    target = tmp_path / "out.sarif"
    result = call("check-invariants", "examples/add.yaml", *(arg.format(target) for arg in args))
    assert (result.code, result.out) == (2, "")
    (run,) = json.loads(target.read_text(encoding="utf-8"))["runs"]
    (notification,) = run["invocations"][0]["toolExecutionNotifications"]
    assert notification["message"]["text"] in result.err
    assert names_in(tmp_path) == ["out.sarif"]


def test_a_file_of_findings_is_announced(tmp_path: Path) -> None:
    target = tmp_path / "out"
    summary = call("check-invariants", "examples/stale.yaml").out.splitlines()[-1]
    assert summary.startswith("34 errors, 5 warnings, 1 info ")
    for format_ in ("text", "raw", "sarif"):
        result = call("check-invariants", "examples/stale.yaml", "--format", format_, "-o", str(target))
        assert result == Result(1, "", f"{target}: {summary}\n")


def test_nothing_is_left_of_a_run_that_breaks_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dispatch_cli.answers.table import report as table

    def fail(*_: object) -> None:
        raise RuntimeError("halfway")

    target = tmp_path / "out.txt"
    target.write_text("as it was", encoding="utf-8")
    monkeypatch.setattr(table, "_operator_table", fail)
    assert call(*TABLE, "--format", "json", "-o", str(target)).code == 3
    assert target.read_text(encoding="utf-8") == "as it was"
    assert names_in(tmp_path) == ["out.txt"]


def test_the_mode_of_a_file_is_kept(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.touch(mode=0o640)
    target.chmod(0o640)
    assert call(*TABLE, "-o", str(target)).code == 0
    assert target.stat().st_mode & 0o777 == 0o640


def test_standard_input() -> None:
    text = Path("examples/ambiguous.yaml").read_bytes()
    result = call("table", "-", "--key", "CPU", stdin=text)
    assert (result.code, result.err) == (0, "")
    assert result.out == call(*TABLE).out.replace("examples/ambiguous.yaml:", "-:")
    assert process("table", "-", "--key", "CPU", stdin=text).out == result.out


def test_colour_in_a_terminal() -> None:
    colored = in_terminal(80, *TABLE)
    plain = in_terminal(80, *TABLE, NO_COLOR="1")
    assert ESCAPE in colored.out
    assert ESCAPE not in plain.out
    without = re.sub(r"\x1b\[[0-9;]*m", "", colored.out)
    assert [line.rstrip() for line in without.splitlines()] == plain.out.splitlines()


@pytest.mark.parametrize(
    ("variables", "options", "expected"),
    [
        ({"NO_COLOR": ""}, (), True),
        ({"TERM": "dumb"}, (), False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, (), True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, (), False),
        ({}, ("--color", "never"), False),
        ({"FORCE_COLOR": "1"}, ("--color", "never"), False),
        ({"NO_COLOR": "1"}, ("--color", "always"), True),
        ({"TERM": "dumb"}, ("--color", "always"), True),
    ],
)
def test_who_decides_on_colour_in_a_terminal(
    variables: dict[str, str], options: tuple[str, ...], expected: bool
) -> None:
    assert (ESCAPE in in_terminal(80, *TABLE, *options, **variables).out) is expected


@pytest.mark.parametrize(
    ("variables", "options", "expected"),
    [({}, (), False), ({"FORCE_COLOR": "1"}, (), True), ({}, ("--color", "always"), True)],
)
def test_who_decides_on_colour_in_a_pipe(
    variables: dict[str, str], options: tuple[str, ...], expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert (ESCAPE in call(*TABLE, *options).out) is expected
    assert (ESCAPE in call("table", "examples/broken.yaml", *options).err) is expected


@pytest.mark.parametrize("format_", ["json", "csv", "markdown", "raw"])
def test_machine_formats_have_no_colour_and_no_width(format_: str) -> None:
    args = ("table", "examples/ambiguous.yaml", "--format", format_)
    assert in_terminal(40, *args, FORCE_COLOR="1").out == call(*args).out
    assert call(*args, "--color", "always").out == call(*args).out


# What a terminal is told while checks run and sources are read.


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_names_of_files_are_printed_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PATIENCE", "OFTEN"):
        monkeypatch.setattr(output, name, -1)
    stream = _Terminal()
    with output.progress_on(stream, file_line) as tell:
        assert tell is not None
        tell("src/a.cpp")
        tell("src/\x1b[2Ja.cpp")
    assert stream.getvalue() == ("\r\x1b[Kreading src/a.cpp\r\x1b[Kreading src/\\x1b[2Ja.cpp\r\x1b[K")


# Encodings.


FORMATS = ("json", "csv", "markdown", "html", "raw", "sarif", "github", "junit")
ODD = "é…\u2192"
ODD_NAMES = f"""dispatch: 1
operators:
  - {{func: 'odd::op(Tensor x) -> Tensor', dispatch: {{CPU: 'kernel {ODD}'}}}}
guards:
  - {{op: 'odd::op', key: CPU, kernel: 'other {ODD}'}}
"""
"""Names that Latin-1 has and has not."""


@pytest.mark.slow
@pytest.mark.parametrize("format_", FORMATS)
def test_formats_are_in_utf_8_whatever_the_encoding_of_standard_output(format_: str, tmp_path: Path) -> None:
    file = tmp_path / "odd.yaml"
    file.write_text(ODD_NAMES, encoding="utf-8")
    latin, unicode = (
        process("check-invariants", str(file), "--format", format_, PYTHONIOENCODING=encoding, SOURCE_DATE_EPOCH="0")
        for encoding in ("latin-1", "utf-8")
    )
    assert latin == unicode
    assert ODD in latin.out.replace("\\u2026", "…").replace("\\u2192", "\u2192").replace("\\u00e9", "é")


# Signals.

STOPPED = """
import os, signal, sys
NAME = sys.argv.pop(1)
from dispatch_cli.cli import files
def chunks_and_signal(chunks):
    for number, chunk in enumerate(chunks):
        yield chunk
        if number == 0:
            os.kill(os.getpid(), getattr(signal, NAME))
write = files.write_file
files.write_file = lambda chunks, *rest, **named: write(chunks_and_signal(chunks), *rest, **named)
from dispatch_cli.cli import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_while_a_file_is_written_leaves_nothing(name: str, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.write_text("as it was", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", STOPPED, name, *TABLE, "--format", "json", "-o", str(target)],
        capture_output=True,
        check=False,
        cwd=ROOT,
        env=environment(),
    )
    assert (done.returncode, done.stdout, done.stderr.strip()) == (128 + getattr(signal, name), b"", b"")
    assert names_in(tmp_path) == ["out.json"]
    assert target.read_text(encoding="utf-8") == "as it was"


# Files that must not be replaced, and files that cannot be read.


@pytest.mark.slow
def test_a_file_that_is_read_only_is_not_replaced(tmp_path: Path) -> None:
    """Nor for root, who could."""
    target = tmp_path / "out.txt"
    target.write_text("as it was", encoding="utf-8")
    target.chmod(0o444)
    for args in ((*TABLE, "-o", str(target)), ("check-invariants", "examples/stale.yaml", "--baseline", str(target))):
        result = call(*args, *(["--update-baseline"] if "--baseline" in args else []))
        assert (result.code, result.out) == (2, "")
    result = call(*TABLE, "-o", str(target))
    assert f"Error: cannot write {target}: it is read-only\n" in result.err
    assert target.read_text(encoding="utf-8") == "as it was"
    assert stat.S_IMODE(target.stat().st_mode) == 0o444
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def inputs(folder: Path) -> Iterator[tuple[tuple[str, ...], Path]]:
    """Commands, each with a file that it reads."""
    main, other, guards = folder / "main.yaml", folder / "other.yaml", folder / "guards.yaml"
    operator = "operators: [{func: 'a::b(Tensor x) -> Tensor', dispatch: {CPU: k}}]\n"
    other.write_text(f"dispatch: 1\n{operator}", encoding="utf-8")
    main.write_text("dispatch: 1\nextends: [other.yaml]\n", encoding="utf-8")
    guards.write_text("dispatch: 1\nguards: [{op: 'a::b', key: CPU, rule: kernel}]\n", encoding="utf-8")
    error = folder / "error.txt"
    error.write_text((ROOT / "tests/cli/error.txt").read_text(encoding="utf-8"), encoding="utf-8")
    universe = folder / "universe.json"
    universe.write_bytes((ROOT / "dispatch_cli/universes/torch-2.15.json").read_bytes())
    for command in (("table",), ("guards", "--record")):
        yield (*command, str(main)), main
        yield (*command, str(main)), other
    yield ("explain", "a::b", "CPU", str(main)), other
    yield ("resolve", "a::b", str(main)), main
    yield ("check-invariants", str(main), "--guards", str(guards)), guards
    yield ("explain", "--from-error", str(error)), error
    yield ("keys", "--universe", str(universe)), universe


@pytest.mark.slow
@pytest.mark.parametrize("number", range(9))
def test_an_answer_does_not_replace_what_it_is_made_from(number: int, tmp_path: Path) -> None:
    args, read = list(inputs(tmp_path))[number]
    before = read.read_bytes()
    link = tmp_path / "link"
    link.symlink_to(read)
    other_name = tmp_path / "hard"
    other_name.hardlink_to(read)
    assert call(*args).code in (0, 1)
    for target in (read, link, other_name):
        if str(read) in args:
            refused = call(*args, "--bogus", "--format", "json", "-o", str(target))
            assert (refused.code, refused.out) == (2, "")
            assert read.read_bytes() == before
        result = call(*args, "-o", str(target))
        assert (result.code, result.out) == (2, "")
        assert f"Error: cannot write {target}: it is an input of this command\n" in result.err
        assert read.read_bytes() == before


# Names of -o that are no files.


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("", "it is empty"),
        (".", "cannot write .: it is a directory"),
        ("new/.", "cannot write new/.: it names a folder; give the name of a file"),
        ("kept.txt/", "cannot write kept.txt/: it names a folder; give the name of a file"),
    ],
)
def test_what_is_no_file(name: str, error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name with a slash at its end is no file, though one without it may be there."""
    (tmp_path / "kept.txt").write_text("kept", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    result = call("schema", "-o", name)
    assert (result.code, result.out) == (2, "")
    assert error in result.err
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [("kept.txt", "kept")]
