"""``python -m tests.fuzz.sources [COUNT] [--seed N] [--first N] [--jobs N] [--case SEED:NUMBER]``

Reads COUNT small trees of mutated sources, in C++, Python and YAML, in processes of their own, a few hundred in each.
A case fails when something else than a refusal is raised, when it takes more than some seconds of processor time, when
the process grows too much, or when what is extracted cannot be loaded as declarations. Exits with 1 when a case failed.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from dispatch_cli.api import load_state
from dispatch_cli.declarations.extracted import ExtractedDocument
from dispatch_cli.extract.run import run
from dispatch_cli.model.problem import InputError
from dispatch_cli.model.source_settings import FileSettings, SourceSettings
from tests.fuzz import code

CHUNK = 250
SECONDS = 3
LONGEST = 30
BYTES = 500 << 20
LOADED = 0.1
"""Share of cases that are loaded as declarations, too, which takes most of the time."""


class SourceCounts(NamedTuple):
    """Results of cases. found: those in which something is registered. said: not understood. greatest: in bytes."""

    cases: int = 0
    found: int = 0
    said: int = 0
    refused: int = 0
    slowest: tuple[float, str] = (0, "")
    greatest: int = 0
    failures: tuple[str, ...] = ()

    def plus(self, other: SourceCounts) -> SourceCounts:
        """Both together."""
        return SourceCounts(
            self.cases + other.cases,
            self.found + other.found,
            self.said + other.said,
            self.refused + other.refused,
            max(self.slowest, other.slowest),
            max(self.greatest, other.greatest),
            self.failures + other.failures,
        )


class SlowCase(BaseException):
    """A case takes too much time."""


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise SlowCase


@contextlib.contextmanager
def made(seed: int, number: int) -> Iterator[random.Random]:
    """The tree of a case in the working folder, and the dice for what follows."""
    dice = random.Random(f"{seed}:{number}")
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="sources-") as folder:
        for name, text in code.tree(dice, dice.random() < 0.1).items():
            path = Path(folder, "src", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8", "surrogatepass"))
        os.chdir(folder)
        try:
            yield dice
        finally:
            os.chdir(before)


def settings(dice: random.Random) -> SourceSettings:
    """Settings such as options give."""
    defines = (("USE_X", dice.choice(["1", "0", "", "USE_X", "("])),) if dice.random() < 0.3 else ()
    return SourceSettings(FileSettings((), defines), include=("src",) if dice.random() < 0.2 else ())


def try_tree(seed: int, number: int) -> SourceCounts:
    """Read the tree of a case, and judge it."""
    name = f"{seed}:{number}"
    start = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        with made(seed, number) as dice:
            result = run(["src"], (settings(dice),))
            loads = dice.random() < LOADED
            counts = SourceCounts(1, result.definitions + result.registrations > 0, bool(result.not_understood))
            if loads:
                with contextlib.suppress(InputError):
                    load_state([ExtractedDocument("src", result.document, result.lines)])
    except InputError:
        counts = SourceCounts(1, refused=1)
    except SlowCase:
        counts = SourceCounts(1, failures=(f"{name}: over {LONGEST} s",))
    except BaseException as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{name}: {type(error).__name__}: {str(error)[:200]} ({Path(place.filename).name}:{place.lineno})"
        counts = SourceCounts(1, failures=(text,))
        if isinstance(error, KeyboardInterrupt):
            raise
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    seconds = time.process_time() - start
    if seconds > SECONDS * (2 if counts.failures else 1) and not counts.failures:
        counts = counts._replace(failures=(f"{name}: {seconds:.1f} s",))
    return counts._replace(slowest=(seconds, name))


def run_trees(work: tuple[int, int, int]) -> SourceCounts:
    """Cases by seed, first number and count, in this process."""
    seed, first, count = work
    signal.signal(signal.SIGPROF, _stop)
    counts = SourceCounts()
    for number in range(first, first + count):
        counts = counts.plus(try_tree(seed, number))
    greatest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    if greatest > BYTES:
        counts = counts._replace(failures=(*counts.failures, f"{seed}:{first} to {first + count}: {greatest >> 20} MB"))
    return counts._replace(greatest=greatest)


def show_tree(name: str) -> None:
    """Run one case, and show its files and what it gives."""
    seed, number = map(int, name.split(":"))
    with made(seed, number) as dice:
        for path in sorted(Path.cwd().rglob("*")):
            if path.is_file():
                print(f"--- {path.relative_to(Path.cwd())}\n{path.read_bytes().decode('utf-8', 'replace')[:5000]}")
        print(run(["src"], (settings(dice),)))
    print(try_tree(seed, number))


def main() -> int:
    """Run the cases, and say what they gave."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.sources")
    parser.add_argument("count", nargs="?", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--case")
    given = parser.parse_args()
    if given.case:
        show_tree(given.case)
        return 0
    print(f"seed {given.seed}", flush=True)
    end, start = given.first + given.count, time.monotonic()
    chunks = [(given.seed, first, min(CHUNK, end - first)) for first in range(given.first, end, CHUNK)]
    counts = SourceCounts()
    with multiprocessing.get_context("spawn").Pool(given.jobs, maxtasksperchild=4) as pool:
        for done, some in enumerate(pool.imap_unordered(run_trees, chunks), start=1):
            counts = counts.plus(some)
            for failure in some.failures:
                print(failure, flush=True)
            if done % 20 == 0:
                print(f"… {counts.cases} cases, {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    print(
        f"{counts.cases} cases, {time.monotonic() - start:.0f} s: {counts.found} register something, {counts.said} "
        f"have statements that are not understood, {counts.refused} are refused; the slowest {counts.slowest[0]:.2f} s "
        f"({counts.slowest[1]}), the greatest process {counts.greatest >> 20} MB; {len(counts.failures)} failures"
    )
    return int(bool(counts.failures))


if __name__ == "__main__":
    raise SystemExit(main())
