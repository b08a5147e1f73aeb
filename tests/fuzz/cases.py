"""One case: its number decides the command, the format, the files and the arguments."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from tests.cli.support import COMMAND, ROOT, Result, call, environment
from tests.fuzz import verdict
from tests.fuzz.arguments import command_line, commands, formats
from tests.fuzz.inputs import Inputs

SECONDS = 5
LONGEST = 60
OUTPUT = 5 << 20
"""So many characters of an answer may take as long once more: whoever asks for all tables of PyTorch gets them."""
BYTES = 500 << 20
ALL_FORMATS = 0.1
"""How many cases are asked for in every format, and the answers compared."""


class Case(NamedTuple):
    """A question to the program. seed, number: what it is made of, so that it can be made again."""

    seed: int
    number: int
    command: str
    format: str
    arguments: tuple[str, ...]
    compare: bool

    @property
    def name(self) -> str:
        """As `python -m tests.fuzz --case` takes it."""
        return f"{self.seed}:{self.number}"

    def line(self, format_: str) -> list[str]:
        """The arguments of the command line."""
        return [self.command, *self.arguments, *(["--format", format_] if format_ else [])]


class Outcome(NamedTuple):
    """What came of a case. runs: the exit code of each (command, format). failures: what is wrong, if anything."""

    runs: tuple[tuple[str, str, int], ...]
    failures: tuple[str, ...]


def pairs() -> list[tuple[str, str]]:
    """Every command in every format."""
    return [(command, format_) for command in commands() for format_ in formats(command)]


def make_case(seed: int, number: int, folder: Path) -> Case:
    """Make a case, with its files in a folder."""
    dice = random.Random(f"{seed}:{number}")
    command, format_ = pairs()[number % len(pairs())]
    arguments = command_line(command, Inputs(dice, folder))
    return Case(seed, number, command, format_, tuple(arguments), dice.random() < ALL_FORMATS)


@contextlib.contextmanager
def case_in_folder(seed: int, number: int) -> Iterator[Case]:
    """A case, with its folder as the working folder."""
    before = Path.cwd()
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    try:
        case = make_case(seed, number, folder)
        os.chdir(folder)
        yield case
    finally:
        os.chdir(before)
        shutil.rmtree(folder, ignore_errors=True)


def try_case(seed: int, number: int) -> Outcome:
    """Make a case, run it, and judge it."""
    with case_in_folder(seed, number) as case:
        wanted = [case.format]
        alone = "--output" in case.arguments or "--update-baseline" in case.arguments or "--record" in case.arguments
        if case.compare and not alone:
            wanted = list(formats(case.command))
        results, failures = {}, []
        for format_ in wanted:
            result, failure = run(case, format_)
            results[format_] = result
            failures += [failure] if failure else []
        if len(results) > 1 and not failures:
            failure = verdict.unequal(case.command, results)
            failures += [failure] if failure else []
        runs = tuple((case.command, format_, result.code) for format_, result in results.items())
        asked = f"{case.name} {' '.join(case.line(case.format))[:500]!r}"
        return Outcome(runs, tuple(f"{asked}: {one}" for one in failures))


class TooSlow(BaseException):
    """A case took too much time."""


def _too_slow(_signal: int, _frame: FrameType | None) -> None:
    raise TooSlow


def run(case: Case, format_: str) -> tuple[Result, str | None]:
    """Run a case in this process: its result, and what is wrong with it."""
    before = signal.signal(signal.SIGPROF, _too_slow)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    start = time.process_time()
    try:
        result = call(*case.line(format_))
    except TooSlow:
        return Result(-1, "", ""), f"over {LONGEST} s of processor time"
    except Exception as error:
        return Result(-1, "", ""), f"{type(error).__name__}: {str(error)[:300]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    taken = time.process_time() - start
    if taken > SECONDS * (1 + len(result.out) / OUTPUT):
        return result, f"{taken:.1f} s of processor time for {len(result.out)} characters"
    return result, verdict.wrong(result, case.command, format_, "--color" in case.arguments)


def memory_of(seed: int, number: int) -> str | None:
    """Run a case in a process of its own: what is wrong with the memory that it took, or None.

    The kernel counts the memory of the process that starts it, too: call it from a small one.
    """
    with case_in_folder(seed, number) as case:
        process = subprocess.Popen(
            [*COMMAND, *case.line(case.format)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment(PYTHONPATH=str(ROOT)),
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if usage.ru_maxrss * 1024 > BYTES:
            return f"{case.name}: {usage.ru_maxrss >> 10} MB"
        if process.returncode not in (0, 1, 2):
            return f"{case.name}: exit code {process.returncode} in a process of its own"
        return None


def run_chunk(what: tuple[int, int, int]) -> tuple[Counter[tuple[str, str, int]], list[str]]:
    """Cases by seed, first number and count: their exit codes by command and format, and the failures."""
    seed, first, count = what
    codes: Counter[tuple[str, str, int]] = Counter()
    failures: list[str] = []
    for number in range(first, first + count):
        outcome = try_case(seed, number)
        codes.update(outcome.runs)
        failures += outcome.failures
    return codes, failures
