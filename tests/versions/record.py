"""Record a few random calls and histories of a live PyTorch.

usage: python -m tests.versions.record PYTHON OUT.json.xz [SEED]   (PYTHON is one that has PyTorch)
"""

from __future__ import annotations

import json
import lzma
import sys
import tempfile
from pathlib import Path

from tests.versions.judge import Size, record

SIZE = Size(calls=200, histories=40)


def main(python: str, out: str, seed: str = "14") -> None:
    """Record, and write the file."""
    with tempfile.TemporaryDirectory() as directory:
        recording = record(python, SIZE._replace(seed=int(seed)), Path(directory))
    with lzma.open(out, "wt", preset=9) as file:
        json.dump(recording, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
