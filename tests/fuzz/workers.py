"""Chunks of cases in processes of their own, a few at the same time."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, wait
from typing import NamedTuple

from tests.fuzz.cases import run_chunk
from tests.fuzz.counts import Counts


class Chunk(NamedTuple):
    """Cases with these numbers."""

    seed: int
    first: int
    count: int


def _work(chunk: Chunk, memory_every: int, out: Connection) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    out.send(run_chunk(chunk.seed, chunk.first, chunk.count, memory_every))


def results(chunks: Iterable[Chunk], jobs: int, memory_every: int) -> Iterator[Counts]:
    """Run chunks, so many at a time, and yield what each gave.

    Each has a process of its own, as the command line leaves garbage where it lies. This process has one thread: where
    others run while it is copied, the copy can wait forever for a lock that one of them had.
    """
    context = multiprocessing.get_context("fork")
    running: dict[object, tuple[multiprocessing.process.BaseProcess, Chunk]] = {}
    waiting = iter(chunks)
    try:
        while True:
            while len(running) < jobs and (chunk := next(waiting, None)) is not None:
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(target=_work, args=(chunk, memory_every, theirs), daemon=True)
                process.start()
                theirs.close()
                running[ours] = process, chunk
            if not running:
                return
            for ready in wait([connection for connection in running if isinstance(connection, Connection)]):
                assert isinstance(ready, Connection)
                process, chunk = running.pop(ready)
                try:
                    yield ready.recv()
                except EOFError:
                    yield Counts(failures=[f"cases {chunk.first} and later of seed {chunk.seed}: the process ended"])
                process.join()
                ready.close()
    finally:
        for process, _ in running.values():
            process.kill()
