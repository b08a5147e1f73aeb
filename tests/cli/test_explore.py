"""The command that starts the explorer: what it needs, what it says where that is missing, and what it passes on."""

from __future__ import annotations

import os
import pty
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from dispatch_cli.cli import cli
from dispatch_cli.cli.explore import source_arguments
from tests.cli.support import ROOT, environment

WITHOUT_TEXTUAL = """
import sys
sys.modules["textual"] = None
from dispatch_cli.cli import main
main(sys.argv[1:])
"""


def started(*command: str, **variables: str) -> tuple[subprocess.Popen[bytes], int]:
    """A program in a terminal, and the number by which the terminal is read."""
    control, terminal = pty.openpty()
    process = subprocess.Popen(
        command,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        cwd=ROOT,
        env={**environment(), "TERM": "xterm-256color", **variables},
        start_new_session=True,
    )
    os.close(terminal)
    return process, control


def in_terminal(*command: str, **variables: str) -> tuple[int, str]:
    """The exit code of a program in a terminal, and what it says there."""
    process, control = started(*command, **variables)
    output = b""
    while True:
        try:
            part = os.read(control, 1 << 16)
        except OSError:
            break
        if not part:
            break
        output += part
    os.close(control)
    return process.wait(), output.decode().replace("\r\n", "\n")


def test_in_a_pipe() -> None:
    command = f"{shlex.quote(sys.executable)} -m dispatch_cli explore --base torch-2.15 | cat"
    _, output = in_terminal("/bin/sh", "-c", command)
    assert "explore needs a terminal, and standard output is not one: it is a file or a pipe" in output
    assert "`dispatch-cli table`, `explain` and the other commands print their answers anywhere." in output


def test_what_explore_needs() -> None:
    code, output = in_terminal(sys.executable, "-m", "dispatch_cli", "explore", TERM="dumb")
    assert (code, "explore needs a terminal that can place text; TERM is 'dumb'" in output) == (2, True)
    code, output = in_terminal(sys.executable, "-c", WITHOUT_TEXTUAL, "explore")
    assert (code, "explore needs textual, which is not installed: pip install " in output) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-",), "explore cannot read declarations from standard input"),
        (("examples/broken.yaml",), "examples/broken.yaml:"),
    ],
)
def test_what_is_refused_is_said_before_the_screen_changes(arguments: tuple[str, ...], message: str) -> None:
    code, output = in_terminal(sys.executable, "-m", "dispatch_cli", "explore", *arguments)
    assert code == 2
    assert message in output
    assert "\x1b[?1049h" not in output


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
