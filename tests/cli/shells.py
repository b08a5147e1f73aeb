"""Completion as a person sees it: a line is typed into a shell in a terminal, then Tab."""

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
from pathlib import Path

from tests.cli.support import ROOT, environment

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
    """Whether the shell is there."""
    return shutil.which(name) is not None
