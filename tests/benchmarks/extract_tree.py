"""Extracting from a tree of sources, beside reading the same files with ``cat``, and parsing them with tree-sitter-cpp.

usage: python -m tests.benchmarks.extract_tree FOLDER [RUNS]

Whole processes are measured, in turn. The parser is measured where it is installed (``pip install -e
'.[benchmarks]'``); it makes a tree of each C++ file, and that is all.
"""

from __future__ import annotations

import importlib.util
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from dispatch_cli.extract.walk import walk
from dispatch_cli.model.sources.extracted import SourceKind
from tests.benchmarks.measure import in_turn, installed

PARSE = """
import sys
from tree_sitter import Language, Parser
import tree_sitter_cpp

parser = Parser(Language(tree_sitter_cpp.language()))
for name in open(sys.argv[1], encoding="utf-8").read().splitlines():
    with open(name, "rb") as file:
        parser.parse(file.read())
"""


def main(folder: str, runs: int) -> None:
    """Measure, and print a line for each."""
    sources = walk([folder], [], True)
    names = sorted({*sources.headers, *sources.files.get(SourceKind.CPP, ())})
    size = sum(Path(name).stat().st_size for name in names)
    print(f"{len(names):,} C++ files with {size / 1e6:.1f} MB; median of {runs}")
    with tempfile.TemporaryDirectory() as temporary:
        listed = Path(temporary, "files.txt")
        listed.write_text("\n".join(names) + "\n", encoding="utf-8")
        for name, measured in in_turn(commands(folder, temporary, str(listed)), runs).items():
            cost = f"{measured.seconds:7.2f} s, {measured.processor:.2f} s of processor time"
            print(f"  {name:<24}{cost} {measured.memory:7.0f} MiB")


def commands(folder: str, temporary: str, listed: str) -> dict[str, Sequence[str]]:
    """The commands to measure, by name."""
    extract = f"{shlex.quote(installed())} extract {shlex.quote(folder)} --allow-outside -o {temporary}/out.yaml"
    runs: dict[str, Sequence[str]] = {
        "extract": ["sh", "-c", f"{extract} 2>/dev/null"],
        "cat": ["sh", "-c", f"exec xargs -d '\\n' cat < {listed}"],
    }
    if importlib.util.find_spec("tree_sitter_cpp") is not None:
        runs["tree-sitter-cpp"] = [sys.executable, "-c", PARSE, listed]
    return runs


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3)
