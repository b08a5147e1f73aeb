"""How long ``dispatch-cli --version`` takes, as a ratio to importing click alone.

usage: python -m tests.benchmarks.startup [RUNS]
"""

from __future__ import annotations

import sys

from tests.benchmarks.measure import installed, report, side_by_side


def main(runs: int) -> None:
    """Measure the installed command."""
    ours, peer = side_by_side([installed(), "--version"], [sys.executable, "-c", "import click"], runs)
    report("dispatch-cli --version against python -c 'import click'", ours, peer, runs)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 21)
