"""How long ``dispatch-cli --version`` takes, as a ratio to importing click alone.

usage: python -m tests.benchmarks.startup [RUNS]
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from tests.benchmarks.measure import report, side_by_side


def main(runs: int) -> None:
    """Measure the installed command."""
    beside = Path(sys.executable).with_name("dispatch-cli")
    command = str(beside) if beside.exists() else shutil.which("dispatch-cli")
    if command is None:
        sys.exit("dispatch-cli is not installed")
    ours, peer = side_by_side([command, "--version"], [sys.executable, "-c", "import click"], runs)
    report("dispatch-cli --version against python -c 'import click'", ours, peer, runs)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 21)
