"""Shell completion: what is offered, and what bash, zsh and fish make of it in a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from dispatch_cli import bases
from dispatch_cli.cli import cli
from dispatch_cli.cli.completion import operator_segments
from dispatch_cli.cli.shells import Line, read_line
from tests.cli.support import ROOT, environment, process

SHELLS = {
    "bash": ("bash", "--norc", "--noprofile", "-i"),
    "zsh": ("zsh", "-f", "-i"),
    "fish": ("fish", "--no-config", "-i"),
}
_SETUP = {
    "bash": 'PS1="> "; bind "set bell-style none"; eval "$(_DISPATCH_CLI_COMPLETE=bash_source dispatch-cli)"',
    "zsh": 'PS1="> "; autoload -Uz compinit; compinit -D -u; unsetopt beep; '
    'eval "$(_DISPATCH_CLI_COMPLETE=zsh_source dispatch-cli)"',
    "fish": "function fish_prompt; echo '> '; end; function fish_greeting; end; "
    "_DISPATCH_CLI_COMPLETE=fish_source dispatch-cli | source",
}
PATIENCE = 30.0
"""Seconds after which a shell counts as hanging."""


class Shell:
    """An interactive shell in a terminal, with completion of dispatch-cli set up."""

    def __init__(self, name: str, folder: Path) -> None:
        program = folder / "dispatch-cli"
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m dispatch_cli "$@"\n', encoding="utf-8")
        program.chmod(0o755)
        path = f"{folder}:{os.environ['PATH']}"
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        self._process = subprocess.Popen(
            SHELLS[name],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=ROOT,
            env=environment(PATH=path, HOME=str(folder), TERM="dumb" if name == "bash" else "xterm"),
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
        os.close(slave)
        self._type(_SETUP[name] + "\r")
        self._type("printf '%s%s\\n' re ady\r")
        self._read_until("ready\r?\n")

    def completed(self, line: str, tail: str = "") -> list[str]:
        """The words of *line* after Tab, with *tail* typed after it. The shell itself splits the line into words."""
        # a shell reads what is typed after Tab when it has completed
        self._type(f"{line}\t{tail}\x05+END+\x01printf '[%s]\\n' BEGIN \r")
        text = self._read_until(r"\n\[[^]\n]*\+END\+\]")
        words = re.findall(r"^\[([^]\n]*)\]", text.replace("\r", "").rpartition("[BEGIN]")[2], re.MULTILINE)
        return [word.removesuffix("+END+") for word in words if word != "+END+"]

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    def _type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def _read(self, pause: float) -> str:
        pieces = []
        while select.select([self._master], [], [], pause)[0]:
            pieces.append(os.read(self._master, 1 << 16))
        return b"".join(pieces).decode(errors="replace")

    def _read_until(self, pattern: str) -> str:
        text, end = "", time.monotonic() + PATIENCE
        while not re.search(pattern, text):
            assert time.monotonic() < end, text
            text += self._read(0.1)
        return text


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def installed(name: str) -> bool:
    """True if the shell is installed."""
    return shutil.which(name) is not None


NAMES = bases.load("torch-2.15").names


@pytest.fixture(scope="module", params=SHELLS)
def shell(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    if not installed(request.param):
        pytest.skip(f"{request.param} is not installed")
    process = Shell(request.param, tmp_path_factory.mktemp(request.param))
    yield process
    process.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "completed", "tail"),
    [
        ("regi", ["register"], ""),
        ("explain aten::softm", ["explain", "aten::softmax."], ""),
        ("explain aten::add.Ten", ["explain", "aten::add.Tensor"], ""),
        ("resolve 'aten::add_", ["resolve", "aten::add_."], "'"),
        ("explain aten::add.Tensor autogradcu", ["explain", "aten::add.Tensor", "AutogradCUDA"], ""),
        ("table examples/custom_l", ["table", "examples/custom_library.yaml"], ""),
        ('resolve aten::mm --tensor "cuda zer', ["resolve", "aten::mm", "--tensor", "cuda zerotensor"], ""),
        ("resolve aten::mm --context mode=Fak", ["resolve", "aten::mm", "--context", "mode=FakeTensorMode"], ""),
        ("table --base=torch-2.15-", ["table", "--base=torch-2.15-mps"], ""),
        ("keys 'CPU | AutogradHP", ["keys", "CPU | AutogradHPU"], ""),
        ("checks sparse-b", ["checks", "sparse-bypass"], ""),
    ],
)
def test_in_a_shell(shell: Shell, line: str, completed: list[str], tail: str) -> None:
    assert shell.completed(f"dispatch-cli {line}", tail) == ["dispatch-cli", *completed]


def test_segments() -> None:
    assert dict(operator_segments(NAMES, "at")) == {"aten::": False}
    assert dict(operator_segments(NAMES, "aten::softm")) == {"aten::softmax.": False}
    assert dict(operator_segments(NAMES, "aten::add.")) == {
        f"aten::add.{overload}": True for overload in ("Scalar", "Scalar_out", "Tensor", "out")
    }
    assert dict(operator_segments(NAMES, "aten::mm")) == {"aten::mm": True, "aten::mm.": False}
    assert dict(operator_segments(NAMES, "nowhere::")) == {}


def offered(line: str, word: str = "") -> list[str]:
    """Completions that bash is offered: type and text."""
    result = process(
        _DISPATCH_CLI_COMPLETE="bash_complete", _DISPATCH_CLI_LINE=f"dispatch-cli {line}", _DISPATCH_CLI_WORD=word
    )
    assert (result.code, result.err) == (0, "")
    return result.out.split("\n")[:-1] if result.out.strip() else []


OFFERED = [
    ("register examples/custom_library.yaml --op mylib::n", "n", ["plain\tnorm2"]),
    ("keys SparseCsrM", "SparseCsrM", [f"plain\tSparseCsr{backend}" for backend in ("MPS", "MTIA", "MAIA", "Meta")]),
    ("keys --universe torch-2.4 Nam", "Nam", ["plain\tNamed"]),
    ("resolve aten::ones --argument la", "la", ["part\tlayout="]),
    (
        *("resolve aten::ones --argument device=m", "device=m"),
        [f"plain\tdevice={device}" for device in ("maia", "mps", "meta", "mtia")],
    ),
    (
        *("resolve aten::mm --tensor 'cuda spa", "cuda spa"),
        [f"plain\tcuda sparse{layout}" for layout in ("", "_csr", "_csc", "_bsr", "_bsc")],
    ),
    ("resolve aten::mm --context 'autocast c", "c", ["plain\tautocast cpu", "plain\tautocast cuda"]),
    ("support --context tr", "tr", ["plain\ttrain"]),
    ("support --context incl", "incl", ["part\tinclude="]),
    ("table --universe nowhere --key CP", "CP", []),  # nothing is said where completion fails
    ("table nowhere.yaml --op aten::softm", "softm", ["part\tsoftmax."]),
]


@pytest.mark.parametrize(("line", "word", "expected"), OFFERED)
def test_what_is_offered(line: str, word: str, expected: list[str]) -> None:
    assert offered(line, word) == expected


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a b", Line(["a"], "b", None)),
        ("a b ", Line(["a", "b"], "", None)),
        ("a 'b c", Line(["a"], "b c", 0)),
        ("a --b='c d", Line(["a"], "--b=c d", 4)),
        ('a "b \\" c" d\\ e', Line(["a", 'b " c'], "d e", None)),
        ("a '' ", Line(["a", ""], "", None)),
    ],
)
def test_lines_are_split_as_shells_do(text: str, line: Line) -> None:
    assert read_line(text) == line


OF_SOURCES = {f"source_{name}" for name in ("defines", "undefines", "values", "exclude", "codegen_backends")}
FREE = {"modules", "privateuse1", "report", "source_url", "theme", "when", "where", "words", *OF_SOURCES}
"""Parameters whose values are no names that dispatch-cli knows."""


def parameters() -> Iterator[Any]:
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        for param in command.params:
            yield pytest.param(param, id=f"{name} {param.name}")


@pytest.mark.parametrize("parameter", list(parameters()))
def test_every_parameter_that_takes_a_name_is_completed(parameter: click.Parameter) -> None:
    flag = isinstance(parameter, click.Option) and parameter.is_flag
    number_or_choice = not isinstance(parameter.type, click.types.StringParamType)
    complete = parameter._custom_shell_complete
    assert flag or number_or_choice or parameter.name in FREE or complete is not None
    if complete is not None:
        assert isinstance(complete(click.Context(cli), parameter, ""), list)
