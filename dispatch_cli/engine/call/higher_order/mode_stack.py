"""The stack of modes of a thread.

Source: ``c10/core/impl/TorchDispatchModeTLS.cpp``: modes of the kinds that have a place of their own lie below all
others, whatever the order in which they were entered.
"""

from __future__ import annotations

from dispatch_cli.engine.call.tensors import PYTHON_KEYS, TensorMaker
from dispatch_cli.engine.call.thread import INFRA_MODES, Mode, Thread


def stack_of(thread: Thread) -> tuple[Mode, ...]:
    """The modes as the stack has them, the innermost last."""
    placed = [mode for mode in thread.modes if mode.name in INFRA_MODES]
    others = [mode for mode in thread.modes if mode.name not in INFRA_MODES]
    return (*sorted(placed, key=lambda mode: INFRA_MODES.index(mode.name)), *others)


def without(thread: Thread, mode: Mode, maker: TensorMaker) -> Thread:
    """The thread while *mode* is taken off; with the last mode the Python keys go, too."""
    rest = thread._replace(modes=tuple(one for one in thread.modes if one != mode))
    return rest if rest.modes else rest.without_included(maker.known(*PYTHON_KEYS))
