"""The state of a live PyTorch as a dispatcher."""

from __future__ import annotations

from typing import Any

from dispatch_cli.capture.document import document
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.model.names import OperatorName
from tests.capture.support import read_document


def live_dispatcher(state: dict[str, Any]) -> Dispatcher:
    """A dispatcher with the operators that the probe found."""
    dispatcher = read_document(document({**state, "higher_order_operators": []}))
    for name in dispatcher.names():
        dispatcher.settle(OperatorName.parse(name))
    return dispatcher
