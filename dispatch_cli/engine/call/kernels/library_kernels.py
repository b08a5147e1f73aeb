"""Kernels that PyTorch's Python code makes of a user's functions: ``torch.library.custom_op``, ``register_autograd``.

Sources: torch/_library/custom_ops.py, torch/_library/autograd.py, torch/autograd/function.py.
"""

from __future__ import annotations

import re

from dispatch_cli.engine.call.errors import refused
from dispatch_cli.engine.call.options import select_registered_device
from dispatch_cli.engine.call.schema_facts import arguments_of
from dispatch_cli.engine.call.step import KernelStep, Moment, raises, redispatches
from dispatch_cli.engine.call.tensors import Value
from dispatch_cli.engine.call.trace import ErrorKind, Why
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.model.universe import AD_INPLACE_OR_VIEW, AUTOGRAD, BACKEND_SELECT

_OUT = "out"
"""The tag of operators that write to what they are given to write to."""
_CUSTOM_OPS = re.compile(r"[/\\]torch[/\\]_library[/\\]custom_ops\.py:[0-9]+")
"""Where ``torch.library.custom_op`` registers what it makes of a user's functions."""
_LIBRARY = re.compile(r"[/\\]torch[/\\]library\.py:[0-9]+")
"""Where ``torch.library.register_autograd`` does, and where ``torch.library.impl`` registers functions as they are."""


def of_custom_op(debug: str) -> bool:
    """Whether ``torch.library.custom_op`` has registered the kernel."""
    return _CUSTOM_OPS.search(debug) is not None


def is_generated(debug: str) -> bool:
    """Whether a kernel that goes on below autograd is one that PyTorch made, as it is noted in a capture."""
    return of_custom_op(debug) or _LIBRARY.search(debug) is not None


def custom_op(moment: Moment, dispatcher: Dispatcher) -> KernelStep | None:
    """A kernel that ``torch.library.custom_op`` makes; None for one that is the user's own, such as a batching rule."""
    if moment.slot in moment.maker.universe.aliases.get(AUTOGRAD, ()):
        return autograd(moment, Why.CORE_KERNEL)
    if moment.slot == AD_INPLACE_OR_VIEW:
        return redispatches(moment.below(moment.slot), Why.CORE_KERNEL)
    return select_registered_device(moment, dispatcher) if moment.slot == BACKEND_SELECT else None


def autograd(moment: Moment, why: Why) -> KernelStep:
    """The kernel at an autograd key: an ``autograd.Function`` where something needs a gradient; else it goes on."""
    thread, maker = moment.thread, moment.maker
    if thread.gradients:
        if _OUT in moment.tags and any(map(_needs_gradient, moment.values)):
            name = moment.name.name.partition("::")[2]
            text = (
                f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
                "arguments requires grad."
            )
            return raises(refused(ErrorKind.UNSUPPORTED, text), why)
        if thread.layers and any(map(_needs_gradient, _positional(moment))):
            text = (
                "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it "
                "must override the setup_context staticmethod. For more details, please see "
                "https://pytorch.org/docs/main/notes/extending.func.html"
            )
            return raises(refused(ErrorKind.TRANSFORM, text), why)
    below = moment.below(maker.universe.after_autograd)
    return redispatches(below, why, thread=thread.exclude(maker.autograd_keys))


def _positional(moment: Moment) -> list[Value]:
    """The tensors that are not passed by keyword only."""
    arguments = arguments_of(moment.schema, len(moment.values))
    return [
        value
        for argument, value in zip(arguments, moment.values, strict=True)
        if argument is None or not argument.kwarg_only
    ]


def _needs_gradient(value: Value) -> bool:
    """``requires_grad`` of a tensor, of a wrapper that of its transform."""
    if value.wrapper is not None:
        return value.needs_gradient
    return value.spec is not None and value.spec.requires_grad
