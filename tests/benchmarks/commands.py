"""Whole commands as ratios to what they stand beside: importing libraries, ``--version``, the dump of every table.

usage: python -m tests.benchmarks.commands [RUNS]
"""

from __future__ import annotations

import os
import sys

from dispatch_cli import bases
from tests.benchmarks.measure import in_turn, installed

BASE = ("--base", "torch-2.15")
NEWEST, OLDER, *_, OLDEST = bases.names()
COMPLETED = ("explain aten::", "explain aten::add.Tensor Autograd", "table --base torch-2.15 --op aten::so", "ta")
"""Lines that end in what bash completes."""
QUIET = ("--select", "all", "--fail-on", "none", "--config", "none", "-o", os.devnull)
DUMP, TABLE, VERSION = "the raw dump of every table", "the table of one operator", "--version"
CLICK, RICH = "importing click", "importing click and rich"


def completed(line: str) -> list[str]:
    """The command that bash runs for a line."""
    words = (f"_DISPATCH_CLI_LINE=dispatch-cli {line}", f"_DISPATCH_CLI_WORD={line.rpartition(' ')[2]}")
    return ["env", "_DISPATCH_CLI_COMPLETE=bash_complete", *words, installed()]


ARGUMENTS: dict[str, tuple[str, ...]] = {
    VERSION: ("--version",),
    TABLE: ("table", *BASE, "--op", "aten::add.Tensor"),
    DUMP: ("table", *BASE, "--format", "raw", "-o", os.devnull),
    "every check as text": ("check-invariants", *BASE, *QUIET),
    "every check as SARIF": ("check-invariants", *BASE, *QUIET, "--format", "sarif"),
    "diff with the oldest": ("diff", OLDEST, NEWEST),
    "diff with the one before": ("diff", OLDER, NEWEST),
    "history": ("history", "aten::add.Tensor"),
    "coverage": ("coverage", "PrivateUse1"),
}
PEERS = {
    **dict.fromkeys(ARGUMENTS, DUMP),
    VERSION: CLICK,
    TABLE: RICH,
    "history": TABLE,
    **{f"{line}<Tab>": VERSION for line in COMPLETED},
}
"""Command → what its time is divided by."""


def main(runs: int) -> None:
    """Run all commands in turn; print the cost of each and its ratio to its peer."""
    commands = {name: [installed(), *arguments] for name, arguments in ARGUMENTS.items()}
    commands |= {f"{line}<Tab>": completed(line) for line in COMPLETED}
    commands[CLICK] = [sys.executable, "-c", "import click"]
    commands[RICH] = [sys.executable, "-c", "import click, rich.console, rich.table"]
    measured = in_turn(commands, runs, (0, 1))  # a difference is 1
    for name, cost in measured.items():
        peer = measured[PEERS.get(name, name)]
        ratio = f"{cost.seconds / peer.seconds:6.2f}, of processor time {cost.processor / peer.processor:.2f}"
        print(f"{name:<44}{cost.seconds:7.3f} s{cost.memory:5.0f} MiB {ratio} of {PEERS.get(name, name)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
