"""Write the pictures in the README: what commands print, as a terminal shows it.

usage: python -m tests.write_screenshot
"""

from __future__ import annotations

import io
import shlex
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

WIDTH = 100
EXAMPLES = Path(__file__).parents[1] / "examples"
SCENARIOS = "examples/scenarios"
KEYS = ("CPU", "PrivateUse1", "AutogradCPU", "AutogradPrivateUse1")
COMMANDS = {
    "table": ["table", "examples/overlay.yaml", "--op", "aten::to.dtype", *(f"--key={key}" for key in KEYS)],
    "explain": ["explain", "aten::to.dtype", "AutogradPrivateUse1", f"{SCENARIOS}/01_composite_override.yaml"],
    "resolve": ["resolve", "mylib::norm", f"{SCENARIOS}/10_sparse_bypass.yaml", "--tensor", "cpu sparse requires_grad"],
}
"""Picture → the command that it shows."""


def picture(name: str) -> str:
    """The picture of a command that runs in a terminal of that width, as SVG."""
    command = COMMANDS[name]
    output = _in_terminal([sys.executable, "-m", "dispatch_cli", *command, "--color", "always"])
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="standard")
    console.print(Text.assemble(("$ ", "bold"), f"dispatch-cli {shlex.join(command)}"))
    console.print(Text.from_ansi(output))
    return console.export_svg(title="dispatch-cli", unique_id=f"dispatch-cli-{name}")


def path_of(name: str) -> Path:
    return EXAMPLES / f"{name}.svg"


def main() -> None:
    """Write every picture."""
    for name in COMMANDS:
        path_of(name).write_text(picture(name), encoding="utf-8")


def _in_terminal(command: list[str]) -> str:
    import fcntl
    import os
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, WIDTH, 0, 0))
    process = subprocess.Popen(command, stdout=theirs, stdin=subprocess.DEVNULL)
    os.close(theirs)
    chunks = []
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:
            break
        if not chunk:
            break
        chunks.append(chunk)
    process.wait()
    return b"".join(chunks).decode().replace("\r\n", "\n")


if __name__ == "__main__":
    main()
