"""The Python key: a mode, or a tensor with a ``__torch_dispatch__``, gets the call; FakeTensorMode by the tensors.

FakeTensorMode passes a call on, refuses it, or computes; it may refuse tensors of two devices.
Sources: ``core/PythonFallbackKernel.cpp``, ``dispatch_on_mode`` and ``dispatch_on_subclass`` in
``torch/csrc/utils/python_arg_parser.cpp``; in ``torch/_subclasses/fake_tensor.py``: ``FakeTensorMode._dispatch_impl``,
``validate_and_convert_non_fake_tensors``, and ``FakeTensor._find_common_device``, which the mode asks when it makes
fake tensors of a result at Meta. A mode that was made with ``allow_non_fake_inputs`` refuses nothing. CPU tensors
without dimensions may be beside tensors of any device; here all tensors are taken to have dimensions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dispatch_cli.engine.call import errors
from dispatch_cli.engine.call.errors import failed_assert
from dispatch_cli.engine.call.step import KernelStep, Moment, hands_over, raises, redispatches
from dispatch_cli.engine.call.tensors import TensorMaker, Value
from dispatch_cli.engine.call.thread import FAKE_TENSOR, FAKE_TENSOR_MODE, Thread
from dispatch_cli.engine.call.trace import Error, ErrorKind, Handler, HandlerKind
from dispatch_cli.model.calls.call import Layout
from dispatch_cli.model.calls.fake_tensor import FakeRules
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.model import FunctionSchema, is_tensor_list, takes_tensors
from dispatch_cli.model.universe import PYTHON, Universe

TENSOR, JAGGED = "Tensor", "NestedTensor"
"""Classes of tensors; the last is that of jagged ones (``torch/nested/_internal/nested_tensor.py``)."""
INPLACE_VIEW = "inplace_view"
"""The tag of operators that change sizes or strides in place."""
QUERIES = frozenset(
    {"aten::size", "aten::stride", "aten::storage_offset", "prim::device"}
    | {"aten::is_coalesced", "aten::dense_dim", "aten::sparse_dim", "profiler::_record_function_exit._RecordFunction"}
)
"""Operators answered before the tensors are looked at (``_DISPATCH_META_HANDLERS``, ``_DISPATCH_HANDLE_DIRECTLY``)."""
LIFTS = frozenset({"aten::lift_fresh", "aten::lift_fresh_copy"})
"""They make a plain tensor fake (``FakeTensorMode.lift_fns``)."""
_ARITHMETIC = ("add", "sub", "subtract", "mul", "multiply", "div", "divide", "true_divide", "floor_divide")
NUMBERS_AS_TENSORS = frozenset(f"{name}{end}" for name in _ARITHMETIC for end in ("", "_", "_out")) | frozenset(
    {"to", "_to_copy", "copy", "copy_", "_conj"}
)
"""Operators that take numbers for tensors, by their names in any namespace.

Source: ``should_allow_numbers_as_tensors`` in ``torch/csrc/utils/python_arg_parser.cpp``.
"""
CPU, META = "cpu", "meta"


class Callee(NamedTuple):
    """The operator that is called. shown: how the mode's errors begin to write the call. tags: where they are known."""

    name: str
    shown: str
    tags: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: OperatorName, tags: tuple[str, ...] = ()) -> Callee:
        """An operator with C++ kernels."""
        return cls(str(name), f"{name.in_python}(", tags)

    @property
    def takes_numbers(self) -> bool:
        """True if it takes numbers for tensors."""
        return self.name.rpartition("::")[2].partition(".")[0] in NUMBERS_AS_TENSORS


def class_of(value: Value) -> str:
    """The class of a tensor in Python; what C++ wraps around another one is a plain tensor."""
    spec = value.spec
    if spec is None or value.wrapper is not None:
        return TENSOR
    if spec.subclass is not None:
        return spec.subclass
    if spec.fake is not None:
        return FAKE_TENSOR
    return JAGGED if spec.layout is Layout.JAGGED else TENSOR


def passes_on(values: Iterable[Value]) -> bool:
    """True if the mode, and fake tensors, return NotImplemented: a tensor is of a subclass that they do not know."""
    return any(class_of(value) not in (TENSOR, FAKE_TENSOR) for value in values)


def refusal(mode: str, values: Sequence[Value], callee: Callee) -> Error | None:
    """The error of the fake mode of that name for the first tensor that is not its own; None when it computes.

    values: none of a subclass that it does not know. They are taken to have more than one element: of fewer, the
    operators that take numbers for tensors compute a constant.
    """
    if callee.name in QUERIES:
        return None
    fakes = [fake for fake in map(_fake_of, values) if fake is not None]
    is_lift = callee.name in LIFTS
    if is_lift and not fakes:
        return None
    if fakes and mode not in fakes and (is_lift or callee.takes_numbers):
        # The operator is called on the tensors as they are first, and the mode of a fake one among them gets that call.
        error = refusal(fakes[0], values, callee)
        if error is not None:
            return error
    for position, value in enumerate(values, start=1):
        fake = _fake_of(value)
        if fake != mode and value.spec is not None and not value.is_absent:
            return _error(fake, callee, position)
    return None


def _fake_of(value: Value) -> str | None:
    """The name of a fake tensor's mode; None of another tensor."""
    return None if value.spec is None or value.wrapper is not None else value.spec.fake


def _error(fake: str | None, callee: Callee, position: int) -> Error:
    if INPLACE_VIEW in callee.tags:
        text = f"Can't call metadata mutating ops on non-Fake Tensor inputs. Found in {callee.shown}"
    elif fake is not None:
        text = "Mixing fake modes NYI"
    else:
        text = (
            "Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with "
            f"'allow_non_fake_inputs'. Found in {callee.shown}"
        )
    return Error(ErrorKind.MODES, "AssertionError", text, whole=False, tensor=position)


class Mismatch(NamedTuple):
    """The error of a call with fake tensors of different devices.

    zero_dim_works: there is none where the CPU tensors have no dimensions.
    """

    error: Error
    zero_dim_works: bool


def mismatch(
    universe: Universe, rules: FakeRules, name: OperatorName, schema: FunctionSchema, values: Sequence[Value]
) -> Mismatch | None:
    """The error of a call at Meta; None where there is none, or where this PyTorch's is not known."""
    if not returns_tensors(schema):
        return None
    return _mismatch(universe, rules, name, [device for value in values if (device := _device(universe, value))])


def foreach_mismatch(
    universe: Universe, rules: FakeRules, name: OperatorName, schema: FunctionSchema, values: Sequence[Value]
) -> Mismatch | None:
    """The same of an operator on lists of one length, of which the tensors at one place have to be on one device.

    None where the tensors do not divide into such lists.
    """
    if not returns_tensors(schema):
        return None
    taking = list(filter(takes_tensors, schema.arguments))
    lists = sum(is_tensor_list(argument.type) for argument in taking)
    length, rest = divmod(len(values) - (len(taking) - lists), lists) if lists else (0, 1)
    if rest or length < 1:
        return None
    places: list[list[str]] = [[] for _ in range(length)]
    waiting = iter(values)
    for argument in taking:
        own = [_device(universe, next(waiting)) for _ in range(length if is_tensor_list(argument.type) else 1)]
        if is_tensor_list(argument.type):
            for place, device in zip(places, own, strict=True):
                place += [device] if device else []
    return next(
        (mismatch for place in places if (mismatch := _mismatch(universe, rules, name, place)) is not None), None
    )


def returns_tensors(schema: FunctionSchema) -> bool:
    """True if there is a tensor among the results."""
    return any(map(takes_tensors, schema.returns))


def _mismatch(universe: Universe, rules: FakeRules, name: OperatorName, devices: Sequence[str]) -> Mismatch | None:
    common = devices[0] if devices else ""
    other = next(
        (other for other in devices if other != common and rules.mixes not in {_type(other), _type(common)}), None
    )
    if other is None or universe.fake_device_error is None:
        return None
    error = errors.two_devices(universe.fake_device_error, name, common, other)
    elsewhere = {device for device in devices if _type(device) != CPU}
    return Mismatch(error, len(elsewhere) <= 1 and not rules.zero_dim_counts and _type(CPU) in map(_type, devices))


def _type(device: str) -> str:
    return device.partition(":")[0]


def _device(universe: Universe, value: Value) -> str | None:
    """The device of a fake tensor as PyTorch writes it; None of another tensor."""
    spec = value.spec
    if spec is None or spec.fake is None or value.wrapper is not None or value.is_absent:
        return None
    device = spec.device or next(iter(universe.devices))
    number = 0 if spec.number is None and device in universe.fake_numbered else spec.number
    return device if number is None else f"{device}:{number}"


# the fallback at the Python key, and what other fallbacks ask a fake mode on their way


def by_handler(moment: Moment) -> KernelStep:
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
    return hands_over(handler, error=refusal(mode, moment.values, Callee.of(moment.name, moment.operator.tags)))


def active_fake_mode(thread: Thread) -> str | None:
    """The name of the fake mode that gets what a fallback calls on its way; None when none does."""
    mode = thread.mode
    if mode is None or mode.name != FAKE_TENSOR_MODE or thread.keys.excluded.has(PYTHON):
        return None
    return mode.instance or ""


def made_by(mode: str, maker: TensorMaker, value: Value, inference: bool) -> Value:
    """A new tensor as a fake mode makes it."""
    if value.spec is None or value.wrapper is not None:
        return value
    return maker.make(value.spec._replace(fake=mode), inference)
