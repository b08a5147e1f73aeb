"""Many library blocks over a whole PyTorch, with and without a checkpoint around each, as a ratio; and taking one back.

usage: python -m tests.benchmarks.checkpoints [RUNS]

Each block registers a handful of kernels for operators of the base, every second one for the same operators again. The
time of an empty checkpoint and of a restored block is printed for a small and for a large dispatcher: it must not grow.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from dispatch_cli import bases
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.dispatcher.library import Library
from dispatch_cli.model.declarations import Block, LibraryKind
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.universes import load

BLOCKS = 2_000
KERNELS = 5
KEYS = ("PrivateUse1", "AutogradPrivateUse1")


def main(runs: int) -> None:
    """Measure both, in turn."""
    names = [OperatorName.parse(name) for name in bases.load("torch-2.15").names]
    _load(names, _without)  # to read the state and make the plans
    pairs = [(_load(names, _around), _load(names, _without)) for _ in range(runs)]
    ours, peer = (statistics.median(side) for side in zip(*pairs, strict=True))
    print(f"{BLOCKS} library blocks of {KERNELS} kernels over torch-2.15, a checkpoint around each against none")
    print(f"  with {ours:.3f} s   without {peer:.3f} s   median of {runs}\n  ratio {ours / peer:.2f}")
    small, large = (_taken_back(size, runs) for size in (10, 100_000))
    print("a block of one kernel, registered and taken back by a checkpoint")
    print(f"  among 100,000 operators {large * 1e6:.1f} us   among 10 {small * 1e6:.1f} us   median of {runs}")
    print(f"  ratio {large / small:.2f}")


def _without(_: Dispatcher) -> AbstractContextManager[None]:
    return nullcontext()


@contextmanager
def _around(dispatcher: Dispatcher) -> Iterator[None]:
    checkpoint = dispatcher.checkpoint()
    yield
    del checkpoint


def _load(names: list[OperatorName], around: Callable[[Dispatcher], AbstractContextManager[None]]) -> float:
    base = bases.load("torch-2.15")
    dispatcher = Dispatcher(base.universe, base=base)
    gc.collect()
    start = time.perf_counter()
    for number in range(BLOCKS):
        with around(dispatcher):
            key = KEYS[number % len(KEYS)]
            library = Library(dispatcher, Block(LibraryKind.IMPL, "aten", key, "backend.cpp", number))
            first = number // 2 * KERNELS % (len(names) - KERNELS)
            for name in names[first : first + KERNELS]:
                dispatcher.implement(name, library.dispatch_key, Kernel(f"kernel_{number}"))
    return time.perf_counter() - start


def _taken_back(operators: int, runs: int) -> float:
    dispatcher = Dispatcher(load("torch-2.15"))
    for number in range(operators):
        dispatcher.implement(OperatorName(f"large::op{number}"), "CPU", Kernel("cpu"))
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        for number in range(1_000):
            checkpoint = dispatcher.checkpoint()
            dispatcher.implement(OperatorName(f"large::op{number % operators}"), "CUDA", Kernel("cuda"))
            dispatcher.restore(checkpoint)
        seconds.append((time.perf_counter() - start) / 1_000)
    return statistics.median(seconds)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
