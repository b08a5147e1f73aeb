"""A page's own script, run by node without a document."""

from __future__ import annotations

import json
import select
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

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
