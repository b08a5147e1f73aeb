"""Ways to run the command line: in this process, as a process of its own, in a terminal."""

from __future__ import annotations

import fcntl
import gc
import io
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from jsonschema_rs import Draft202012Validator

from dispatch_cli.cli import main
from dispatch_cli.cli.report_schemas import report_schema, report_types
from tests.cli.forked import server

ROOT = Path(__file__).parents[2]
COLOR_VARIABLES = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "PYTHONIOENCODING")
_FITS = 1 << 15
"""Bytes that a pipe takes before anybody reads them."""
COMMAND = (sys.executable, "-m", "dispatch_cli")


@dataclass(frozen=True)
class Result:
    """Result of a run: exit code, standard output, standard error."""

    code: int
    out: str
    err: str


def call(*args: str, stdin: bytes = b"") -> Result:
    """Run in this process, away from any terminal."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    source = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    code: object = None
    with redirect_stdout(out), redirect_stderr(err), patch.object(sys, "stdin", source):
        try:
            main(list(args))
        except SystemExit as stop:
            code = stop.code
        finally:
            gc.enable()  # `main` leaves garbage alone, in a process that ends
    assert isinstance(code, int)
    texts = []
    for stream in (out, err):
        stream.flush()
        buffer = stream.buffer
        assert isinstance(buffer, io.BytesIO)
        texts.append(buffer.getvalue().decode())
    if texts[0].startswith('{\n  "schema_version"'):
        assert_valid(json.loads(texts[0]))
    return Result(code, texts[0], texts[1])


def assert_valid(document: dict[str, Any]) -> None:
    """A JSON answer is as the JSON Schema of its report says; a baseline, which is a file of ours, has none."""
    if document["report"] != "baseline":
        errors = _validator(document["report"]).iter_errors(document)
        assert not [f"{error.instance_path}: {error.message[:1000]}" for error in errors]


@cache
def _validator(report: str) -> Draft202012Validator:
    """That of a report's schema."""
    return Draft202012Validator(report_schema(report_types()[report]))


def environment(**variables: str) -> dict[str, str]:
    """This process's environment, without what says something about colour, and with *variables*."""
    kept = {name: value for name, value in os.environ.items() if name not in COLOR_VARIABLES}
    return {**kept, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT), **variables}


def process(*args: str, stdin: bytes = b"", **variables: str) -> Result:
    """Run as a process of its own, its three streams pipes."""
    if _are_pythons(variables) or len(stdin) > _FITS:
        done = subprocess.run(
            [*COMMAND, *args], input=stdin, capture_output=True, check=False, cwd=ROOT, env=environment(**variables)
        )
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())
    source, into = os.pipe()
    os.write(into, stdin)
    os.close(into)
    out, its_out = os.pipe()
    return _forked(args, variables, source, out, its_out)


def in_terminal(columns: int, *args: str, **variables: str) -> Result:
    """Run with standard input and output a terminal of 24 lines, so many columns wide; standard error is a pipe."""
    assert not _are_pythons(variables)
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    result = _forked(args, variables, slave, master, slave)
    return Result(result.code, result.out.replace("\r\n", "\n"), result.err)


def _are_pythons(variables: dict[str, str]) -> bool:
    """True if Python reads some of these variables at its start, but for the one that forks read."""
    return any(name.startswith("PYTHON") and name != "PYTHONIOENCODING" for name in variables)


def _forked(args: tuple[str, ...], variables: dict[str, str], source: int, out: int, its_out: int) -> Result:
    """Run in a fork. source, its_out: its standard input and output; out: where the output can be read."""
    err, its_err = os.pipe()
    server().start(([*args], environment(**variables)), (source, its_out, its_err))
    for number in {source, its_out, its_err}:
        os.close(number)
    with ThreadPoolExecutor(1) as other:
        errors = other.submit(_read_all, err)
        shown = _read_all(out)
    code = server().exit_code()  # read in any case: the next run has another one
    return Result(code, shown.decode(), errors.result().decode())


def _read_all(master: int) -> bytes:
    pieces = []
    while True:
        try:
            piece = os.read(master, 1 << 16)
        except OSError:  # Linux reports the end of a terminal as an error
            piece = b""
        if not piece:
            os.close(master)
            return b"".join(pieces)
        pieces.append(piece)
