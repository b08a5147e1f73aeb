"""Loading a YAML file of every recorded operator, with validation and places, as a ratio to PyYAML's C parser alone.

usage: python -m tests.benchmarks.load_yaml [RUNS] [FILE.yaml]

Without a file, every operator of the recording of PyTorch 2.15.0 is written to one first. Whole processes are measured.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.benchmarks.measure import report, side_by_side

OURS = "import sys; from dispatch_cli import load; load([sys.argv[1]])"
PEER = "import sys, yaml; yaml.load(open(sys.argv[1], encoding='utf-8').read(), yaml.CSafeLoader)"


def main(runs: int, path: str | None) -> None:
    """Write the file where none is given, and measure."""
    with tempfile.TemporaryDirectory() as folder:
        if path is None:
            from tests.benchmarks.large import declarations

            path = str(Path(folder, "large.yaml"))
            Path(path).write_text(declarations(), encoding="utf-8")
        ours, peer = side_by_side([sys.executable, "-c", OURS, path], [sys.executable, "-c", PEER, path], runs)
        size = Path(path).stat().st_size / 1e6
    report(f"loading {size:.1f} MB of YAML against yaml.load with CSafeLoader", ours, peer, runs)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5, sys.argv[2] if len(sys.argv) > 2 else None)
