"""A universe at a glance, for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from dispatch_cli.render import console
from dispatch_cli.render.backend_grid import BackendGrid
from dispatch_cli.render.console import plain, to_text, width_of
from dispatch_cli.render.document import Run
from dispatch_cli.render.facts import Fact, facts, lines
from dispatch_cli.render.key_wording import groups_label
from dispatch_cli.render.style import Style
from dispatch_cli.render.text import text
from dispatch_cli.render.text_safety import safe
from dispatch_cli.report.keys import AliasRow, CoreAnswer, FunctionalityRow, KeyRow, UniverseReport

CODES = {
    CoreAnswer.KERNEL: ("f", "blue"),
    CoreAnswer.FALLTHROUGH: (">", console.WARN),
    CoreAnswer.NOTHING: (".", console.DIM),
}
"""The letters are those of a table's grid."""
UNNAMED = "'"
_GAP = 3


def keys_text(report: UniverseReport, style: Style) -> Iterator[str]:
    """Priority, grid, aliases, defaults and devices."""
    yield to_text(_sections(report, style), style)


def _sections(report: UniverseReport, style: Style) -> Iterator[RenderableType]:
    yield plain(f"{report.universe}: the dispatch keys of PyTorch {report.torch}", console.HEAD)
    functionalities, backends = len(report.functionalities), len(report.backends)
    counts = f"{functionalities} functionalities and {backends} backends make {len(report.keys)} runtime keys"
    yield plain(f"{counts}; {len(report.aliases)} alias keys", console.DIM)
    yield Text()
    yield plain("Priority, highest first: a call goes to the highest key of its set")
    yield from _columns([_functionality(row, len(report.backends)) for row in report.functionalities], style)
    yield Text()
    yield plain("Functionalities that are per backend: each cell is a runtime key")
    per_backend = [row for row in reversed(report.functionalities) if row.per_backend]
    names = [row.backend for row in report.backends]
    cells = [(label_of(row), [(Run(_cell(key).plain),) for key in row.keys]) for row in per_backend]
    grid = BackendGrid(names, cells, style.width)
    yield Text("".join(text(grid.blocks(), style)).rstrip("\n") + "\n")
    yield from _legend(report.keys)
    yield Text("".join(text(grid.abbreviations(), style)).rstrip("\n"))
    yield Text()
    yield plain("Alias keys, in the order of the rules that ask them, and what they cover")
    yield from facts([_alias(row) for row in report.aliases], style)
    yield Text()
    yield from facts([*_others(report)], style)


def label_of(row: FunctionalityRow) -> str:
    """What the keys of a functionality begin with; its own name where that is nothing."""
    first = row.keys[0] if row.keys else None
    return (first.key.removesuffix(first.backend or "") if first is not None else "") or row.functionality


def _functionality(row: FunctionalityRow, backends: int) -> Text:
    number = (f"{row.priority:>2} ", console.DIM)
    if row.per_backend:
        return Text.assemble(number, f"  {safe(row.functionality)}, {backends} keys")
    letter, color = CODES[row.keys[0].core]
    return Text.assemble(number, (letter, color), f" {safe(row.functionality)}")


def _columns(cells: Sequence[Text], style: Style) -> Iterator[Text]:
    """Cells below each other, in as many columns as the width has room for; in a pipe one."""
    width = max(width_of(cell.plain) for cell in cells) + _GAP
    count = 1 if style.width is None else max(1, (style.width + _GAP) // width)
    height = -(-len(cells) // count)
    for line in range(height):
        shown = cells[line::height]
        text = Text()
        for cell in shown:
            text.append_text(cell)
            text.append(" " * (width - width_of(cell.plain)))
        text.rstrip()
        yield text


def _cell(key: KeyRow) -> Text:
    letter, color = CODES[key.core]
    return Text.assemble((letter, color), "" if key.parseable else UNNAMED)


def _legend(keys: Sequence[KeyRow]) -> Iterator[Text]:
    """What the letters mean, and of the grid's marks those that are used."""
    meanings = ["f PyTorch's own fallback", "> PyTorch's own fallthrough", ". nothing by itself"]
    if any(not key.parseable for key in keys):
        meanings.append(f"{UNNAMED} PyTorch's parser does not know the name")
    yield plain(", ".join(meanings), console.DIM)


def _alias(row: AliasRow) -> Fact:
    covers = groups_label(row.covers)
    if row.fills_undefined:
        covers = f"{covers}; Undefined"
    return Fact(f"{'-' if row.number is None else row.number} {safe(row.alias)}", plain(covers))


def _others(report: UniverseReport) -> Iterator[Fact]:
    yield Fact("Fresh thread", lines(f"includes {_listed(report.included)}", f"excludes {_listed(report.excluded)}"))
    yield Fact(
        "Higher-order", plain(f"operators fall through by default at {_listed(report.higher_order_fallthrough)}")
    )
    yield Fact("FULL_AFTER(K)", plain(f"every key below K's functionality, and {_listed(report.full_after_always)}"))
    yield Fact("Autograd keys", lines(*_autograd(report)))
    same = [device for device, key in report.devices if key.lower() == device]
    others = [f"{device} is {key}" for device, key in report.devices if key.lower() != device]
    yield Fact("Devices", plain("; ".join([", ".join(same), *others])))


def _autograd(report: UniverseReport) -> Iterator[str]:
    own = next((row.keys for row in report.functionalities if row.functionality == "AutogradFunctionality"), ())
    named = {key.backend: (key.key,) for key in own}
    shared: dict[tuple[str, ...], list[str]] = {}
    for row in report.backends:
        if row.autograd != named.get(row.backend):
            shared.setdefault(row.autograd, []).append(row.backend)
    exceptions = "; ".join(f"of {', '.join(names)} {_listed(keys)}" for keys, names in shared.items())
    yield f"of each backend its own{f', but {exceptions}' if exceptions else ''}"
    if report.no_backends:
        yield f"no kernel of a backend takes the math kernel away from {', '.join(report.no_backends)}"


def _listed(keys: tuple[str, ...]) -> str:
    return ", ".join(keys) or "nothing"
