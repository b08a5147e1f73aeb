"""Verdicts against what PyTorch did with operators that were registered like this, called on the CPU.

The rows of `LIVE` are recorded as libraries, too (`python -m tests.recordings P support`): W works, E raises, L the
gradient is missing or the backward pass raises, X a wrong result; what is not decided is ``?``, what means nothing
``-``. The order is that of `SupportContext`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.api import document_of_sources, load_state
from dispatch_cli.engine.state import State
from dispatch_cli.engine.support.cell import Cell, Reason, Verdict
from dispatch_cli.engine.support.columns import support_columns
from dispatch_cli.engine.support.verdicts import support_rows
from dispatch_cli.model.calls.call import CallError, Context, TensorSpec
from dispatch_cli.model.calls.support import SupportContext
from dispatch_cli.model.names import OperatorName

FUNCTIONAL = "func: t::op(Tensor x) -> Tensor"
SILENT = "func: t::op(Tensor x) -> ()"
IN_PLACE = "func: t::op_(Tensor(a!) x) -> Tensor(a!)"
PYTHON = "{kernel: k, python: true}"
LIVE = [
    # eager train fake compile vmap grad jvp autocast inference
    (f"{FUNCTIONAL} | dispatch: {{CPU: k}}", "W?EEWLLWW"),
    (f"{FUNCTIONAL} | dispatch: {{CPU: k}} | fake: f", "W?WWWLLWW"),
    (f"{FUNCTIONAL} | dispatch: {{CPU: {PYTHON}}} | fake: f", "W?WWWLLWW"),
    (f"{FUNCTIONAL} | dispatch: {{CompositeExplicitAutograd: k}}", "WWWWWLLWW"),
    (f"{FUNCTIONAL} | dispatch: {{CompositeImplicitAutograd: k}}", "WWWWWWWWW"),
    (f"{FUNCTIONAL} | dispatch: {{CPU: k, Autograd: fallthrough}} | fake: f", "W?WWWLLWW"),
    (f"{FUNCTIONAL} | dispatch: {{CPU: k, Autograd: g}} | fake: f", "WWWWWEEWW"),
    (f"{FUNCTIONAL} | dispatch: {{Autograd: g}}", "WW??WEEWE"),
    (f"{FUNCTIONAL} | dispatch: {{BackendSelect: k, Meta: m}}", "W???WLLWW"),
    (f"{FUNCTIONAL} | dispatch: {{BackendSelect: k}}", "W???WLLWW"),
    (f"{FUNCTIONAL} | dispatch: {{CPU: k, FuncTorchBatched: fallthrough}} | fake: f", "W?WWELLWW"),
    (f"{SILENT} | dispatch: {{CPU: k}} | fake: f", "W?WXE??WW"),
    (f"{SILENT} | dispatch: {{CPU: k}}", "W?EEE??WW"),
    (f"{SILENT} | dispatch: {{CompositeExplicitAutograd: k}}", "WWW?E??WW"),
    (f"{SILENT} | dispatch: {{CompositeExplicitAutograd: {PYTHON}}}", "WWWXE??WW"),
    (f"{SILENT} | dispatch: {{CompositeImplicitAutograd: k}}", "WWWWEWWWW"),
    (f"{SILENT} | dispatch: {{CPU: k, CompositeImplicitAutograd: k}}", "W?W?E??WW"),
    (f"{SILENT} | dispatch: {{CPU: k, CompositeImplicitAutograd: {PYTHON}}}", "W?WXE??WW"),
    (f"{SILENT} | dispatch: {{CUDA: k}} | fake: f", "EEWXEEEEE"),
    ("func: t::op(Tensor(a!) x) -> () | dispatch: {CPU: k}", "W?WWELLWW"),
    (f"{IN_PLACE} | dispatch: {{CPU: k}} | fake: f", "W?WEWLLWW"),
    (f"{IN_PLACE} | dispatch: {{CPU: k}} | fake: f | tags: [inplace]", "W?WWWLLWW"),
    (f"{IN_PLACE} | dispatch: {{CompositeImplicitAutograd: k}}", "WWWWWWWWW"),
    (f"{IN_PLACE} | dispatch: {{CompositeExplicitAutograd: k}}", "WWWEWLLWW"),
    ("func: t::op(Tensor(a) x) -> Tensor(a) | dispatch: {CPU: k} | fake: f", "W?WEELLWW"),
    ("func: t::op(Tensor(a!) x) -> Tensor | dispatch: {CPU: k} | fake: f", "W?WWELLWW"),
    ("func: t::op(Tensor x) -> Tensor[] | dispatch: {CPU: k} | fake: f", "W?WWELLWW"),
    ("func: t::op(Tensor[] x) -> Tensor | dispatch: {CPU: k} | fake: f", "W?WWELLWW"),
    ("func: t::op(Tensor x) -> int | dispatch: {CPU: k} | fake: f", "W-WEE--WW"),
    ("func: t::op(Tensor(a!) x) -> int | dispatch: {CPU: k} | fake: f", "W?WEELLWW"),
    ("func: t::op(Tensor x) -> float | dispatch: {CPU: k} | fake: f", "W-WWE--WW"),
    ("func: t::op(Tensor x) -> (Tensor, str) | dispatch: {CPU: k} | fake: f", "W?WEELLWW"),
    ("func: t::op(Tensor x) -> (int, int) | dispatch: {CPU: k} | fake: f", "W-WWE--WW"),
    ("custom_op: t::op(Tensor x) -> Tensor | kernel: k", "WLEEWELWW"),
    ("custom_op: t::op(Tensor x) -> Tensor | kernel: k | fake: f", "WLWWWELWW"),
    ("custom_op: t::op(Tensor x) -> Tensor | kernel: k | fake: f | backward: b", "WWWWWELWW"),
    ("custom_op: t::op(Tensor x) -> () | kernel: k | fake: f", "W?WXEE?WW"),
    ("custom_op: t::op(Tensor(a!) x) -> () | kernel: k | autocast: {cpu: bfloat16}", "WLWWEELXW"),
    ("custom_op: t::op(int n, *, Device device) -> Tensor | kernels: {cpu: k} | fake: f", "E-WE---EE"),
    ("triton_op: t::op(Tensor x) -> () | kernel: k", "W?WWEE?WW"),
    ("triton_op: t::op(Tensor x) -> () | kernel: k | fake: f", "W?WWEE?WW"),
]
LETTERS = {Verdict.RAISES: "E", Verdict.NO_KERNEL: "E", Verdict.GRADIENT_LOST: "L", Verdict.WRONG: "X"} | {
    Verdict.NOT_KNOWN: "?",
    Verdict.NOT_APPLICABLE: "-",
}


def state_of(folder: Path, declared: str, base: str = "torch-2.13") -> State:
    lines = "\n".join(f"    {field}" for field in declared.split(" | "))
    file = folder / "t.yaml"
    file.write_text(f"dispatch: 1\nextends: [{base}]\noperators:\n  - {lines.strip()}\n", encoding="utf-8")
    return load_state([str(file)])


def cells_of(state: State, *devices: str) -> dict[SupportContext, Cell]:
    names = state.own_operators()
    columns = support_columns(state, names, devices)
    (row,) = support_rows(state, names, columns)
    return {column.context: cell for column, cell in zip(columns, row.cells, strict=True)}


@pytest.mark.parametrize(("declared", "live"), LIVE)
def test_verdicts_are_what_pytorch_does(declared: str, live: str, tmp_path: Path) -> None:
    cells = cells_of(state_of(tmp_path, declared), "cpu")
    assert "".join(LETTERS.get(cell.verdict, "W") for cell in cells.values()) == live
    for cell in cells.values():
        assert cell.verdict is Verdict.NOT_APPLICABLE or (cell.reason is None) is cell.verdict.works


@pytest.mark.parametrize(
    ("base", "declared", "verdict"),
    [  # seen in 2.4, 2.9 and 2.13
        (
            "torch-2.4",
            "func: t::op_(Tensor(a!) x) -> Tensor(a!) | dispatch: {CPU: k} | tags: [inplace]",
            Verdict.RAISES,
        ),
        ("torch-2.4", f"{SILENT} | dispatch: {{CPU: k, CompositeImplicitAutograd: k}}", Verdict.COMPOSITE),
        ("torch-2.9", f"{SILENT} | dispatch: {{CPU: k, CompositeImplicitAutograd: k}}", Verdict.COMPOSITE),
        ("torch-2.12", f"{SILENT} | dispatch: {{CPU: k, CompositeImplicitAutograd: {PYTHON}}}", Verdict.WRONG),
    ],
)
def test_versions_compile_differently(base: str, declared: str, verdict: Verdict, tmp_path: Path) -> None:
    assert cells_of(state_of(tmp_path, declared, base), "cpu")[SupportContext.COMPILE].verdict is verdict


def test_a_cell_names_rule_registration_error_and_call(tmp_path: Path) -> None:
    state = state_of(tmp_path, f"{IN_PLACE} | dispatch: {{CPU: k}} | fake: f")
    cells = cells_of(state, "cpu")
    eager, compiled = cells[SupportContext.EAGER], cells[SupportContext.COMPILE]
    assert (eager.key, eager.kernel, eager.span and eager.span.line, eager.error) == ("CPU", "k", 5, None)
    autocast = cells[SupportContext.AUTOCAST].call
    assert autocast is not None
    assert autocast.contexts == ("autocast cpu",)
    assert compiled.reason is Reason.MUTABLE_RESULT
    assert compiled.error is not None
    assert compiled.error.startswith("Found a custom (non-ATen) operator whose output has alias annotations")
    assert compiled.call is not None
    assert (compiled.call.tensors, compiled.call.contexts) == (("cpu functional",), ("enable_functionalization",))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("aten::softmax", Reason.NOT_DEFINED),  # PyTorch has softmax.int
        ("other::op", Reason.NO_SCHEMA),
    ],
)
def test_the_sources_of_a_namespace_are_missing_where_none_of_its_operators_is_defined(
    name: str, reason: Reason, tmp_path: Path
) -> None:
    file = tmp_path / "t.yaml"
    file.write_text(f"dispatch: 1\nextends: [torch-2.13]\noperators: [{{name: '{name}', dispatch: {{CPU: k}}}}]\n")
    cells = cells_of(load_state([str(file)]))
    assert {(cell.verdict, cell.reason) for cell in cells.values()} == {(Verdict.NOT_KNOWN, reason)}


BODIES = """
import torch
from torch.library import custom_op


@custom_op("t::op", mutates_args=())
def op(x: torch.Tensor, n: int) -> torch.Tensor:
    {body}


@op.register_fake
def _({parameters}):
    return torch.empty_like(x)
"""


@pytest.mark.parametrize(
    ("body", "parameters", "live"),
    [  # PyTorch 2.4, 2.13 and 2.15
        ("return x.sin()", "x, n", "WLWWWELWW"),
        ("return x.sin()", "x", "WLEEWELWW"),
        ("return x", "x, n", "EEWEEEEEE"),
        ("x.mul_(2); return x.sin()", "x, n", "WLW?WELWW"),
    ],
)
def test_bodies_of_python_functions_count(body: str, parameters: str, live: str, tmp_path: Path) -> None:
    file = tmp_path / "ops.py"
    file.write_text(BODIES.format(body=body, parameters=parameters), encoding="utf-8")
    state = load_state([document_of_sources([str(file)])], bases=["torch-2.13"])
    assert "".join(LETTERS.get(cell.verdict, "W") for cell in cells_of(state, "cpu").values()) == live


CUSTOM = """
import torch
from torch.library import custom_op


@custom_op("t::op", mutates_args=())
def op(x: torch.Tensor, n: int) -> torch.Tensor:
    return x * n


def backward(ctx, g):
    return {backward}


op.register_autograd(backward)
"""
VIEW = """
import torch
from torch.library import custom_op


@custom_op("t::op", mutates_args=(), schema="(Tensor(a) x) -> Tensor(a)")
def op(x: torch.Tensor) -> torch.Tensor:
    return {result}
"""
VIEW_OF_TWO = """
import torch
from torch.library import custom_op


@custom_op("t::op", mutates_args=(), schema="(Tensor(a) x) -> (Tensor(a), Tensor)")
def op(x):
    return x.view(-1), x.sin()


@op.register_fake
def _(x):
    return x.view(-1), x.sin()
"""

TWICE = """
import torch
from torch.library import custom_op


@custom_op("t::op", mutates_args=())
def op(x: torch.Tensor) -> {hint}:
    y = {value}
    return {results}
"""
TWO_TENSORS = "tuple[torch.Tensor, torch.Tensor]"


@pytest.mark.parametrize(
    ("source", "live"),
    [  # PyTorch 2.13
        (TWICE.format(hint=TWO_TENSORS, value="x.sin()", results="y, y"), "EEEEEEEEE"),
        (TWICE.format(hint=TWO_TENSORS, value="x.sin()", results="y, y.cos()"), "WLEEWELWW"),
        (TWICE.format(hint="tuple[int, int]", value="2", results="y, y"), "W-EEE--WW"),
        (CUSTOM.format(backward="g"), "WEEEWELWW"),
        (CUSTOM.format(backward="-g * 2"), "WEEEWELWW"),
        (CUSTOM.format(backward="f(g)"), "WWEEWELWW"),
        (VIEW.format(result="x"), "EEEEEEEEW"),
        (VIEW.format(result="x.view(-1)"), "WLEEEE?WW"),
        (VIEW_OF_TWO, "EEEEEEEEW"),
    ],
)
def test_what_functions_return_counts(source: str, live: str, tmp_path: Path) -> None:
    file = tmp_path / "ops.py"
    file.write_text(source, encoding="utf-8")
    state = load_state([document_of_sources([str(file)])], bases=["torch-2.13"])
    assert "".join(LETTERS.get(cell.verdict, "W") for cell in cells_of(state, "cpu").values()) == live


def test_an_argument_that_is_returned_is_refused_in_inference_mode_too(tmp_path: Path) -> None:
    """PyTorch 2.4.1, 2.13 and 2.15: custom_op raises where the schema does not say that the result is the argument."""
    file = tmp_path / "ops.py"
    file.write_text(VIEW.format(result="x.add_(1)").replace("(Tensor(a) x) -> Tensor(a)", "(Tensor(a!) x) -> Tensor"))
    state = load_state([document_of_sources([str(file)])], bases=["torch-2.13"])
    cells = cells_of(state, "cpu")
    assert cells[SupportContext.EAGER].verdict is cells[SupportContext.INFERENCE].verdict is Verdict.RAISES


@pytest.mark.parametrize(
    ("name", "context", "verdict", "reason"),
    [  # PyTorch 2.13 with the samples of OpInfo
        ("aten::sin", SupportContext.TRAIN, Verdict.OWN, None),
        ("aten::sin.out", SupportContext.TRAIN, Verdict.RAISES, Reason.CALL),
        ("aten::index_reduce_", SupportContext.JVP, Verdict.RAISES, Reason.NO_JVP),
        ("aten::geqrf", SupportContext.TRAIN, Verdict.NOT_KNOWN, Reason.NO_BACKWARD),
        ("aten::histogramdd", SupportContext.TRAIN, Verdict.NOT_KNOWN, Reason.ASSUMED),
        ("aten::as_strided_scatter", SupportContext.VMAP, Verdict.RAISES, Reason.NO_VMAP),
        ("aten::masked_select", SupportContext.VMAP, Verdict.NOT_KNOWN, Reason.ASSUMED),
        ("aten::norm.Scalar", SupportContext.JVP, Verdict.NOT_KNOWN, Reason.NO_JVP),
        ("aten::_softmax_backward_data", SupportContext.JVP, Verdict.OWN, None),
    ],
)
def test_operators_of_pytorch(name: str, context: SupportContext, verdict: Verdict, reason: Reason | None) -> None:
    state = load_state([], bases=["torch-2.13"])
    names = [OperatorName.parse(name)]
    (row,) = support_rows(state, names, support_columns(state, names, ["cpu"], [context]))
    assert (row.cells[0].verdict, row.cells[0].reason) == (verdict, reason)


def test_compiling_runs_kernels_of_the_python_dispatcher(tmp_path: Path) -> None:
    """PyTorch 2.4 and 2.13: without the kernel, "Found a custom (non-ATen) operator whose output has alias"."""
    declared = f"{IN_PLACE} | dispatch: {{CPU: k}} | fake: f"
    cell = cells_of(state_of(tmp_path, f"{declared} | python_dispatch: {{AutogradCPU: p}}"), "cpu")
    assert cell[SupportContext.COMPILE].verdict is Verdict.NOT_KNOWN
    cell = cells_of(state_of(tmp_path, f"{declared} | python_dispatch: {{Meta: p}}"), "cpu")
    assert cell[SupportContext.COMPILE].reason is Reason.MUTABLE_RESULT


@pytest.mark.parametrize(
    "name",
    ["aten::nonzero"],
)
def test_what_reads_data_is_not_known_to_work_without_them(name: str) -> None:
    """PyTorch 2.13: nonzero at Meta raises, "a correct data-independent implementation does not exist"."""
    state = load_state([], bases=["torch-2.13"])
    names = [OperatorName.parse(name)]
    columns = support_columns(state, names, ["meta"], [SupportContext.EAGER, SupportContext.VMAP])
    (row,) = support_rows(state, names, columns)
    assert not any(cell.verdict.works for cell in row.cells)


@pytest.mark.parametrize(
    ("declared", "backends"),
    [
        (f"{FUNCTIONAL} | dispatch: {{CUDA: k, Meta: m}}", ["CUDA"]),
        (f"{FUNCTIONAL} | dispatch: {{SparseCPU: k, AutogradXPU: g}}", ["CPU", "XPU"]),
        (f"{FUNCTIONAL} | dispatch: {{CompositeImplicitAutograd: k}}", ["CPU", "CUDA"]),
        ("custom_op: t::op(Tensor x) -> Tensor | kernel: k", ["CPU", "CUDA"]),
        ("custom_op: t::op(Tensor x) -> Tensor | kernels: {xpu: k}", ["XPU"]),
    ],
)
def test_columns_are_those_that_files_register_for(declared: str, backends: list[str], tmp_path: Path) -> None:
    state = state_of(tmp_path, declared)
    columns = support_columns(state, state.own_operators(), contexts=[SupportContext.EAGER])
    assert [column.backend for column in columns] == backends


@pytest.mark.parametrize(
    ("tensor", "context", "verdict"),
    [
        ("sparse", None, Verdict.NO_KERNEL),
        ("requires_grad", None, Verdict.NOT_KNOWN),
        ("grad-wrapped", "jvp", Verdict.GRADIENT_LOST),
        ("fake", "mode=FakeTensorMode", Verdict.OWN),
        ("cpu", "mode=Logging", Verdict.NOT_KNOWN),
    ],
)
def test_columns_of_the_user(tensor: str, context: str | None, verdict: Verdict, tmp_path: Path) -> None:
    state = state_of(tmp_path, f"{FUNCTIONAL} | dispatch: {{CPU: k}} | fake: f")
    custom = TensorSpec.parse(tensor), () if context is None else (Context.parse(context),)
    columns = support_columns(state, state.own_operators(), ["cpu"], custom=[custom])
    (row,) = support_rows(state, state.own_operators(), columns[-1:])
    assert row.cells[0].verdict is verdict


def test_an_unknown_device_is_refused(tmp_path: Path) -> None:
    state = state_of(tmp_path, f"{FUNCTIONAL} | dispatch: {{CPU: k}}")
    with pytest.raises(CallError, match=r"torch-2\.13 has no device 'cudo'; did you mean cuda"):
        support_columns(state, state.own_operators(), ["cudo"])
