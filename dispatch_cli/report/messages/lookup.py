"""Texts about operators, overloads and libraries that are not found, and calls that do not fit a schema."""

from __future__ import annotations

from dispatch_cli.report.messages.kinds import Message, TextKind

MESSAGES = (
    Message(
        TextKind.NOT_DEFINED,
        "{op} is not defined in that process",
        (
            "'_OpNamespace' '{namespace}' object has no attribute '{name}'",
            "Could not find schema for {op} but we found an implementation; did you forget to def() the operator",
            "Could not find schema for {op}",
            "Could not find the operator {op}. Please make sure you have already registered the operator",
            "Could not find the operator {op}",
            'Could not find custom op "{op}"',
            "operator {op} does not exist",
            "Unknown builtin op: {op}",
            "No such operator {op}",
            "Tried to access the schema for {op} which doesn't have a schema registered yet",
            "Invalid attribute '{name}' for '_OpNamespace' '{namespace}'",
            "Could not find any similar ops to {op}",
        ),
        "_OpNamespace.__getattr__ in torch/_ops.py, Dispatcher::findSchemaOrThrow",
        means=(
            "No library that was loaded has defined {op}. Kernels alone are not enough: a `def` gives the schema. "
            "Mostly the compiled part of a package was not built, not found, or failed to load, and its import went "
            "on without."
        ),
        user=(
            "Import the package that defines it, before the call; its import may print why its library was not loaded.",
            "Check that the package was built for the installed PyTorch, Python and CUDA: versions that do not fit are "
            "the usual cause (torchvision::nms).",
        ),
        author=(
            "torch.ops.load_library(path), or import of the extension module, has to come first.",
            "TORCH_LIBRARY blocks run when the shared library is loaded; a static library needs whole-archive linking.",
        ),
    ),
    Message(
        TextKind.NO_OVERLOAD,
        "{op} has no overload {overload}",
        (
            "The underlying op of '{op}' has no overload name '{overload}'",
            "'{op}' can't have an overload name beginning with '__'",
        ),
        "OpOverloadPacket.__getattr__ in torch/_ops.py",
        means="The operator is there, but none of its overloads has that name; `default` is the one without.",
        user=("`torch.ops.ns.op.overloads()` lists them.", "The code may be for a newer or older PyTorch."),
    ),
    Message(
        TextKind.NO_LIBRARY_FILE,
        "the shared library of operators can not be loaded",
        (
            "Could not load this library: ",
            # a C++ name of PyTorch: c10::, at:: or torch::, in a function or a class (_ZN, _ZNK, _ZTI, …)
            "undefined symbol: _Z{mangled}",
            "Failed to load image Python extension",
        ),
        "torch.ops.load_library, the loader of the system",
        means=(
            "A file or a symbol is missing, or the library was built for another version of PyTorch, Python or CUDA. "
            "An undefined symbol with c10, at or torch in it is one of PyTorch's own, which the installed one lacks. "
            "The operators of that library are not registered then."
        ),
        user=("`undefined symbol` means that it was built for another PyTorch: install the build for this one.",),
    ),
    Message(
        TextKind.WRONG_ARGUMENTS,
        "the arguments do not fit the schema of {op}",
        (
            "{op}() Expected a value of type '{*}' for argument '{argument}' but instead found type",
            "{op}() is missing value for argument '{argument}'",
            "{op}() expected at most {*} argument(s) but received {*} argument(s)",
            "Unknown keyword argument '{argument}' for operator '{op}'",
            "{op}() takes {*} positional argument(s) but {*} was/were given",
            "Fail to match any TorchBindOverload of {op}",
            "Expected at most {*} argument(s) for operator '{op}'",
        ),
        "FunctionSchema::checkArg, checkAndNormalizeInputs",
        means="Arguments are checked by the schema before dispatch; no key and no kernel has been chosen yet.",
        user=("Compare with the schema that the text prints. `SymInt` for `int` means a size that is a symbol.",),
    ),
)
