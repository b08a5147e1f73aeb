"""Ask a live PyTorch for the cells of operators."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

LIVE = Path(__file__).with_name("live.py")


def version_of(python: str) -> tuple[int, ...]:
    """The version of its PyTorch."""
    command = [python, "-c", "import importlib.metadata as m; print(m.version('torch'))"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return tuple(int(number) for number in text.strip().partition("+")[0].split("."))


def base_of(version: tuple[int, ...]) -> str:
    """The embedded state of a version."""
    return f"torch-{version[0]}.{version[1]}"


def answers_of(python: str, asked: Any) -> list[Any]:
    """What `live.py` says of operators, or `own.py` of PyTorch's own, of which *asked* says how many and which."""
    script = LIVE if isinstance(asked, list) else LIVE.with_name("own.py")
    done = subprocess.run([python, str(script)], input=json.dumps(asked), check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]
