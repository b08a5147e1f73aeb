"""The modules of ``modules/``: what live PyTorch registers when it imports them, and what we read in them.

``python -m tests.extract.python.dumps PYTHON`` writes what the PyTorch of that Python registers to ``recorded.json``.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from dispatch_cli.api import document_of_sources, load_state
from dispatch_cli.engine.dispatcher.dump import dump_registrations
from dispatch_cli.model.names import OperatorName

HERE = Path(__file__).parent
MODULES = HERE / "modules"
RECORDED = HERE / "recorded.json"
UNIVERSE = "torch-2.15"
_KEY = "PrivateUse3"
_LINE = re.compile(r"((?!name|schema|debug)[\w\[\]]+(?: \(inactive\))?: ).* :: (.*)")

Dumps = dict[str, list[str]]
"""Operator → the lines of its dump, without debug texts; of PyTorch's own operators, those of one key."""


def live(python: str) -> Dumps:
    """What live PyTorch registers."""
    names = [f"modules.{path.stem}" for path in sorted(MODULES.glob("*.py")) if path.stem != "__init__"]
    script = [python, "-B", str(HERE / "live_script.py"), str(HERE), *names]
    done = subprocess.run(script, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    dumps = {name: _lines(name, dump) for name, dump in json.loads(done.stdout).items()}
    return {name: lines for name, lines in dumps.items() if lines}


def recorded() -> Dumps:
    """What it registered when it was recorded."""
    found: Dumps = json.loads(RECORDED.read_text(encoding="utf-8"))
    return found


def ours(names: list[str]) -> Dumps:
    """What we read in the modules: the dumps of these operators and of those of the modules' own namespaces."""
    dispatcher = load_state([document_of_sources([str(MODULES)])], universe=UNIVERSE).dispatcher
    own = [str(name) for name in dispatcher.names() if str(name).startswith("pyx_")]
    found: Dumps = {}
    for name in dict.fromkeys([*names, *own]):
        base, _, overload = name.partition(".")
        found[name] = _lines(name, dump_registrations(dispatcher, OperatorName(base, overload)))
    return found


def _lines(name: str, dump: str) -> list[str]:
    lines = []
    for line in dump.splitlines():
        if not line.startswith("debug: "):
            found = _LINE.fullmatch(line)
            lines.append(found[1] + found[2] if found else line)
    return lines if name.startswith("pyx_") else [line for line in lines if _KEY in line]


if __name__ == "__main__":
    RECORDED.write_text(json.dumps(live(sys.argv[1]), indent=1, sort_keys=True) + "\n", encoding="utf-8")
