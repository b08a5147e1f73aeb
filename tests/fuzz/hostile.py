"""``python -m tests.fuzz.hostile [NAME…] [--seconds N] [--sizes N]``

Small inputs that ask for very much, for each reader of sources. Of each kind, `extract` and `check-invariants` read
three sizes, each the double of the one before it, in processes of their own; processor seconds, megabytes and the exit
code are printed.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from tests.fuzz.hostile_cpp import HOSTILE, figures
from tests.fuzz.hostile_python import PYTHON

KINDS = {
    f"{reader}: {name}": kind
    for reader, kinds in (("C++", HOSTILE), ("Python", PYTHON))
    for name, kind in kinds.items()
}


def main() -> None:
    """Print the figures of the kinds that are named, or of all."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.hostile")
    parser.add_argument("names", nargs="*", help="a kind, or the beginning of some")
    parser.add_argument("--seconds", type=int, default=60, help="of the processor, for each run")
    parser.add_argument("--sizes", type=int, default=3)
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = str(Path.cwd())
    HOSTILE.update(KINDS)
    print("kind | size | bytes | extract: s | MB | exit | check-invariants: s | MB | exit")
    for name in KINDS:
        if options.names and not name.startswith(tuple(options.names)):
            continue
        for size, written, one, other in figures(name, options.seconds, options.sizes):
            print(
                f"{name} | {size:,} | {written:,} | {one.seconds:.1f} | {one.megabytes} | {one.code} | "
                f"{other.seconds:.1f} | {other.megabytes} | {other.code}",
                flush=True,
            )


if __name__ == "__main__":
    main()
