"""``python -m tests.fuzz [COUNT] [--seed N] [--jobs N] [--case SEED:NUMBER] [--branches FILE]``

Runs COUNT random cases, in this process's workers; every 100th again in a process of its own, whose memory is measured.
Exits with 1 when one fails. --case runs one again and shows its files, command line and output. --branches writes the
lines and branches of the package that no case reached (it needs `coverage`, and takes about twice the time).
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from multiprocessing import Pool
from pathlib import Path

from tests.cli.support import ROOT
from tests.fuzz.cases import case_in_folder, memory_of, pairs, run, run_chunk

CHUNK = 200
MEMORY_EVERY = 100


def show_case(name: str) -> None:
    """Run one case, and show everything about it."""
    seed, number = map(int, name.split(":"))
    with case_in_folder(seed, number) as case:
        for path in sorted(Path.cwd().iterdir()):
            print(f"--- {path.name!r}\n{path.read_bytes()[:20_000]!r}")
        print("--- dispatch-cli", case.line(case.format))
        result, failure = run(case, case.format)
        print(f"--- exit {result.code}\n{result.out[:20_000]!r}\n--- stderr\n{result.err[:20_000]!r}\n--- {failure}")


def never_reached(seed: int, count: int, file: Path) -> None:
    """Write what no case reached."""
    import coverage

    measured = coverage.Coverage(branch=True, source=[str(ROOT / "dispatch_cli")], data_file=None)
    measured.start()
    run_chunk((seed, 0, count))
    measured.stop()
    with file.open("w", encoding="utf-8") as out:
        measured.report(show_missing=True, skip_covered=True, file=out)


def main() -> int:
    """Run the cases, and say what they gave."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("count", nargs="?", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--case")
    parser.add_argument("--branches", type=Path)
    given = parser.parse_args()
    if given.case:
        show_case(given.case)
        return 0
    if given.branches:
        never_reached(given.seed, given.count, given.branches)
        return 0
    print(f"seed {given.seed}", flush=True)
    codes: Counter[tuple[str, str, int]] = Counter()
    failures: list[str] = []
    start = time.monotonic()
    # a worker ends after each chunk: the command line leaves garbage where it lies, as its process ends soon
    with Pool(given.jobs, maxtasksperchild=1) as pool:
        starts = range(0, given.count, CHUNK)
        chunks = [(given.seed, first, min(CHUNK, given.count - first)) for first in starts]
        for done, (some, wrong) in enumerate(pool.imap_unordered(run_chunk, chunks), start=1):
            codes.update(some)
            measured = (
                memory_of(given.seed, number) for number in range((done - 1) * CHUNK, done * CHUNK, MEMORY_EVERY)
            )
            wrong += [one for one in measured if one]
            failures += wrong
            for one in wrong:
                print(one, flush=True)
            if done % 50 == 0:
                print(f"… {codes.total()} runs, {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    report(codes)
    print(f"{len(failures)} failures")
    return int(bool(failures))


def report(codes: Counter[tuple[str, str, int]]) -> None:
    """Print how many runs there were, and how many of them got past the reading of their input."""
    answered = sum(count for (_, _, code), count in codes.items() if code in (0, 1))
    for command, format_ in pairs():
        some = [codes[command, format_, code] for code in (0, 1, 2)]
        print(f"{command + ' ' + format_:28} {sum(some):8}   exit 0: {some[0]:7}   1: {some[1]:7}   2: {some[2]:7}")
    print(f"{codes.total()} runs; {answered} ({answered / max(1, codes.total()):.0%}) were answered")


if __name__ == "__main__":
    raise SystemExit(main())
