"""Exit codes, and what is said with them: 0 clean, 1 findings, 2 usage or bad input, 3 a bug."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from dispatch_cli import __version__, api
from dispatch_cli.checks import CHECKS
from dispatch_cli.cli import cli
from tests.cli.support import COMMAND, ROOT, Result, call, environment, process

USAGE = "Usage: dispatch-cli {0} [OPTIONS] [FILE]...\nTry 'dispatch-cli {0} --help' for help.\n\nError: {1}\n"


def refused_by_usage(command: str, message: str) -> Result:
    return Result(2, "", USAGE.format(command, message))


def test_clean_and_findings() -> None:
    checks = sum(check.default for check in CHECKS)
    clean = call("check-invariants", "examples/custom_library.yaml")
    assert clean == Result(0, f"All checks passed: 3 operators, {checks} checks (torch-2.15)\n", "")
    result = call("check-invariants", "examples/stale.yaml", "--select", "stale-live-table")
    assert (result.code, result.err) == (1, "")
    assert result.out.endswith(
        "34 errors, 1 info (--severity info shows it) in 2 operators; checked: 3 operators, 1 check (torch-2.15)\n"
    )
    assert call("table", "examples/stale.yaml").code == 0


def test_what_if_and_files_exclude_each_other() -> None:
    message = "-k cannot be combined with files or --base."
    assert call("table", "-k", "CPU", "examples/stale.yaml") == refused_by_usage("table", message)


def test_unknown_command() -> None:
    def shown(message: str) -> Result:
        usage = "Usage: dispatch-cli [OPTIONS] COMMAND [ARGS]...\nTry 'dispatch-cli --help' for help.\n\n"
        return Result(2, "", f"{usage}Error: {message}\n")

    assert call("tabel") == shown("No such command 'tabel'. Did you mean 'table'?")
    assert call("zzz") == shown("No such command 'zzz'.")
    for word in ("check", "invariants", "lint"):
        assert call(word) == shown(f"No such command '{word}'. Did you mean 'check-invariants'?")


def test_unknown_operator() -> None:
    def shown(glob: str, hint: str) -> Result:
        message = f"Invalid value for '--op': no operator matches '{glob}'.{hint}"
        return refused_by_usage("table", message)

    similar = " Did you mean stale::fine?"
    assert call("table", "examples/stale.yaml", "--op", "stale::fin") == shown("stale::fin", similar)
    assert call("table", "examples/stale.yaml", "--op", "zzz") == shown("zzz", "")
    assert call("table", "examples/stale.yaml", "--op", "stale::fine", "--op", "zzz") == shown("zzz", "")


def test_unknown_key_of_a_what_if() -> None:
    assert call("table", "-k", "CPPU", "-k", "CPU", "-k", "CPU") == Result(
        2,
        "",
        "error[unknown-dispatch-key]: could not parse dispatch key: CPPU\n"
        "  help: did you mean CPU?\n\n"
        "error[duplicate-key]: Overridden is not allowed but found duplicates in ['CPPU', 'CPU', 'CPU'].\n"
        "  help: give each key once\n\n"
        "2 errors; nothing was done.\n",
    )


def test_composite_kernels_of_a_what_if() -> None:
    result = call("register", "-k", "CompositeExplicitAutograd", "-k", "CompositeImplicitAutograd")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(
        "error[composite-conflict]: Registration to both CompositeImplicitAutograd and CompositeExplicitAutograd "
        "is not allowed.\n"
    )


def test_a_dump_is_no_grid() -> None:
    message = "--view grid does not work with --format raw, which is PyTorch's dump."
    result = call("table", "examples/stale.yaml", "--view", "grid", "--format", "raw")
    assert result == refused_by_usage("table", message)


@pytest.mark.parametrize("format_", ["json", "csv"])
def test_data_have_every_slot_whatever_the_view(format_: str) -> None:
    rows = call("table", "examples/stale.yaml", "--format", format_)
    assert call("table", "examples/stale.yaml", "--view", "grid", "--format", format_) == rows
    assert rows.code == 0


def test_a_dump_is_whole() -> None:
    message = "--format raw is PyTorch's whole dump, which --key cannot filter."
    assert call("table", "-k", "CPU", "--key", "CPU", "--format", "raw") == refused_by_usage("table", message)


def test_a_refused_registration_names_both_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = "dispatch: 1\noperators:\n  - func: a::b(Tensor x) -> Tensor\n"
    (tmp_path / "1.yaml").write_text(first, encoding="utf-8")
    (tmp_path / "2.yaml").write_text(first.replace("x)", "y)"), encoding="utf-8")
    assert call("register", "1.yaml", "2.yaml") == Result(
        2,
        "",
        "2.yaml:3:11: error[duplicate-definition]: Tried to register an operator (a::b(Tensor y) -> Tensor) with the "
        "same name and overload name multiple times. Each overload's schema should only be registered with a single "
        "call to def(). Duplicate registration: registered at 2.yaml:3. Original registration: registered at "
        "1.yaml:3\n"
        "  3 |   - func: a::b(Tensor y) -> Tensor\n"
        "    |           ^\n"
        "  note: the operator is defined here (1.yaml:3:11)\n"
        "  3 |   - func: a::b(Tensor x) -> Tensor\n"
        "    |           ^\n\n"
        "1 error; nothing was done.\n",
    )


def test_an_override_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, kernel in (("1.yaml", "old"), ("2.yaml", "new")):
        text = f"dispatch: 1\noperators:\n  - {{name: 'a::b', dispatch: {{CPU: {kernel}}}}}\n"
        (tmp_path / name).write_text(text, encoding="utf-8")
    result = call("register", "1.yaml", "2.yaml", "--format", "csv")
    assert result.code == 0
    assert result.err == (
        "2.yaml:3:36: warning[override]: a::b: Overriding a previously registered kernel for the same operator and the "
        "same dispatch key CPU; previous kernel: old; new kernel: new\n"
        "  3 |   - {name: 'a::b', dispatch: {CPU: new}}\n"
        "    |                                    ^\n"
        "  note: the previous kernel is registered here (1.yaml:3:36)\n"
        "  3 |   - {name: 'a::b', dispatch: {CPU: old}}\n"
        "    |                                    ^\n"
    )
    assert [line.split(",")[3:5] for line in result.out.splitlines()[1:]] == [["new", "active"], ["old", "overridden"]]


def test_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("first line\nsecond line \x1b[31m")

    monkeypatch.setattr(api, "load_state", fail)
    assert call("table", "examples/stale.yaml") == Result(
        3,
        "",
        "internal error: KeyError: \"'first line\\\\nsecond line \\\\x1b[31m'\"\n"
        "This is a bug in dispatch-cli. Run it again with `dispatch-cli --traceback COMMAND` and report it.\n",
    )
    result = call("--traceback", "table", "examples/stale.yaml")
    assert (result.code, result.out) == (3, "")
    assert result.err.startswith("Traceback (most recent call last):\n")
    assert "in fail" in result.err


def test_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "load_state", interrupt)
    result = call("table", "examples/stale.yaml")
    assert (result.code, result.out, result.err.strip()) == (130, "", "")


def test_version_and_the_ways_to_call() -> None:
    for way in (call("--version"), process("--version")):
        assert way == Result(0, f"dispatch-cli {__version__}\n", "")
    runner = CliRunner()
    result = runner.invoke(cli, ["--version"])
    assert (result.exit_code, result.output) == (0, f"dispatch-cli {__version__}\n")


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("table", "--base", "torch-2.15", "--view", "rows", "--format", "csv"), 0),
        (("check-invariants", "examples/stale.yaml"), 1),
        (("schema",), 0),
    ],
)
def test_a_closed_pipe_ends_quietly(args: tuple[str, ...], code: int) -> None:
    with subprocess.Popen(
        [*COMMAND, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, env=environment()
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert (running.stderr.read(), running.wait()) == (b"", code)


def test_a_full_disk() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, "schema"], stdout=full, stderr=subprocess.PIPE, cwd=ROOT, env=environment(), check=False
        )
    assert done.returncode == 2
    assert done.stderr.endswith(b"Error: cannot write to standard output: No space left on device\n")


def test_an_encoding_that_lacks_a_sign() -> None:
    line = ("table", "examples/custom_library.yaml", "--op", "mylib::norm2", "--view", "rows")
    result = process(*line, PYTHONIOENCODING="ascii")
    assert (result.code, result.err) == (0, "")
    whole = call(*line).out
    assert result.out == whole.replace("…", "\\u2026")
    assert whole != result.out


@pytest.mark.parametrize("command", ["register", "table", "check-invariants"])
def test_nothing_to_load(command: str) -> None:
    message = (
        "Nothing to load: give a declaration FILE ('-' for standard input), --base NAME, -k KEY, or --op GLOB for "
        "PyTorch's own operators."
    )
    assert call(command) == refused_by_usage(command, message)


def test_unknown_runtime_key() -> None:
    result = call("table", "examples/stale.yaml", "--key", "AutogradCUDAA")
    similar = "Did you mean AutogradCUDA or AutocastCUDA?"
    message = f"Invalid value for '--key': no runtime key matches 'AutogradCUDAA'. {similar}"
    assert result == refused_by_usage("table", message)


def test_an_override_that_pytorch_misnames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Live PyTorch 2.13 prints "no debug info" of Python kernels."""
    monkeypatch.chdir(tmp_path)
    for name in ("1.yaml", "2.yaml"):
        text = "dispatch: 1\noperators: [{name: 'a::b', dispatch: {CPU: {kernel: k, python: true}}}]\n"
        (tmp_path / name).write_text(text.replace("k,", f"k{name[0]},"), encoding="utf-8")
    result = call("register", "1.yaml", "2.yaml", "--format", "csv")
    assert result.err.splitlines()[0].endswith(
        'previous kernel: k1; new kernel: k2; PyTorch\'s own warning says "previous kernel: no debug info"'
    )
