"""Random mutants of the package: which of them the quick suite kills.

usage: python -m tests.mutants [COUNT [SEED]]

cosmic-ray makes the mutants. Runs the quick suite once with coverage by test, then each mutant of the sample against
the tests that execute its line, those first that execute little else, until the first failure. Prints each survivor,
then how many were killed. The seed and the text of a line decide if the line is in the sample, so that the sample of
two versions is nearly the same. Needs the extra `mutants`.
"""

from __future__ import annotations

import ast
import hashlib
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from coverage import CoverageData

ROOT = Path(__file__).parents[1]
SEED = 34
FOLDERS = ("engine", "checks", "declarations", "answers/errors")
EQUIVALENT = ("Eq_Is", "Is_Eq", "NotEq_IsNot", "IsNot_NotEq")
"""Operators that change nothing for enums, None and small numbers."""
TESTS = 400
"""Of the tests that execute a line, at most so many are run."""
SECONDS = 600
"""After which tests that do not end count as failed; without a change they take far less."""
COPIES = 2
"""Mutants that are tried at the same time."""


class Mutant(NamedTuple):
    """One change of a file.

    place: the file, the text of the line and the column, the same for all changes of one place.
    operator: of cosmic-ray. occurrence: of the places in the file that the operator changes.
    """

    place: str
    file: Path
    line: int
    operator: str
    occurrence: int


class Tests(NamedTuple):
    """Tests by the lines of the package that they execute.

    of_line: by file and line. of_file: by file. lines: how many lines a test executes.
    """

    of_line: dict[tuple[str, int], set[str]]
    of_file: dict[str, set[str]]
    lines: Counter[str]


def main(count: str = "400", seed: str = str(SEED)) -> int:
    """Try a sample and print each mutant that survives."""
    sample = sorted(every_place(), key=lambda mutant: _hash(seed, mutant.place))[: int(count)]
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(COPIES) as pool:
        free: Queue[Path] = Queue()
        for number in range(COPIES):
            copied = Path(directory) / str(number)
            shutil.copytree(ROOT, copied, ignore=shutil.ignore_patterns(".*", "__pycache__", "*.egg-info"))
            free.put(copied)
        tests = executed(copied)

        def killed(mutant: Mutant) -> bool:
            copied = free.get()
            try:
                return is_killed(mutant, copied, candidates(mutant, tests))
            finally:
                free.put(copied)

        survivors = 0
        for mutant, noticed in zip(sample, pool.map(killed, sample), strict=True):
            if not noticed:
                survivors += 1
                print(f"{mutant.file.relative_to(ROOT)}:{mutant.line}: {mutant.operator}: {mutant.place}", flush=True)
    print(f"seed {seed}: {len(sample)} mutants, {len(sample) - survivors} killed, {survivors} survived")
    return 0


def every_place() -> Iterator[Mutant]:
    """One change of each place that can be changed, drawn from cosmic-ray's operators for it."""
    files = sorted(path for folder in FOLDERS for path in (ROOT / "dispatch_cli" / folder).rglob("*.py"))
    operators = {name: get_operator(name) for name in operator_names() if not name.endswith(EQUIVALENT)}
    for file in files:
        text = file.read_text(encoding="utf-8")
        lines = text.splitlines()
        idle = _idle(ast.parse(text))
        changes: dict[tuple[int, int], list[tuple[str, int]]] = defaultdict(list)
        nodes = list(ast_nodes(get_ast(text)))
        for name, operator in operators.items():
            if operator.arguments():
                continue
            instance = operator()
            spots = (start for node in nodes for start, _ in instance.mutation_positions(node))
            for occurrence, start in enumerate(spots):
                changes[start].append((name, occurrence))
        repeated: Counter[tuple[str, int]] = Counter()
        for (line, column), ways in sorted(changes.items()):
            if any(start <= (line, column) < end for start, end in idle):
                continue
            key = (lines[line - 1].strip(), column)
            repeated[key] += 1
            place = f"{file.relative_to(ROOT)} {column} {repeated[key]} {key[0]}".replace("\t", " ")
            yield Mutant(place, file, line, *random.Random(place).choice(ways))


def _idle(tree: ast.Module) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Spans of annotations, decorators and docstrings, whose changes no test could see."""
    parts: list[ast.AST] = []
    for node in ast.walk(tree):
        parts += [part for name in ("annotation", "returns") if (part := getattr(node, name, None))]
        parts += getattr(node, "decorator_list", [])
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            parts.append(node)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            parts.append(node)
        if isinstance(node, ast.keyword) and node.arg == "strict":
            parts.append(node)
    return [((part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)) for part in parts]


def executed(copied: Path) -> Tests:
    """Tests of the quick suite by the lines that they execute, from a run with coverage."""
    file = copied / "coverage"
    rc = copied / "coveragerc"
    rc.write_text(f"[run]\nsource = dispatch_cli\ndata_file = {file}\n", encoding="utf-8")
    options = ["--cov=dispatch_cli", f"--cov-config={rc}", "--cov-context=test", "--cov-report="]
    subprocess.run([*_pytest(), "-n", str(COPIES), *options], cwd=copied, check=True)
    return read_coverage(file, copied)


def read_coverage(file: Path, copied: Path) -> Tests:
    """The lines that each test executes, as a run with coverage has left them."""
    data = CoverageData(str(file))
    data.read()
    tests = Tests({}, {}, Counter())
    for measured in data.measured_files():
        path = Path(measured).relative_to(copied).as_posix()
        for line, contexts in data.contexts_by_lineno(measured).items():
            names = {context.rpartition("|")[0] for context in contexts if context}
            tests.of_line[path, line] = names
            tests.of_file.setdefault(path, set()).update(names)
            tests.lines.update(names)
    return tests


def candidates(mutant: Mutant, tests: Tests) -> list[str]:
    """The tests to try: those that execute the line, then those of the file, in both lots the narrow ones first.

    What a cache, an import or the parameters of a test execute counts for one test, or for none: so those of the file.
    """
    path = mutant.file.relative_to(ROOT).as_posix()
    of_line = tests.of_line.get((path, mutant.line), set())
    of_file = tests.of_file.get(path, set())
    return sorted(of_file, key=lambda name: (name not in of_line, tests.lines[name], name))[:TESTS]


def is_killed(mutant: Mutant, copied: Path, tests: list[str]) -> bool:
    """True if a test fails, or does not end, with the change."""
    target = copied / mutant.file.relative_to(ROOT)
    text = mutant.file.read_text(encoding="utf-8")
    changed = mutate_code(text, get_operator(mutant.operator)(), mutant.occurrence)
    target.write_text(changed, encoding="utf-8")
    try:
        return any(_fails(copied, few) for few in (tests[:20], tests[20:]) if few)
    finally:
        target.write_text(text, encoding="utf-8")


def _fails(copied: Path, tests: list[str]) -> bool:
    command = [*_pytest(), "-x", "--tb=no", *tests]
    try:
        return bool(subprocess.run(command, cwd=copied, capture_output=True, timeout=SECONDS).returncode)
    except subprocess.TimeoutExpired:
        return True


def _pytest() -> list[str]:
    return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]


def _hash(seed: str, place: str) -> str:
    return hashlib.sha256(f"{seed} {place}".encode()).hexdigest()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
