"""Registries of 1,000, 10,000 and 100,000 made-up operators: time and memory per operator must stay flat.

usage: python -m tests.benchmarks.synthetic [RUNS]

Each registry is a declaration file; the command loads it, runs it, and dumps every table to a file. What it takes with
a file of one operator is taken off.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.measure import Measured, installed, once

SIZES = (1_000, 10_000, 100_000)
KEYS = ("CPU", "CUDA", "Meta", "SparseCPU", "QuantizedCPU", "PrivateUse1", "AutogradCPU", "FuncTorchBatched")
ALIASES = ("CompositeImplicitAutograd", "CompositeExplicitAutograd", "Autograd")


def registry(size: int) -> Iterator[str]:
    """The lines of a declaration file of *size* operators, four kernels each."""
    rng = random.Random(0)
    yield "dispatch: 1\noperators:\n"
    for number in range(size):
        keys = (*rng.sample(KEYS, 3), rng.choice(ALIASES))
        kernels = ", ".join(f"{key}: up{number}_{key}" for key in keys)
        yield f"  - func: made::up{number}(Tensor x) -> Tensor\n    dispatch: {{{kernels}}}\n"


def main(runs: int) -> None:
    """Measure each size *runs* times, in turn, and compare the sizes."""
    measured: dict[int, list[Measured]] = {size: [] for size in (1, *SIZES)}
    with tempfile.TemporaryDirectory() as folder:
        for size in measured:
            with Path(folder, f"{size}.yaml").open("w", encoding="utf-8") as file:
                file.writelines(registry(size))
        once([installed(), "table", str(Path(folder, "1.yaml"))])
        for _ in range(runs):
            for size, figures in measured.items():
                # a fresh file each time: to replace a large one takes as long as it is large
                out = Path(folder, "out")
                source = str(Path(folder, f"{size}.yaml"))
                figures.append(once([installed(), "table", source, "--format", "raw", "-o", str(out)]))
                out.unlink()
    medians = {
        size: (
            statistics.median(figure.seconds for figure in figures),
            statistics.median(figure.memory for figure in figures),
        )
        for size, figures in measured.items()
    }
    each = {}
    for size in SIZES:
        seconds, memory = (medians[size][i] - medians[1][i] for i in range(2))
        each[size] = (seconds / size * 1e6, memory / size * 1024)
        print(f"{size:>7} operators: {medians[size][0]:6.2f} s, {medians[size][1]:5.0f} MiB in all; ", end="")
        print(f"{each[size][0]:6.1f} µs and {each[size][1]:5.2f} KiB each")
    (time_small, memory_small), (time_large, memory_large) = each[SIZES[0]], each[SIZES[-1]]
    print(f"from {SIZES[0]:,} to {SIZES[-1]:,} operators (median of {runs}): ", end="")
    print(f"time x {time_large / time_small:.2f}, memory x {memory_large / memory_small:.2f} per operator")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
