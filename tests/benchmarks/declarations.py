"""Declaration files of made-up operators: time and memory per operator, and loading against PyYAML's C parser alone.

usage: python -m tests.benchmarks.declarations [RUNS]

The command loads each file, runs it, and dumps every table. What it takes with one operator is taken off.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.measure import in_turn, installed, report, side_by_side

SIZES = (1_000, 10_000, 100_000)
KEYS = ("CPU", "CUDA", "Meta", "SparseCPU", "QuantizedCPU", "PrivateUse1", "AutogradCPU", "FuncTorchBatched")
ALIASES = ("CompositeImplicitAutograd", "CompositeExplicitAutograd", "Autograd")
NAME = "{}_{}"
DESCRIBED = (
    '{{debug: "registered at made/up/{}.cpp:{}", signature: "(Tensor _0) -> Tensor _0", boxed: true, unboxed: true}}'
)
LOAD = "import sys; from dispatch_cli import load; load([sys.argv[1]])"
PARSE = "import sys, yaml; yaml.load(open(sys.argv[1], encoding='utf-8').read(), yaml.CSafeLoader)"


def registry(size: int, kernel: str) -> Iterator[str]:
    """The lines of a declaration file of *size* operators, four kernels each."""
    dice = random.Random(0)
    yield "dispatch: 1\noperators:\n"
    for number in range(size):
        yield f"  - func: made::up{number}(Tensor x) -> Tensor\n    dispatch:\n"
        for key in (*dice.sample(KEYS, 3), dice.choice(ALIASES)):
            yield f"      {key}: {kernel.format(key, number)}\n"


def main(runs: int) -> None:
    """Write the files, and measure all in turn."""
    with tempfile.TemporaryDirectory() as folder:
        files = {size: Path(folder, f"{size}.yaml") for size in (1, *SIZES)}
        for size, path in files.items():
            with path.open("w", encoding="utf-8") as file:
                file.writelines(registry(size, NAME))
        described = Path(folder, "described.yaml")
        described.write_text("".join(registry(SIZES[1], DESCRIBED)), encoding="utf-8")
        commands = {str(size): [installed(), "table", str(path), "--format", "raw"] for size, path in files.items()}
        measured = in_turn(commands, runs)
        loading = [[sys.executable, "-c", code, str(described)] for code in (LOAD, PARSE)]
        report("loading 10,000 operators against yaml.load with CSafeLoader", *side_by_side(*loading, runs), runs)
    least = measured["1"]
    for size in SIZES:
        cost = measured[str(size)]
        each = (cost.processor - least.processor) / size * 1e6, (cost.memory - least.memory) / size * 1024
        print(f"{size:>7} operators: {each[0]:6.1f} µs of processor time and {each[1]:5.2f} KiB each")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
