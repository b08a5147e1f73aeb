"""Make a universe file from a capture of a live PyTorch.

usage: python -m dispatch_cli.universes.build CAPTURE.json[.gz] OUT.json

CAPTURE is what ``dispatch-cli capture`` writes. Its universe was asked of the running PyTorch, so nothing is worked out
here: it is checked, and written so that a change of version reads well in a diff.

``python -m dispatch_cli.bases.regenerate`` captures a build and makes its embedded universe and state.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dispatch_cli import universes

_GZIP_MAGIC = b"\x1f\x8b"


def universe_of(capture: Path) -> Mapping[str, Any]:
    """The universe of a captured file, as it is written there. Errors: UniverseError when it is none."""
    content = capture.read_bytes()
    if content.startswith(_GZIP_MAGIC):
        content = gzip.decompress(content)
    data: Mapping[str, Any] = json.loads(content)["universe"]
    universes.from_data(data)
    return data


def render(data: Mapping[str, Any]) -> str:
    """The file's text: one field a line, so that a change of version reads well in a diff."""
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


def main(capture: str, out: str) -> None:
    """Read the capture and write the universe file."""
    Path(out).write_text(render(universe_of(Path(capture))), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python -m dispatch_cli.universes.build CAPTURE.json[.gz] OUT.json")
    main(*sys.argv[1:])
