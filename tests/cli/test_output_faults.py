"""Faults around an answer: full disks, other encodings, signals, files that must not be replaced."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from dispatch_cli.cli import cli
from tests.cli.support import COMMAND, ROOT, Result, call, environment, process

pytestmark = pytest.mark.slow

FULL = Path("/dev/full")
TABLE = ("table", "examples/ambiguous.yaml", "--key", "CPU")

needs_full = pytest.mark.skipif(not FULL.exists(), reason="there is no device that is always full")


def words(value: object) -> str:
    """The id of a case: its command and its exit code."""
    return " ".join(value) if isinstance(value, tuple) else str(value)


def run_with(*args: str, out: str | None = None, err: str | None = None, **variables: str) -> Result:
    """Run as a process of its own, its streams files where they are named."""
    with Path(out or os.devnull).open("wb") as out_file, Path(err or os.devnull).open("wb") as err_file:
        done = subprocess.run(
            [*COMMAND, *args],
            stdin=subprocess.DEVNULL,
            stdout=out_file if out else subprocess.PIPE,
            stderr=err_file if err else subprocess.PIPE,
            check=False,
            cwd=ROOT,
            env=environment(**variables),
        )
    return Result(done.returncode, (done.stdout or b"").decode(), (done.stderr or b"").decode())


# Streams that take nothing.


@needs_full
@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("keys", "CPU"), 0),
        (("check-invariants", "examples/stale.yaml"), 1),
        (("capture", "--python", "/no/such/python"), 2),
        (("register", "examples/broken.yaml", "-o", "/no/such/folder/x"), 2),
    ],
    ids=words,
)
def test_standard_error_that_is_full_changes_no_exit_code(args: tuple[str, ...], code: int) -> None:
    plain = run_with(*args)
    assert plain.code == code
    assert run_with(*args, err=str(FULL)) == Result(code, plain.out, "")


@needs_full
@pytest.mark.parametrize(
    "args",
    [
        ("--help",),
        ("guards", "--record", "examples/add.yaml"),
        ("check-invariants", "examples/broken.yaml", "--format", "json"),
    ],
    ids=" ".join,
)
def test_standard_output_that_is_full_is_said(args: tuple[str, ...]) -> None:
    result = run_with(*args, out=str(FULL))
    assert result.code == 2
    assert "Error: cannot write " in result.err
    assert result.err.endswith(": No space left on device\n")
    assert "internal error" not in result.err
    assert run_with(*args, out=str(FULL), err=str(FULL)).code == 2


@pytest.mark.parametrize("args", [("--help",), ("--version",), ("table", "--help"), ("keys", "CPU")], ids=" ".join)
def test_a_reader_that_has_gone_is_no_error(args: tuple[str, ...]) -> None:
    with subprocess.Popen(
        [*COMMAND, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, env=environment()
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert (running.stderr.read(), running.wait()) == (b"", 0)


# Python without docstrings, a folder that is gone, encodings.


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder for the bytecode that Python compiled without docstrings."""
    return str(tmp_path_factory.mktemp("compiled"))


@pytest.mark.parametrize(
    "args",
    [
        ("--help",),
        ("checks", "stale-live-table"),
        ("check-invariants", "examples/stale.yaml", "--format", "sarif"),
        ("explain", "aten::add.Tensor", "CPU"),
        ("resolve", "aten::add.Tensor", "--tensor", "cpu"),
    ],
    ids=" ".join,
)
def test_python_without_docstrings_and_assertions(args: tuple[str, ...], compiled: str) -> None:
    plain = call(*args)
    assert plain.code in (0, 1)
    assert process(*args, PYTHONOPTIMIZE="2", PYTHONPYCACHEPREFIX=compiled) == plain


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("--help",), 0),
        (("check-invariants", str(ROOT / "examples/add.yaml")), None),
        (("explain", "--from-error", str(ROOT / "tests/cli/error.txt")), None),
        (("resolve", "aten::add.Tensor"), None),
        (("register", "add.yaml"), 2),
        (("keys", "CPU", "-o", "x.txt"), 2),
        (("capture", "-o", "x.yaml", "--python", "/no/such/python"), 2),
        (("crossref", "x.json"), 2),
    ],
    ids=words,
)
def test_a_working_folder_that_is_gone(args: tuple[str, ...], code: int | None, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = ["sh", "-c", 'cd "$0" && rmdir "$0" && exec "$@"', str(gone), *COMMAND, *args]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment())
    assert "internal error" not in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode in ((0, 1, 2) if code is None else (code,)), done.stderr
    if done.returncode == 2:
        assert "rror" in done.stderr


FORMATS = ("json", "csv", "markdown", "html", "raw", "sarif", "github", "junit")
ODD = "é…\u2192"


@pytest.fixture(scope="module")
def odd_names(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file with names that Latin-1 has and has not; it is bad for `check-invariants`, by its guards."""
    file = tmp_path_factory.mktemp("odd") / "odd.yaml"
    file.write_text(
        "dispatch: 1\noperators:\n"
        f"  - {{func: 'odd::op(Tensor x) -> Tensor', dispatch: {{CPU: 'kernel {ODD}'}}}}\n"
        f"guards:\n  - {{op: 'odd::op', key: CPU, kernel: 'other {ODD}'}}\n",
        encoding="utf-8",
    )
    return str(file)


ENCODINGS = ("latin-1", "ascii", "utf-16", "cp1252:strict")


@cache
def in_encoding(chosen: str, *arguments: str) -> str:
    """The output, which is in UTF-8, where standard output has this encoding."""
    return process(*arguments, PYTHONIOENCODING=chosen, SOURCE_DATE_EPOCH="0").out


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("format_", FORMATS)
def test_formats_are_in_utf_8_whatever_the_encoding_of_standard_output(
    format_: str, encoding: str, odd_names: str
) -> None:
    for command in ("table", "check-invariants", "register", "guards"):
        if format_ not in _formats_of(command):
            continue
        printed = in_encoding(encoding, command, odd_names, "--format", format_)
        assert printed == in_encoding("utf-8", command, odd_names, "--format", format_)
        text = printed.replace("\\u2026", "…").replace("\\u2192", "\u2192").replace("\\u00e9", "é")
        assert ODD in text
        if format_ == "junit":
            ElementTree.fromstring(printed)
        if format_ in ("json", "sarif"):
            json.loads(printed)


def _formats_of(command: str) -> tuple[str, ...]:
    group = cli.get_command(None, command)  # type: ignore[arg-type]
    assert group is not None
    return next(tuple(param.type.choices) for param in group.params if param.name == "format_")  # type: ignore[attr-defined]


@pytest.mark.parametrize("args", [("guards", "--record"), ("schema",)], ids=" ".join)
def test_files_of_ours_are_in_utf_8(args: tuple[str, ...], odd_names: str) -> None:
    words = (*args, odd_names) if args[0] == "guards" else args
    runs = [
        subprocess.run([*COMMAND, *words], capture_output=True, cwd=ROOT, env=environment(PYTHONIOENCODING=encoding))
        for encoding in ("utf-8", "latin-1")
    ]
    assert runs[0].stdout == runs[1].stdout != b""


# Signals.

INTERRUPTING = """
import os, signal, sys
class Finder:
    seen = 0
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("dispatch_cli", "click", "yaml", "rich"):
            Finder.seen += 1
            if Finder.seen == int(os.environ["AT_IMPORT"]):
                Finalizer() if "IN_FINALIZER" in os.environ else os.kill(os.getpid(), signal.SIGINT)
        return None
class Finalizer:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
if "AT_IMPORT" in os.environ:
    sys.meta_path.insert(0, Finder())
"""


@pytest.mark.parametrize("number", [4, 8, 21, 55])
def test_an_interrupt_during_imports_is_quiet(number: int, tmp_path: Path) -> None:
    """The first three are of the package and the module that Python runs: there is nothing yet that could be quiet."""
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTING, encoding="utf-8")
    result = process(*TABLE, PYTHONPATH=f"{tmp_path}:{ROOT}", AT_IMPORT=str(number))
    assert (result.code, result.err.strip()) == (130, "")


def test_an_interrupt_is_not_lost_where_python_swallows_exceptions(tmp_path: Path) -> None:
    """As in a finalizer, or in what the import system calls when a lock is gone."""
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTING, encoding="utf-8")
    result = process(*TABLE, PYTHONPATH=f"{tmp_path}:{ROOT}", AT_IMPORT="6", IN_FINALIZER="1")
    assert (result.code, result.err.strip()) == (130, "")


def test_an_ignored_interrupt_stays_ignored() -> None:
    """As of a command that a shell runs in the background."""
    ignoring = f"import os, signal; signal.signal(signal.SIGINT, signal.SIG_IGN); os.execv({sys.executable!r}, "
    ignoring += f"[{sys.executable!r}, '-c', {IGNORED!r}])"
    done = subprocess.run([sys.executable, "-c", ignoring], capture_output=True, cwd=ROOT, env=environment())
    assert (done.returncode, done.stderr) == (0, b"")


IGNORED = """
import os, signal, sys
from dispatch_cli.__main__ import run
sys.argv[1:] = ["--version"]
sys.meta_path.insert(0, type("Finder", (), {"find_spec": lambda *_: os.kill(os.getpid(), signal.SIGINT)}))
run()
"""


def test_the_installed_command_is_quiet_as_well(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTING, encoding="utf-8")
    script = "import sys; from dispatch_cli.__main__ import run; sys.exit(run())"
    done = subprocess.run(
        [sys.executable, "-c", script, "--version"],
        capture_output=True,
        check=False,
        cwd=ROOT,
        env=environment(PYTHONPATH=f"{tmp_path}:{ROOT}", AT_IMPORT="3"),
    )
    assert (done.returncode, done.stderr.strip()) == (130, b"")
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'dispatch-cli = "dispatch_cli.__main__:run"' in project


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


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
@pytest.mark.parametrize("before", [None, "as it was"])
def test_a_signal_while_a_file_is_written_leaves_nothing(name: str, before: str | None, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    if before is not None:
        target.write_text(before, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", STOPPED, name, *TABLE, "--format", "json", "-o", str(target)],
        capture_output=True,
        check=False,
        cwd=ROOT,
        env=environment(),
    )
    assert (done.returncode, done.stdout, done.stderr.strip()) == (128 + getattr(signal, name), b"", b"")
    assert [path.name for path in tmp_path.iterdir()] == ([] if before is None else ["out.json"])
    assert before is None or target.read_text(encoding="utf-8") == before


# Files that must not be replaced, and files that cannot be read.


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
    for command in (("table",), ("register",), ("check-invariants",), ("guards",), ("guards", "--record")):
        yield (*command, str(main)), main
        yield (*command, str(main)), other
    yield ("explain", "a::b", "CPU", str(main)), other
    yield ("resolve", "a::b", str(main)), main
    yield ("check-invariants", str(main), "--guards", str(guards)), guards
    yield ("explain", "--from-error", str(error)), error
    yield ("keys", "--universe", str(universe)), universe


@pytest.mark.parametrize("number", range(15))
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


def test_a_summary_is_appended_to_no_input_and_no_read_only_file(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    for text in ("dispatch: 1\noperators: [{func: 'a::b(Tensor x) -> Tensor'}]\n", "dispatch: 1\nbogus: 1\n"):
        file.write_text(text, encoding="utf-8")
        for options in ((), ("-o", str(tmp_path / "out.txt"))):
            result = call("check-invariants", str(file), "--step-summary", str(file), *options)
            assert result.code == 2
            assert f"Error: cannot write {file}: it is an input of this command\n" in result.err
            assert file.read_text(encoding="utf-8") == text
    summary = tmp_path / "summary.md"
    summary.write_text("as it was", encoding="utf-8")
    summary.chmod(0o444)
    result = call("check-invariants", "examples/add.yaml", "--step-summary", str(summary))
    assert (result.code, summary.read_text(encoding="utf-8")) == (2, "as it was")
    assert "it is read-only" in result.err


@pytest.mark.parametrize("kind", ["folder", "pipe", "large", "circle"])
def test_a_project_file_that_cannot_be_read_is_said(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even root can read these."""
    project = tmp_path / "pyproject.toml"
    if kind == "folder":
        project.mkdir()
    elif kind == "pipe":
        os.mkfifo(project)
    elif kind == "large":
        project.write_bytes(b"[tool.dispatch-cli]\n" + b"#" * (64 << 20))
    else:
        project.symlink_to(project)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    example = str(ROOT / "examples" / "custom_library.yaml")
    result = call("check-invariants", example)
    assert (result.code, result.out) == (2, "")
    assert "pyproject.toml" in result.err
    assert "--config", "none" in result.err
    assert call("check-invariants", example, "--config", "none").code == 0


# Names of -o that are no files.

WRITERS = (("table", "examples/add.yaml", "--format", "json"), ("page", "examples/add.yaml"), ("schema",))


@pytest.mark.parametrize("command", WRITERS, ids=words)
def test_a_dash_is_standard_output(command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = tuple(str(ROOT / word) if word.endswith(".yaml") else word for word in command)
    monkeypatch.chdir(tmp_path)
    assert call(*command, "-o", "-") == call(*command)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("command", WRITERS, ids=words)
@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("", "it is empty"),
        (".", "cannot write .: it is a directory"),
        ("new/", "cannot write new/: it names a folder; give the name of a file"),
        ("new/.", "cannot write new/.: it names a folder; give the name of a file"),
        ("kept.txt/", "cannot write kept.txt/: it names a folder; give the name of a file"),
    ],
)
def test_what_is_no_file(
    name: str, error: str, command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name with a slash at its end is no file, though one without it may be there."""
    command = tuple(str(ROOT / word) if word.endswith(".yaml") else word for word in command)
    (tmp_path / "kept.txt").write_text("kept", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    result = call(*command, "-o", name)
    assert (result.code, result.out) == (2, "")
    assert error in result.err
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [("kept.txt", "kept")]
