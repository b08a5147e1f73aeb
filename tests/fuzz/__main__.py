"""``python -m tests.fuzz [COUNT] [--seed N] [--first N] [--jobs N] [--case SEED:NUMBER]``

Runs COUNT random cases, a few hundred in each of some processes, whose memory is measured. Prints failures as they are
found, and figures at the end; exits with 1 when a case failed. --first is the number of the first case. --case runs one
again and shows its files, command line and output.

`words` makes texts, `documents` declarations by their JSON Schema, `arguments` command lines out of good ones and their
files; `cases` runs a case, `verdict` judges what it left behind. `hostile` has sources that ask for very much, for
tests of the readers.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz.cases import Counts, case_in_folder, pairs, run, run_in_process

CHUNK = 200


def show_case(name: str) -> None:
    """Run one case, and show everything about it."""
    seed, number = map(int, name.split(":"))
    with case_in_folder(seed, number) as case:
        for path in sorted(Path.cwd().iterdir()):
            print(f"--- {path.name!r}\n{path.read_bytes()[:20_000]!r}")
        print("--- dispatch-cli", case.line(case.format), dict(case.variables))
        (result, failure, seconds) = run(case, case.format)
        print(f"--- exit {result.code}, {seconds:.1f} s\n{result.out[:20_000]!r}\n--- stderr\n{result.err[:20_000]!r}")
        print("---", failure)


def summary(counts: Counts) -> Iterator[str]:
    """A line for each command in each format, and one for all."""
    for pair in pairs():
        codes = ", ".join(f"{counts.runs[(*pair, code)]} with {code}" for code in (0, 1, 2))
        yield f"{pair[0]:18}{pair[1]:10}{counts.cases[pair]:8} cases, {counts.answered[pair]} answered; exits: {codes}"
    cases, answered = counts.cases.total(), counts.answered.total()
    yield f"{cases} cases, {answered / max(1, cases):.0%} answered; {len(counts.failures)} failures"
    yield f"slowest: {counts.slowest[0]:.1f} s of processor time ({counts.slowest[1]})"


def main() -> int:
    """Run the cases, and say what they gave."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("count", nargs="?", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--case")
    given = parser.parse_args()
    if given.case:
        show_case(given.case)
        return 0
    print(f"seed {given.seed}", flush=True)
    counts, end = Counts(), given.first + given.count
    chunks = [(given.seed, number, min(CHUNK, end - number)) for number in range(given.first, end, CHUNK)]
    with multiprocessing.get_context("spawn").Pool(given.jobs, maxtasksperchild=1) as pool:
        for some in pool.imap_unordered(run_in_process, chunks):
            counts.add(some)
            for failure in some.failures:
                print(failure, flush=True)
    print("\n".join(summary(counts)))
    return int(bool(counts.failures))


if __name__ == "__main__":
    raise SystemExit(main())
