"""Decision of FakeTensorMode by the tensors of a call: it passes the call on, refuses it, or computes.

Sources: ``FakeTensorMode._dispatch_impl`` and ``validate_and_convert_non_fake_tensors`` in
``torch/_subclasses/fake_tensor.py``. A mode that was made with ``allow_non_fake_inputs`` refuses nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dispatch_cli.engine.call.tensors import Value
from dispatch_cli.engine.call.trace import Error, ErrorKind
from dispatch_cli.model.call import Layout
from dispatch_cli.model.names import OperatorName

TENSOR, FAKE_TENSOR, JAGGED = "Tensor", "FakeTensor", "NestedTensor"
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
