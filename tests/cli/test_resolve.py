"""``dispatch-cli resolve``: arguments, problems all at once, and what becomes of each key of a call."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from dispatch_cli.answers.keys.outcomes import KeyStatus
from dispatch_cli.answers.resolve.report import ResolveReport, resolve_report
from dispatch_cli.answers.shared.notes import NoteKind
from dispatch_cli.api import load_state
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.state import State
from dispatch_cli.model.calls.call import Context, TensorSpec
from dispatch_cli.model.names import OperatorName
from tests import in_pytorch
from tests.capture.support import torch_python
from tests.cli.support import call, in_terminal

FIXED = ("resolve", "mylib::filled", "examples/scenarios/06_factory.fixed.yaml")


def test_a_key_set_instead_of_tensors() -> None:
    result = call("resolve", "aten::sin", "--keyset", "CPU | AutogradCPU", "--format", "json")
    (selection,) = json.loads(result.out)["selections"]
    assert (result.code, selection["mask"]["kind"]) == (0, "none")
    assert [step["slot"] for step in selection["steps"]] == ["AutogradCPU", "CPU"]
    assert "Mask    none: a key set was given\n" in call("resolve", "aten::sin", "--keyset", "CPU").out


def test_the_device_argument() -> None:
    """The device that is assumed where none is given."""
    assert "\nDevice   cpu, PyTorch's default; --argument device=… sets another\n" in call(*FIXED).out
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


def test_what_is_assumed_of_a_factory() -> None:
    sparse = ("resolve", "aten::_sparse_coo_tensor_with_dims_and_tensors", "--tensor", "cpu", "--tensor", "cpu")
    result = call(*sparse)
    assert result.code == 1
    assert "\nLayout   strided, PyTorch's default; --argument layout=… sets another\n" in result.out
    report = json.loads(call(*sparse, "--format", "json").out)
    assert report["selections"][0]["steps"][1]["chosen_by"] == {
        "device": {"value": "cpu", "why": "assumed"},
        "layout": {"value": "strided", "why": "assumed"},
        "dtype": {"value": "float32", "why": "assumed"},
    }
    given = call(*sparse, "--argument", "layout=torch.sparse_coo")
    assert given.code == 0
    assert "\nLayout   torch.sparse_coo\n" in given.out


def test_the_universe_decides() -> None:
    """A device's keys differ between versions: MAIA is a backend of 2.15, and a functionality of 2.4."""

    def slots(base: str) -> list[str]:
        report = json.loads(call("resolve", "aten::sin", "--base", base, "--tensor", "maia", "--format", "json").out)
        return [key["key"] for key in report["selections"][0]["keys"]]

    assert slots("torch-2.15") == ["AutocastMAIA", "AutogradMAIA", "ADInplaceOrView", "BackendSelect", "MAIA"]
    assert slots("torch-2.4") == ["AutogradOther", "ADInplaceOrView", "BackendSelect", "MAIA"]


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
        (["grad", "vmap"], "cpu batched", ["grad"], "cpu batched grad-wrapped"),
        (["grad", "grad"], "cpu grad-wrapped", ["grad"], "cpu grad-wrapped grad-wrapped=1"),
        (["vmap"], "cpu batched", None, None),
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
    if advised is not None:
        assert json.loads(call(*asked, "--tensor", advised, "--format", "json").out)["unwrapped"] is None


def test_the_function_of_torch_library_under_grad(tmp_path: Path) -> None:
    """As live PyTorch 2.13 and 2.15: the operator itself raises, a Function around it works; jvp goes on."""
    file = tmp_path / "custom.yaml"
    file.write_text(CUSTOM, encoding="utf-8")
    asked = ("resolve", "mine::sin", str(file), "--tensor", "cpu grad-wrapped")
    refused = call(*asked, "--context", "grad")
    assert refused.code == 1
    assert "Write an autograd.Function of your own instead, with setup_context and backward" in refused.out
    assert "Write an autograd.Function" not in call(*asked, "--context", "jvp").out


def test_tensors_that_the_schema_needs_and_nobody_gave() -> None:
    def left_out(*arguments: str) -> list[str]:
        names: list[str] = json.loads(call("resolve", *arguments, "--format", "json").out)["left_out"]
        return names

    assert left_out("aten::add.Tensor", "--tensor", "cpu") == ["other"]
    assert left_out("aten::add.Tensor", "--keyset", "CPU") == []
    assert left_out("aten::zeros", "--argument", "device=cpu") == []  # it takes none
    assert left_out("aten::cat", "--tensor", "cpu") == []  # a list of them
    # Tensor input, Tensor? weight: the weight may be None
    assert left_out("aten::native_layer_norm", "--tensor", "cpu") == []


def test_a_call_without_its_tensors_asks_for_them_alone(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("dispatch: 1\noperators:\n- {func: 'm::f(Tensor x, Tensor[] ys) -> Tensor', dispatch: {CPU: k}}\n")
    without = call("resolve", "m::f", str(file)).out
    verdict = next(line for line in without.splitlines() if "The call fails" in line or "the call fails" in line)
    assert verdict.startswith("No --tensor is given for x: give one for each, such as `--tensor cpu`. Without any, ")
    assert without.count("--tensor") == 2 and "Advice" not in without
    assert "Advice: No kernel is registered at CUDA" in call("resolve", "m::f", str(file), "--tensor", "cuda").out
    assert "\nNo --tensor is given for self, other: " in call("resolve", "aten::add.Tensor").out


DANGLING = ("mine::ff", "mine::f.o", "mine::g")
IN_PYTORCH = """\
import json, sys, torch
library = torch.library.Library("mine", "DEF")
library.define("f(Tensor x) -> Tensor")
library.define("g.a(Tensor x) -> Tensor")
library.define("g.b(Tensor x) -> Tensor")
kernels = torch._C._dispatch_library("IMPL", "mine", "")
for name in ("ff", "f.o", "g"):
    kernels.impl(name, "CPU", lambda x: x)
calls = [lambda ops: ops.ff, lambda ops: ops.f.o, lambda ops: ops.g.default]
raised = []
for call in calls:
    try:
        call(torch.ops.mine)(torch.ones(2))
    except Exception as error:
        raised.append([type(error).__name__, str(error)])
print(json.dumps(raised))
"""


def of_dangling(tmp_path: Path) -> list[list[str]]:
    """Type and text of the errors of calls of operators that have kernels and no definition."""
    file = tmp_path / "a.yaml"
    defined = "".join(f"- func: 'mine::{name}(Tensor x) -> Tensor'\n" for name in ("f", "g.a", "g.b"))
    kernels = "".join(f"- {{name: '{name}', dispatch: {{CPU: k}}}}\n" for name in DANGLING)
    file.write_text(f"dispatch: 1\noperators:\n{defined}{kernels}", encoding="utf-8")
    errors = []
    for name in DANGLING:
        result = call("resolve", name, str(file), "--tensor", "cpu", "--format", "json")
        report = json.loads(result.out)
        assert (result.code, report["selections"], report["end"]["error"]["kind"]) == (1, [], "not-defined")
        errors.append([report["end"]["error"]["type"], report["end"]["error"]["text"]])
    return errors


def test_kernels_that_nothing_defines_cannot_be_called(tmp_path: Path) -> None:
    assert of_dangling(tmp_path) == [
        ["AttributeError", "'_OpNamespace' 'mine' object has no attribute 'ff'"],
        ["AttributeError", "The underlying op of 'mine.f' has no overload name 'o'"],
        ["AttributeError", "The underlying op of 'mine.g' has no overload name 'default'"],
    ]
    shown = call("resolve", "mine::ff", str(tmp_path / "a.yaml"), "--tensor", "cpu")
    assert (
        "nothing that was read defines mine::ff, and its kernels wait for a definition: PyTorch raises AttributeError"
        in shown.out
    )
    assert "mine::ff has kernels (CPU) and lacks a schema, and mine::f has one" in shown.out
    assert call("resolve", "mine::ff", str(tmp_path / "a.yaml"), "--tensor", "cpu", "--format", "svg").code == 1
    explained = call("explain", "mine::ff", "CPU", str(tmp_path / "a.yaml")).out.splitlines()
    assert explained[1].startswith("Nothing that was read defines it")


@pytest.mark.live
def test_pytorch_raises_the_same_for_kernels_that_nothing_defines(tmp_path: Path) -> None:
    raised = in_pytorch.run([torch_python(), "-c", IN_PYTORCH]).stdout
    assert of_dangling(tmp_path) == json.loads(raised)


def test_a_library_that_is_not_read_may_define_an_operator(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text('TORCH_LIBRARY_IMPL(others, CPU, m) { m.impl("f", &f); }\n', encoding="utf-8")
    result = call("resolve", "others::f", str(tmp_path / "a.cpp"), "--tensor", "cpu")
    assert result.code == 0 and "The call ends in f at CPU" in result.out
    assert "Nothing that was read defines it: this is the call once something else does." in result.out


# Reports of simulated calls: what becomes of each key.


DECLARATIONS = """\
dispatch: 1
operators:
  - func: demo::op(Tensor x, Tensor y) -> Tensor
    dispatch:
      CPU: op_cpu
      SparseCPU: op_sparse
      Autograd: op_autograd
      AutocastCPU: op_autocast
      Conjugate: fallthrough
  - func: demo::composite(Tensor x) -> Tensor
    dispatch: {CompositeImplicitAutograd: composite_math, SparseCPU: composite_sparse}
  - func: demo::python(Tensor x) -> Tensor
    dispatch: {CPU: python_cpu}
    python_dispatch: {CompositeImplicitAutograd: python_math}
"""


@pytest.fixture
def state(tmp_path_factory: pytest.TempPathFactory) -> State:
    path = tmp_path_factory.mktemp("resolve") / "a.yaml"
    path.write_text(DECLARATIONS, encoding="utf-8")
    return load_state([str(path)])


def report(state: State, operator: str, *tensors: str, contexts: tuple[str, ...] = ()) -> ResolveReport:
    specs, entered = [*map(TensorSpec.parse, tensors)], [*map(Context.parse, contexts)]
    call = simulate(state, OperatorName.parse(operator), specs, entered)
    return resolve_report(state, call)


def statuses(found: ResolveReport, stage: int = 0) -> list[tuple[str, KeyStatus, tuple[int, ...]]]:
    return [(outcome.key, outcome.status, outcome.steps) for outcome in found.selections[stage].keys]


def test_a_key_that_a_redispatch_leaves_out() -> None:
    """PyTorch's autograd kernels go on below all autograd keys, AutogradOther too (``after_autograd_keyset``)."""
    answer = report(load_state([], bases=["torch-2.15"]), "aten::add.Tensor", "cpu", "mkldnn")
    assert statuses(answer) == [
        ("AutocastCPU", KeyStatus.EXCLUDED, ()),
        ("AutogradCPU", KeyStatus.RUNS, (1,)),
        ("AutogradOther", KeyStatus.LEFT_OUT, ()),
        ("ADInplaceOrView", KeyStatus.FALLS_THROUGH, ()),
        ("BackendSelect", KeyStatus.FALLS_THROUGH, ()),
        ("MkldnnCPU", KeyStatus.RUNS, (2,)),
        ("CPU", KeyStatus.NOT_REACHED, ()),
    ]


def test_a_step_at_a_key_that_no_tensor_has(state: State) -> None:
    assert statuses(report(state, "demo::op"))[-1] == ("Undefined", KeyStatus.RUNS, (1,))


def test_notes_are_about_slots_on_the_way(state: State) -> None:
    assert [note.kind for note in report(state, "demo::composite", "cpu sparse").notes] == [NoteKind.BYPASSED]
    assert report(state, "demo::composite", "cuda").notes == ()
    inside = report(state, "demo::composite", "cpu sparse", contexts=("inference_mode",))
    assert (inside.notes, inside.steps[-1].entry.kernel) == ((), "composite_sparse")


@pytest.mark.parametrize(
    ("tensors", "warns"),
    [
        (("cuda", "cpu"), True),
        (("cuda", "cuda"), False),
        (("cpu", "absent"), False),
        (("cuda", "meta"), False),
        (("cuda fake", "cpu fake"), False),
    ],
)
def test_tensors_on_different_devices(tensors: tuple[str, ...], warns: bool) -> None:
    result = call("resolve", "aten::mm", *(word for tensor in tensors for word in ("--tensor", tensor)))
    assert ("Expected all tensors to be on the same device" in result.out and result.code == 0) is warns


LIBRARY = """
dispatch: 1
operators:
  - custom_op: "mine::shift(Tensor x) -> Tensor"
    kernel: shift
  - {func: "mine::add(Tensor x, Tensor y) -> Tensor", dispatch: {CPU: add_cpu, CUDA: add_cuda}}
"""


@pytest.mark.parametrize(
    ("words", "code", "last"),
    [
        ("aten::mm --tensor cuda --tensor cpu", 0, "probably refuses tensors on different devices (cuda, cpu), "),
        # torch.ones(2, device="cuda").copy_(torch.ones(2)) works, and FakeTensorMode has a rule for it.
        ("aten::copy_ --tensor cuda --tensor cpu", 0, "and this one may take it"),
        ("aten::_foreach_copy_ --tensor cuda --tensor cpu", 0, "PyTorch's kernels mostly refuse that"),
        ("mine::add mine.yaml --tensor cuda --tensor cpu", 0, "PyTorch's kernels mostly refuse that"),
        ("mine::shift mine.yaml --tensor fake", 1, "add one with torch.library.register_fake."),
        ("mine::add mine.yaml --tensor xla --tensor xla", 1, "Register a kernel at XLA."),
    ],
)
def test_a_terminal_ends_with_the_cause_and_what_helps(words: str, code: int, last: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(LIBRARY, encoding="utf-8")
    result = in_terminal(80, "resolve", *shlex.split(words.replace(file.name, str(file))), NO_COLOR="1")
    end = result.out.rsplit("\n\n", 1)[1]
    assert (result.code, last in " ".join(end.split())) == (code, True), result.out
    assert end.startswith("The call ") and end.count("\n") < 12
