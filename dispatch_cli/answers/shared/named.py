"""The operators that a user names."""

from __future__ import annotations

from dispatch_cli.answers.shared.selection import select_higher_order, select_names, similar_names
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.higher_order import HigherOrderOperator
from dispatch_cli.model.names import OperatorName


def operator_named(dispatcher: Dispatcher, text: str) -> OperatorName | None:
    """The operator of that name, as C++ or Python writes it; None when there is none."""
    for name in (OperatorName.parse(text), OperatorName.parse_printed(text)):
        if name in dispatcher:
            return name
    return None


def higher_order_named(state: State, text: str) -> HigherOrderOperator | None:
    """The higher-order operator of that name, with or without the namespace; None when there is none."""
    if any(sign in text for sign in "*?["):
        return None
    matches = select_higher_order([operator.name for operator in state.higher_order_operators], text)
    return state.higher_order_operator(matches[0]) if matches else None


def similar_operators(dispatcher: Dispatcher, text: str) -> str | None:
    """Suggestion for a name of no operator: an overload, or a name that looks like it."""
    from dispatch_cli.model.suggest import did_you_mean

    matches = [] if any(sign in text for sign in "*?[") else select_names(dispatcher.names(), text)
    if len(matches) > 4:
        return f"name an overload: {', '.join(matches[:4])} or one of {len(matches) - 4} more"
    return did_you_mean(matches or similar_names(dispatcher.names(), text[:200]))
