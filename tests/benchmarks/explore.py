"""Time that the explorer takes for a key, against a DataTable of the same size beside a static table.

``python -m tests.benchmarks.explore [RUNS]``. Both run in a pseudo-terminal of 120 columns and 40 lines, with textual's
driver; see `tests.benchmarks.explore_child`. The peer's table does not change when its cursor moves; in a second peer
it does. A what-if toggle, with the checks run again, is compared with the peer's cursor. The start is compared with
that of an empty textual application that imports click. At most 1.5 is wanted, for a toggle 2.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.explore_child import KeyCost

SIZE = (40, 120)


def in_terminal(side: str) -> dict[str, Any]:
    """Run a side in a pseudo-terminal, and read the figures that it wrote."""
    control, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", *SIZE, 0, 0))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment["EXPLORE_STARTED"] = repr(time.perf_counter())
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.benchmarks.explore_child", side, str(out)],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env=environment,
            start_new_session=True,
        )
        os.close(terminal)
        output: list[bytes] = []
        reader = threading.Thread(target=_drain, args=(control, output), daemon=True)
        reader.start()
        process.wait()
        reader.join(2)
        os.close(control)
        if not out.exists():
            sys.exit(f"{side} ended with {process.returncode}:\n{b''.join(output)[-3000:].decode(errors='replace')}")
        report: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
        return report


def _drain(control: int, output: list[bytes]) -> None:
    while True:
        try:
            read = os.read(control, 1 << 16)
        except OSError:
            return
        if not read:
            return
        output.append(read)


def costs(side: str, runs: int) -> tuple[dict[str, list[KeyCost]], float]:
    """Costs of keys, of several runs together, and the memory in MiB."""
    together: dict[str, list[KeyCost]] = {}
    memory = 0.0
    for _ in range(runs):
        figures = in_terminal(side)
        memory = max(memory, figures["memory"])
        for name, keys in figures["costs"].items():
            together.setdefault(name, []).extend(KeyCost(*key) for key in keys)
    return together, memory


def at(values: list[float], percent: int) -> float:
    """A percentile, in milliseconds."""
    return 1000 * statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def line(title: str, ours: list[KeyCost], peer: list[KeyCost]) -> None:
    """Print a comparison."""
    parts = []
    for field, name in (("first", "first frame"), ("last", "last frame"), ("processor", "processor")):
        mine, other = ([getattr(cost, field) for cost in side] for side in (ours, peer))
        both = [(at(mine, percent), at(other, percent)) for percent in (50, 95)]
        numbers = " ".join(f"p{p} {a:.1f}/{b:.1f} ms = {a / b:.2f}" for p, (a, b) in zip((50, 95), both, strict=True))
        parts.append(f"  {name}: {numbers}")
    print(title, *parts, sep="\n")


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    ours, memory = costs("ours", runs)
    peer, peer_memory = costs("peer", runs)
    following, _ = costs("following", runs)
    for name in ("cursor", "typing", "pane"):
        line(f"{name}, ours / peer with a static table", ours[name], peer[name])
    line("cursor, ours / peer whose table follows the cursor", ours["cursor"], following["cursor"])
    toggles, _ = costs("whatif", runs)
    line("what-if toggle with checks / cursor of the peer", toggles["whatif"], peer["cursor"])
    line("what-if toggle with checks / cursor of the peer whose table follows", toggles["whatif"], following["cursor"])
    # in turn, so that what else the machine does is the same for both
    pairs = [(in_terminal("start"), in_terminal("empty")) for _ in range(5 + 2 * runs)]
    starts = dict(zip(("start", "empty"), zip(*pairs, strict=True), strict=True))
    mine, empty = (statistics.median(start["seconds"] for start in starts[side][1:]) for side in ("start", "empty"))
    used, usual = (statistics.median(start["processor"] for start in starts[side][1:]) for side in ("start", "empty"))
    print(
        f"start: {mine:.3f}/{empty:.3f} s = {mine / empty:.2f}; processor {used:.3f}/{usual:.3f} s = {used / usual:.2f}"
    )
    print(f"memory: {memory:.0f}/{peer_memory:.0f} MiB = {memory / peer_memory:.2f}")


if __name__ == "__main__":
    main()
