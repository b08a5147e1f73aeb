"""One side of `tests.benchmarks.explore`: an application that presses its own keys and notes what they cost.

It runs in a terminal of its own, with textual's driver. Time goes from the arrival of a key event to the write of the
next frame, and to the last frame before nothing happens any more; processor time is that of the whole process until
then.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

STARTED = float(os.environ.get("EXPLORE_STARTED", "0"))
"""Start of this program, on the clock of ``time.perf_counter``."""
QUIET = 0.12
"""Seconds without a frame after which a key has done all it does."""
MOVES = 150
ROW = "RegisterSparseCPU"
"""Stands in a row of the table of aten::abs, which is the first operator."""
WORDS = ("addten", "conv2d", "sparsemm", "linear", "to.dt", "emb", "softmax", "nested", "idxput", "matmul")
Presses = dict[str, Sequence[str]]


class KeyCost(NamedTuple):
    """Seconds to the first frame and to the last one, and of the processor."""

    first: float
    last: float
    processor: float


class Recorder:
    """Notes the frames of an application."""

    def __init__(self) -> None:
        self.frames: list[float] = []
        self.found: dict[str, list[KeyCost]] = {}

    async def run(self, app: Any, presses: Presses, ready: Callable[[], bool] = lambda: True) -> None:
        """Press keys, one after the other, from when the application is *ready*: what it does once is done then."""
        while not ready():
            await asyncio.sleep(QUIET)
        await self.quiet()
        gc.collect()
        for name, keys in presses.items():
            for key in keys:
                if key.startswith("!"):  # not measured
                    await self.press(app, key[1:])
                else:
                    self.found.setdefault(name, []).append(await self.press(app, key))

    async def press(self, app: Any, key: str) -> KeyCost:
        from textual.events import Key

        self.frames.clear()
        start, processor = time.perf_counter(), time.process_time()
        app.post_message(Key(key, key if len(key) == 1 else None))
        await self.quiet()
        used = time.process_time() - processor
        frames = [frame - start for frame in self.frames] or [0.0]
        return KeyCost(frames[0], frames[-1], used)

    async def quiet(self) -> None:
        """Wait until there are no frames any more."""
        since = time.perf_counter()
        while time.perf_counter() - max([since, *self.frames[-1:]]) < QUIET:
            await asyncio.sleep(QUIET / 4)


def recorded(kind: type[Any], recorder: Recorder, then: Callable[[Any], Any]) -> type[Any]:
    """A class of applications whose frames are noted; *then* is awaited when it runs."""

    class Recorded(kind):  # type: ignore[misc]
        def post_display_hook(self) -> None:
            recorder.frames.append(time.perf_counter())

        async def on_ready(self) -> None:
            self.run_worker(then(self), exit_on_error=True)

    Recorded.__name__ = kind.__name__
    return Recorded


def write(path: str, **found: Any) -> None:
    """Write what was found, for the program that started this one."""
    with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123
        json.dump({**found, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}, file)


def typing() -> list[str]:
    """Words, letter by letter; each is deleted afterwards, which is not measured."""
    return [
        key
        for word in WORDS
        for key in (*("full_stop" if char == "." else char for char in word), *["!backspace"] * len(word))
    ]


def keys() -> Presses:
    """The keys that both sides get. What is used for the first time is imported and laid out first, unmeasured."""
    return {
        "cursor": ["!down", *["down"] * MOVES],
        "pane": ["!2", "!1", *["2", "1"] * 20],
        "typing": ["!slash", "!a", "!backspace", *typing()],
    }


def ours(out: str, presses: Presses) -> None:
    """The explorer, run as its command does, once the checks that it makes after the start are through."""
    from dispatch_cli.api import load_state
    from dispatch_cli.explore import app as application
    from dispatch_cli.explore.session import Session

    recorder = Recorder()

    async def then(app: Any) -> None:
        await recorder.run(app, presses, lambda: app.catalogue.found is not None)
        write(out, costs=recorder.found)
        app.exit()

    application.ExploreApp = recorded(application.ExploreApp, recorder, then)  # type: ignore[misc]
    application.run(Session(load_state((), bases=("torch-2.15",)), ("--base", "torch-2.15")))


def peer(out: str, follows: bool) -> None:
    from rich.table import Table
    from textual.app import App, ComposeResult
    from textual.containers import Horizontal
    from textual.widgets import DataTable, Input, Static

    from dispatch_cli.api import load_state

    names = list(load_state((), bases=("torch-2.15",)).dispatcher.names())

    def rows(title: str) -> Table:
        table = Table("key", "kernel", "rule", title=title)
        for number in range(20):
            table.add_row(f"Key{number}", f"registered at file_{number}.cpp:{number}", f"{number}: {title}")
        return table

    class Plain(App[None]):
        CSS = "DataTable { width: 36; } Input { height: 1; border: none; }"

        def compose(self) -> ComposeResult:
            yield Input(compact=True)
            with Horizontal():
                yield DataTable(cursor_type="row")
                yield Static(rows("first"))

        def on_mount(self) -> None:
            table = self.query_one(DataTable)
            table.add_columns("", "operator", "findings")
            self.fill(names)
            table.focus()

        def fill(self, chosen: Sequence[str]) -> None:
            self.query_one(DataTable).add_rows([(" ", name, "") for name in chosen])

        def on_input_changed(self, event: Input.Changed) -> None:
            self.query_one(DataTable).clear()
            self.fill([name for name in names if event.value in name.lower()])

        def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
            if follows:
                self.query_one(Static).update(rows(names[event.cursor_row]))

        def key_slash(self) -> None:
            self.query_one(Input).focus()

        def key_1(self) -> None:
            self.query_one(Static).update(rows("first"))

        def key_2(self) -> None:
            self.query_one(Static).update(rows("second"))

    recorder = Recorder()

    async def then(app: Any) -> None:
        await recorder.run(app, keys())
        write(out, costs=recorder.found)
        app.exit()

    recorded(Plain, recorder, then)().run()


def start_ours(out: str) -> None:
    """Until the first frame with the table of the operator that comes first, as it is written to the terminal."""
    from textual.app import App
    from textual.drivers.linux_driver import LinuxDriver

    from dispatch_cli.cli import main

    written = LinuxDriver.write
    rows: list[bool] = []

    def write(self: Any, data: str) -> None:
        if ROW in data:
            rows.append(True)
        written(self, data)

    LinuxDriver.write = write  # type: ignore[method-assign]
    App.post_display_hook = lambda self: _painted(self, out, bool(rows))  # type: ignore[method-assign]
    main(["explore", "--base", "torch-2.15"])


def start_empty(out: str) -> None:
    """Until the first frame."""
    import click  # noqa: F401
    from textual.app import App

    class Empty(App[None]):
        def post_display_hook(self) -> None:
            _painted(self, out, True)

    Empty().run()


def _painted(app: Any, out: str, ready: bool) -> None:
    if ready and not hasattr(app, "painted"):
        app.painted = True
        write(out, seconds=time.perf_counter() - STARTED, processor=time.process_time())
        app.exit()


if __name__ == "__main__":
    side, out = sys.argv[1:3]
    {
        "ours": lambda: ours(out, keys()),
        "whatif": lambda: ours(out, {"whatif": ["!4", "!down", "!x", "!u", "!x", "!u", *["x", "u"] * 15]}),
        "peer": lambda: peer(out, follows=False),
        "following": lambda: peer(out, follows=True),
        "start": lambda: start_ours(out),
        "empty": lambda: start_empty(out),
    }[side]()
