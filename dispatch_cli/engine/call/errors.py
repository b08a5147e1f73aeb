"""The errors of a call, in PyTorch's words.

Sources: ``OperatorEntry::reportError``, ``core/boxing/KernelFunction.cpp``, ``MetaFallbackKernel.cpp`` and the sources
of the fallbacks; of FakeTensorMode, ``torch/_subclasses/fake_tensor.py``, ``fake_impls.py`` and
``torch/_library/custom_ops.py``. A place in PyTorch's sources stands without directory and line: both are the build's.
"""

from __future__ import annotations

import re

from dispatch_cli.engine.call.trace import Error, ErrorKind
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.python.table import error_text
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.calls.call import Layout
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.model import FunctionSchema
from dispatch_cli.model.text import printed_texts
from dispatch_cli.model.universe import UNDEFINED

NOT_IMPLEMENTED = "NotImplementedError"
RUNTIME = "RuntimeError"
UNSUPPORTED = "UnsupportedOperatorException"
DATA_DEPENDENT = "DataDependentOutputException"
DYNAMIC_SHAPE = "DynamicOutputShapeException"
_NOT_YET = "AssertionError"
"""Exceptions of FakeTensorMode, and its assertion about what is not yet implemented."""
_LAYOUT_NAMES = {layout: layout.value for layout in Layout} | {
    Layout.SPARSE_CSR: "SparseCsr",
    Layout.SPARSE_CSC: "SparseCsc",
    Layout.SPARSE_BSR: "SparseBsr",
    Layout.SPARSE_BSC: "SparseBsc",
}
"""Layouts as PyTorch's errors print them."""
BRIEF = 300
"""Characters of an error's text that are read at a glance."""
_SENTENCE = re.compile(r"(?<=\.)\s+(?=[A-Z])")
"""Between two sentences."""


def internal_assert(condition: str, file: str, message: str = "") -> str:
    """The text of a failed ``TORCH_INTERNAL_ASSERT``."""
    return f'{condition} INTERNAL ASSERT FAILED at "{file}", please report a bug to PyTorch. {message}'


def missing_kernel(dispatcher: Dispatcher, name: OperatorName, slot: str, key: str) -> Error:
    """The slot is missing (``OperatorEntry::reportError``). key: what PyTorch calls it.

    PyTorch checks the operator's invariants first, so that a stale operator gives another error.
    """
    from dispatch_cli.engine.dispatcher.dump import dump_registrations

    table = dispatcher.dump_table(name)
    if dispatcher.stale_entries(name):
        state = dump_registrations(dispatcher, name)
        text = internal_assert(
            "expected_k._equalsBoxedAndUnboxed(dispatchTable_[idx])",
            "OperatorEntry.cpp",
            f"Canonical state\n~~~~~~~~~~~\n{state}\n\nComputed table:\n~~~~~~~~~~~\n{table}",
        )
        return Error(ErrorKind.STALE, RUNTIME, text)
    filled = dispatcher.operator(name).live.filled()
    available = ", ".join(slot for slot in dispatcher.universe.runtime if slot in filled)
    if slot == UNDEFINED:
        text = (
            "There were no tensor arguments to this function (e.g., you passed an empty list of Tensors), but "
            f"{printed_texts.NO_TENSORS.format(op=name)}.  This usually means that this function requires a "
            "non-empty list of Tensors, or that you (the operator writer) forgot to register a fallback function.  "
            f"Available functions are [{available}].\n\n{table}"
        )
        return Error(ErrorKind.NO_TENSORS, NOT_IMPLEMENTED, text)
    printed = dispatcher.universe.key_in_error(key)
    text = (
        f"{printed_texts.NO_KERNEL.format(op=name, key=printed)} backend. This could be because the operator "
        "doesn't exist for this backend, or was omitted during the selective/custom build process (if using custom "
        "build). If you are a Facebook employee using PyTorch on mobile, please visit https://fburl.com/ptmfixes for "
        f"possible resolutions. '{name}' is only available for these backends: [{available}].\n\n{table}"
    )
    return Error(ErrorKind.NO_KERNEL, NOT_IMPLEMENTED, text)


def fallthrough_called() -> Error:
    """A fallthrough kernel is called (``fallthrough_kernel``)."""
    return Error(
        ErrorKind.FALLTHROUGH,
        RUNTIME,
        internal_assert(
            "0",
            "KernelFunction.cpp",
            "fallthrough_kernel was executed but it should have been short-circuited by the dispatcher. This could "
            "occur if you registered a fallthrough kernel as a override for a specific operator (as opposed to a "
            "backend fallback); this is NOT currently supported, and we do not intend to add support for it in the "
            "near future.  If you do find yourself in need of this, let us know in the bug tracker.",
        ),
    )


def ambiguous(dispatcher: Dispatcher, name: OperatorName) -> Error:
    """The ambiguous AutogradOther kernel is called (``ambiguous_autogradother_kernel``)."""
    from dispatch_cli.engine.dispatcher.dump import dump_registrations

    return Error(
        ErrorKind.AMBIGUOUS,
        RUNTIME,
        internal_assert(
            "0",
            "KernelFunction.cpp",
            f"{printed_texts.AMBIGUOUS.format(op=name)}. "
            "This makes the backend kernel unreachable; the dispatcher will always prefer the "
            "CompositeImplicitAutograd lowering (see Note [Ambiguity in AutogradOther kernel]). If you want to "
            "override CompositeImplicitAutograd, please open an issue to request a dedicated Autograd dispatch key "
            "for the backend.\nIf you only want to run inference instead of training, in C++, add "
            "`c10::InferenceMode mode;` before model.forward(); in Python, use `torch.inference_mode()` as a context "
            "manager (see https://pytorch.org/docs/stable/generated/torch.autograd.grad_mode.inference_mode.html).\n"
            f"Canonical state\n~~~~~~~~~~~\n{dump_registrations(dispatcher, name)}\n\n",
        ),
        whole=False,
    )


def meta(name: OperatorName) -> Error:
    """The fallback at Meta (``MetaFallbackKernel.cpp``)."""
    return Error(
        ErrorKind.META,
        NOT_IMPLEMENTED,
        f"{printed_texts.NO_META.format(op=name)}, but there was no fake impl or Meta kernel "
        "registered. You may have run into this message while using an operator with PT2 compilation APIs "
        "(torch.compile/torch.export); in order to use this operator with those APIs you'll need to add a fake impl. "
        "Please see the following for next steps:  "
        "https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html",
    )


def no_such_layout(layout: Layout, device: str) -> Error:
    """A device has no tensors of that layout (``computeDispatchKey``)."""
    text = f"Unsupported device type for {_LAYOUT_NAMES[layout]} layout: {device}"
    return Error(ErrorKind.NO_LAYOUT, NOT_IMPLEMENTED, text)


def layout_of_iterator(layout: Layout) -> Error:
    """A TensorIterator gets a tensor that is not strided (``OperandInfo::validate``)."""
    name = layout.value.title().replace("_", "")
    return Error(ErrorKind.LAYOUT, RUNTIME, f"unsupported tensor layout: {name}")


def failed_assert(kind: ErrorKind, condition: str, file: str, message: str = "") -> Error:
    """A failed internal assert of that kind."""
    return Error(kind, RUNTIME, internal_assert(condition, file, message))


def refused(kind: ErrorKind, text: str) -> Error:
    """An error that a kernel raises with ``TORCH_CHECK``."""
    return Error(kind, RUNTIME, text)


def not_implemented(text: str) -> Error:
    """The error of a kernel that does nothing but raise ``NotImplementedError``. text: how its text begins."""
    return Error(ErrorKind.KERNEL, "NotImplementedError", text, whole=False)


def endless(python: bool) -> Error:
    """Kernels that call one another for ever, and run out of stack.

    python: one of them is a Python function, whose interpreter counts calls; otherwise the process ends.
    """
    if python:
        return Error(ErrorKind.ENDLESS, "RecursionError", "maximum recursion depth exceeded", whole=False)
    return Error(ErrorKind.ENDLESS, "", "", whole=False)


def raised_by_kernel() -> Error:
    """A kernel raises an error of its own, of which nothing is known."""
    return Error(ErrorKind.KERNEL, "", "", whole=False)


def crash(text: str) -> Error:
    """PyTorch reads what is not there, and the process ends. text: our own words."""
    return Error(ErrorKind.CRASH, "", text, whole=False)


def python_dispatcher_not_set() -> Error:
    """PythonDispatcher is included, but was not enabled."""
    message = "Hit PythonDispatcher dispatch key but PythonDispatcherTLS was not set"
    return failed_assert(ErrorKind.PYTHON, "state", "PythonFallbackKernel.cpp", message)


def python_unresolved(name: OperatorName, key: str, rule: Rule) -> Error:
    """``resolve_key`` can choose no key."""
    is_ambiguous = rule is Rule.AMBIGUOUS
    kind, error = (ErrorKind.AMBIGUOUS, RUNTIME) if is_ambiguous else (ErrorKind.PYTHON, NOT_IMPLEMENTED)
    return Error(kind, error, error_text(name, key, rule))


def brief(text: str) -> str:
    """The text of an error; of one that is long, or that has several paragraphs, its first sentence and ``…``."""
    if len(text) <= BRIEF and "\n\n" not in text:
        return text
    first = _SENTENCE.split(text.split("\n", 1)[0], maxsplit=1)[0]
    return f"{first[:BRIEF].rstrip()} …"


def of_fake_mode(exception: str, name: OperatorName) -> Error:
    """One of the mode's exceptions: their text is the operator as Python prints it."""
    text = f"NYI: {name.in_python}" if exception == _NOT_YET else name.in_python
    return Error(ErrorKind.FAKE, exception, text)


def not_defined(name: OperatorName, overloads: bool) -> Error:
    """``torch.ops`` has no such operator. overloads: others of its name are defined."""
    namespace, _, own = name.name.partition("::")
    text = (
        f"The underlying op of '{namespace}.{own}' has no overload name '{name.overload or 'default'}'"
        if overloads
        else f"'_OpNamespace' '{namespace}' object has no attribute '{own}'"
    )
    return Error(ErrorKind.NOT_DEFINED, "AttributeError", text)


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
