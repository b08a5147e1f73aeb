"""The command that starts the explorer: what it needs, what it says where that is missing, and what it passes on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest

from dispatch_cli.cli import cli
from dispatch_cli.cli.explore import source_arguments
from tests.cli.support import ROOT, call, environment, in_terminal, process

WITHOUT_TEXTUAL = "import sys; sys.modules['textual'] = None"
AS_IN_A_TERMINAL = """
import sys
from dispatch_cli.cli import explore, main
explore._refuse_without_terminal = lambda _: None
main(["explore", *sys.argv[1:]])
"""


def started(*arguments: str, before: str = "") -> tuple[int, str]:
    """The exit code of the command where it need not look for a terminal, and all that it says."""
    command = [sys.executable, "-c", before + AS_IN_A_TERMINAL, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment())
    return done.returncode, done.stdout + done.stderr


def test_without_a_terminal() -> None:
    refused = process("explore", "--base", "torch-2.15")
    assert "explore needs a terminal, and standard input is not one: it is a file or a pipe" in refused.err
    assert "`dispatch-cli table`, `explain` and the other commands print their answers anywhere." in refused.err
    assert "and standard error is not one: it is a file or a pipe" in in_terminal(80, "explore").err


def test_what_explore_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    code, output = started(before=WITHOUT_TEXTUAL)
    assert (code, "explore needs textual, which is not installed: pip install " in output) == (2, True)
    monkeypatch.setenv("TERM", "dumb")
    refused = call("explore")
    assert (refused.code, "explore needs a terminal that can place text; TERM is 'dumb'" in refused.err) == (2, True)


def test_what_is_refused_is_said_before_the_screen_changes() -> None:
    code, output = started("examples/broken.yaml")
    assert (code, "examples/broken.yaml:" in output, "\x1b[?1049h" in output) == (2, True, False)


@pytest.mark.parametrize(
    "arguments",
    [
        ["a.yaml", "b.yaml", "--base", "torch-2.15", "--base", "torch-2.15-mps"],
        ["a.yaml", "--privateuse1", "npu", "--allow-outside", "--when", "CUDA_VERSION=12040", "-D", "A=1", "-I", "inc"],
        ["--universe", "torch-2.14"],
    ],
)
def test_the_source_is_passed_on_as_it_was_given(arguments: list[str], tmp_path: Path) -> None:
    command = cli.get_command(click.Context(cli), "explore")
    assert command is not None
    (tmp_path / "inc").mkdir()
    with command.make_context("explore", [*arguments]):
        assert sorted(source_arguments()) == sorted(arguments)
