"""Destinations of the answer: -o, standard input, terminals, colour."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from dispatch_cli.answers.findings.command_options import check_line
from dispatch_cli.checks import CHECKS
from dispatch_cli.cli import progress
from dispatch_cli.cli.source_reading import file_line
from tests.cli.support import COMMAND, ROOT, Result, call, environment, in_terminal, process

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


@pytest.mark.parametrize("format_", ["json", "csv", "markdown", "html", "sarif", "github", "junit"])
def test_a_program_gets_the_problems_when_the_input_is_bad(
    format_: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    target = tmp_path / "out.txt"
    args = ("check-invariants", "examples/broken.yaml", "--format", format_)
    result = call(*args, "-o", str(target))
    assert (result.code, result.out) == (2, "")
    assert result.err == call("check-invariants", "examples/broken.yaml").err
    outcome = call(*args)
    assert (outcome.code, outcome.out, outcome.err) == (2, target.read_text(encoding="utf-8"), result.err)
    for key in ("CompositeImplicitAutgrad", "QuantizedHIP"):
        assert f"could not parse dispatch key: {key}" in outcome.out


FOR_PROGRAMS = [
    ("table", "examples/broken.yaml"),
    ("register", "examples/broken.yaml"),
    ("guards", "examples/broken.yaml"),
    ("explain", "a::b", "CPU", "examples/broken.yaml"),
    ("resolve", "a::b", "examples/broken.yaml"),
    ("keys", "--universe", "nowhere.json"),
    ("table", "examples/add.yaml", "--op", "nothing::*"),
    ("resolve", "aten::add.Tensor", "--tensor", "cpuu"),
    ("checks", "nothing"),
    ("table", "--view", "grid", "--resolver", "python", "examples/add.yaml"),
    ("check-invariants", "examples/add.yaml", "--baseline", "nowhere.json"),
    ("check-invariants",),
    ("check-invariants", "examples/add.yaml", "--fail-on", "nosuch"),
    ("check-invariants", "examples/add.yaml", "--nosuch"),
    ("check-invariants", "examples/add.yaml", "--update-baseline=yes"),
    ("check-invariants", "examples/add.yaml", "--color", "blue"),
    ("check-invariants", "-xk", "CPU"),
    ("resolve", "aten::add.Tensor", "--argument", "device"),
    ("rules", "99"),
    ("keys", "CPU", "CUDA"),
]


@pytest.mark.parametrize("args", FOR_PROGRAMS, ids=" ".join)
def test_every_command_tells_programs_what_is_wrong(args: tuple[str, ...]) -> None:
    result = call(*args, "--format", "json")
    assert result.code == 2
    data = json.loads(result.out)
    assert (data["report"], data["schema_version"]) == ("problems", 3)
    assert data["problems"]
    message = data["problems"][0]["message"].split("\n")[0]
    assert message in result.err


@pytest.mark.parametrize(
    "args",
    [
        ("--fail-on", "nosuch", "--format", "sarif", "-o", "{}"),
        ("--format=sarif", "-o{}", "--fail-on", "nosuch"),
        ("--nosuch", "--format", "json", "--format", "sarif", "--output={}"),
        ("--output", "{}", "--format", "sarif", "--baseline"),
        ("--update-baseline=x", "--output", "{}", "--format", "sarif"),
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


@pytest.mark.parametrize(
    "args",
    [
        ("check-invariants", "examples/add.yaml", "--format", "nosuch", "-o", "{}"),
        ("check-invariants", "examples/add.yaml", "--format", "sarif", "--", "-o", "{}"),
        ("table", "examples/add.yaml", "--format", "sarif", "-o", "{}"),
        ("nosuch", "--format", "json", "-o", "{}"),
        ("capture", "--nosuch", "--format", "json", "-o", "{}"),
    ],
    ids=" ".join,
)
def test_nothing_is_written_where_no_format_or_no_file_is_named(args: tuple[str, ...], tmp_path: Path) -> None:
    result = call(*(arg.format(tmp_path / "out") for arg in args))
    assert result.code == 2
    assert names_in(tmp_path) == []


def test_a_file_of_findings_is_announced(tmp_path: Path) -> None:
    target = tmp_path / "out"
    for format_ in ("text", "json", "html", "raw", "sarif", "github", "junit"):
        result = call("check-invariants", "examples/stale.yaml", "--format", format_, "-o", str(target))
        summary = call("check-invariants", "examples/stale.yaml").out.splitlines()[-1]
        assert result == Result(1, "", f"{target}: {summary}\n")
        assert summary.startswith("34 errors, 5 warnings, 1 info ")
    clean = call("check-invariants", "examples/add.yaml", "-o", str(target))
    assert clean == Result(0, "", f"{target}: {call('check-invariants', 'examples/add.yaml').out}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("guards", "examples/scenarios/08_ambiguous.fixed.yaml"), 0),
        (("guards", "examples/scenarios/08_ambiguous.yaml"), 1),
    ],
)
def test_a_file_of_a_comparison_is_announced(args: tuple[str, ...], code: int, tmp_path: Path) -> None:
    target = tmp_path / "out"
    summary = call(*args).out.splitlines()[-1]
    assert call(*args, "--format", "json", "-o", str(target)) == Result(code, "", f"{target}: {summary}\n")


@pytest.mark.parametrize(("universe", "code"), [("torch-2.4", 1), ("torch-2.15", 0)])
def test_a_file_of_the_differences_of_universes_is_announced(universe: str, code: int, tmp_path: Path) -> None:
    target = tmp_path / "out"
    result = call("keys", "--universe", "torch-2.15", "--against", universe, "--format", "json", "-o", str(target))
    count = len(json.loads(target.read_text(encoding="utf-8"))["differences"])
    assert result == Result(code, "", f"{target}: {f'{count} differences' if count else 'No difference'}\n")
    assert call("keys", "--universe", universe, "-o", str(target)) == Result(0, "", "")


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
    mask = os.umask(0o027)
    try:
        assert call(*TABLE, "-o", str(tmp_path / "new.txt")).code == 0
    finally:
        os.umask(mask)
    assert (tmp_path / "new.txt").stat().st_mode & 0o777 == 0o640


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real.txt").touch()
    (tmp_path / "link.txt").symlink_to("real.txt")
    assert call(*TABLE, "-o", str(tmp_path / "link.txt")).code == 0
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text(encoding="utf-8") == call(*TABLE).out


@pytest.mark.slow
def test_devices_and_pipes_can_be_written_to(tmp_path: Path) -> None:
    assert process(*TABLE, "-o", "/dev/stdout").out == call(*TABLE).out
    with (tmp_path / "opened.txt").open("wb") as file:
        subprocess.run([*COMMAND, *TABLE, "-o", "/dev/stdout"], stdout=file, check=True, env=environment())
    assert (tmp_path / "opened.txt").read_text(encoding="utf-8") == call(*TABLE).out
    assert call(*TABLE, "-o", "/dev/null").code == 0
    assert not Path("/dev/null").is_file()


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    for target in (tmp_path / "nowhere" / "out.txt", tmp_path):
        result = call(*TABLE, "-o", str(target))
        assert (result.code, result.out) == (2, "")
        assert f"Error: cannot write {target}: " in result.err


def test_links_in_a_circle_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    for target in (tmp_path / "a", tmp_path / ("x" * 5_000)):
        for options in (("-o", str(target)), ("--baseline", str(target), "--update-baseline")):
            command = TABLE if options[0] == "-o" else ("check-invariants", "examples/stale.yaml")
            result = call(*command, *options)
            assert (result.code, result.out) == (2, ""), options
            assert "Error: " in result.err
    assert names_in(tmp_path) == ["a", "b"]


@pytest.mark.parametrize(
    "args",
    [
        ("explain", "--from-error", "{}"),
        ("explain", "--from-error", "{}", "{}"),
        ("explain", "{}", "CPU"),
        ("explain", "aten::add.Tensor", "{}"),
        ("resolve", "{}"),
        ("resolve", "aten::add.Tensor", "--tensor", "cpu batched={}"),
        ("keys", "{}"),
        ("keys", "--universe", "{}"),
        ("checks", "{}"),
        ("check-invariants", "-k", "CPU", "--select", "{}"),
        ("check-invariants", "-k", "CPU", "--baseline", "{}"),
        ("check-invariants", "-k", "CPU", "--config", "{}"),
        ("check-invariants", "-k", "CPU", "-o", "{}/x"),
        ("guards", "{}"),
        ("register", "{}"),
        ("capture", "-o", "{}/x.json"),
    ],
    ids=" ".join,
)
def test_what_a_message_quotes_is_short_and_commands_nothing(args: tuple[str, ...]) -> None:
    for hostile in ("\x1b[31mred\u202e", "a" * 3_000):
        result = call(*(arg.format(hostile) for arg in args))
        assert (result.code, result.out) == (2, "")
        assert len(max(result.err.splitlines(), key=len)) < 7_000
        assert "\x1b" not in result.err
        assert "\u202e" not in result.err
        if hostile.startswith("\x1b"):
            assert "\\x1b[31mred\\u202e" in result.err


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("keys", "CPU"), 0),
        (("check-invariants", "examples/stale.yaml", "--format", "json"), 1),
        (("table", "examples/broken.yaml"), 2),
        (("register", "-"), None),
    ],
)
def test_closed_streams(args: tuple[str, ...], code: int | None, closed: str) -> None:
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", *COMMAND, *args]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, cwd=ROOT)
    assert done.returncode == (2 if code is None else code)
    assert b"internal error" not in done.stderr
    if closed == "<&-" and code is not None:
        assert done.stdout.decode() == call(*args).out


def test_standard_input() -> None:
    text = Path("examples/ambiguous.yaml").read_bytes()
    result = call("table", "-", "--key", "CPU", stdin=text)
    assert (result.code, result.err) == (0, "")
    assert result.out == call(*TABLE).out.replace("examples/ambiguous.yaml:", "-:")
    assert process("table", "-", "--key", "CPU", stdin=text).out == result.out


def test_mistakes_on_standard_input() -> None:
    result = call("table", "-", stdin=b"dispatch: 1\nfoo: 1\n")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("-:2:1: error[unknown-field]: a declaration file has no field 'foo'\n  2 | foo: 1\n")


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
    [
        ({}, (), False),
        ({"FORCE_COLOR": ""}, (), False),
        ({"FORCE_COLOR": "1"}, (), True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, (), False),
        ({}, ("--color", "always"), True),
        ({"FORCE_COLOR": "1"}, ("--color", "never"), False),
    ],
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


def test_colour_goes_into_a_file_only_when_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out.txt"
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert call(*TABLE, "-o", str(target)).code == 0
    assert ESCAPE not in target.read_text(encoding="utf-8")
    assert call(*TABLE, "-o", str(target), "--color", "always").code == 0
    assert ESCAPE in target.read_text(encoding="utf-8")


# What a terminal is told while checks run and sources are read.


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_pipe_is_told_nothing() -> None:
    stream = io.StringIO()
    with progress.progress_on(stream, check_line) as tell:
        assert tell is None
    assert stream.getvalue() == ""


def test_a_quick_run_says_nothing() -> None:
    stream = _Terminal()
    with progress.progress_on(stream, check_line) as tell:
        assert tell is not None
        tell(CHECKS[0], 0, 1)
    assert stream.getvalue() == ""


def test_a_long_run_says_where_it_is_and_takes_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", -1)
    stream = _Terminal()
    with progress.progress_on(stream, check_line) as tell:
        assert tell is not None
        tell(CHECKS[0], 0, 2)
        tell(CHECKS[1], 1, 2)
    assert stream.getvalue() == (
        "\r\x1b[Kchecking 1 of 2: stale-live-table\r\x1b[Kchecking 2 of 2: order-sensitive\r\x1b[K"
    )


def test_names_of_files_are_printed_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", -1)
    stream = _Terminal()
    with progress.progress_on(stream, file_line) as tell:
        assert tell is not None
        tell("src/a.cpp", 0, 0)
        tell("src/\x1b[2Ja.cpp", 1, 3)
    assert stream.getvalue() == ("\r\x1b[Kreading 1 files: src/a.cpp\r\x1b[Kreading 2 of 3: src/\\x1b[2Ja.cpp\r\x1b[K")


def test_a_terminal_is_not_told_too_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", -1)
    stream = _Terminal()
    with progress.progress_on(stream, file_line, often=1000) as tell:
        assert tell is not None
        tell("a.cpp", 0, 2)
        tell("b.cpp", 1, 2)
    assert stream.getvalue() == "\r\x1b[Kreading 1 of 2: a.cpp\r\x1b[K"
