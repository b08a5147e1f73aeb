"""PyTorch's dump texts; several operators are parted by an empty line.

They are printed byte for byte, but for characters that command a terminal or change a text's direction: such names are
spelled out (`printed`), as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.dispatcher.dump import dump_registrations, dump_table
from dispatch_cli.model.names import OperatorName


def raw_registrations(dispatcher: Dispatcher, names: Iterable[OperatorName]) -> Iterator[str]:
    """Output of ``torch._C._dispatch_dump`` for each operator."""
    return parted(dump_registrations(dispatcher, name) for name in names)


def raw_tables(dispatcher: Dispatcher, names: Iterable[OperatorName]) -> Iterator[str]:
    """Output of ``torch._C._dispatch_dump_table`` for each operator."""
    return parted(dump_table(dispatcher, name) for name in names)


def parted(texts: Iterable[str]) -> Iterator[str]:
    """Texts with an empty line between them."""
    for position, text in enumerate(texts):
        yield f"\n{text}" if position else text
