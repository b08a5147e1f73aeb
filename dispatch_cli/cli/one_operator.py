"""What commands about one operator share: which state it is looked up in, and its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dispatch_cli.cli.options import SourceOptions, load_state

if TYPE_CHECKING:
    from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
    from dispatch_cli.engine.history.state import State
    from dispatch_cli.model.names import OperatorName


def state_or_newest(source: SourceOptions, color: str) -> tuple[State, bool]:
    """The state, and whether it is an embedded one that nobody named."""
    if source.files or source.keys or source.bases:
        return load_state(source, color), False
    from dispatch_cli import bases

    names = bases.names()
    base = source.universe if source.universe in names else names[0]
    return load_state(source._replace(bases=(base,), universe=None), color), base != source.universe


def operator_named(dispatcher: Dispatcher, text: str) -> OperatorName | None:
    """The operator of that name, as C++ or Python writes it; None when there is none."""
    from dispatch_cli.model.names import OperatorName

    for name in (OperatorName.parse(text), OperatorName.parse_printed(text)):
        if name in dispatcher:
            return name
    return None


def similar_operators(dispatcher: Dispatcher, text: str) -> str | None:
    """What may be meant by the name of no operator: an overload, or a name that looks like it."""
    from dispatch_cli.report.selection import select_names, similar_names

    found = [] if any(sign in text for sign in "*?[") else select_names(dispatcher.names(), text)
    if len(found) > 4:
        return f"name an overload: {', '.join(found[:4])} or one of {len(found) - 4} more"
    close = found or similar_names(dispatcher.names(), text[:200])
    return f"did you mean {' or '.join(close)}?" if close else None
