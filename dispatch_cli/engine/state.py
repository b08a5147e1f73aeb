"""What a history leaves behind."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.engine.dispatcher import Dispatcher
from dispatch_cli.engine.registration import Registration
from dispatch_cli.model.declarations import Declarations


class State(NamedTuple):
    """A dispatcher after a history.

    overrides: the registrations that took the place of another, in order, where PyTorch warns of it.
    base: the dispatcher as it was where the files named by the user begin; None when nothing was before them.
    """

    declarations: Declarations
    dispatcher: Dispatcher
    overrides: tuple[Registration, ...]
    base: Dispatcher | None = None
