"""Problems that people reported: each example shows its cause, and its way out shows the problem gone."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
import yaml

from dispatch_cli import load_state, universes
from dispatch_cli.engine.dispatcher.dump import dump_table
from dispatch_cli.model.names import OperatorName
from tests import in_pytorch
from tests.capture.support import live_universe, torch_python
from tests.cli.support import ROOT, call

SCENARIOS = ROOT / "examples" / "scenarios"
NAMES = sorted(path.stem for path in SCENARIOS.glob("*.yaml") if ".fixed" not in path.name)
DEFAULT = "CompositeExplicitAutograd"
NON_FUNCTIONAL = "CompositeExplicitAutogradNonFunctional"
MATH = "CompositeImplicitAutograd"


def shown(command: str, name: str, *args: str, code: int = 0) -> list[str]:
    """The lines that a command prints about a scenario: columns apart by bars, the scenario's path as ``$``."""
    path = f"examples/scenarios/{name}.yaml"
    result = call(command, path, *args)
    assert (result.code, result.err) == (code, "")
    return [re.sub(r" {2,}", " | ", line.strip()) for line in result.out.replace(path, "$").splitlines() if line]


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
    assert "is filled in another way" not in result.out
    slot = {"06_factory": "Undefined holds nothing (rule 10, missing)."}.get(name, CAUSES[name][0])
    assert slot in result.out
    fixed = call(
        "explain", "--from-error", "-", f"examples/scenarios/{name}.fixed.yaml", stdin=PUBLISHED[name].encode()
    )
    names_key = name not in ("05_no_autograd_kernel", "06_factory")
    assert ("is filled in another way" in fixed.out) == names_key


# In a live PyTorch.


SCRIPT = Path(__file__).with_name("scenarios_in_pytorch.py")
CALLS = {
    "05": (["mylib::scale", "torch.ones(2, requires_grad=True), 2.0", False], ("--tensor", "cpu requires_grad")),
    "06": (["mylib::filled", "[2], device='cpu'", False], ("--argument", "device=cpu")),
    "08": (["mylib::mix", "*[torch.ones(2).to_mkldnn()] * 2", False], ("--tensor", "mkldnn")),
    "09": (["demo::shrink", "torch.ones(2)", True], ("--tensor", "cpu", "--context", "inference_mode")),
    "10": (["mylib::norm", "torch.ones(2).to_sparse()", False], ("--tensor", "cpu sparse")),
}
"""Calls by the number of their scenario, for PyTorch, and as options of resolve."""


@pytest.mark.live
@pytest.mark.parametrize("fixed", ["", ".fixed"])
@pytest.mark.parametrize("name", [name for name in NAMES if name[:2] != "07"])  # PyTorch has its own fallback there
def test_what_pytorch_does(name: str, fixed: str, tmp_path: Path) -> None:
    """In a universe and over a state of its version: the slots that heads explain, the kernel of a call, its error."""
    head = (SCENARIOS / f"{name}.yaml").read_text(encoding="utf-8")
    text = (SCENARIOS / f"{name}{fixed}.yaml").read_text(encoding="utf-8")
    version = f"torch-{'.'.join(live_universe()['torch'].split('.')[:2])}"
    file = tmp_path / "scenario.yaml"
    file.write_text(re.sub("torch-2[.0-9]+(?=])", version, text), encoding="utf-8")
    document = yaml.safe_load(text)
    slots = re.findall(r"^#   dispatch-cli explain (aten::\S+) (\S+)", head, re.MULTILINE)
    live_call, options = CALLS.get(name[:2], (None, ()))
    asked = {"operators": document.get("operators", []), "fallbacks": document.get("fallbacks", {})}
    keys = {key for operator in asked["operators"] for key in operator["dispatch"]}
    if not keys <= {*universes.load(version).parseable}:
        pytest.skip(f"{version} can register nothing at one of the keys")
    answer = in_pytorch.ask(torch_python(), SCRIPT, {**asked, "slots": slots, "call": live_call})
    if live_call is None:
        dispatcher = load_state([str(file)]).dispatcher
        tables = [dump_table(dispatcher, OperatorName.parse(operator)) for operator, _ in slots]
        rules = [
            re.findall(rf"^{slot[1]}: .* \[(.*)\]$", table, re.M) for slot, table in zip(slots, tables, strict=True)
        ]
        assert [[rule] if rule else [] for rule in answer["rules"]] == rules != []
        return
    result = call("resolve", live_call[0], str(file), *options, "--universe", version, "--format", "json")
    data = json.loads(result.out)
    entries = [step["entry"] for step in data["selections"][-1]["steps"]]
    kernels = [entry["kernel"] for entry in entries if entry["declared_at"]]
    assert answer["ran"] == kernels[:1]  # it redispatches to no other
    message, error = answer["message"] or "", data["end"]["error"]
    if data["gradient"] and data["gradient"]["loss"] == "backward-warns":
        assert message.startswith(PUBLISHED[name])
    else:
        without_place = re.sub(r'"[^"]*/(\w+\.cpp)":\d+', r'"\1"', message)
        assert without_place.split("\n")[0] == (error["text"].split("\n")[0] if error else "")
