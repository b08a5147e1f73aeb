"""The errors of FakeTensorMode, in PyTorch's words.

Sources: ``torch/_subclasses/fake_tensor.py``, ``fake_impls.py`` and ``torch/_library/custom_ops.py``.
"""

from __future__ import annotations

from dispatch_cli.engine.call.trace import Error, ErrorKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema import FunctionSchema

NOT_IMPLEMENTED = "NotImplementedError"
UNSUPPORTED = "UnsupportedOperatorException"
DATA_DEPENDENT = "DataDependentOutputException"
DYNAMIC_SHAPE = "DynamicOutputShapeException"
_NOT_YET = "AssertionError"


def raised(exception: str, name: OperatorName) -> Error:
    """One of the mode's exceptions: their text is the operator as Python prints it."""
    text = f"NYI: {name.in_python}" if exception == _NOT_YET else name.in_python
    return Error(ErrorKind.FAKE, exception, text)


def two_devices(template: str, name: OperatorName, first: str, second: str) -> Error:
    """Fake tensors of two devices. template: ``Universe.fake_device_error``."""
    exception, _, text = template.partition(": ")
    for word, value in (("{operator}", name.in_python), ("{first}", first), ("{second}", second)):
        text = text.replace(word, value)
    return Error(ErrorKind.FAKE, exception, text)


def no_fake_impl(name: OperatorName) -> Error:
    """An operator of ``torch.library.custom_op`` without a fake implementation."""
    text = (
        f"There was no fake impl registered for <CustomOpDef({name})>. This is necessary for "
        "torch.compile/export/fx tracing to work."
    )
    return Error(ErrorKind.FAKE, "RuntimeError", text, whole=False)


def one_too_many(schema: FunctionSchema) -> Error:
    """An operator that makes a tensor gets a device from the mode, and takes none."""
    count = len(schema.arguments)
    text = (
        f"{schema.name.name}() expected at most {count} argument(s) but received {count + 1} argument(s). "
        f"Declaration: {schema}"
    )
    return Error(ErrorKind.FAKE, "RuntimeError", text)
