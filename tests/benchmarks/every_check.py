"""Every check over a whole embedded state, whole process, as a ratio to the raw dump of every table of it.

usage: python -m tests.benchmarks.every_check [RUNS]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.benchmarks.measure import installed, report, side_by_side

BASE = "torch-2.15"


def main(runs: int) -> None:
    """Measure the installed command, for the findings as text and as SARIF."""
    with tempfile.TemporaryDirectory() as folder:
        tables = [installed(), "table", "--base", BASE, "--format", "raw", "-o", str(Path(folder, "tables"))]
        for format_ in ("text", "sarif"):
            out = str(Path(folder, format_))
            options = ["--select", "all", "--fail-on", "none", "--config", "none", "--format", format_, "-o", out]
            ours, peer = side_by_side([installed(), "check-invariants", "--base", BASE, *options], tables, runs)
            report(f"every check over {BASE}, as {format_}, against the raw dump of every table", ours, peer, runs)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
