"""Processor time that the explorer takes for a key, against a DataTable of the same size beside a static table.

``python -m tests.benchmarks.explore``. Each side runs without a terminal, in a process of its own: the time goes from a
key until nothing happens any more. The peer's table changes with its cursor.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import time
from typing import Any

KEYS = {
    "cursor": ["down"] * 100,
    "pane": ["2", "1"] * 20,
    "typing": [*"addtensor", *["backspace"] * 9, *"matmul"],
    "what-if": [*["x", "u"] * 10],
}
BEFORE = {
    "cursor": ["down"],
    "pane": ["2", "1"],
    "typing": ["slash", "a", "backspace"],
    "what-if": ["escape", "4", "down"],
}
"""Keys by what they do, and those that are pressed before, unmeasured. The peer has no what-if: its cursor counts."""


def ours() -> Any:
    """The explorer over a whole PyTorch."""
    from dispatch_cli.api import load_state
    from dispatch_cli.explore.app import ExploreApp, rest_collector
    from dispatch_cli.explore.session import Session

    rest_collector()
    return ExploreApp(Session(load_state((), bases=("torch-2.15",)), ("--base", "torch-2.15")))


def peer() -> Any:
    """A plain textual application with as many rows."""
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
            table.add_rows([(" ", name, "") for name in names])
            table.focus()

        def on_input_changed(self, event: Input.Changed) -> None:
            table = self.query_one(DataTable)
            table.clear()
            table.add_rows([(" ", name, "") for name in names if event.value in name.lower()])

        def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
            self.query_one(Static).update(rows(names[event.cursor_row]))

        def key_slash(self) -> None:
            self.query_one(Input).focus()

        def key_1(self) -> None:
            self.query_one(Static).update(rows("first"))

        def key_2(self) -> None:
            self.query_one(Static).update(rows("second"))

    return Plain()


async def costs(app: Any) -> dict[str, list[float]]:
    """Seconds of processor time for each key."""
    results: dict[str, list[float]] = {}
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause(2)
        for name, keys in KEYS.items():
            await pilot.press(*BEFORE[name])
            for key in keys:
                start = time.process_time()
                await pilot.press(key)
                await pilot.pause(0.1)  # our views follow a cursor that rests
                await pilot.pause()
                results.setdefault(name, []).append(time.process_time() - start)
    return results


def main() -> None:
    """Print medians and 95th percentiles in milliseconds: ours, the peer's, the ratio."""
    sides = []
    for side in ("ours", "peer"):
        command = [sys.executable, "-m", "tests.benchmarks.explore", side]
        sides.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    for name in KEYS:
        parts = []
        for percent in (50, 95):
            kinds = (name, "cursor" if name == "what-if" else name)
            mine, other = (
                statistics.quantiles(side[kind], n=100)[percent - 1] * 1000
                for side, kind in zip(sides, kinds, strict=True)
            )
            parts.append(f"p{percent} {mine:.1f}/{other:.1f} ms = {mine / other:.2f}")
        print(f"{name:<8}", *parts)


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(asyncio.run(costs({"ours": ours, "peer": peer}[sys.argv[1]]()))))
    else:
        main()
