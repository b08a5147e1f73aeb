"""Make the embedded universe and state of a PyTorch version.

usage: python -m dispatch_cli.bases.regenerate PYTHON...

Each PYTHON has a PyTorch build with NumPy; its version decides which files are written: universes/torch-X.Y.json and
bases/torch-X.Y.state of this package. The capture is made before a first ``vmap``. The same build gives the same bytes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dispatch_cli import universes
from dispatch_cli.bases import SUFFIX
from dispatch_cli.bases.build import build
from dispatch_cli.capture.run import run_probe
from dispatch_cli.capture.write import head
from dispatch_cli.model.problem import InputError

PACKAGE = Path(__file__).resolve().parent.parent


def universe_text(data: Mapping[str, Any]) -> str:
    """The text of a universe file: one field a line, so that a change of version reads well in a diff."""
    lines = []
    for field, value in data.items():
        if isinstance(value, dict) and value and not all(isinstance(item, int | str) for item in value.values()):
            inner = ",\n".join(f"  {json.dumps(key)}: {json.dumps(item)}" for key, item in value.items())
            lines.append(f"{json.dumps(field)}: {{\n{inner}\n}}")
        elif field == "fallbacks":
            inner = ",\n".join(f"  {json.dumps(item)}" for item in value)
            lines.append(f"{json.dumps(field)}: [\n{inner}\n]")
        else:
            lines.append(f"{json.dumps(field)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def regenerate(captured: dict[str, Any], package: Path = PACKAGE) -> list[Path]:
    """Write the universe and the state that a probe found; the files that changed.

    captured: what `dispatch_cli.capture.probe` writes. package: the directory with ``universes`` and ``bases``.
    """
    name = captured["universe"]["name"]
    universes.from_data(captured["universe"])
    contents = {
        package / "universes" / f"{name}.json": universe_text(captured["universe"]).encode(),
        package / "bases" / f"{name}{SUFFIX}": build(captured),
    }
    changed = [file for file, content in contents.items() if not file.exists() or file.read_bytes() != content]
    for file in changed:
        file.write_bytes(contents[file])
    return changed


def main(pythons: list[str]) -> None:
    """Regenerate the versions that these Pythons have, one after the other."""
    for python in pythons:
        try:
            captured = run_probe(python, vmap=False)
        except InputError as error:
            sys.exit("\n".join(problem.message for problem in error.problems))
        changed = regenerate(captured)
        print("\n".join(head(captured)))
        for note in captured["notes"]:
            print(f"note: {note}")
        print("\n".join(f"written: {file}" for file in changed) or "nothing has changed")


if __name__ == "__main__":
    main(sys.argv[1:])
