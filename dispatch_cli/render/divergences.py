"""How it is put into words that C++ and Python choose different kernels."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from rich.text import Text

from dispatch_cli.engine.rules import Rule
from dispatch_cli.render.style import Style
from dispatch_cli.render.text_safety import safe
from dispatch_cli.report.divergences import SlotChoice

_WITHOUT_KEY = {
    Rule.FALLBACK: "the backend fallback",
    Rule.MISSING: "nothing",
    Rule.AMBIGUOUS: "nothing (it is ambiguous)",
}


def choice_label(choice: SlotChoice) -> str:
    """The key whose kernel is chosen, or what is in its place."""
    return choice.source if choice.source is not None else _WITHOUT_KEY[choice.rule]


def wrapped(text: str, indent: int, style: Style) -> Iterator[Text]:
    """A text that stays behind its indent, however narrow the terminal."""
    blanks, words = " " * indent, safe(text)
    if style.width is None:
        yield Text(blanks + words)
        return
    for line in wrap(words, style.width - indent, break_on_hyphens=False, subsequent_indent="  "):
        yield Text(blanks + line)
