"""Texts that are refused, and those of which only the exception or the part of PyTorch that raises it is known."""

from __future__ import annotations

import pytest

from dispatch_cli.answers.errors.answer import answer, bases_of
from dispatch_cli.answers.errors.messages import MESSAGES
from dispatch_cli.answers.errors.read import find_errors
from dispatch_cli.answers.errors.report import ErrorReport
from dispatch_cli.api import load_state
from tests.cli.support import call

FRAME = 'Traceback (most recent call last):\n  File "/lib/torch/{}", line 3, in f\n    return f(x)\nRuntimeError: {}\n'
DYNAMO = "torch._dynamo.exc.Unsupported: call to a function of a module"
FAKE = (
    "torch._dynamo.exc.TorchRuntimeError: Failed running call_function mylib.f(*(FakeTensor(..., size=(4,)),), **{}):\n"
)
INDUCTOR = "torch._inductor.exc.LoweringException: AssertionError: \n  target: aten.convolution.default"
INDUCTOR_SAYS = "Inductor fails to make code of a traced program at an operator"


def answered(text: str) -> ErrorReport:
    errors = find_errors(text)
    return answer(text, errors, load_state([], bases=bases_of(text, errors[0])))


@pytest.mark.parametrize(
    "text",
    [
        "RuntimeError: torch.distributed is not supported on XPU",
        "torch: ValueError: load_in_8bit is not supported on CPU",
        "torch: the model is not supported on CPU",
        "torch: data is not supported on gpu",
        "RuntimeError: torch.compile is not supported on MPS",
        "UserWarning: 'pin_memory' argument is set as true but not supported on MPS now, then device pinned memory"
        " won't be used.",
        f"torch: aten::histc is not supported on cuda:0\n{'.' * 300}\nKeyError: 'x'",
        "mlx: ValueError: [conv_general] conv3d not supported on gpu",
        "llama_model_load: flash_attn not supported on CPU",
        "paddle.fluid: NotImplementedError: (Unimplemented) conv2d_fusion op is not supported on CPU",
        "TypeError: ufunc 'isnan' not supported for the input types, of float64",
        "docker: could not select device driver: gpu_cuda not supported on gpu",
        "java.lang.UnsupportedOperationException: not implemented: org.foo.bar_cpu",
        FRAME.format("_functorch/vmap.py", "the dtype must be complex"),
        # a log, a warning, and errors that another call than the failed one raises
        "12:00 INFO trainer: torch.compile enabled; vmap not supported by module, dtype bfloat16",
        "tests/test_ops.py::test_fake tensor[RuntimeError: dtype] PASSED",
        "-- Could NOT find nvtx3 (missing: torch tensors unsupported): Error: device",
        "torch failed: tensors of device cuda are not supported by vmap",
        "/x/torch/_inductor/lowering.py:70: UserWarning: Online softmax is disabled",
        "W501 ProcessGroupNCCL.cpp:1250] Warning: WARNING: process group has NOT been destroyed",
        FRAME.format("autograd/graph.py", "CUDA error: out of memory\nasynchronously reported"),
        # a sentence that is known, in a line that tells of no error
        "INFO 11-28 [loader.py:3] Could not run 'aten::relu' with arguments from the 'SparseCPU' backend",
        "foo.cpp:3: note: expected scalar type Half but found Float",
        "INFO: \"addmm_impl_cpu_\" not implemented for 'Half', using float32\n",
        "2025-01-01 10:00:00,123 - mylib - INFO - Torch not compiled with CUDA enabled\nall tests passed\n",
        "I1128 12:00:00.123456 4711 probe.py:3] Torch not compiled with CUDA enabled\n",
        # short sentences of other programs
        "ValueError: Unsupported dtype Half in ONNX Runtime provider TensorRT",
        "tensorflow.python.framework.errors_impl.InvalidArgumentError: Unsupported dtype Float for feature 'age'",
        "TypeError: Undefined type Int in GraphQL schema",
        "BFloat16 is not supported on sm75",
        "Float8 is not supported on NVIDIA A100",
        "jaxlib.xla_extension.XlaRuntimeError: UNIMPLEMENTED: not implemented on CPU: dot with S4",
        "xgboost.core.XGBoostError: XGBoost is not compiled with GPU support",
        "ValueError: expression can only be differentiated once",
        "ValueError: argument of weight is not zero-based and is not supported",
        "TypeError: fake_login() takes 1 positional argument but 2 were given",
        "TypeError: login_fake() takes 1 positional argument but 2 were given",
        "TypeError: abstract_factory() missing 1 required positional argument: 'self'",
        "NotImplementedError: derivative for energy is not implemented",
        "NotImplementedError: eval is only implemented for `vectorize=True` in pandas eval",
        "ImportError: Numpy is not available, please install it",
        "cupy_backends.cuda.api.runtime.CUDARuntimeError: no kernel image is available for execution on the device",
        # sentences that programs without tensors have too
        "ValueError: all columns must have the same dtype",
        "RuntimeError: all partitions must be on the same device",
        "TypeError: keys and values should have the same dtype",
        "ValueError: idx must be an int tensor",
        "RuntimeError: log files must be on the current device",
        "ValueError: class ids must be contiguous",
        "xgb error: the data must be on GPU",
        "File \"/x/mindspore/common/tensor.py\"\nAttributeError: 'Tensor' object has no attribute 'item_set'",
        'File "/x/mxnet/ndarray.py"\nRuntimeError: tensors must be on the same device',
        "AttributeError: 'Tensor' object has no attribute 'asnumpy'",
        "TypeError: db_abstract() missing 1 required positional argument: 'x'",
        "cupy: TypeError: quantile only supports floating point dtypes",
        "RuntimeError: call aclnnAdd failed, detail:EZ1001",
        "RuntimeError: Could not run 'deploy' with arguments from the 'staging' backend.",
        "ValueError: Cannot flatten a sharded index",
        "CUDA error: invalid device function\n  current device: 0, in function ggml_cuda_mul_mat_q",
        "ERROR: Constraints violated (unique_email)",
        "ERROR: operator public.eq does not exist",
        "ImportError: DLL load failed while importing _ssl: The specified module could not be found.",
        "OSError: [WinError 126] The specified module could not be found",
        "ModuleNotFoundError: No module named 'PIL._imaging_cuda'",
        "hydra: Dynamic control flow is not supported at the moment",
        "thread 'main' panicked: not implemented for 'Float'",
        "Error: operator prometheus does not exist in namespace default",
        "AssertionError: Guard failed: arr.size()[0] == 3",
        "ValueError: Expected input at layers[0].shape[1] to be equal to 10, but got 5",
        "node-gyp: recompile limit exceeded for module fs",
        "CUDA failure 900: operation not permitted when stream is capturing ; GPU=0 ; expr=cudaStreamSynchronize(s);",
        "sentry: span 7f is not part of the active trace",
        "NotImplementedError: reader_input_impl: not implemented",
        "RuntimeError: Unable to cast Python instance to C++ type 'std::string'\nconverting image to Tensor",
        "ValueError: Expected pytree leaves to have same number of outputs but got 2 and 3",
        "json.hpp:31:5: error: static assertion failed: INVALID TYPE",
        "Failed to launch (error code no kernel image is available for execution on the device)!",
        "System.MissingMethodException: new() received an invalid combination of arguments",
        "./app: /lib/libc.so.6: version `GLIBC_2.34' not found (required by ./app)",
        "ImportError: libcurl.so.4: cannot open shared object file: No such file or directory",
        "librocksdb.so.6: cannot open shared object file: No such file or directory",
        "CUDA_HOME environment variable is not set and CUDA is not found",
        "TypeError: solve(): incompatible function arguments. The following argument types are supported:",
        "LNK2019: unresolved external symbol cudaMalloc",
        "TypeError: Unknown type name 'NoneType'",
        "ValueError: input tensor layout: NHWC",
        "TypeError: expected the handler to return a Tensor, got NoneType",
        # contiguous() does not make a tensor column-major
        "RuntimeError: Input tensor 'b' must be contiguous in the K dimension (column-major)",
        # lines around an error, and frames that each call passes
        "tensor on device cuda: vmap, DTensor, torch.compile(f)\nRuntimeError: no such entry",
        FRAME.format("_compile.py", "no such entry"),
        FRAME.format("_functorch/apis.py", "no such entry"),
        FRAME.format("_dynamo/eval_frame.py", "no such entry"),
        FRAME.format("_library/custom_ops.py", "no such entry").replace("in f", "in backend_impl"),
        FRAME.format("autograd/__init__.py", "no such entry").replace("in f", "in _make_grads"),
        "UserWarning: a tensor on cuda:0 is not supported",
        "RuntimeError: the model on cuda:0 is not supported",
        "ImportError: cannot import name 'vmap' from 'jax.experimental'",
        "FileNotFoundError: missing aten.native_functions.yaml",
        "RuntimeError: ONNX Runtime: failed to load model, file not found",
        "NotImplementedError: OpOverload(op='...') unsupported",
    ],
)
def test_a_text_that_proves_nothing_is_refused_in_one_sentence(text: str) -> None:
    result = call("explain", "--from-error", "-", stdin=text.encode())
    assert (result.code, result.out, len(result.err.splitlines())) == (2, "", 1)


@pytest.mark.parametrize(
    ("text", "says", "step"),
    [
        (DYNAMO, "Dynamo met code that it does not trace", "fullgraph=True"),
        (f"{FAKE}no such entry", "a call fails with fake tensors: mylib::f", "torch.compiler.disable"),
        (INDUCTOR, f"{INDUCTOR_SAYS}: aten::convolution", "backend='aot_eager'"),
    ],
)
def test_an_exception_without_a_known_sentence_is_explained_by_its_class(text: str, says: str, step: str) -> None:
    report = answered(text)
    assert report.says == says
    assert any(step in advised for advised in report.user)


@pytest.mark.parametrize("text", [DYNAMO, FAKE, INDUCTOR])
def test_a_known_sentence_is_explained_in_place_of_the_class_of_the_exception(text: str) -> None:
    errors = find_errors(f"{text}\nRuntimeError: Trying to backward through the graph a second time")
    assert [error.kind for error in errors] == ["backward-call"]
    assert not MESSAGES["backward-call"].general


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("torch.AcceleratorError: CUDA error: invalid device function", "not-built"),
        ('File "/x/site-packages/torch/_ops.py"\nlibcusparse.so.12: cannot open shared object file', "no-library-file"),
    ],
)
def test_a_text_of_other_programs_too_counts_beside_pytorchs_name(text: str, kind: str) -> None:
    assert [error.kind for error in find_errors(text)] == [kind]
