"""Cost of the commands about several PyTorch versions, as ratios to one table and to the raw dump of every table.

usage: python -m tests.benchmarks.versions [RUNS]

All commands run in turn, whole processes. A line has the ratio of wall times, that of processor times, which a busy
machine changes less, and what the ratio is to be at most. The size is that of the wheel.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

from dispatch_cli import bases
from tests.benchmarks.measure import in_turn, installed

ROOT = Path(__file__).parent.parent.parent
OPERATOR = "aten::add.Tensor"
DUMP, TABLE, VERSION = "the raw dump of every table", "the table of one operator", "--version"
CLICK = "importing click"
MOST_BYTES = 4_000_000


class Ratio(NamedTuple):
    """The time of one command by that of another, and its limit, if there is one."""

    ours: str
    peer: str
    most: float | None = None


def main(runs: int) -> None:
    """Measure the installed command, and build the wheel."""
    newest, older, *_, oldest = bases.names()
    far, near = f"diff {oldest} {newest}", f"diff {older} {newest}"
    history, coverage = f"history {OPERATOR}", "coverage PrivateUse1"
    with tempfile.TemporaryDirectory() as folder:
        ours = {
            far: far.split(),
            near: near.split(),
            history: history.split(),
            coverage: coverage.split(),
            DUMP: ["table", "--base", newest, "--format", "raw", "-o", str(Path(folder, "tables"))],
            TABLE: ["table", "--base", newest, "--op", OPERATOR],
            VERSION: ["--version"],
        }
        commands = {name: [installed(), *arguments] for name, arguments in ours.items()}
        commands[CLICK] = [sys.executable, "-c", "import click"]
        measured = in_turn(commands, runs, (0, 1))  # a difference is 1
        size = _wheel(folder)
    for name, cost in measured.items():
        print(f"{name:<34}{cost.seconds:7.3f} s{cost.processor:7.3f} s of processor time{cost.memory:5.0f} MiB")
    print()
    ratios = [Ratio(far, DUMP, 2), Ratio(near, DUMP, 2), Ratio(coverage, DUMP, 1.2), Ratio(history, TABLE, 3)]
    for ours_, peer, most in [*ratios, Ratio(TABLE, VERSION), Ratio(VERSION, CLICK)]:
        own, other = measured[ours_], measured[peer]
        limit = "" if most is None else f", at most {most:g}"
        ratio, of_processor = own.seconds / other.seconds, own.processor / other.processor
        print(f"{ours_} by {peer}: {ratio:.2f}, of processor time {of_processor:.2f}{limit}")
    print(f"the wheel: {size:,} bytes, at most {MOST_BYTES:,}; medians of {runs}")


def _wheel(folder: str) -> int:
    """The size of the wheel of the last commit, in bytes; prints what its largest folders have in it."""
    sources = str(Path(folder, "sources"))
    subprocess.run(["git", "clone", "-q", str(ROOT), sources], check=True)
    subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, sources], check=True)
    wheel = next(Path(folder).glob("*.whl"))
    sizes: dict[str, int] = {}
    with ZipFile(wheel) as packed:
        for member in packed.infolist():
            part = "/".join(member.filename.split("/")[:2])
            sizes[part] = sizes.get(part, 0) + member.compress_size
    for part, number in sorted(sizes.items(), key=lambda item: -item[1])[:4]:
        print(f"{part:<34}{number:9,} bytes of the wheel")
    return wheel.stat().st_size


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
