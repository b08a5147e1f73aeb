"""Compare PyTorch versions with the engine.

usage: python -m tests.versions PYTHON… [--calls 1000] [--histories 300] [--seed 1] [--shown 5]

PYTHON has a PyTorch. Per version it prints how many operators, slots, answers of resolve_key, calls, histories and
higher-order operators were compared, and what differs, of each kind the first. Exit code 1 when anything does.
`python -m tests.recordings PYTHON version` writes the small recordings of the tests.
"""

from __future__ import annotations

import argparse

from tests.versions.judge import Size, parts


def main() -> int:
    """Judge every Python."""
    parser = argparse.ArgumentParser(prog="python -m tests.versions", description="Compare PyTorchs with the engine.")
    parser.add_argument("pythons", nargs="+", metavar="PYTHON")
    parser.add_argument("--calls", type=int, default=Size().calls)
    parser.add_argument("--histories", type=int, default=Size().histories)
    parser.add_argument("--seed", type=int, default=Size().seed)
    parser.add_argument("--shown", type=int, default=5, help="differences that are printed of each kind")
    given = parser.parse_args()
    differing = 0
    for python in given.pythons:
        print(python)
        for part in parts(python, Size(given.calls, given.histories, given.seed)):
            left = f", {part.left:,} cannot be compared" if part.left else ""
            print(f"  {part.name:<24}{part.compared:>9,} compared, {len(part.wrong):,} different{left}", flush=True)
            for line in part.wrong[: given.shown]:
                print(f"    {line}")
            differing += len(part.wrong)
    return 1 if differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
