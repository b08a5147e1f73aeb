"""Answers to texts that have no known sentence: what is read from them, and what the state says of it."""

from __future__ import annotations

import re

import pytest

from dispatch_cli.answers.errors.answer import answer, bases_of, read
from dispatch_cli.answers.errors.messages import MESSAGES, OTHER_TEXT
from dispatch_cli.answers.errors.reading.evidence import AT, IN, LAYERS
from dispatch_cli.answers.errors.report import ErrorReport
from dispatch_cli.api import load_state
from tests.cli.support import call
from tests.support import load_recording

UNKNOWN = {
    row["case"]: row["text"] for row in load_recording("2.13.0.messages")["messages"] if row["kind"] == "not explained"
}
"""Texts that live PyTorch 2.13 printed, and of which no sentence is known."""
FRAME = 'Traceback (most recent call last):\n  File "/lib/torch/{}", line 3, in f\n    return f(x)\nRuntimeError: {}\n'


def answered(text: str) -> ErrorReport:
    pasted = read(text)
    report = answer(pasted, load_state([], bases=bases_of(pasted)))
    assert report.kind == OTHER_TEXT
    return report


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("RuntimeError: aten::histc is not supported on cuda:0", "aten::histc"),
        ("RuntimeError: torch.ops.mylib.f.default: unsupported for device 'xpu'", "mylib::f"),
        ("RuntimeError: mylib::f(Tensor x) -> Tensor cannot be used at DispatchKey.AutogradCUDA", "mylib::f"),
        ("RuntimeError: Function 'NoSuchThingBackward0' is not supported here", None),
    ],
)
def test_the_operator_that_a_text_names(text: str, operator: str | None) -> None:
    report = answered(text)
    assert (report.operator, report.key, report.explained) == (operator, None, None)
    assert [fact.kind for fact in report.facts] == (["schema"] if operator == "aten::histc" else [])


@pytest.mark.parametrize(
    ("case", "during"),
    [
        ("sparse_functionalized", "a transform of torch.func ran the function"),
        ("kernel_of_a_device_without_a_tensor", "an operator was defined or registered"),
        ("torch_dispatch_twice", "an operator was defined or registered"),
    ],
)
def test_the_traceback_of_live_pytorch_shows_what_was_under_way(case: str, during: str) -> None:
    assert during in answered(UNKNOWN[case]).says


@pytest.mark.parametrize(
    "text",
    [
        UNKNOWN["two_composites"],
        UNKNOWN["composite_that_sets_data"],
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


def test_each_condition_on_evidence_names_a_layer() -> None:
    texts = "\n".join("\n".join((kind.means, *kind.user, *kind.author)) for kind in MESSAGES.values())
    asked = set(re.findall(r"[\[{]!?((?:in|at)_\w+)[\]}]", texts)) - {"in_place"}
    assert len(asked) > 20
    assert asked - {f"{beginning}{name}" for beginning in (IN, AT) for name in LAYERS} == set()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (FRAME.format("_meta_registrations.py", "sizes of aten::mm do not fit"), "compile"),
        (FRAME.format("_functorch/vmap.py", "aten::mm has no entry").replace("in f", "in fn"), "vmap ran"),
        (FRAME.format("autograd/gradcheck.py", "aten::mm differs: tensor([1.], dtype=torch.float64)"), "x.dtype"),
        (FRAME.format("_dynamo/variables/builder.py", "no such entry"), "fullgraph"),
        (FRAME.format("x.py", "aten::mm has no entry"), "Run the call alone"),
        ("torch._dynamo.exc.UserError: no such entry", "an UserError"),
    ],
)
def test_no_sentence_that_the_text_does_not_prove(text: str, sentence: str) -> None:
    report = answered(text)
    assert sentence not in " ".join((report.says, report.means, *report.user, *report.author))


def test_frames_of_registered_rules_are_no_registration() -> None:
    text = FRAME.format("_library/custom_ops.py", "Expected the vmap staticmethod to have two returns")
    report = answered(
        text.replace("RuntimeError", '  File "/lib/torch/_functorch/vmap.py", line 3, in g\nRuntimeError')
    )
    assert "vmap ran the function" in report.says


@pytest.mark.parametrize(
    ("frame", "message", "during"),
    [
        ("_inductor/lowering.py", "'View' object has no attribute 'x'", "Inductor made code"),
        ("_functorch/_aot_autograd/utils.py", "an input was mutated", "AOTAutograd traced"),
        ("_subclasses/fake_tensor.py", "the dtype must be complex", "fake tensors ran"),
        ("distributed/tensor/_dispatch.py", "the tensors must be contiguous", "DTensor handled"),
        ("jit/_serialization.py", "cannot be read", "TorchScript ran"),
    ],
)
def test_the_innermost_frame_tells_the_layer(frame: str, message: str, during: str) -> None:
    report = answered(FRAME.format(frame, message))
    assert dict(report.details)["during"].startswith(during)
    assert [fact.text for fact in report.facts if fact.kind == "frame"] == [
        f"The innermost frame of PyTorch in its traceback is torch/{frame}, line 3, in f."
    ]


RAISED = 'Traceback (most recent call last):\n{}  File "/app/model.py", line 9, in call\n    {}\n{}\n'
IN_VMAP = '  File "/lib/torch/_functorch/vmap.py", line 8, in _flat_vmap\n    out = func(*args)\n'


def test_words_of_the_program_itself_do_not_tell_what_pytorch_did() -> None:
    sentence = "NotImplementedError: fake tensors are not supported"
    report = answered(RAISED.format(IN_VMAP, "raise NotImplementedError(text)", sentence))
    assert "while vmap ran the function" in report.says
    assert report.facts[0].text == "The error is raised by /app/model.py, line 9, which is no file of PyTorch."
    assert "while fake tensors ran" in answered(RAISED.format(IN_VMAP, "return f(x)", sentence)).says
    alone = call("explain", "--from-error", "-", stdin=RAISED.format("", "raise E(text)", sentence).encode())
    assert (alone.code, alone.out) == (2, "")
