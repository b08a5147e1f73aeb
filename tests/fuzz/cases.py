"""One case: its number decides the command, the format, the files and the arguments."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple
from unittest.mock import patch

from dispatch_cli.cli import output
from tests.cli.support import Result, call
from tests.fuzz import verdict
from tests.fuzz.arguments import COMPLETE, command_line, commands, completion, formats

SECONDS = 10
LONGEST = 60
WIDTHS = (40, 80, 120, 200)
OUTPUT = 5 << 20
"""So many characters of an answer may take as long once more: whoever asks for all tables of PyTorch gets them."""
WRAPPED = 1 << 20
"""The same for an answer that is wrapped for a terminal."""
BYTES = 1 << 30
"""Memory of a process that runs so many cases."""
VARIABLES = (("NO_COLOR", "1"), ("FORCE_COLOR", "1"), ("TERM", "dumb"), ("SOURCE_DATE_EPOCH", "x"))
"""Variables of the environment that the program looks at."""
ALL_FORMATS = 0.07
"""Share of cases that are asked for in every format, and whose answers are compared."""


@dataclass
class Counts:
    """Figures of many cases.

    cases: how many there were of a command and a format, and how many of them were answered: past the parser, with exit
        code 0 or 1. runs: those in every format as well. slowest: seconds of processor time, and the case.
    """

    cases: Counter[tuple[str, str]] = field(default_factory=Counter)
    answered: Counter[tuple[str, str]] = field(default_factory=Counter)
    runs: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    slowest: tuple[float, str] = (0, "")

    def add(self, other: Counts) -> None:
        """Add the figures of more cases."""
        self.cases += other.cases
        self.answered += other.answered
        self.runs += other.runs
        self.failures += other.failures
        self.slowest = max(self.slowest, other.slowest)


class Case(NamedTuple):
    """A question to the program. seed, number: what it is made of, so that it can be made again.

    compare: whether it is asked for in every format. variables: of the environment. columns: of a terminal.
    """

    seed: int
    number: int
    command: str
    format: str
    arguments: tuple[str, ...]
    compare: bool
    variables: tuple[tuple[str, str], ...]
    columns: int | None

    @property
    def name(self) -> str:
        """As `python -m tests.fuzz --case` takes it."""
        return f"{self.seed}:{self.number}"

    def line(self, format_: str) -> list[str]:
        """The arguments of the command line."""
        if self.command == COMPLETE:
            return [*self.arguments]
        given = format_ and not (format_ == "text" and "--record" in self.arguments)  # it has a form of its own
        return [self.command, *self.arguments, *(["--format", format_] if given else [])]


def pairs() -> list[tuple[str, str]]:
    """Every command in every format, and completion in every shell."""
    return [(command, format_) for command in (*commands(), COMPLETE) for format_ in formats(command)]


def make_case(seed: int, number: int, folder: Path) -> Case:
    """Make a case, with its files in a folder."""
    dice = random.Random(f"{seed}:{number}")
    command, format_ = pairs()[number % len(pairs())]
    asked = completion(dice, format_) if command == COMPLETE else {}
    arguments = [] if asked else command_line(command, dice, folder)
    compare = dice.random() < ALL_FORMATS and command != COMPLETE
    columns = dice.choice(WIDTHS) if dice.random() < 0.2 else None
    odd = [item for item in VARIABLES if dice.random() < 0.03]
    variables = (*asked.items(), *odd, ("DISPATCH_CLI_CACHE_DIR", "cache"))
    return Case(seed, number, command, format_, tuple(arguments), compare, variables, columns)


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


def try_case(case: Case, counts: Counts) -> None:
    """Run a case, and judge it."""
    wanted = [case.format]
    alone = {"--update-baseline", "--record"}.intersection(case.arguments)
    if case.compare and not alone:
        wanted = list(formats(case.command))
    results, failures = {}, []
    for format_ in wanted:
        tried = run(case, format_)
        results[format_] = tried.result
        failures += [tried.failure] if tried.failure else []
        counts.slowest = max(counts.slowest, (tried.seconds, case.name))
        counts.runs[case.command, format_, tried.result.code] += 1
    if len(results) > 1 and not failures:
        failure = verdict.unequal({name: result.code for name, result in results.items()})
        failures += [failure] if failure else []
    counts.cases[case.command, case.format] += 1
    counts.answered[case.command, case.format] += results[case.format].code in (0, 1)
    asked = f"{case.name} {' '.join(case.line(case.format))[:500]!r}"
    counts.failures += [f"{asked}: {failure}" for failure in failures]


class TooSlow(BaseException):
    """A case took too much time."""


def _too_slow(_signal: int, _frame: FrameType | None) -> None:
    raise TooSlow


class Tried(NamedTuple):
    """A run in this process: what it left behind, what is wrong with it, and the seconds of processor time."""

    result: Result
    failure: str | None
    seconds: float


def run(case: Case, format_: str) -> Tried:
    """Run a case in this process, and judge what it prints and writes."""
    before = signal.signal(signal.SIGPROF, _too_slow)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    start = time.process_time()
    try:
        with patch.dict(os.environ, dict(case.variables)), _terminal(case.columns):
            result = call(*case.line(format_))
    except TooSlow:
        return Tried(Result(-1, "", ""), f"over {LONGEST} s of processor time", LONGEST)
    except Exception as error:
        return Tried(Result(-1, "", ""), f"{type(error).__name__}: {str(error)[:300]}", 0)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    taken = time.process_time() - start
    if taken > SECONDS * (1 + len(result.out) / (WRAPPED if case.columns else OUTPUT)):
        return Tried(result, f"{taken:.1f} s of processor time for {len(result.out)} characters", taken)
    return Tried(result, _wrong(case, format_, result), taken)


@contextlib.contextmanager
def _terminal(columns: int | None) -> Iterator[None]:
    """Text as for a terminal of this width; None for none."""
    style_for = output.style_for

    def style_of(stream: Any, color: str, file: str | None = None) -> Any:
        style = style_for(stream, color, file)
        return style if file is not None else style._replace(width=columns)

    with patch.object(output, "style_for", style_of) if columns else contextlib.nullcontext():
        yield


def _wrong(case: Case, format_: str, result: Result) -> str | None:
    """The fault in what a run printed, if any."""
    colored = "--color" in case.arguments or "FORCE_COLOR" in dict(case.variables)
    return verdict.wrong(result, case.command, format_, colored)


def run_chunk(seed: int, first: int, count: int) -> Counts:
    """Cases by seed, first number and count."""
    counts = Counts()
    for number in range(first, first + count):
        with case_in_folder(seed, number) as case:
            try:
                try_case(case, counts)
            except Exception as error:
                counts.failures.append(f"{case.name} cannot be judged: {type(error).__name__}: {str(error)[:300]}")
    return counts


def run_in_process(chunk: tuple[int, int, int]) -> Counts:
    """The results of some cases, in a process that ran no others, with the memory that it took."""
    counts = run_chunk(*chunk)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    if grown > BYTES:
        counts.failures.append(f"{chunk[0]}:{chunk[1]} and the {chunk[2]} from there: {grown >> 20} MB")
    return counts
