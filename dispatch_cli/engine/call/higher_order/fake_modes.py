"""Fake modes of one call that tracing does not take together; dispatch does not compare them.

Source: ``torch._guards.detect_fake_mode``, which looks at the active modes from the innermost on, then at the inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dispatch_cli.engine.call.higher_order.mode_stack import stack_of
from dispatch_cli.engine.call.higher_order.trace import FakeModes, FakeOrigin
from dispatch_cli.engine.call.thread import FAKE_TENSOR_MODE, Thread
from dispatch_cli.model.call import TensorSpec

ACTIVE, INPUT = "active fake mode", "fake tensor input"


def conflicting(thread: Thread, tensors: Sequence[TensorSpec]) -> FakeModes | None:
    """The fake mode that is found first, and the first one that is another; None when there are no two.

    Modes and tensors that name no fake mode have the same one.
    """
    found = [*_active(thread), *_inputs(tensors)]
    for other in found[1:]:
        if other.name != found[0].name:
            return FakeModes(found[0], other, _text(found[0], other))
    return None


def _active(thread: Thread) -> Iterator[FakeOrigin]:
    for index, mode in enumerate(reversed(stack_of(thread))):
        if mode.name == FAKE_TENSOR_MODE:
            yield FakeOrigin(ACTIVE, index, mode.instance or "", mode.position)


def _inputs(tensors: Sequence[TensorSpec]) -> Iterator[FakeOrigin]:
    for index, tensor in enumerate(tensors):
        if tensor.fake is not None and not tensor.wrappers:
            yield FakeOrigin(INPUT, index, tensor.fake, index)


def _text(first: FakeOrigin, other: FakeOrigin) -> str:
    return (
        f"fake mode ({mode_text(first.name)}) from {first.words} {first.number} doesn't match mode "
        f"({mode_text(other.name)}) from {other.words} {other.number}"
    )


def mode_text(name: str) -> str:
    """A fake mode as Python shows it, with its name in the place of an address."""
    return f"<{FAKE_TENSOR_MODE} object{f' {name}' if name else ''}>"
