"""Random operators in a live PyTorch, and the same ones as declarations: figures, and every difference.

usage: python -m tests.custom_ops PYTHON [COUNT [SEED]]   (PYTHON has PyTorch)
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.custom_ops.compare import live_comparison


def main(python: str, count: int = 500, seed: int = 1) -> int:
    """Compare and print; 1 when something differs."""
    with TemporaryDirectory() as scratch:
        version, comparison = live_comparison(python, seed, count, Path(scratch))
    print(f"PyTorch {version}: {count} operators, seed {seed}")
    for kind, agreed in sorted(comparison.agreed.items()):
        wrong = sum(difference[0] == kind for difference in comparison.differences)
        print(f"  {kind:24} {agreed:6} agreed {wrong:5} differ")
    for why, times in comparison.skipped.items():
        print(f"  {times} times: {why}")
    for kind, name, detail, ours, theirs in comparison.differences[:40]:
        print(f"{kind} {name} {detail}\n  ours: {ours}\n  live: {theirs}")
    print(f"{sum(comparison.agreed.values())} comparisons agree, {len(comparison.differences)} differ")
    return 1 if comparison.differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
