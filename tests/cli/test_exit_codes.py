"""Exit codes, and what is said with them: 0 clean, 1 findings, 2 usage or bad input, 3 a bug."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import click
import pytest

from dispatch_cli import __version__, api
from dispatch_cli.checks.all_checks import CHECKS
from dispatch_cli.cli import cli
from tests.cli.support import COMMAND, ROOT, Result, call, environment, process


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


def refused() -> list[tuple[str, str]]:
    """Command lines of ``refused.txt`` that are refused, each with a part of the message below it."""
    lines = (Path(__file__).parent / "refused.txt").read_text(encoding="utf-8").splitlines()
    return [(line, message.strip()) for line, message in zip(lines[::2], lines[1::2], strict=True)]


def writes_json(command: str) -> bool:
    """True if a command has JSON for its answer; what ``extract`` and ``capture`` write are declarations."""
    params = getattr(cli.get_command(click.Context(cli), command), "params", ())
    formats = [param.type.choices for param in params if param.name == "format_"]
    return command not in ("extract", "capture") and formats != [] and "json" in formats[0]


@pytest.mark.parametrize(("line", "message"), refused())
def test_what_is_refused_is_said_to_people_and_to_programs(line: str, message: str) -> None:
    args = shlex.split(line)
    result = call(*args)
    assert (result.code, message in result.err) == (2, True), result.err
    if "--format" in args:
        return
    assert result.out == ""
    if writes_json(args[0]):
        answer = call(*args, "--format", "json")
        document = json.loads(answer.out)
        assert (answer.code, document["report"], document["problems"] != []) == (2, "problems", True)
        assert all(problem["message"].split("\n")[0] in answer.err for problem in document["problems"])


def test_a_refused_registration_names_both_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = "dispatch: 1\noperators:\n  - func: a::b(Tensor x) -> Tensor\n"
    (tmp_path / "1.yaml").write_text(first, encoding="utf-8")
    (tmp_path / "2.yaml").write_text(first.replace("x)", "y)"), encoding="utf-8")
    result = call("register", "1.yaml", "2.yaml")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("2.yaml:3:11: error[duplicate-definition]: Tried to register an operator (a::b(")
    assert "  note: the operator is defined here (1.yaml:3:11)\n" in result.err


def test_an_override_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, kernel in (("1.yaml", "old"), ("2.yaml", "new")):
        text = f"dispatch: 1\noperators:\n  - {{name: 'a::b', dispatch: {{CPU: {kernel}}}}}\n"
        (tmp_path / name).write_text(text, encoding="utf-8")
    result = call("register", "1.yaml", "2.yaml", "--format", "csv")
    assert result.code == 0
    assert result.err.startswith("2.yaml:3:36: warning[override]: a::b at CPU: new overrides old (1.yaml:3:36)\n")
    assert [line.split(",")[3:5] for line in result.out.splitlines()[1:]] == [["new", "active"], ["old", "overridden"]]


def test_of_very_many_overrides_some_are_shown(tmp_path: Path) -> None:
    operator = "dispatch: 1\noperators:\n  - {func: m::a() -> (), dispatch: {CPU: [" + "k," * 999 + "k]}}\n"
    (tmp_path / "a.yaml").write_text(operator, encoding="utf-8")
    result = call("register", str(tmp_path / "a.yaml"))
    assert (result.code, result.err.count("warning[override]")) == (0, 4)
    assert "996 registrations more override another" in result.err


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


def test_an_answer_about_one_operator_warns_of_its_overrides_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    define = "".join(f'  m.def("{name}(Tensor x) -> Tensor");\n' for name in ("f", "g", "h", "h"))
    library = f"TORCH_LIBRARY(my, m) {{\n{define}}}\n"
    old, new = (
        f'TORCH_LIBRARY_IMPL(my, CPU, m) {{ m.impl("f", &f_{age}); m.impl("g", &g_{age}); }}\n'
        for age in ("old", "new")
    )
    (tmp_path / "a.cpp").write_text(library + old, encoding="utf-8")
    (tmp_path / "b.cpp").write_text(new, encoding="utf-8")
    for command in (("resolve", "my::f", "--tensor", "cpu"), ("table", "--op", "my::f"), ("register", "--op", "my::f")):
        result = call(*command, "a.cpp", "b.cpp")
        assert result.err.count("warning[override]: my::f at CPU: ") == 1
        assert "my::g" not in result.err and "PyTorch refuses" not in result.err
    for command in (("explain", "my::f", "CPU"), ("support",), ("coverage", "CPU")):
        assert "warning[override]" not in call(*command, "a.cpp", "b.cpp").err
    everything = call("register", "a.cpp", "b.cpp").err
    assert everything.count("warning[override]") == 2
    assert "PyTorch refuses 1 registration" in everything


def test_a_large_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    """Its size does not matter: the field that it lacks is looked for line by line."""
    file = tmp_path / "notes.txt"
    file.write_text("\n" * 500_000)
    result = call("register", str(file))
    assert (result.code, "error[not-declarations]" in result.err) == (2, True)
    file.write_text('{"operators": [], "dispatch": 1}')
    assert call("register", str(file)).code == 0


def test_an_error_text_that_is_too_large_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("x\n" * (9 << 19))
    result = call("explain", "--from-error", str(tmp_path / "log.txt"))
    assert (result.code, "larger than 8 MiB" in result.err) == (2, True)
