"""Answers to pasted texts: what is said, over which state, and how a text that is not understood is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dispatch_cli.answers.errors.answer import answer, bases_of
from dispatch_cli.answers.errors.messages import EVIDENCE, MESSAGES
from dispatch_cli.answers.errors.read import find_errors
from dispatch_cli.answers.errors.report import ErrorReport
from dispatch_cli.api import load_state
from tests.cli.support import call
from tests.messages.table import read_texts
from tests.reports.table import TEXTS
from tests.support import slot_errors


def answered(text: str, *bases: str) -> ErrorReport:
    """The answer over the state of the text's own version, or over *bases*."""
    errors = find_errors(text)
    return answer(text, errors, load_state([], bases=bases or bases_of(text, errors[0])))


def assumed(text: str) -> tuple[str, ...]:
    return bases_of(text, find_errors(text)[0])


def no_kernel(operator: str, key: str, rest: str = "") -> str:
    return f"NotImplementedError: Could not run '{operator}' with arguments from the '{key}' backend.{rest}"


@pytest.mark.parametrize(
    ("text", "bases"),
    [
        ("PyTorch version: 2.9.1+cu128\n", ("torch-2.9",)),
        ("torch==2.6.0\n", ("torch-2.6",)),
        ("torch 1.13.1\n", ("torch-2.4",)),
        ("pytorch-2.4.1 and torch 2.9.0\n", ("torch-2.15",)),
        ("torchvision 0.15\n", ("torch-2.15",)),
    ],
)
def test_the_version_that_a_text_names_is_the_base(text: str, bases: tuple[str, ...]) -> None:
    assert assumed(text + no_kernel("aten::relu", "SparseCPU")) == bases


@pytest.mark.parametrize(("version", "base"), [("2.4.1", "torch-2.4"), ("2.15.0", "torch-2.15")])
def test_the_keys_of_a_table_tell_its_version(version: str, base: str) -> None:
    texts = [error["text"] for error in slot_errors(version) if "[kernel]" in error["text"]]
    assert {assumed(text)[0] for text in texts} == {base}


@pytest.mark.parametrize(("key", "base"), [("Named", "torch-2.12"), ("CPU", "torch-2.15")])
def test_a_key_that_newer_versions_lack_tells_the_version(key: str, base: str) -> None:
    assert assumed(no_kernel("aten::relu", key)) == (base,)


def test_a_text_of_mps_is_compared_with_a_build_that_has_mps() -> None:
    text = "NotImplementedError: The operator 'aten::roll' is not currently implemented for the MPS device."
    assert assumed(text) == ("torch-2.15", "torch-2.15-mps")
    upgrade = "Install a newer PyTorch, if yours is older than torch-2.4: torch-2.4 has the missing kernel."
    assert upgrade in answered(text).user[1:]


def test_an_operator_that_reads_data_is_in_no_version_for_tensors_without_data() -> None:
    user = answered(no_kernel("aten::_local_scalar_dense", "Meta")).user
    assert user and not any("PyTorch" in step for step in user)


def test_a_newer_version_is_named_only_where_it_has_the_kernel() -> None:
    user = answered(no_kernel("aten::add.out", "QuantizedCPU")).user
    assert user[1].startswith("Dequantize the tensor before the call")
    assert not any("newer PyTorch" in step for step in user)


def test_a_slot_of_which_nothing_is_known_is_not_stated() -> None:
    report = answered(no_kernel("aten::linalg_eig", "MPS"), "torch-2.15", "torch-2.15-mps")
    assert (report.reproduced, report.explained) == (None, None)
    assert [fact.kind for fact in report.facts] == ["tensors"]


def test_a_default_kernel_is_no_kernel_of_the_backend() -> None:
    for key in ("PrivateUse1", "MTIA"):
        assert "here" not in {fact.kind for fact in answered(no_kernel("aten::sgn", key)).facts}


def test_the_devices_of_all_arguments_are_looked_at() -> None:
    user = answered(no_kernel("aten::_slow_conv2d_forward", "MPS")).user
    assert user[0].startswith("The input is probably on the CPU, and the weight on MPS")


def test_a_key_that_a_terminal_broke_is_one_key() -> None:
    texts = [error["text"] for error in slot_errors("2.15.0")]
    text = next(text for text in texts if "BatchedNestedTensor," in text)
    broken = text.replace("BatchedNestedTensor, ", "BatchedNest\nedTensor, ")
    assert find_errors(broken)[0].available == find_errors(text)[0].available


@pytest.mark.parametrize(
    ("symbol", "kind", "name"),
    [
        ("_Z17lltm_cuda_forwardN2at6TensorES0_S0_", "undefined-symbol", "lltm_cuda_forward"),
        ("_ZN5mylib7forwardERKN2at6TensorE", "undefined-symbol", "mylib::forward"),
        ("_ZN3c105ErrorC1ENS_14SourceLocationESs", "undefined-symbol", "c10::Error::Error"),
        ("_Z16THPVariable_WrapN2at10TensorBaseE", "undefined-symbol", "THPVariable_Wrap"),
    ],
)
def test_whose_symbol_it_is(symbol: str, kind: str, name: str) -> None:
    report = answered(f"ImportError: /x/ext.so: undefined symbol: {symbol}")
    assert (report.kind, dict(report.details)["symbol"]) == (kind, name)
    assert ("old_abi" in dict(report.details)) is symbol.endswith("Ss")


def test_an_operator_of_the_given_files_is_theirs_and_not_of_the_base() -> None:
    text = "NotImplementedError: Could not run 'tiny::store_block' with arguments from the 'CUDA' backend."
    out = call("explain", "--from-error", "-", "examples/backend", stdin=text.encode()).out
    assert "The state of the given files has kernels of tiny::store_block at PrivateUse1, and none at CUDA" in out
    assert "built without CUDA" not in out
    assert "`x.to('tiny')`" in out


@pytest.mark.parametrize(
    ("name", "told"),
    [("_grouped_mm", "those from torch-2.8 on define"), ("relu", "all define"), ("relo", "none define")],
)
def test_the_versions_that_define_an_operator_of_pytorch(name: str, told: str) -> None:
    report = answered(f"AttributeError: '_OpNamespace' 'aten' object has no attribute '{name}'")
    assert told in report.facts[0].text
    assert [step for step in report.user if "Import the package" in step] == []


def test_advice_on_alias_annotations_names_who_refuses() -> None:
    schema = "m::f_(Tensor(a!) x) -> Tensor(a!)"
    text = f"RuntimeError: Found a custom (non-ATen) operator whose output has alias annotations: {schema}."
    (step,) = (step for step in answered(text).author if "torch.Tag.inplace" in step)
    assert step.startswith("For torch.compile: ")


def test_a_cut_table_says_nothing_of_what_it_does_not_show() -> None:
    lines = ("Batched: registered at /x/L.cpp:1 [kernel]", "VmapMode: fallthrough registered at /x/V.cpp:1 [kernel]")
    facts = answered(no_kernel("mylib::f", "CUDA", "\n\n" + "\n".join(lines))).facts
    assert {fact.kind for fact in facts}.isdisjoint({"nowhere", "only-at", "not-written"})


@pytest.mark.parametrize(
    "text", ["KeyError: 'x'", "Unsupported first arg type: <class 'int'>", "Global state mismatch"]
)
def test_a_text_that_is_not_understood_is_refused_in_one_sentence(text: str) -> None:
    result = call("explain", "--from-error", "-", stdin=text.encode())
    assert (result.code, result.out) == (2, "")
    assert len(result.err.splitlines()) == 1
    assert "not about dispatch" not in result.err


FIRST, LAST = no_kernel("aten::relu", "SparseCPU"), "RuntimeError: operator torchvision::nms does not exist"


@pytest.mark.parametrize(
    ("between", "explained", "other"),
    [
        ("During handling of the above exception, another exception occurred:", "not-defined", "no-kernel"),
        ("The above exception was the direct cause of the following exception:", "no-kernel", "not-defined"),
    ],
)
def test_the_error_that_ended_the_program_is_explained_or_its_cause(between: str, explained: str, other: str) -> None:
    report = answered(f"{FIRST}\n\n{between}\n\n{LAST}\n")
    assert (report.kind, [error.kind for error in report.others]) == (explained, [other])


@pytest.mark.parametrize(
    ("end", "kind"),
    [
        ("RuntimeError: Trying to backward through the graph a second time", "backward-call"),
        ("KeyError: 'x'", "no-kernel"),
    ],
)
def test_the_error_that_ended_the_program_is_explained_or_said_to_be_unknown(end: str, kind: str) -> None:
    log = "\ntrying again\n".join(
        f'Traceback (most recent call last):\n  File "f.py", line 3, in f\n{t}' for t in (FIRST, end)
    )
    report = answered(log)
    assert report.kind == kind
    assert ("handled" in [fact.kind for fact in report.facts]) is (kind == "no-kernel")
    assert [error.kind for error in report.others] == ([] if kind == "no-kernel" else ["no-kernel"])


@pytest.mark.parametrize(("device", "lacks_mkl"), [("CPU", True), ("CUDA", False)])
def test_only_products_on_the_cpu_lack_mkl(device: str, lacks_mkl: bool) -> None:
    text = (
        f"RuntimeError: addmm: computation on {device} is not implemented for SparseCsr + Strided @ Strided without MKL"
    )
    assert ("MKL" in answered(text).says) is lacks_mkl


@pytest.mark.parametrize(
    "end",
    [
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: train.py FAILED",
        "subprocess.CalledProcessError: Command '['python', 'train.py']' returned non-zero exit status 1.",
    ],
)
def test_the_failure_of_a_child_process_is_the_effect_of_its_error(end: str) -> None:
    texts = [f'Traceback (most recent call last):\n  File "f.py", line 3, in f\n{text}\n' for text in (FIRST, end)]
    report = answered("\n".join(texts))
    assert (report.kind, [fact.kind for fact in report.facts if fact.kind == "handled"]) == ("no-kernel", [])


def test_autocast_is_advised_for_the_dtypes_that_it_converts() -> None:
    text = "RuntimeError: expected scalar type {} but found Float"
    assert any("under autocast" in step for step in answered(text.format("Half")).user)
    assert not any("under autocast" in step for step in answered(text.format("Double")).user)


HANDLING = "\n\nDuring handling of the above exception, another exception occurred:\n\n"


@pytest.mark.parametrize(
    ("text", "kind", "handled"),
    [
        (no_kernel("aten::relu", "SparseCPU") + HANDLING + "KeyError: 'tensor'", "no-kernel", True),
        (no_kernel("aten::relu", "SparseCPU") + HANDLING + no_kernel("aten::relu", "SparseCPU"), "no-kernel", False),
        ("KeyError: 'x'" + HANDLING + no_kernel("aten::relu", "SparseCPU"), "no-kernel", False),
        (
            "ImportError: /x/_C.so: undefined symbol: _ZN2at3fooERKNS_6TensorE"
            + HANDLING
            + "AttributeError: '_OpNamespace' 'my' object has no attribute 'op'",
            "undefined-symbol",
            False,
        ),
    ],
)
def test_an_error_that_was_handled_is_named_so_and_a_library_that_is_not_loaded_is_the_cause(
    text: str, kind: str, handled: bool
) -> None:
    report = answered(text)
    assert (report.kind, "handled" in [fact.kind for fact in report.facts]) == (kind, handled)


@pytest.mark.parametrize(
    ("text", "advised", "not_advised"),
    [
        (
            "RuntimeError: function F returned a gradient different than None at position 2, but the corresponding "
            "forward input was not a Variable",
            "return None at that position",
            "as many values",
        ),
        (
            "OpCheckError: opcheck(op, ...): test_faketensor failed with When comparing the output of t.g.default on "
            "FakeTensor and concrete Tensors, found mismatched tensor metadata: Dtypes torch.float64 and torch.float32 "
            "are not equal!",
            "Correct the fake implementation",
            "torch.empty_strided",
        ),
        (
            "import torch\nImportError: DLL load failed: the system cannot run %1.",
            "Visual C++ Redistributable",
            "LD_LIBRARY_PATH",
        ),
        (
            "Expected tensor for argument #1 'indices' to have scalar type Long; but got torch.cuda.FloatTensor "
            "instead (while checking arguments for embedding)",
            "indices.long()",
            "weight.dtype",
        ),
        ("expected scalar type Float but found ComplexFloat", "Make both complex", "Convert the tensor"),
        (no_kernel("aten::_transformer_encoder_layer_fwd", "musa"), "set_fastpath_enabled(False)", "register_fake"),
        (
            "Expected all tensors to be on the same device, but found at least two devices, cpu and meta!",
            "on meta",
            "x.to(device)",
        ),
    ],
)
def test_what_is_advised_for_one_text_of_a_kind(text: str, advised: str, not_advised: str) -> None:
    report = answered(text)
    steps = "\n".join((*report.user, *report.author))
    assert advised in steps
    assert not_advised not in f"{report.says} {steps}"


@pytest.mark.parametrize(
    ("explanation", "may_be_compiled"),
    [
        ("Unsupported method call\n  Explanation: Dynamo does not know how to trace method `put` of class `Q`", False),
        (
            "Unsupported method call\n  Developer debug context: call_method UserDefinedObjectVariable(lock) acquire",
            False,
        ),
        ("call_function BuiltinVariable\n  This function is a third-party C/C++ Python extension", True),
    ],
)
def test_methods_that_dynamo_does_not_trace_are_not_taken_for_compiled_functions(
    explanation: str, may_be_compiled: bool
) -> None:
    report = answered(f"torch._dynamo.exc.Unsupported: {explanation}")
    assert any("Make a compiled function an operator" in step for step in report.author) is may_be_compiled


def test_the_last_traceback_is_explained_where_the_one_before_is_not_its_cause() -> None:
    texts = [f'Traceback (most recent call last):\n  File "f.py", line 3, in f\n{text}\n' for text in (FIRST, LAST)]
    assert answered("\nattempt 1 failed, trying again\n".join(texts)).kind == "not-defined"
    cause = "\nThe above exception was the direct cause of the following exception:\n\n"
    assert answered(cause.join(texts)).kind == "no-kernel"


@pytest.mark.parametrize(
    "text",
    [
        "found at least two devices, cuda:0 and cpu! (when checking argument for argument mat1 in method addmm)",
        "got mat1 is on cpu, different from other tensors on cuda:0 (when checking argument in method addmm)",
    ],
)
def test_the_argument_that_is_on_another_device(text: str) -> None:
    """PyTorch names the argument whose device it compares with that of the arguments before it."""
    report = answered(f"RuntimeError: Expected all tensors to be on the same device, but {text}")
    assert report.says.endswith(": cuda:0 and cpu")
    assert "Here mat1 is on cpu, and a tensor before it on cuda:0." in report.means


def test_a_headline_is_whole_whatever_a_text_names() -> None:
    texts = [row.text for row in read_texts()] + [path.read_text(encoding="utf-8") for path in TEXTS.glob("*.txt")]
    headlines = {answered(text).says for text in texts if find_errors(text)}
    assert len(headlines) > 100
    assert [
        says for says in headlines if len(says) < 10 or re.search(r"(?:\bof|\bthe|[:,])$|  |[{}]|\[(?!abi:)", says)
    ] == []


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("rope2", "The loaded files do not define fastops::rope2; did you mean fastops::rope?"),
        ("unlike_any", "The loaded files do not define fastops::unlike_any."),
        ("rope", ""),
    ],
)
def test_files_that_do_not_define_the_operator_are_told(tmp_path: Path, name: str, sentence: str) -> None:
    path = tmp_path / "ops.yaml"
    path.write_text("dispatch: 1\noperators:\n  - func: fastops::rope(Tensor x) -> Tensor\n", encoding="utf-8")
    text = f"AttributeError: '_OpNamespace' 'fastops' object has no attribute '{name}'"
    result = call("explain", "--from-error", "-", str(path), stdin=text.encode())
    assert result.code == 0, result.err
    assert sentence in result.out
    assert ("The loaded files" in result.out) is bool(sentence)


def test_kernels_of_a_name_that_the_files_do_not_define_are_told_first(tmp_path: Path) -> None:
    """PyTorch raises the text all the same: kernels alone define no operator."""
    path = tmp_path / "ops.yaml"
    path.write_text(
        "dispatch: 1\noperators:\n"
        "  - func: fastops::rope(Tensor x) -> Tensor\n"
        "  - {name: fastops::ropes, dispatch: {CUDA: rope_cuda}}\n",
        encoding="utf-8",
    )
    text = "AttributeError: '_OpNamespace' 'fastops' object has no attribute 'ropes'"
    result = call("explain", "--from-error", "-", str(path), stdin=text.encode())
    assert result.code == 0, result.err
    (second,) = (line for line in result.out.splitlines() if "did you mean" in line)
    assert second.startswith("The loaded files do not define fastops::ropes, and have kernels of it (CUDA, ")
    assert "ops.yaml:4:" in second
    assert "; did you mean fastops::rope?" in second


def test_a_shape_that_fails_under_compile_is_one_error() -> None:
    report = answered(
        "torch._dynamo.exc.TorchRuntimeError: RuntimeError when making fake tensor call\n"
        "  Explanation: Dynamo failed to run FX node with fake tensors: call_function <built-in function matmul>(*("
        "FakeTensor(..., size=(3, 3)), FakeTensor(..., size=(5, 5))), **{}): got RuntimeError('a and b must have same "
        "reduction dim, but got [3, 3] X [5, 5].')\n\n  Developer debug context: \n"
    )
    assert (report.says, report.others) == ("a call fails with fake tensors", ())
    assert report.user[0].startswith("Run it without torch.compile")


def test_the_place_of_a_block_with_another_namespace_is_told() -> None:
    details = answered(
        'RuntimeError: impl("aten::add.Tensor", ...): Explicitly provided namespace (aten) in operator name does not '
        "match namespace of enclosing TORCH_LIBRARY block (r7).  Move this definition to the TORCH_LIBRARY block "
        "corresponding to this namespace.  (Error occurred while processing TORCH_LIBRARY block at ops.py:475)"
    ).details
    assert ("new", "ops.py:475") in details


def test_words_anywhere_in_a_text_have_names_of_their_own() -> None:
    """A detail of a template is of the one sentence; words are of the whole text."""
    words = {line.partition(" ")[0] for line in MESSAGES[EVIDENCE].words}
    details = {
        name for message in MESSAGES.values() for text in message.templates for name in re.findall(r"\{(\w+)\}", text)
    }
    assert words & details == set()


TWICE = (
    "Tried to register an operator (t::f(Tensor x) -> Tensor) with the same name and overload name multiple times. "
    "Each overload's schema should only be registered with a single call to def(). "
    "Duplicate registration: registered at {}. Original registration: registered at {}"
)


@pytest.mark.parametrize(
    ("places", "first"),
    [
        (("/dev/null:7", "/dev/null:7"), "In Python either the module"),
        (("/dev/null:7", "/dev/null:9"), "In Python either the module"),
        (("/x/ops.py:7", "/x/ops.py:7"), "In Python either the module"),
        (("ops.cpp:7", "ops.cpp:7"), "Check whether two versions"),
        (("ops.cpp:7", "ops.cpp:9"), "Check whether two versions"),
        (("ops.cpp:7", "other.cpp:7"), "Check whether two versions"),
    ],
)
def test_the_places_of_two_definitions_tell_the_likely_cause(places: tuple[str, str], first: str) -> None:
    assert answered(TWICE.format(*places)).user[0].startswith(first)


def test_a_message_below_a_frame_without_its_line_of_code_is_read() -> None:
    frame = '  File "/x/distributed.py", line 824, in __init__\n'
    message = "\"cat_cuda\" not implemented for 'Float8_e4m3fn'"
    assert [error.kind for error in find_errors(frame + message)] == ["no-dtype"]
    assert find_errors(f"{frame}    raise TypeError({message!r})") == []


@pytest.mark.parametrize(
    ("program", "first"), [("src/main.rs:5:3", "In a program of C++"), ("torch.mm(x, y)", "Import torch_scatter")]
)
def test_programs_of_other_languages_are_told_to_link_first(program: str, first: str) -> None:
    assert answered(f"{program}\nUnknown builtin op: torch_scatter::scatter_max.").user[0].startswith(first)


def test_the_kernel_that_is_replaced_is_that_of_the_key() -> None:
    """PyTorch's warning names the first kernel with a C++ signature, at whatever key."""
    report = answered(
        "Warning: Overriding a previously registered kernel for the same operator and the same dispatch key\n"
        "  operator: aten::relu(Tensor self) -> Tensor\n    registered at /pytorch/RegisterSchema.cpp:6\n"
        "  dispatch key: CUDA\n  previous kernel: registered at /pytorch/LegacyBatchingRegistrations.cpp:1079\n"
        "       new kernel: registered at /x/my.cpp:5"
    )
    details = dict(report.details)
    assert "previous" not in details
    assert "LegacyBatching" not in details["replaced"]
    assert "CUDA" in details["replaced"]
