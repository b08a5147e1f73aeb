"""``python -m tests.fuzz [COUNT] [--seed N] [--first N] [--jobs N] [--case SEED:NUMBER] [--branches FILE]``

Runs COUNT random cases in processes of their own, a few hundred in each; every 100th also in one that has no other,
whose memory is measured. Prints failures as they are found, and figures at the end, also of a run that is ended by
SIGINT or SIGTERM; exits with 1 when a case failed.
--first is the number of the first case. --case runs one again and shows its files, command line and output. --branches
writes the lines and branches of the package that no case reached (it needs `coverage`, and takes about twice the time).
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import time
from pathlib import Path

CHUNK = 200
MEMORY_EVERY = 100


def show_case(name: str) -> None:
    """Run one case, and show everything about it."""
    from tests.fuzz.cases import case_in_folder, run

    seed, number = map(int, name.split(":"))
    with case_in_folder(seed, number) as case:
        for path in sorted(Path.cwd().iterdir()):
            print(f"--- {path.name!r}\n{path.read_bytes()[:20_000]!r}")
        print("--- dispatch-cli", case.line(case.format), dict(case.variables))
        (result, failure, seconds) = run(case, case.format)
        print(f"--- exit {result.code}, {seconds:.1f} s\n{result.out[:20_000]!r}\n--- stderr\n{result.err[:20_000]!r}")
        print("---", failure)


def never_reached(seed: int, first: int, count: int, file: Path) -> None:
    """Write what no case reached, nor an import."""
    import coverage

    package = Path(__file__).parents[2] / "dispatch_cli"
    measured = coverage.Coverage(branch=True, source=[str(package)], data_file=None)
    measured.start()
    from tests.fuzz.cases import run_chunk

    run_chunk(seed, first, count)
    measured.stop()
    with file.open("w", encoding="utf-8") as out:
        measured.report(show_missing=True, skip_covered=True, file=out)


def main() -> int:
    """Run the cases, and say what they gave."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("count", nargs="?", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--case")
    parser.add_argument("--branches", type=Path)
    given = parser.parse_args()
    if given.case:
        show_case(given.case)
        return 0
    if given.branches:
        never_reached(given.seed, given.first, given.count, given.branches)
        return 0
    from tests.fuzz.cases import pairs, run_chunk
    from tests.fuzz.counts import Counts, table
    from tests.fuzz.workers import Chunk, results

    print(f"seed {given.seed}", flush=True)
    counts, start, end = Counts(), time.monotonic(), given.first + given.count
    run_chunk(given.seed, given.first, min(given.count, len(pairs())))  # the processes are copies of one that is warm
    chunks = (Chunk(given.seed, number, min(CHUNK, end - number)) for number in range(given.first, end, CHUNK))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for done, some in enumerate(results(chunks, given.jobs, MEMORY_EVERY), start=1):
            counts.add(some)
            for failure in some.failures:
                print(failure, flush=True)
            if done % 25 == 0:
                print(f"… {counts.cases.total()} cases, {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print(f"ended before all {given.count} cases were run")
    print("\n".join(table(counts, pairs())))
    return int(bool(counts.failures))


if __name__ == "__main__":
    raise SystemExit(main())
