"""Write the pictures in the README: what commands print, as a terminal shows it.

usage: python -m tests.write_screenshot
"""

from __future__ import annotations

import io
import shlex
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tests.cli.support import in_terminal

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
    output = in_terminal(WIDTH, *command, "--color", "always").out
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


if __name__ == "__main__":
    main()
