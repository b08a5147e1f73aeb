"""Texts about other parts of PyTorch, which people paste too: what they are about, and what helps."""

from __future__ import annotations

from dispatch_cli.answers.errors.kinds import Message

MESSAGES = (
    Message(
        "autograd-graph",
        "autograd's record of the calls cannot be used as the program asks",
        (
            "one of the variables needed for gradient computation has been modified by an inplace operation",
            "Trying to backward through the graph a second time{again}",
            "leaf Variable that requires grad {*}in-place operation",
            "is a view and is being modified inplace",
            "is a view and its base or another view of its base has been modified inplace",
        ),
        "saved_variable.cpp, VariableTypeUtils.h, variable.cpp",
        means="The operators were found and ran. This is about what autograd recorded of them, not about dispatch.",
        user=(
            "[again] Call `backward(retain_graph=True)` the first time, or compute the result again.",
            "[!again] Use the operator that returns its result instead of the one that changes a tensor in place: "
            "`x = x.add(y)`; or change a copy, `x.clone()`.",
        ),
        aside=True,
    ),
    Message(
        "not-traced",
        "torch.compile cannot trace or compile this[[: {function}]][[: {op}]]",
        (
            "Graph break due to unsupported builtin {function} This function{native}",
            "Dynamo does not know how to trace the builtin `{function}[[.]]`{native}",
            "Graph break from user code",
            "torch._dynamo.exc.Unsupported: ",
            "Cannot reenter make_fx{nested}",
            "Detected that you are using FX to symbolically trace a dynamo-optimized function{nested}",
            "both a fallback and a decomp for same op: {op}{inductor}",
            "make_fallback({op}): a decomposition exists, we should switch to it{inductor}",
        ),
        "torch/_dynamo, torch/fx/experimental/proxy_tensor.py",
        means=(
            "Dynamo reads Python code, and calls operators with fake tensors. It does so before any operator is "
            "dispatched to a kernel.[[{native} A function of a C++ extension is no operator: only what is registered "
            "as one can be called with fake tensors.]][[{nested} Two tracers run inside one another.]]"
            "[[{inductor} Its backend Inductor has two ways to compile {op}, and wants one.]]"
        ),
        user=(
            "[inductor] Compile with another backend, `torch.compile(backend='aot_eager')`, or another PyTorch.",
            "[!nested] Without `fullgraph=True` the graph breaks there, and the function runs as it is.",
            "[!nested] Or exclude the function that calls it: `@torch.compiler.disable`.",
            "[nested] Use one tracer only: leave torch.compile out inside of the other one.",
        ),
        author=(
            "[inductor] Pass `override_decomp=True` to make_fallback, or leave {op} out of the decompositions.",
            "[native] Make it an operator: torch.library.custom_op, or TORCH_LIBRARY in C++, and a fake implementation "
            "(register_fake).",
        ),
        aside=True,
    ),
    Message(
        "not-exported",
        "the target of an export has no translation[[ of {op}]][[ of {function}]]",
        (
            "Exporting the operator '{op}' to ONNX opset version{onnx}",
            "Exporting the operator {op} to ONNX opset version{onnx}",
            "Unsupported FX nodes: {'call_function': ['{op}'{onnx}",
            "No ONNX function found for {*}op='{op}', overload='{overload}'{onnx}",
            "Couldn't export Python operator {function}{python}",
            "Could not export Python function call '{function}'{python}",
            "Operator {op} is not Aten Canonical{core}",
            "Operator {op} is not in Core ATen opset{core}",
            "kernel '{overload_name}' not found{core}",
            "Missing out variants: {core}",
        ),
        "torch/onnx, torch/csrc/jit/serialization, torch/_export/verifier.py, ExecuTorch",
        means=(
            "PyTorch itself has the operator. [[{onnx}The exporter to ONNX has a function for each operator, and "
            "none for this one in this opset.]][[{python}A torch.autograd.Function is Python code, which TorchScript "
            "and ONNX cannot contain.]][[{core}ExecuTorch has kernels of the core ATen operators only; others have "
            "to be decomposed, or linked to the runtime.]]"
        ),
        user=(
            "[onnx] Pass a higher `opset_version`, or use the newer exporter: `torch.onnx.export(..., dynamo=True)`.",
            "[onnx] Else replace the operator in the model, or translate it: `custom_translation_table=` of the new "
            "exporter, torch.onnx.register_custom_op_symbolic for the old one.",
            "[python] For inference, call what its `forward` does directly, without `apply`.",
            "[core] Export the model in eval mode and under torch.no_grad(), so that operators for training are left "
            "out.",
            "[core] Or allow it, `EdgeCompileConfig(_core_aten_ops_exception_list=[...])`, and link a kernel of it.",
        ),
        author=("[python] Make it an operator: torch.library.custom_op, or TORCH_LIBRARY in C++.",),
        aside=True,
    ),
    Message(
        "library-of-gpu",
        "a library of the GPU refuses the call",
        (
            "was unable to find an engine to execute this computation",
            "cuDNN error: {label}",
            "no kernel image is available for execution on the device{image}",
        ),
        "cuDNN, the CUDA runtime",
        means=(
            "The dispatcher has found the kernel for CUDA and called it.[[{image} It was not compiled for this GPU: "
            "the build has no code for its compute capability.]] No registration can change that."
        ),
        user=(
            "[image] Install a build for this GPU: `torch.cuda.get_arch_list()` has the capabilities of PyTorch; a "
            "package with its own kernels is built again with TORCH_CUDA_ARCH_LIST.",
            "[!image] The usual causes are GPU memory that is full, a cuDNN of another version in LD_LIBRARY_PATH, and "
            "dtypes that the GPU lacks. `torch.backends.cudnn.enabled = False` shows whether it is cuDNN.",
        ),
        aside=True,
    ),
    Message(
        "internal-assert",
        "an assertion of PyTorch failed",
        ("INTERNAL ASSERT FAILED at ",),
        "TORCH_INTERNAL_ASSERT in c10/util/Exception.h",
        means=(
            "PyTorch found its own data inconsistent. That is a fault of PyTorch, or of an extension that was "
            "compiled with headers of another version; no registration is missing."
        ),
        user=(
            "Try a newer PyTorch, and build extensions again. If it stays: report it, with a short program that "
            "shows it.",
        ),
        aside=True,
    ),
)
