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
            "on without; in Python, the torch.library.Library object that defined it is gone, or the name is another."
        ),
        user=(
            "Import the package that defines it, before the call; its import may print why its library was not loaded.",
            "Check that the package was built for the installed PyTorch, Python and CUDA: versions that do not fit are "
            "the usual cause (torchvision::nms).",
            "In a C++ program: link the library that has the operator, such as libtorchvision, with `--no-as-needed`, "
            "or include its header (`torchvision/vision.h`): a linker leaves out a library of which nothing is called.",
        ),
        author=(
            "torch.ops.load_library(path), or import of the extension module, has to come first.",
            "TORCH_LIBRARY blocks run when the shared library is loaded; a static library needs whole-archive linking.",
            "In Python, keep the torch.library.Library object in a variable of the module: when it is collected, its "
            "operators are gone.",
            "In Python, define the operator (`lib.define`) before `impl` and `register_fake`, and check the spelling "
            "of its name.",
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
        TextKind.UNDEFINED_SYMBOL,
        "a compiled extension needs {symbol}, which the installed PyTorch does not have",
        (
            "undefined symbol: {symbol}",
            "Failed to load image Python extension: {*}undefined symbol: {symbol}",
        ),
        "the loader of the system; torchvision/io/image.py",
        means=(
            "The extension was built against another version of PyTorch, or one of another CUDA. It is not loaded, and "
            "the operators and functions that it has are not there."
        ),
        user=(
            "Install a build of the extension for the installed PyTorch, Python and CUDA; or the PyTorch that it was "
            "built for.",
            "If pip took a wheel from its cache, or the sources were built against another PyTorch: build it again, "
            "`pip install --no-cache-dir --no-build-isolation --force-reinstall --no-deps PACKAGE`.",
        ),
    ),
    Message(
        TextKind.NO_LIBRARY_FILE,
        "a shared library can not be loaded",
        (
            "[[{library}: cannot open shared object file{**}]]Could not load this library: ",
            "Failed to load image Python extension",
        ),
        "torch.ops.load_library, the loader of the system",
        means=(
            "A file is missing, or one that it depends on; or it was built for another Python or CUDA. The operators "
            "of that library are not registered then."
        ),
        user=(
            "If the text names a library of CUDA, such as libcudart.so.11.0: the package was built for the CUDA of "
            "that number. Install its build for the CUDA of the installed PyTorch (`torch.version.cuda`).",
            "Else install the package again, for the installed PyTorch and Python.",
        ),
    ),
    Message(
        TextKind.NO_CLASS,
        "the class {label} is not registered in that process",
        (
            "Tried to instantiate class '{label}', but it does not exist! Ensure that it is registered via "
            "torch::class_",
        ),
        "torch/csrc/jit/python/python_custom_class.cpp",
        means=(
            "C++ classes of `torch.classes` come with a compiled extension, as operators do. No library that was "
            "loaded has registered this one: mostly the compiled part of a package was not built, not found, or failed "
            "to load."
        ),
        user=(
            "Import the package that has the class, before the call; its import may print why its library was not "
            "loaded.",
            "Check that the package was built for the installed PyTorch, Python and CUDA.",
        ),
        author=(
            "torch.classes.load_library(path), or import of the extension module, has to come first.",
            'A class is registered by `torch::class_<T>("namespace", "Class")` or `m.class_<T>("Class")` in a '
            "TORCH_LIBRARY block.",
        ),
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
