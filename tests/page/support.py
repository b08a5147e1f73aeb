"""Pages for several tests, each written once in a run; their states; and their own script, run by node."""

from __future__ import annotations

import hashlib
import json
import select
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import click
import pytest

from dispatch_cli.cli.options import SourceOptions, load_state
from dispatch_cli.cli.page import command
from dispatch_cli.cli.source_reading import ReadingOptions
from dispatch_cli.engine.state import State
from tests.cli.support import ROOT, call
from tests.once import once


def state_of(arguments: Sequence[str]) -> State:
    """The state that ``page`` makes a page of."""
    with click.Context(command) as context:
        command.parse_args(context, [*arguments])
        params = context.params
        reading = ReadingOptions(**{name: params[f"source_{name}"] for name in ReadingOptions._fields})
        source = SourceOptions(
            *(params["files"], params["keys"], params["universe"], params["bases"]),
            *(params["allow_outside"], params["privateuse1"]),
            reading=reading,
            when=params["when"],
        )
        return load_state(source)


def page_of(*arguments: str) -> Path:
    """The page that ``dispatch-cli page`` writes, for all tests with equal arguments; files are named from the project.

    The files that are named must not change.
    """

    def make(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(ROOT)
            result = call("page", *arguments, "-o", str(folder / "page.html"))
        assert result.code == 0, result.err

    digest = hashlib.sha256("\0".join(arguments).encode("utf-8", "surrogateescape")).hexdigest()
    return once(f"page-{digest[:32]}", make) / "page.html"


NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed: the script of the page is not run")
LIMIT = 60
"""Seconds until a script is stuck; most answers take a thousandth of one."""
_SCRIPT = Path(__file__).with_name("answers.cjs")


class Script:
    """The script of one page that runs."""

    def __init__(self, questions: IO[str], answers: IO[str]) -> None:
        self._questions = questions
        self._answers = answers

    def ask(self, what: str, *arguments: object) -> Any:
        """Answer of a method of the page, or value of a property."""
        self._questions.write(f"{json.dumps([what, *arguments])}\n")
        self._questions.flush()
        # an answer is one line, so that nothing of it is in the buffer already
        assert select.select([self._answers], [], [], LIMIT)[0], f"no answer within {LIMIT} seconds"
        return json.loads(self._answers.readline())


@contextmanager
def script_of(page: Path) -> Iterator[Script]:
    """The script of a page, decoded by it."""
    assert NODE is not None, "the test is marked by needs_node"
    command = [NODE, str(_SCRIPT), str(page)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8") as run:
        assert run.stdin is not None and run.stdout is not None, "both are pipes"
        try:
            yield Script(run.stdin, run.stdout)
        except BaseException:
            run.kill()
            raise
        run.stdin.close()
        assert run.wait() == 0, "node failed"
