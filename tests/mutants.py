"""Random mutants of the engine: which of them its tests notice.

usage: python -m tests.mutants [COUNT [SEED [GLOB…]]]

A mutant has one operator, constant, condition or statement changed. Each is tried in a copy of the project against
the tests of the engine and of what shows it, until the first failure. Prints each survivor, then how many were
noticed. GLOB: the files of the package that are changed. mutmut and cosmic-ray change whole files and cannot draw a
sample.
"""

from __future__ import annotations

import ast
import copy
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SEED = 34
GLOBS = ("engine/rules.py", "engine/table/*.py", "engine/call/*.py", "engine/call/kernels/*.py")
FIRST = ("dispatcher", "table", "python", "call")
"""Folders of tests that are tried before the others: they are quick and notice most."""
LAST = ["tests/engine", "tests/checks", "tests/answers", "tests/cli/test_resolve.py", "tests/test_scenarios.py"]
SECONDS = 600
"""After which a mutant that does not end counts as noticed."""
PAIRS = (
    *((ast.Eq, ast.NotEq), (ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.In, ast.NotIn), (ast.Is, ast.IsNot)),
    *((ast.And, ast.Or), (ast.Add, ast.Sub), (ast.BitOr, ast.BitAnd)),
)
SWAPPED: dict[type[ast.AST], type[ast.AST]] = {one: other for pair in PAIRS for one, other in (pair, pair[::-1])}


class Mutant(NamedTuple):
    """A change of a file. number: of the node, as `ast.walk` counts. way: of the ways in which that node can change."""

    file: Path
    number: int
    way: int


def main(count: str = "60", seed: str = str(SEED), *globs: str) -> int:
    """Try a sample; the exit code is 1 where a mutant survives."""
    files = sorted(path for glob in globs or GLOBS for path in (ROOT / "dispatch_cli").glob(glob))
    every = [mutant for file in files for mutant in mutants(file)]
    sample = random.Random(int(seed)).sample(every, min(int(count), len(every)))
    survivors = 0
    with tempfile.TemporaryDirectory() as directory:
        copied = Path(directory) / "copy"
        shutil.copytree(ROOT, copied, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        for mutant in sample:
            line, before, after, text = changed(mutant)
            target = copied / mutant.file.relative_to(ROOT)
            target.write_text(text, encoding="utf-8")
            if not is_noticed(copied):
                survivors += 1
                print(f"{mutant.file.relative_to(ROOT)}:{line}: {before}  ->  {after}", flush=True)
            shutil.copyfile(mutant.file, target)
    print(
        f"seed {seed}: {len(sample)} of {len(every)} mutants, {len(sample) - survivors} noticed, {survivors} survived"
    )
    return 1 if survivors else 0


def mutants(file: Path) -> Iterator[Mutant]:
    """All mutants of a file."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    left_out = {id(below) for node in ast.walk(tree) for part in _words(node) for below in ast.walk(part)}
    for number, node in enumerate(ast.walk(tree)):
        if id(node) not in left_out:
            yield from (Mutant(file, number, way) for way in range(len(_ways(node))))


def _words(node: ast.AST) -> list[ast.AST]:
    """Parts of a node that do nothing: annotations, texts that are statements, and ``strict`` of `zip`."""
    parts = [getattr(node, "annotation", None), getattr(node, "returns", None)]
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        parts.append(node)
    if isinstance(node, ast.keyword) and node.arg == "strict":
        parts.append(node)
    return [part for part in parts if isinstance(part, ast.AST)]


def _ways(node: ast.AST) -> list[ast.AST]:
    """Nodes that can take the place of a node."""
    if isinstance(node, ast.Compare):
        ways = ([*node.ops[:at], SWAPPED[type(op)](), *node.ops[at + 1 :]] for at, op in enumerate(node.ops))
        return [ast.Compare(node.left, ops, node.comparators) for ops in ways]
    if isinstance(node, ast.BoolOp | ast.BinOp) and type(node.op) in SWAPPED:
        swapped = copy.copy(node)
        swapped.op = SWAPPED[type(node.op)]()
        return [swapped]
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int):
        return [ast.Constant(not node.value if isinstance(node.value, bool) else node.value + 1)]
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        inverted = copy.copy(node)
        inverted.test = ast.UnaryOp(ast.Not(), node.test)
        return [inverted]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return [node.operand]
    if isinstance(node, ast.Break | ast.Continue):
        return [ast.Continue() if isinstance(node, ast.Break) else ast.Break()]
    if isinstance(node, ast.AugAssign) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        return [ast.Pass()]
    if isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        return [ast.Return(ast.Constant(None))]
    return []


def changed(mutant: Mutant) -> tuple[int, str, str, str]:
    """The line, the statement before and after the change, and the text of the file."""
    tree = ast.parse(mutant.file.read_text(encoding="utf-8"))
    node = list(ast.walk(tree))[mutant.number]
    line = next(part.lineno for part in (node, *_above(tree, node)) if hasattr(part, "lineno"))
    before = ast.unparse(tree).splitlines()
    replacement = _ways(node)[mutant.way]
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is node:
                setattr(parent, name, replacement)
            elif isinstance(value, list):
                setattr(parent, name, [replacement if part is node else part for part in value])
    text = ast.unparse(ast.fix_missing_locations(tree))
    differ = [pair for pair in zip(before, text.splitlines(), strict=False) if pair[0] != pair[1]]
    old, new = differ[0] if differ else ("", "")
    return line, old.strip(), new.strip(), text


def _above(tree: ast.AST, node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that a node is in, the innermost first."""
    for parent in ast.walk(tree):
        if any(below is node for below in ast.iter_child_nodes(parent)):
            yield parent
            yield from _above(tree, parent)


def is_noticed(folder: Path) -> bool:
    """True if a test of the engine fails in this copy."""
    tests = [f"tests/engine/{name}" for name in FIRST]
    for paths in (tests, LAST):
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *paths]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return True
        if done.returncode:
            return True
    return False


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
