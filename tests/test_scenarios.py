"""Problems that people reported: each example shows its cause, and its way out shows the problem gone."""

from __future__ import annotations

import re
import shlex

import pytest

from tests.cli.support import ROOT, call

SCENARIOS = ROOT / "examples" / "scenarios"
NAMES = sorted(path.stem for path in SCENARIOS.glob("*.yaml") if ".fixed" not in path.name)
MATH_24 = "registered at aten/src/ATen/RegisterCompositeImplicitAutograd.cpp:6895"
ATEN = "registered at /__w/pytorch/pytorch/aten/src/ATen"
BUILT = "registered at /__w/pytorch/pytorch/build/aten/src/ATen"
DEFAULT = "CompositeExplicitAutograd"
NON_FUNCTIONAL = "CompositeExplicitAutogradNonFunctional"
MATH = "CompositeImplicitAutograd"


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)


def shown(command: str, name: str, *args: str, code: int = 0) -> list[str]:
    """The lines that a command prints about a scenario: columns apart by bars, the scenario's path as ``$``."""
    path = f"examples/scenarios/{name}.yaml"
    result = call(command, path, *args)
    assert (result.code, result.err) == (code, "")
    return [re.sub(r" {2,}", " | ", line.strip()) for line in result.out.replace(path, "$").splitlines() if line]


def slots(name: str, operator: str, *keys: str, more: tuple[str, ...] = ()) -> list[str]:
    """Lines of a table about one operator below its heading, without its overloads."""
    lines = shown("table", name, "--op", operator, *(text for key in keys for text in ("--key", key)), *more)
    start = next(number for number, line in enumerate(lines) if line.startswith(f"{operator}("))
    rest = lines[start + 1 :]
    following = [number for number, line in enumerate(rest) if line.startswith(f"{operator.partition('.')[0]}.")]
    return [line for line in rest[: following[0] if following else None] if not line.startswith("defined at ")]


SELECT = ("--select", "guard,stale-live-table")
"""Checks that a scenario is there to break; other checks have more to say, and tests of their own."""


def findings(name: str, *args: str) -> list[str]:
    """The finding lines of check-invariants on a scenario with the problem."""
    lines = shown("check-invariants", name, *SELECT, *args, code=1)
    return [line for line in lines if line.startswith("$:")]


def test_ten_problems_each_with_a_report_and_a_way_out() -> None:
    assert [name[:3] for name in NAMES] == [f"{number:02}_" for number in range(1, 11)]
    for name in NAMES:
        text = (SCENARIOS / f"{name}.yaml").read_text(encoding="utf-8")
        assert "The fix" in text and f"{name}.fixed.yaml" in text
        assert name == "10_sparse_bypass" or re.match(r"# [a-zA-Z/-]+#\d+[,: ]", text)
        assert f"The fix for {name}.yaml" in (SCENARIOS / f"{name}.fixed.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_every_way_out_passes_the_guards_that_the_problem_breaks(name: str) -> None:
    universe = ("--universe", "torch-2.4") if name.startswith("07") else ()
    assert findings(name, *universe)
    *_, line = shown("check-invariants", f"{name}.fixed", *SELECT, *universe)
    assert line.startswith("All checks passed: ")


FIRST = re.compile(r"^#   dispatch-cli (.*?)(?: +\(exits with (\d)\))?$", re.MULTILINE)
CAUSES: dict[str, tuple[str, ...]] = {
    "01_composite_override": (
        "AutogradPrivateUse1 holds nothing (rule 10, missing).",
        f"6 | math kernel | {MATH} | gives way to PrivateUse1",
        "PrivateUse1 | to_npu | takes precedence (6) | $:17:20",
    ),
    "02_no_grad_fn": (
        "AutogradXLA holds PyTorch's own fallback, VariableFallbackKernel.cpp:86 (rule 9, backend fallback).",
        f"6 | math kernel | {MATH} | gives way to XLA",
        "XLA | xla_var_dim | takes precedence (6) | $:16:12",
    ),
    "03_fallback_never_asked": (
        f"> 3 | default backend kernel | {DEFAULT} | fired",
        "9 | backend fallback | PrivateUse1 | has a kernel, not reached",
        "PrivateUse1 | npu_fallback | not reached (9) | $:14:16",
    ),
    "04_alias_gaps": (
        "SparseXPU holds nothing (rule 10, missing).",
        f"2 | default backend kernel | {NON_FUNCTIONAL} | does not cover it",
        f"Advice: {NON_FUNCTIONAL} has a kernel, but does not cover SparseXPU. Register a kernel at SparseXPU.",
    ),
    "05_no_autograd_kernel": (
        "AutogradCPU holds PyTorch's own fallback, VariableFallbackKernel.cpp:66 (rule 9, backend fallback).",
        "7 | autograd kernel | Autograd | no kernel",
        "> 9 | backend fallback | AutogradCPU | fired",
    ),
    "06_factory": (
        "The call fails at Undefined: PyTorch raises NotImplementedError",
        "There were no tensor arguments to this function",
        "so the call goes to Undefined, which is empty: CPU cannot be reached.",
    ),
    "07_stale_batching_rule": (
        "Stale: a call runs the backend fallback loop_over_batch, because registering the kernel late_batched at "
        "FuncTorchBatchedDecomposition ($:21:93) did not recompute FuncTorchBatched.",
        "FuncTorchBatched holds late_batched, from FuncTorchBatchedDecomposition (rule 8, batched kernel), declared at "
        "$:21:93.",
    ),
    "08_ambiguous": (
        "AutogradOther holds ambiguous_autogradother (rule 6, ambiguous autogradother), which raises",
        f"> 6 | math kernel | {MATH} | ambiguous with MkldnnCPU, QuantizedCPU",
        "MkldnnCPU | mix_mkldnn | in conflict (6) | $:15:18",
        "QuantizedCPU | mix_quantized | in conflict (6) | $:16:21",
    ),
    "09_inference_mode": (
        "The call ends in shrink_lowering at CPU (rule 3, default backend kernel",
        "AutogradCPU | tensor | excluded | shrink_decomposition",
    ),
    "10_sparse_bypass": (
        "The call ends in norm_math at AutogradCPU (rule 6, math kernel",
        "SparseCPU | tensor | not reached | norm_sparse",
    ),
}
"""Causes that the first command of each head shows; the first line is gone once the way out is taken."""


@pytest.mark.parametrize("name", NAMES)
def test_one_command_makes_the_cause_plain(name: str) -> None:
    first = FIRST.search((SCENARIOS / f"{name}.yaml").read_text(encoding="utf-8"))
    assert first is not None
    command, code = shlex.split(first[1]), int(first[2] or 0)
    file = f"examples/scenarios/{name}.yaml"
    result = call(*command)
    assert (result.code, result.err) == (code, "")
    lines = [re.sub(r" {2,}", " | ", line.strip()) for line in result.out.replace(file, "$").splitlines()]
    assert [cause for cause in CAUSES[name] if not any(cause in line for line in lines)] == []
    fixed = call(*(f"examples/scenarios/{name}.fixed.yaml" if part == file else part for part in command))
    assert (fixed.code, CAUSES[name][0] in fixed.out) == (0, False)
    if name == "06_factory":
        assert "\nThe call ends in filled_cpu at CPU (rule 1, kernel).\n" in fixed.out


PUBLISHED = {
    "01_composite_override": "Could not run 'aten::to.dtype' with arguments from the 'AutogradPrivateUse1' backend.",
    "04_alias_gaps": "Could not run 'aten::linalg_vector_norm' with arguments from the 'SparseXPU' backend.",
    "05_no_autograd_kernel": "mylib::scale: an autograd kernel was not registered to the Autograd key(s)",
    "06_factory": "There were no tensor arguments to this function (e.g., you passed an empty list of Tensors), but no "
    "fallback function is registered for schema mylib::filled.",
    "08_ambiguous": "mylib::mix has kernels registered to both CompositeImplicitAutograd and a backend mapped to "
    "AutogradOther.",
}
"""Texts that PyTorch prints to somebody who meets the problem."""


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_error_that_people_report_leads_there(name: str) -> None:
    file = f"examples/scenarios/{name}.yaml"
    result = call("explain", "--from-error", "-", file, stdin=PUBLISHED[name].encode())
    assert (result.code, result.err) == (0, "")
    assert "holds something else at" not in result.out
    slot = {"06_factory": "Undefined holds nothing (rule 10, missing)."}.get(name, CAUSES[name][0])
    assert slot in result.out
    fixed = call(
        "explain", "--from-error", "-", f"examples/scenarios/{name}.fixed.yaml", stdin=PUBLISHED[name].encode()
    )
    assert "holds something else at" in fixed.out or name == "06_factory"


def test_01_a_backend_kernel_takes_the_math_kernel_away() -> None:
    assert slots("01_composite_override", "aten::to.dtype", "*PrivateUse1") == [
        "Key | Kernel | Rule | From | Declared at | Before",
        f"* PrivateUse1 | to_npu | kernel | $:17:20 | {MATH_24} [math kernel]",
        f"QuantizedPrivateUse1 … NestedTensorPrivateUse1 (4 keys) | {MATH_24} | math kernel | {MATH} | torch-2.4",
        f"* AutogradPrivateUse1 | - | missing | {MATH_24} [math kernel]",
        "AutogradPrivateUse1: not the math kernel, because PrivateUse1 has a kernel",
        "Missing, 1: AutocastPrivateUse1",
    ]
    assert findings("01_composite_override") == [
        "$:19:31: error[guard]: aten::to.dtype: the guard requires rule math at AutogradPrivateUse1, but it holds "
        "nothing (missing), because of the kernel at PrivateUse1",
    ]


@pytest.mark.parametrize(
    ("operator", "line", "place"), [("aten::convolution", 3077, "12:29"), ("aten::softmax.int_out", 10291, "14:29")]
)
def test_03_a_default_kernel_comes_before_the_fallback(operator: str, line: int, place: str) -> None:
    kernel = f"{BUILT}/RegisterCompositeExplicitAutograd_0.cpp:{line}"
    assert slots("03_fallback_never_asked", operator, "PrivateUse1") == [
        "Key | Kernel | Rule | From",
        f"PrivateUse1 | {kernel} | default backend kernel | {DEFAULT}",
        f"PrivateUse1: the backend fallback npu_fallback is not used, because {DEFAULT} has a kernel",
    ]
    assert slots("03_fallback_never_asked.fixed", operator, "PrivateUse1") == [
        "Key | Kernel | Rule | Declared at | Before",
        f"* PrivateUse1 | npu_fallback | kernel | $:{place} | {kernel} [default backend kernel]",
    ]


def test_03_the_fallback_gets_what_nothing_covers() -> None:
    assert slots("03_fallback_never_asked", "aten::im2col", "PrivateUse1")[1:] == [
        "* PrivateUse1 | npu_fallback | backend fallback | $:14:16 | missing"
    ]
    wants = "the guard requires kernel npu_fallback at PrivateUse1, but it holds the kernel"
    kernel = f"{BUILT}/RegisterCompositeExplicitAutograd_0.cpp"
    assert findings("03_fallback_never_asked") == [
        f"$:16:34: error[guard]: aten::convolution: {wants} {kernel}:3077 by rule default",
        f"$:17:38: error[guard]: aten::softmax.int_out: {wants} {kernel}:10291 by rule default",
    ]


@pytest.mark.parametrize(
    ("operator", "kernel", "line", "place"),
    [
        ("aten::linalg_vector_norm", "vector_norm_xpu", 22831, "18:21"),
        ("aten::bmm", "bmm_xpu", 2867, "16:21"),
    ],
)
def test_04_the_default_covers_quantized_and_csr_but_not_sparse_and_nested(
    operator: str, kernel: str, line: int, place: str
) -> None:
    default = f"{BUILT}/RegisterCompositeExplicitAutogradNonFunctional_0.cpp:{line}"
    keys = ("XPU", "QuantizedXPU", "SparseXPU", "SparseCsrXPU", "NestedTensorXPU")
    assert slots("04_alias_gaps", operator, *keys) == [
        "Key | Kernel | Rule | From | Declared at | Before",
        f"* XPU | {kernel} | kernel | $:{place} | {default} [default backend kernel]",
        f"QuantizedXPU, SparseCsrXPU | {default} | default backend kernel | {NON_FUNCTIONAL} | torch-2.15",
        f"SparseXPU, NestedTensorXPU: missing; {NON_FUNCTIONAL} has a kernel, but does not cover them",
        "Missing, 2: SparseXPU, NestedTensorXPU",
    ]


def test_04_guards_name_the_missing_slots_and_kernels_fill_them() -> None:
    wants = "the guard requires any rule but missing at"
    assert findings("04_alias_gaps")[:2] == [
        f"$:25:26: error[guard]: aten::bmm: {wants} NestedTensorXPU, but it holds nothing (missing)",
        f"$:26:41: error[guard]: aten::linalg_vector_norm: {wants} SparseXPU, but it holds nothing (missing)",
    ]
    assert slots("04_alias_gaps.fixed", "aten::linalg_vector_norm", "SparseXPU", "NestedTensorXPU") == [
        "Key | Kernel | Rule | Declared at | Before",
        "* SparseXPU | vector_norm_sparse | kernel | $:13:49 | missing",
        f"NestedTensorXPU: missing; {NON_FUNCTIONAL} has a kernel, but does not cover it",
        "Missing, 1: NestedTensorXPU",
    ]
    assert slots("04_alias_gaps.fixed", "aten::bmm", "SparseXPU", "NestedTensorXPU")[1:] == [
        "* SparseXPU | bmm_sparse_xpu | kernel | $:11:41 | missing",
        "* NestedTensorXPU | bmm_nested_xpu | kernel | $:11:74 | missing",
    ]


def test_06_without_tensors_the_undefined_slot_decides_and_it_is_missing() -> None:
    fallthrough = f"{ATEN}/core/BackendSelectFallbackKernel.cpp:3"
    assert slots("06_factory", "mylib::filled", "Undefined", "BackendSelect", "CPU", more=("--full",)) == [
        "Key | Kernel | Rule | Declared at",
        "Undefined | - | missing",
        "CPU | filled_cpu | kernel | $:15:12",
        "BackendSelect | fallthrough PyTorch's own, BackendSelectFallbackKernel.cpp:3 | backend fallback",
        "no tensor arguments: a call goes to Undefined, which is empty; CPU cannot be reached",
    ]
    assert findings("06_factory")[0] == (
        "$:17:30: error[guard]: mylib::filled: the guard requires rule kernel at BackendSelect, but it holds a "
        f"fallthrough ({fallthrough}) by rule fallback"
    )


def test_07_of_two_orders_one_leaves_the_fallback_live() -> None:
    name, universe = "07_stale_batching_rule", ("--universe", "torch-2.4")
    assert findings(name, *universe) == [
        "$:21:49: error[stale-live-table]: demo::late: the slot FuncTorchBatched holds loop_over_batch "
        "[backend fallback], but should hold late_batched [batched kernel]: registering the kernel late_batched at "
        "FuncTorchBatchedDecomposition did not recompute it",
    ]
    batched = "batched kernel | FuncTorchBatchedDecomposition"
    assert slots(name, "demo::early", "FuncTorchBatched", more=universe)[1:] == [
        f"FuncTorchBatched | early_batched | {batched} | $:19:94",
        "FuncTorchBatched: the backend fallback loop_over_batch is not used, because FuncTorchBatchedDecomposition "
        "has a kernel",
    ]
    assert slots(name, "demo::late", "FuncTorchBatched", more=universe)[1:] == [
        f"FuncTorchBatched | late_batched | {batched} | $:21:93",
        "stale: a call runs loop_over_batch",
        "Stale: a call at FuncTorchBatched runs what the live table holds, not this; see check-invariants.",
    ]


def test_07_the_dump_hides_it_and_newer_universes_do_not_have_it() -> None:
    name = "07_stale_batching_rule"
    dump = shown("table", name, "--universe", "torch-2.4", "--op", "demo::late", "--format", "raw")
    assert dump == ["FuncTorchBatched: late_batched [batched kernel]"]
    passed = "All checks passed: 2 operators, 2 checks"
    assert shown("check-invariants", name, "--universe", "torch-2.15", *SELECT) == [f"{passed} (torch-2.15)"]
    assert shown("check-invariants", f"{name}.fixed", "--universe", "torch-2.4", *SELECT) == [f"{passed} (torch-2.4)"]


def test_09_without_the_autograd_keys_another_kernel_is_there() -> None:
    assert slots("09_inference_mode", "demo::shrink", "CPU", "AutogradCPU") == [
        "Key | Kernel | Rule | From | Declared at",
        f"CPU | shrink_lowering | default backend kernel | {DEFAULT} | $:16:34",
        "AutogradCPU | shrink_decomposition | autograd kernel | Autograd | $:17:17",
    ]
    assert findings("09_inference_mode") == [
        "$:19:29: error[guard]: demo::shrink: the guard requires kernel shrink_decomposition at CPU, but it holds "
        "shrink_lowering by rule default",
    ]
    assert slots("09_inference_mode.fixed", "demo::shrink", "CPU", "AutogradCPU")[1:] == [
        f"CPU, AutogradCPU | shrink_decomposition | math kernel | {MATH} | $:9:34"
    ]


def test_09_the_published_decomposition_is_at_autograd_only() -> None:
    out = call("register", "--base", "torch-2.15", "--op", "aten::hardshrink").out
    kernels = out.partition("\naten::hardshrink.out(")[0].partition("Python dispatcher key")[2].splitlines()[1:]
    assert [line.split() for line in kernels if line] == [
        ["Meta", "torch._refs.nn.functional.hardshrink"],
        ["Autograd", "torch._refs.nn.functional.hardshrink"],
    ]
