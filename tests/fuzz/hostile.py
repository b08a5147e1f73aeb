"""``python -m tests.fuzz.hostile [NAME…] [--seconds N] [--sizes N]``

Small inputs that ask for very much, for each reader of sources. Of each kind, `extract` and `check-invariants` read
three sizes, each the double of the one before it, in processes of their own; processor seconds, megabytes and the exit
code are printed.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.fuzz.hostile_cpp import HOSTILE, Hostile, Used, measure, write
from tests.fuzz.hostile_python import PYTHON
from tests.fuzz.hostile_trees import REVISIONS, TREES, make_repository


class Kind(NamedTuple):
    """A kind of input. size: the greatest. make: makes a size of it in a folder, and says its bytes. path: of it."""

    size: int
    make: Callable[[Path, int], int]
    path: str = "src"


def _of_files(kind: Hostile) -> Kind:
    return Kind(kind.size, lambda folder, count: write(kind.files(count), str(folder)))


def _of_repository(size: int, make: Callable[[Path, int], None]) -> Kind:
    return Kind(size, lambda folder, count: make_repository(folder, make, count), "HEAD:src")


KINDS: dict[str, Kind] = {
    **{f"C++: {name}": _of_files(kind) for name, kind in HOSTILE.items()},
    **{f"Python: {name}": _of_files(kind) for name, kind in PYTHON.items()},
    **{f"files: {name}": _of_files(kind) for name, kind in TREES.items()},
    **{f"git: {name}": _of_repository(*made) for name, made in REVISIONS.items()},
}


def figures(kind: Kind, seconds: int, sizes: int) -> Iterator[tuple[int, int, Used, Used]]:
    """The size and the bytes of each case, and the resources that both commands used."""
    for step in reversed(range(sizes)):
        with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
            count = max(kind.size >> step, 1)
            written = kind.make(Path(folder), count)
            extracted = measure(folder, ("extract", kind.path, "-o", "out.yaml"), seconds)
            yield count, written, extracted, measure(folder, ("check-invariants", kind.path), seconds)


def main() -> None:
    """Print the figures of the kinds whose names begin as it is said, or of all."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.hostile")
    parser.add_argument("names", nargs="*", default=[""], help="beginnings of names: 'git:', 'Python: a list'")
    parser.add_argument("--seconds", type=int, default=60, help="of the processor, for each run")
    parser.add_argument("--sizes", type=int, default=3)
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = str(Path.cwd())
    os.environ["DISPATCH_CLI_CACHE_DIR"] = "none"
    print("kind | size | bytes | extract: s | MB | exit | check-invariants: s | MB | exit")
    for name, kind in KINDS.items():
        if name.startswith(tuple(options.names)):
            for size, written, first, other in figures(kind, options.seconds, options.sizes):
                print(
                    f"{name} | {size:,} | {written:,} | {first.seconds:.1f} | {first.megabytes} | {first.code} | "
                    f"{other.seconds:.1f} | {other.megabytes} | {other.code}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
