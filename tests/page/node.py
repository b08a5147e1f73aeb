"""A page's own script, run by node without a document."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed: the page's script is not run")
_SCRIPT = Path(__file__).with_name("answers.cjs")


def answers(page: Path, questions: Iterable[tuple[str, ...]]) -> Iterator[Any]:
    """What the page's script answers to each question: a method or property of its page, and arguments."""
    assert NODE is not None, "the test is marked by needs_node"
    command = [NODE, str(_SCRIPT), str(page)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8") as run:
        assert run.stdin is not None and run.stdout is not None, "both are pipes"
        stdin = run.stdin

        def ask() -> None:
            for one in questions:
                stdin.write(f"{json.dumps(one)}\n")
            stdin.close()

        asking = Thread(target=ask)
        asking.start()
        for line in run.stdout:
            yield json.loads(line)
        asking.join()
    assert run.returncode == 0, "node failed"
