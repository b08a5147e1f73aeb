"""Whole commands as ratios to what they stand beside: importing libraries, ``--version``, the dump of every table.

usage: python -m tests.benchmarks.commands [RUNS]
"""

from __future__ import annotations

import os
import sys

from tests.benchmarks.measure import installed, report, side_by_side

OURS = installed()
BASE = ("--base", "torch-2.15")
LINES = ("explain aten::", "explain aten::add.Tensor Autograd", "table --base torch-2.15 --op aten::so", "ta")
"""Lines that end in what bash completes."""


def completed(line: str) -> list[str]:
    """The command that bash runs for a line."""
    words = (f"_DISPATCH_CLI_LINE=dispatch-cli {line}", f"_DISPATCH_CLI_WORD={line.rpartition(' ')[2]}")
    return ["env", "_DISPATCH_CLI_COMPLETE=bash_complete", *words, OURS]


def every_check(format_: str) -> list[str]:
    """All checks over a whole state."""
    options = ["--select", "all", "--fail-on", "none", "--config", "none", "--format", format_, "-o", os.devnull]
    return [OURS, "check-invariants", *BASE, *options]


TABLES = [OURS, "table", *BASE, "--format", "raw", "-o", os.devnull]
PAIRS = {
    "--version against importing click": ([OURS, "--version"], [sys.executable, "-c", "import click"]),
    "one operator of 3,624 against importing click and rich": (
        [OURS, "table", *BASE, "--op", "aten::add.Tensor"],
        [sys.executable, "-c", "import click, rich.console, rich.table"],
    ),
    **{f"{line}<Tab> against --version": (completed(line), [OURS, "--version"]) for line in LINES},
    **{f"every check as {name} against the raw dump": (every_check(name), TABLES) for name in ("text", "sarif")},
}


def main(runs: int) -> None:
    """Measure each pair."""
    for title, (ours, peer) in PAIRS.items():
        report(title, *side_by_side(ours, peer, runs), runs)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
