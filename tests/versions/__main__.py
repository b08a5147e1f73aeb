"""Compare PyTorch versions with the engine.

usage: python -m tests.versions PYTHON…

PYTHON has a PyTorch. Per version it prints how many operators, slots, answers of resolve_key, calls, histories and
higher-order operators were compared, and what differs, of each kind the first. Exit code 1 when anything does.
`python -m tests.recordings PYTHON version` writes the small recordings of the tests.
"""

from __future__ import annotations

import sys

from tests.versions.judge import Size, parts

SHOWN = 5
"""Differences that are printed of each kind."""


def main(*pythons: str) -> int:
    """Judge every Python."""
    differing = 0
    for python in pythons:
        print(python)
        for part in parts(python, Size()):
            left = f", {part.left:,} cannot be compared" if part.left else ""
            print(f"  {part.name:<24}{part.compared:>9,} compared, {len(part.wrong):,} different{left}", flush=True)
            for line in part.wrong[:SHOWN]:
                print(f"    {line}")
            differing += len(part.wrong)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
