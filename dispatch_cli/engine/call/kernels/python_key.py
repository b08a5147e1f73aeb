"""Step of PyTorch's fallback at the Python key: a mode, or a tensor with a ``__torch_dispatch__``, gets the call.

Source: ``core/PythonFallbackKernel.cpp``, and ``dispatch_on_mode`` and ``dispatch_on_subclass`` in
``torch/csrc/utils/python_arg_parser.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence

from dispatch_cli.engine.call.errors import failed_assert
from dispatch_cli.engine.call.fake_tensor_mode import Callee, class_of, passes_on, refusal
from dispatch_cli.engine.call.step import KernelStep, Moment, hands_over, raises, redispatches
from dispatch_cli.engine.call.tensors import TensorMaker, Value
from dispatch_cli.engine.call.thread import FAKE_TENSOR_MODE, Thread
from dispatch_cli.engine.call.trace import Error, ErrorKind, Handler, HandlerKind
from dispatch_cli.model.universe import PYTHON

_CLONE = Callee("aten::clone", "aten.clone.default(")
_MOVE = Callee("aten::permute", "aten.")
"""Operator that moves the dimension of a batch; it depends on autograd whether that is called permute or movedim."""


def python(moment: Moment) -> KernelStep:
    """The innermost mode gets the call; else the first tensor whose class has a ``__torch_dispatch__``."""
    if moment.maker.universe.python_needs_snapshot and not moment.thread.snapshot:
        return raises(failed_assert(ErrorKind.PYTHON, "tls_on_entry.has_value()", "PythonFallbackKernel.cpp"))
    passed: tuple[Handler, ...] = ()
    mode = moment.thread.mode
    if mode is not None:
        handler = Handler(HandlerKind.MODE, mode.name, mode.position)
        if mode.name != FAKE_TENSOR_MODE:
            return hands_over(handler)
        if not passes_on(moment.values):
            return _fakes(moment, handler, mode.instance or "")
        passed = (handler,)
    for position, value in enumerate(moment.values, start=1):
        if not value.has(PYTHON):
            continue
        handler = Handler(HandlerKind.SUBCLASS, "" if value.spec is None else class_of(value), position)
        if value.spec is None or value.spec.fake is None:
            return hands_over(handler, passed)
        if not passes_on(moment.values):
            return _fakes(moment, handler, value.spec.fake)
        if not any(earlier.kind is HandlerKind.SUBCLASS for earlier in passed):  # a class is asked once
            passed = (*passed, handler)
    if not moment.values:
        text = "Hit Python dispatch key but no arguments had PyInterpreter (no tensor args?)"
        return raises(failed_assert(ErrorKind.PYTHON, "0", "PythonFallbackKernel.cpp", text))
    maker = moment.maker
    thread = moment.thread.exclude(maker.above_python).without_included(maker.known(PYTHON))
    return redispatches(moment.keyset.remove(PYTHON), thread=thread)


def _fakes(moment: Moment, handler: Handler, mode: str) -> KernelStep:
    """A fake mode gets the call. mode: its name. It refuses tensors that are not its own."""
    return hands_over(handler, error=refusal(mode, moment.values, Callee.of(moment.name, moment.tags)))


def active_fake_mode(thread: Thread) -> str | None:
    """The name of the fake mode that gets what a fallback calls on its way; None when none does."""
    mode = thread.mode
    if mode is None or mode.name != FAKE_TENSOR_MODE or thread.keys.excluded.has(PYTHON):
        return None
    return mode.instance or ""


def refused_clone(mode: str, values: Sequence[Value], key: str) -> Error | None:
    """The error of a fake mode where a fallback clones the tensors with *key*, whatever operator is called."""
    for position, value in enumerate(values, start=1):
        if value.has(key) and value.wrapper is None and not passes_on((value,)):
            error = refusal(mode, (value,), _CLONE)
            if error is not None:
                return error._replace(tensor=position)
    return None


def refused_slice(mode: str, values: Sequence[Value], level: int | None) -> Error | None:
    """The error of a fake mode where vmap's fallback takes tensors apart that are batched at a level; None: at any."""
    for position, value in enumerate(values, start=1):
        if value.is_batched_at(level):
            while value.inner is not None:
                value = value.inner
            error = None if passes_on((value,)) else refusal(mode, (value,), _MOVE)
            if error is not None:
                return error._replace(tensor=position)
    return None


def made_by(mode: str, maker: TensorMaker, value: Value, inference: bool) -> Value:
    """A new tensor as a fake mode makes it."""
    if value.spec is None or value.wrapper is not None:
        return value
    return maker.make(value.spec._replace(fake=mode), inference)
