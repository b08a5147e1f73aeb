"""Texts about operators and libraries that are not found, and calls that do not fit a schema."""

from __future__ import annotations

from dispatch_cli.answers.errors.kinds import Message

MESSAGES = (
    Message(
        "not-defined",
        "{op} is not defined in the process that raised the error",
        (
            "'_OpNamespace' '{namespace}' object has no attribute[[ '{name}']]",
            "Could not find schema for {op}[[ but we found an implementation; did you forget to def() the operator]]",
            "Could not find the operator {op}[[. Please make sure you have already registered the operator]]",
            "operator {op} does not exist",
            "Unknown builtin op: {op}",
            "Unknown builtin op: {aten_op}{mobile}",
            "Couldn't find an operator for {op}({mobile}",
            "Tried to instantiate class '{op}', but it does not exist! Ensure that it is registered via",
            "unknown builtin op: ",
            "No such operator {op}",
            "Tried to access the schema for {op} which doesn't have a schema registered yet",
            "Could not find any similar ops to {op}",
            "The underlying op of '{op}' has no overload name '{overload}'",
            "'torch.ops.higher_order' object has no attribute '{name}'",
            "Following ops cannot be found: [{op}{mobile}",
            "Following ops cannot be found.{*}{{op}{mobile}",
            "Following ops cannot be found. {**}{overload_name} (){mobile}",
        ),
        "_OpNamespace.__getattr__ in torch/_ops.py, Dispatcher::findSchemaOrThrow",
        means=(
            "No loaded library has defined {op}. Kernels alone are not enough: a `def` has to give the schema. The "
            "usual cause: the compiled part of a package was not built, not found or failed to load, and importing "
            "the package went on without it. In Python: the torch.library.Library object that defined the operator "
            "no longer exists. Or the name is misspelled."
        ),
        user=(
            "[mobile] If a newer PyTorch saved the model, load it with that. On phones: build PyTorch with this "
            "operator in its list (SELECTED_OP_LIST), or with all; link its static libraries whole (`--whole-archive`, "
            "`-force_load`), and the libraries of torchvision and others that the model uses.",
            "Import the package that defines it before the call; a warning at the import may say why its library was "
            "not loaded.",
            "Check that the package was built for the installed PyTorch, Python and CUDA: versions that do not match "
            "are the usual cause (torchvision::nms).",
            "In a C++ program: link the library that has the operator, such as libtorchvision, with "
            "`--no-as-needed`, or include its header (`torchvision/vision.h`). Linkers leave a library out if no "
            "function of it is called.",
        ),
        author=(
            "Call torch.ops.load_library(path), or import the extension module, first.",
            "TORCH_LIBRARY blocks run when the shared library is loaded; a static library has to be linked with "
            "`--whole-archive`.",
            "In Python, keep the torch.library.Library object in a variable of the module: its operators are removed "
            "when it is garbage-collected.",
            "In Python, define the operator (`lib.define`) before `impl` and `register_fake`, and check the spelling "
            "of its name.",
        ),
    ),
    Message(
        "undefined-symbol",
        "a compiled library needs {symbol}, which the installed PyTorch does not have",
        (
            "[[Failed to load image Python extension: {*}]]undefined symbol: {symbol}",
            "undefined symbol: {old_symbol}",
            "[[site-packages]][[dist-packages]]/torch/{*}.so{*}: undefined symbol: {symbol}{own_library}",
        ),
        "the loader of the system",
        means=(
            "The extension was built for another version of PyTorch, or for another CUDA. It could not be loaded, so "
            "its operators and functions are missing."
        ),
        user=(
            "[own_library] The library is PyTorch's own: libraries of another PyTorch are found first "
            "(LD_LIBRARY_PATH, /usr/local/lib), or a build was not whole. Remove them, and the folders `build` and "
            "torch/lib/build of sources; then install PyTorch again.",
            "[!own_library] If the program does not import torch before the extension: do so, which loads PyTorch's "
            "libraries.",
            "[old_abi] The symbol has strings of the old C++ ABI, which only some builds of PyTorch before 2.7 have: "
            "compile the extension with `-D_GLIBCXX_USE_CXX11_ABI=1` where `torch.compiled_with_cxx11_abi()` is true; "
            "torch.utils.cpp_extension does so by itself.",
            "Install a build of the extension for the installed PyTorch, Python and CUDA; or install the PyTorch "
            "that it was built for.",
            "If pip used a wheel from its cache, or the extension was compiled for another PyTorch: build it again, "
            "`pip install --no-cache-dir --no-build-isolation --force-reinstall --no-deps PACKAGE`.",
        ),
    ),
    Message(
        "own-symbol",
        "a compiled extension needs {symbol}, which is none of PyTorch's functions",
        ("undefined symbol: {own_symbol}",),
        "the loader of the system",
        means=(
            "The name is of the extension's own project. The extension calls the function, and no source file or "
            "library with it was linked; or the definition has other arguments, or another namespace."
        ),
        user=("If the extension is not yours: install another build of it, or tell its authors.",),
        author=(
            "Add the file that defines {symbol} to the sources of the extension (`sources=` in setup.py, or the "
            "target in CMake); with a `.cu` file, use CUDAExtension.",
            "Compare the declaration with the definition: arguments, `const`, references and namespace must be equal.",
        ),
    ),
    Message(
        "no-library-file",
        "a shared library cannot be loaded",
        (
            "[[{library}: cannot open shared object file{**}]]Could not load this library: ",
            "Failed to load image Python extension",
            "Couldn't load custom C++ ops",
            "{library}: cannot open shared object file",
            "DLL load failed[[ while importing {module}]]: {windows}",
            "No module named '{python_module}._C'",
            "cannot import name '_C' from [[partially initialized module ]]'{python_module}'",
        ),
        "torch.ops.load_library, the loader of the system",
        means=(
            "The file, or a library that it depends on, is missing or was built for another Python, CUDA or PyTorch. "
            "The operators of that library are not registered then.[[{windows} 'The specified module' is a DLL that "
            "is missing; 'the specified procedure' is a function that the installed PyTorch, or another DLL, does "
            "not have.]]"
        ),
        user=(
            "If the text names a CUDA library, such as libcudart.so.11.0: the package was built for that CUDA "
            "version. Install its build for the CUDA of the installed PyTorch (`torch.version.cuda`).",
            "If it names a library of PyTorch, such as libc10.so or torch_cpu.dll: import torch before the package.",
            "[python_module] If Python runs in the folder of the package's sources, it finds these and not the "
            "installed package: start it elsewhere.",
            "Else reinstall the package, in a build for the installed PyTorch and Python.",
        ),
    ),
    Message(
        "class-path",
        "a program asked torch.classes for its attribute {label}, which PyTorch takes for the name of a class",
        ("Tried to instantiate class '{module_attribute}', but it does not exist! Ensure that it is registered via",),
        "torch/csrc/jit/python/python_custom_class.cpp",
        means=("Programs that look at all modules do so, such as the file watcher of Streamlit. No class is missing."),
        user=(
            "Ignore the text, turn the watcher off (`server.fileWatcherType = none` in Streamlit), or set "
            "`torch.classes.__path__ = []` after `import torch`.",
        ),
    ),
    Message(
        "no-registration-api",
        "the installed PyTorch does not have `{name}`, which a package uses",
        (
            "module 'torch.library' has no attribute '{name}'",
            "cannot import name '{name}' from 'torch.{*}'",
            "'CustomOpDef' object has no attribute '{name}'",
            "module 'torch.compiler' has no attribute '{name}'",
        ),
        "the interpreter of Python",
        means=(
            "The package was written for another PyTorch, most often a newer one. torch.library has register_fake, "
            "custom_op, register_autograd and opcheck from 2.4 on (register_fake was impl_abstract before), "
            "triton_op from 2.6 on."
        ),
        user=(
            "Install versions that belong together: each torchvision and torchaudio is for one PyTorch (torchvision "
            "0.19 for 2.4). `pip list` shows what is installed; a second PyTorch in another folder, or a notebook "
            "that was not restarted, is also a cause.",
        ),
        author=("Ask `hasattr(torch.library, 'register_fake')`, and use impl_abstract where it is missing.",),
    ),
)
