"""The stack of modes, and fake modes of one call that tracing does not take together.

Dispatch does not compare fake modes. Source: ``torch._guards.detect_fake_mode``, which looks at the active modes from
the innermost on, then at the inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dispatch_cli.engine.call.higher_order.trace import FakeModes, FakeOrigin
from dispatch_cli.engine.call.tensors import PYTHON_KEYS, TensorMaker
from dispatch_cli.engine.call.thread import FAKE_TENSOR_MODE, INFRA_MODES, Mode, Thread
from dispatch_cli.model.call import TensorSpec


def stack_of(thread: Thread) -> tuple[Mode, ...]:
    """The modes as the stack has them, the innermost last.

    Modes of the kinds that have a place of their own lie below all others, whatever the order in which they were
    entered (``c10/core/impl/TorchDispatchModeTLS.cpp``).
    """
    placed = [mode for mode in thread.modes if mode.name in INFRA_MODES]
    others = [mode for mode in thread.modes if mode.name not in INFRA_MODES]
    return (*sorted(placed, key=lambda mode: INFRA_MODES.index(mode.name)), *others)


def without(thread: Thread, mode: Mode, maker: TensorMaker) -> Thread:
    """The thread while *mode* is taken off; with the last mode the Python keys go, too."""
    rest = thread._replace(modes=tuple(other for other in thread.modes if other != mode))
    return rest if rest.modes else rest.without_included(maker.known(*PYTHON_KEYS))


ACTIVE, INPUT = "active fake mode", "fake tensor input"


def conflicting(thread: Thread, tensors: Sequence[TensorSpec]) -> FakeModes | None:
    """The fake mode that is found first, and the first one that is another; None when there are no two.

    Modes and tensors that name no fake mode have the same one.
    """
    origins = [*_active(thread), *_inputs(tensors)]
    for other in origins[1:]:
        if other.name != origins[0].name:
            return FakeModes(origins[0], other, _text(origins[0], other))
    return None


def _active(thread: Thread) -> Iterator[FakeOrigin]:
    for index, mode in enumerate(reversed(stack_of(thread))):
        if mode.name == FAKE_TENSOR_MODE:
            yield FakeOrigin(ACTIVE, index, mode.instance or None, mode.position)


def _inputs(tensors: Sequence[TensorSpec]) -> Iterator[FakeOrigin]:
    for index, tensor in enumerate(tensors):
        if tensor.fake is not None and not tensor.wrappers:
            yield FakeOrigin(INPUT, index, tensor.fake or None, index + 1)


def _text(first: FakeOrigin, other: FakeOrigin) -> str:
    return (
        f"fake mode ({mode_text(first.name)}) from {first.words} {first.number} doesn't match mode "
        f"({mode_text(other.name)}) from {other.words} {other.number}"
    )


def mode_text(name: str | None) -> str:
    """A fake mode as Python shows it, with its name in the place of an address."""
    return f"<{FAKE_TENSOR_MODE} object{f' {name}' if name else ''}>"
