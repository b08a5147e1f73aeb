"""Extracting ``native_functions.yaml`` as a ratio to ``torchgen.gen.parse_native_yaml``, in one process, in turn.

usage: python -m tests.benchmarks.native_functions DIRECTORY [RUNS]

DIRECTORY is the ``site-packages`` of a PyTorch, which has torchgen with its files. Ours is measured up to the
definitions and kernels with their places, without and with ``derivatives.yaml``; torchgen makes its model of the
functions only. Processor time, so that other work on the machine matters less.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from dispatch_cli.extract.sources import Sources
from dispatch_cli.extract.torchgen import extract_torchgen
from dispatch_cli.model.extracted import SourceKind


def main(parent: str, runs: int) -> None:
    """Print the medians and the ratios."""
    sys.path.append(parent)
    from torchgen import gen

    packaged = Path(parent, "torchgen", "packaged")
    native = str(packaged / "ATen" / "native" / "native_functions.yaml")
    tags = str(packaged / "ATen" / "native" / "tags.yaml")
    derivatives = str(packaged / "autograd" / "derivatives.yaml")
    alone = {SourceKind.NATIVE_FUNCTIONS: [native]}
    both = {**alone, SourceKind.DERIVATIVES: [derivatives]}

    def theirs() -> None:
        gen._GLOBAL_PARSE_NATIVE_YAML_CACHE.clear()
        gen.parse_native_yaml(native, tags)

    found = len(extract_torchgen(Sources(both)).found)
    steps: list[Callable[[], object]] = [
        theirs,
        lambda: extract_torchgen(Sources(alone)),
        lambda: extract_torchgen(Sources(both)),
    ]
    for step in steps:
        step()
    measured = [[_seconds(step) for step in steps] for _ in range(runs)]
    peer, ours, with_derivatives = (statistics.median(times) for times in zip(*measured, strict=True))
    print(f"extracting native_functions.yaml against torchgen.gen.parse_native_yaml, median of {runs}")
    print(f"  peer {peer:.3f} s   ours {ours:.3f} s   with derivatives.yaml ({found} entries) {with_derivatives:.3f} s")
    print(f"  ratio {ours / peer:.2f}   with derivatives.yaml {with_derivatives / peer:.2f}")


def _seconds(step: Callable[[], object]) -> float:
    start = time.process_time()
    step()
    return time.process_time() - start


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 7)
