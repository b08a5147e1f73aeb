"""One operator's table from an embedded state, whole process, as a ratio to importing click and rich alone.

usage: python -m tests.benchmarks.one_operator [RUNS]
"""

from __future__ import annotations

import sys

from tests.benchmarks.measure import installed, report, side_by_side

OURS = ["table", "--base", "torch-2.15", "--op", "aten::add.Tensor"]
PEER = ["-c", "import click, rich.console, rich.table"]


def main(runs: int) -> None:
    """Measure the installed command."""
    ours, peer = side_by_side([installed(), *OURS], [sys.executable, *PEER], runs)
    report("one operator of 3,624 from an embedded state against importing click and rich", ours, peer, runs)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
