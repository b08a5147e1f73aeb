"""``dispatch-cli resolve``: machine formats whole, exit codes, problems all at once, the scenarios."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.support import call

FACTORY = ("resolve", "mylib::filled", "examples/scenarios/06_factory.yaml")
FIXED = ("resolve", "mylib::filled", "examples/scenarios/06_factory.fixed.yaml")


def test_a_math_kernel_that_runs_all_the_same() -> None:
    """Without the autograd keys the same kernel is at the backend's."""
    args = ("resolve", "__test__::foo", "-k", "CompositeImplicitAutograd", "--tensor", "cpu")
    shown = call(*args, "--context", "inference_mode").out
    assert "The call ends in fn_CompositeImplicitAutograd at CPU " in shown
    assert "does not run" not in shown


@pytest.mark.parametrize(
    ("tensor", "contexts", "says"),
    [
        ("cpu sparse requires_grad", (), True),
        ("cpu sparse", (), False),
        ("cpu sparse requires_grad", ("no_grad",), False),
    ],
)
def test_that_there_is_no_autograd_kernel_is_said(tensor: str, contexts: tuple[str, ...], says: bool) -> None:
    options = [text for context in contexts for text in ("--context", context)]
    shown = call("resolve", "__test__::foo", "-k", "SparseCPU", "--tensor", tensor, *options).out
    sentence = "No autograd kernel: AutogradCPU holds PyTorch's own fallback. The backward pass warns"
    assert (sentence in " ".join(shown.split())) == says


def test_an_error_in_json_is_whole() -> None:
    result = call(*FACTORY, "--format", "json")
    report = json.loads(result.out)
    error = report["end"]["error"]
    (advice,) = report["advice"]
    assert (advice["kind"], advice["keys"]) == ("unreachable", ["Undefined"])
    assert [edit["key"] for edit in advice["changes"][0]["edits"]] == ["BackendSelect"]
    assert report["notes"] == []
    assert (result.code, error["kind"], error["type"], error["whole"]) == (1, "no-tensors", "NotImplementedError", True)
    assert error["text"].startswith("There were no tensor arguments to this function (e.g., ")
    assert "CPU: filled_cpu [kernel]\n" in error["text"]


def test_a_key_set_instead_of_tensors() -> None:
    result = call("resolve", "aten::sin", "--keyset", "CPU | AutogradCPU", "--format", "json")
    (selection,) = json.loads(result.out)["selections"]
    assert (result.code, selection["mask"]["kind"]) == (0, "none")
    assert [step["slot"] for step in selection["steps"]] == ["AutogradCPU", "CPU"]
    assert "Mask    none: a key set was given\n" in call("resolve", "aten::sin", "--keyset", "CPU").out


def test_the_device_argument() -> None:
    """In a step, above it, and for machines; where it is not given, what is assumed."""
    assumed = call(*FIXED).out
    assert "\nDevice   cpu, PyTorch's default; --argument device=… sets another\n" in assumed
    step = "BackendSelect: filled_by_device redispatches with {}, chosen by device {}, as kernels there that get a "
    assert step.format("CPU", "cpu") in assumed
    given = call(*FIXED, "--argument", "device=cuda:1").out
    assert "\nDevice   cuda:1\n" in given
    assert step.format("CUDA", "cuda:1") in given
    markdown = call(*FIXED, "--argument", "device=cuda:1", "--format", "markdown").out
    assert "\n- Tensors: none\n- Device: cuda:1\n" in markdown
    own = ("resolve", "aten::_to_copy", "--tensor", "cpu", "--argument", "device=cuda")
    report = json.loads(call(*own, "--format", "json").out)
    (selection,) = report["selections"]
    given = {"value": "cuda", "why": "given"}
    steps = [(row["slot"], row["chosen_by"] and row["chosen_by"]["device"], row["why"]) for row in selection["steps"]]
    assert (report["device"], steps) == (
        "cuda",
        [
            ("AutogradCPU", None, "core-kernel"),
            ("BackendSelect", given, "core-kernel"),
            ("CUDA", None, "backend"),
        ],
    )
    assert selection["steps"][1]["passes"]["keys"] == ["CPU", "CUDA"]
    assert [key["key"] for key in selection["keys"]] == [
        *("AutocastCPU", "AutogradCPU", "ADInplaceOrView", "BackendSelect", "CUDA", "CPU")
    ]
    assert (
        "with CUDA, CPU, chosen by device cuda, layout strided, dtype float32, as PyTorch's own kernel there does"
        in call(*own).out
    )


def test_mistakes_in_the_device_argument() -> None:
    def messages(*args: str) -> list[str]:
        result = call("resolve", *args)
        assert (result.code, result.out) == (2, "")
        return result.err.splitlines()[:-2]

    known = "cpu, cuda, ipu, xpu, hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, hpu, mtia, privateuseone"
    unknown = [
        f"error[device]: --argument device 'cdua': the universe torch-2.15 has no device 'cdua' (it has {known})",
        "  help: did you mean cuda?",
    ]
    assert messages("aten::zeros", "--argument", "device=cdua") == unknown
    assert messages("aten::sn", "--argument", "device=cdua")[-2:] == unknown
    without = "error[device]: --argument device 'cuda': aten::sin has no argument of type Device"
    assert messages("aten::sin", "--argument", "device=cuda") == [without]
    assert messages("aten::zeros", "--argument", "device=a b") == [
        "error[device]: --argument device 'a b': a device is a word, optionally with an index",
        "  help: such as `cuda` or `cuda:0`",
    ]
    assert messages("call_torchbind", "--argument", "device=cuda") == [
        "error[device]: --argument device: a higher-order operator has no schema, so it has no such argument"
    ]
    dangling = messages("__test__::foo", "-k", "CPU", "--argument", "device=cuda")
    assert dangling == ["error[device]: --argument device 'cuda': __test__::foo has no argument of type Device"]


def test_what_is_assumed_of_a_factory() -> None:
    sparse = ("resolve", "aten::_sparse_coo_tensor_with_dims_and_tensors", "--tensor", "cpu", "--tensor", "cpu")
    result = call(*sparse)
    assert result.code == 1
    assert "\nLayout   strided, PyTorch's default; --argument layout=… sets another\n" in result.out
    hint = "No layout was given: with --argument layout=sparse the call reaches a kernel at SparseCPU."
    assert f"\n{hint}\n" in result.out
    assert "Advice" not in result.out
    report = json.loads(call(*sparse, "--format", "json").out)
    assert report["alternatives"] == [{"option": "layout", "value": "sparse", "key": "SparseCPU"}]
    assert report["selections"][0]["steps"][1]["chosen_by"] == {
        "device": {"value": "cpu", "why": "assumed"},
        "layout": {"value": "strided", "why": "assumed"},
        "dtype": {"value": "float32", "why": "assumed"},
    }
    given = call(*sparse, "--argument", "layout=torch.sparse_coo")
    assert given.code == 0
    assert "\nLayout   torch.sparse_coo\n" in given.out
    integers = call("resolve", "aten::randint").out
    assert "\nDtype    int64, the default of the schema; --argument dtype=… sets another\n" in integers
    unused = call("resolve", "aten::empty_like", "--tensor", "cpu", "--argument", "layout=sparse").out
    assert "\nLayout   sparse, not used: no kernel in this call chooses by it\n" in unused


def test_problems_come_together() -> None:
    result = call(
        *("resolve", "aten::sn", "--tensor", "cppu", "--tensor", "cpu sprse", "--context", "infrence_mode"),
        *("--context", "include=CPPU", "--keyset", "CPPU |"),
    )
    assert (result.code, result.out) == (2, "")
    messages = [line for line in result.err.splitlines() if "error[" in line or line.startswith("  help")]
    assert messages == [
        "error[unknown-operator]: there is no operator 'aten::sn'",
        "  help: did you mean aten::sgn or aten::sin?",
        "error[tensor]: --tensor 'cpu sprse': 'sprse' does not describe a tensor",
        "  help: did you mean sparse?",
        "error[context]: --context 'infrence_mode': 'infrence_mode' is not a context",
        "  help: did you mean inference_mode?",
        "error[tensor]: --tensor 'cppu': the universe torch-2.15 has no device 'cppu' (it has cpu, cuda, ipu, xpu, "
        "hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, hpu, mtia, privateuseone)",
        "  help: did you mean cpu?",
        "error[context]: --context 'include=CPPU': CPPU is not a key of the universe torch-2.15",
        "  help: did you mean CPU?",
        "--keyset:1:1: error[unknown-dispatch-key]: torch-2.15 has no dispatch key 'CPPU'",
        "  help: did you mean CPU?",
        "--keyset:1:7: error[key-expression]: expected a key, found the end",
    ]
    assert result.err.endswith("7 errors; nothing was done.\n")


def test_more_tensors_than_the_schema_takes() -> None:
    result = call("resolve", "aten::sin", "--tensor", "cpu", "--tensor", "cpu")
    assert (result.code, result.out) == (2, "")
    assert "aten::sin takes at most 1 tensor, but got 2" in result.err


def test_the_universe_decides() -> None:
    """A device's keys differ between versions: MAIA is a backend of 2.15, and a functionality of 2.4."""

    def slots(base: str) -> list[str]:
        report = json.loads(call("resolve", "aten::sin", "--base", base, "--tensor", "maia", "--format", "json").out)
        return [key["key"] for key in report["selections"][0]["keys"]]

    assert slots("torch-2.15") == ["AutocastMAIA", "AutogradMAIA", "ADInplaceOrView", "BackendSelect", "MAIA"]
    assert slots("torch-2.4") == ["AutogradOther", "ADInplaceOrView", "BackendSelect", "MAIA"]


def test_keys_that_a_declaration_excludes_are_named_as_they_are_written(tmp_path: Path) -> None:
    """To exclude CUDA on a thread is to exclude Dense; the declaration says CUDA."""
    file = tmp_path / "a.yaml"
    kernel = "{kernel: op_cuda, redispatches: {exclude: CUDA}}"
    file.write_text(
        f"dispatch: 1\noperators:\n  - func: demo::op(Tensor x) -> Tensor\n    dispatch: {{CUDA: {kernel}}}\n"
    )
    args = ("resolve", "demo::op", str(file), "--tensor", "cuda", "--context", "below_autograd")
    step = f"CUDA: op_cuda calls the operator again with CUDA excluded, as declared at {file}:4:54\n"
    assert f"Step 1  {step}" in call(*args).out
    (first, *_) = json.loads(call(*args, "--format", "json").out)["selections"]
    assert first["steps"][0]["excludes"]["functionalities"] == ["Dense"]
    assert first["steps"][0]["redispatches"] == {"exclude": ["CUDA"]}


CUSTOM = """\
dispatch: 1
extends: [torch-2.15]
operators:
  - custom_op: mine::sin(Tensor x) -> Tensor
    kernel: sin
    fake: sin_fake
    backward: sin_backward
    vmap: sin_vmap
  - func: mine::empty(Tensor x) -> Tensor
"""


@pytest.mark.parametrize(
    ("contexts", "tensor", "transforms", "advised"),
    [
        (["vmap"], "cpu", ["vmap"], "cpu batched"),
        (["grad"], "cpu", ["grad"], "cpu grad-wrapped"),
        (["jvp"], "cpu", ["jvp"], "cpu grad-wrapped"),
        (["grad", "vmap"], "cpu batched", ["grad"], "cpu batched grad-wrapped"),
        (["grad", "grad"], "cpu grad-wrapped", ["grad"], "cpu grad-wrapped grad-wrapped=1"),
        (["vmap"], "cpu batched", None, None),
        (["no_grad"], "cpu", None, None),
    ],
)
def test_transforms_that_wrap_no_tensor(
    tmp_path: Path, contexts: list[str], tensor: str, transforms: list[str] | None, advised: str | None
) -> None:
    """The argument that ``torch.vmap(f)(x)`` hands to ``f`` is batched; the advice is understood, and wraps all."""
    file = tmp_path / "custom.yaml"
    file.write_text(CUSTOM, encoding="utf-8")
    options = [word for context in contexts for word in ("--context", context)]
    asked = ["resolve", "mine::sin", str(file), *options]
    unwrapped = json.loads(call(*asked, "--tensor", tensor, "--format", "json").out)["unwrapped"]
    assert unwrapped == (None if transforms is None else {"transforms": transforms, "tensor": advised})
    out = call(*asked, "--tensor", tensor).out
    assert ("No tensor is wrapped at the level of" in out) is (transforms is not None)
    if advised is not None:
        assert f'write --tensor "{advised}"' in out
        assert json.loads(call(*asked, "--tensor", advised, "--format", "json").out)["unwrapped"] is None


def test_the_function_of_torch_library_under_grad(tmp_path: Path) -> None:
    """As live PyTorch 2.13 and 2.15: the operator itself raises, a Function around it works; jvp goes on."""
    file = tmp_path / "custom.yaml"
    file.write_text(CUSTOM, encoding="utf-8")
    asked = ("resolve", "mine::sin", str(file), "--tensor", "cpu grad-wrapped")
    refused = call(*asked, "--context", "grad")
    assert refused.code == 1
    assert "as declared" not in refused.out
    assert "raises, as kernels that torch.library makes do" in refused.out
    assert "Write an autograd.Function of your own instead, with setup_context and backward" in refused.out
    assert "Write an autograd.Function" not in call(*asked, "--context", "jvp").out


def test_tensors_that_the_schema_needs_and_nobody_gave() -> None:
    def left_out(*arguments: str) -> tuple[list[str], bool]:
        command = ("resolve", *arguments, "--base", "torch-2.15")
        noted = "No --tensor is given for" in call(*command).out
        return json.loads(call(*command, "--format", "json").out)["left_out"], noted

    assert left_out("aten::add.Tensor") == (["self", "other"], True)
    assert left_out("aten::add.Tensor", "--tensor", "cpu") == (["other"], True)
    assert left_out("aten::add.Tensor", "--tensor", "cpu", "--tensor", "cpu") == ([], False)
    assert left_out("aten::add.Tensor", "--keyset", "CPU") == ([], False)
    assert left_out("aten::zeros", "--argument", "device=cpu") == ([], False)  # it takes none
    assert left_out("aten::cat", "--tensor", "cpu") == ([], False)  # a list of them
    # Tensor input, Tensor? weight: the weight may be None
    assert left_out("aten::native_layer_norm", "--tensor", "cpu") == ([], False)


def test_mistakes_in_other_options() -> None:
    result = call(
        *(
            *("resolve", "aten::rand", "--argument", "layout=spars", "--argument", "dtype=flot32", "--argument"),
            *("generator=cpu", "--argument", "device=cpu"),
        )
    )
    assert (result.code, result.out) == (2, "")
    assert [line for line in result.err.splitlines() if line] == [
        "error[layout]: --argument layout 'spars': there is no such layout (there are strided, sparse, sparse_csr, "
        "sparse_csc, sparse_bsr, sparse_bsc, mkldnn, jagged)",
        "  help: did you mean sparse?",
        "error[dtype]: --argument dtype 'flot32': there is no such dtype",
        "  help: did you mean float32?",
        "error[generator]: --argument generator 'cpu': aten::rand has no argument of type Generator",
        "3 errors; nothing was done.",
    ]
    both = call("resolve", "aten::rand.generator", "--argument", "generator=meta", "--keyset", "CPU").err
    assert "--argument generator 'meta': there are no generators on meta" in both
    assert "--argument generator adds no key when --keyset gives the whole key set; give one of the two" in both
    none = call("resolve", "aten::relu", "--tensor", "none")
    assert none.err.startswith(
        "error[tensor]: --tensor 'none': the type of 'self' in aten::relu is Tensor, not Tensor?\n"
    )


def test_too_many_contexts_are_not_blamed_on_a_tensor() -> None:
    contexts = ("--context", "vmap") * 300
    result = call("resolve", "stale::fine", "examples/stale.yaml", "--tensor", "cpu", *contexts)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error[context]: --context 'vmap': more than 256 contexts\n")
