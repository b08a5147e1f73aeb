"""Write the picture in the README: a command's own output, as a terminal shows it.

usage: python -m tests.write_screenshot
"""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

WIDTH = 120
COMMAND = ["table", "examples/overlay.yaml", "--op", "aten::to.dtype"]
for _key in ("CPU", "PrivateUse1", "AutogradCPU", "AutogradPrivateUse1"):
    COMMAND += ["--key", _key]
PICTURE = Path(__file__).parents[1] / "examples" / "table.svg"


def main() -> None:
    """Run the command in a pseudo-terminal of that width, and draw what it prints."""
    shown = f"dispatch-cli {' '.join(COMMAND)}"
    output = _in_terminal([sys.executable, "-m", "dispatch_cli", *COMMAND, "--color", "always"])
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="standard")
    console.print(Text.assemble(("$ ", "bold"), shown))
    console.print(Text.from_ansi(output))
    PICTURE.write_text(console.export_svg(title="dispatch-cli", unique_id="dispatch-cli"), encoding="utf-8")


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
