"""The embedded states for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from dispatch_cli.bases import Description
from dispatch_cli.render import console
from dispatch_cli.render.console import Rows, plain, to_text
from dispatch_cli.render.style import Style


def bases_text(descriptions: Sequence[Description], style: Style) -> Iterator[str]:
    """One row per state."""
    table = Rows(["Name", "PyTorch"])
    for header in ("Operators", "Kernels", "Higher-order", "Size"):
        table.add_column(header, justify="right")
    for one in descriptions:
        counts = [str(number) for number in (one.operators, one.kernels, one.higher_order_operators)]
        cells = (one.name, one.torch, *counts, f"{one.bytes / 1024:.0f} KiB")
        table.add_row(*map(plain, cells))
    if not descriptions:
        yield to_text([Text("No state is embedded.", console.DIM)], style)
        return
    yield to_text([table], style)
