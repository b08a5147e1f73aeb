"""The command guards: the list, and --record: guards of what is true now."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from dispatch_cli.answers.findings.guards.recorded import recorded_guards
from dispatch_cli.api import load_state
from dispatch_cli.checks.guarding import Guards
from dispatch_cli.checks.view import View
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.universe import UNDEFINED
from tests.cli.support import ROOT, Result, call
from tests.cli.transcripts import EXPECTED
from tests.support import UNIVERSE_OF, load_recording

TEXT = """\
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: "op [alias]*", CompositeImplicitAutograd: op_math}
  - func: demo::fill(Tensor x) -> Tensor
    dispatch: {CompositeImplicitAutograd: fill, AutogradCPU: fallthrough}
guards:
  - {op: "demo::*", key: CUDA, rule: math}
  - {op: demo::op, key: [CPU, XLA], rule: kernel, reason: as before}
  - {op: demo::none, key: CPU, rule: kernel}
  - {op: "demo::*", rule: math, key: CUDA}
  - {op: demo::op, key: AutogradCPU, not: missing}
"""


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(TEXT, encoding="utf-8")
    Path("lib.yaml").write_text(LIBRARY, encoding="utf-8")
    return tmp_path


def listed(file: str, code: int) -> list[tuple[str, int]]:
    """The guards of a file, by verdict, and the line of each."""
    result = call("guards", file, "--format", "json")
    assert result.code == code
    return [(row["verdict"], row["declared_at"]["line"]) for row in json.loads(result.out)["guards"]]


def test_the_list() -> None:
    expected = [("holds", 8), ("broken", 9), ("guards-nothing", 10), ("holds", 11), ("holds", 12)]
    assert listed("a.yaml", 1) == expected


SUPPRESSED = """\
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu}
  - func: demo::fill(Tensor x) -> Tensor
    dispatch: {CPU: fill_cpu}
guards:
  - {op: demo::op, key: CUDA, rule: kernel} # dispatch-cli: ignore[guard] until the kernel is there
  - {op: "demo::*", key: XLA, rule: kernel}
  - {op: demo::none, key: CPU, rule: kernel} # dispatch-cli: ignore[unmatched-guard] comes with the next version
suppress:
  - {checks: guard, op: demo::op, reason: not on XLA}
"""


def test_what_check_invariants_suppresses_fails_no_guard() -> None:
    Path("s.yaml").write_text(SUPPRESSED.replace('"demo::*"', "demo::op"), encoding="utf-8")
    assert listed("s.yaml", 0) == [("suppressed", 8), ("suppressed", 9), ("suppressed", 10)]
    assert call("check-invariants", "s.yaml", "--select", "DC9").code == 0


def test_a_guard_that_is_suppressed_for_one_operator_fails_for_another() -> None:
    Path("s.yaml").write_text(SUPPRESSED, encoding="utf-8")
    result = call("guards", "s.yaml", "--format", "json")
    assert result.code == 1
    row = json.loads(result.out)["guards"][1]
    assert (row["verdict"], row["broken_count"]) == ("broken", 1)
    report = json.loads(call("check-invariants", "s.yaml", "--select", "DC9", "--format", "json").out)
    assert [finding["operator"] for finding in report["findings"]] == ["demo::fill"]
    message = "demo::op: the guard requires rule kernel at XLA, but it holds nothing (missing)"
    assert message in [finding["message"] for finding in report["suppressed"]]


LIBRARY = """\
dispatch: 1
operators:
  - func: mylib::norm(Tensor x) -> Tensor
    dispatch:
      CPU, CUDA: norm_native
      CompositeImplicitAutograd: norm_math
      Autograd: norm_autograd
      AutocastCPU: fallthrough
  - func: mylib::make(int n) -> Tensor
    dispatch: {CompositeExplicitAutograd: make, BackendSelect: make_by_device}
  - custom_op: mylib::sin(Tensor x) -> Tensor
    kernels: {"cpu, cuda": sin_native}
    fake: sin_fake
    backward: sin_backward
"""
RECORDED = (EXPECTED / "recorded_guards.yaml").read_text(encoding="utf-8")
UNIVERSES = ("torch-2.4", "torch-2.15")


def check(*source: str) -> Result:
    return call("check-invariants", *source, "--select", "guard,unmatched-guard")


@pytest.mark.parametrize("universe", UNIVERSES)
def test_a_library_is_recorded_alike_with_every_pytorch(universe: str) -> None:
    assert call("guards", "lib.yaml", "--universe", universe, "--record") == Result(0, RECORDED, "")


@pytest.mark.parametrize("universe", UNIVERSES)
@pytest.mark.parametrize(
    ("line", "changed", "broken"),
    [
        ("CPU, CUDA: norm_native", "CPU: norm_native", {"CUDA", "AutogradCUDA"}),
        ("Autograd: norm_autograd", "AutogradCPU: norm_autograd", {"AutogradCPU", "AutogradCUDA"}),
        ("AutocastCPU: fallthrough", "AutocastCPU: cast", {"AutocastCPU"}),
        ("CPU, CUDA: norm_native", "CPU, CUDA, MPS: norm_native", {"MPS", "AutogradMPS"}),
        ("fake: sin_fake", "fake: other_fake", {"Meta"}),
    ],
)
def test_recorded_guards_notice_a_change_with_every_pytorch(
    universe: str, line: str, changed: str, broken: set[str]
) -> None:
    Path("guards.yaml").write_text(RECORDED, encoding="utf-8")
    source = ("--universe", universe, "--guards", "guards.yaml")
    assert check("lib.yaml", *source).code == 0
    Path("lib.yaml").write_text(LIBRARY.replace(line, changed), encoding="utf-8")
    result = call("check-invariants", "lib.yaml", *source, "--select", "DC9", "--format", "json")
    assert result.code == 1
    findings = json.loads(result.out)["findings"]
    assert {key for row in findings for key in dict(row["details"]).get("keys", row["key"]).split(", ")} == broken


CUSTOM_OPS = {
    "2.4.1": "Autograd[alias]: registered at /dev/null:168 ",
    "2.15.0": "Autograd[alias]: registered at site-packages/torch/_library/custom_ops.py:1118 ",
}
"""A line in the dump of an operator of ``torch.library.custom_op`` in these versions. PyTorch registers this kernel by
itself for each of them (``_register_to_dispatcher`` in torch/_library/custom_ops.py), and none of PyTorch's own has a
function for the backward: ``_backward_fn`` is None for all 113 in 2.4.1 and all 116 in 2.15.0 that ``OPDEFS`` has."""


def filled_slots(version: str) -> Iterator[tuple[str, str, str]]:
    """Operator, key and rule of every slot that a kernel of the operator's own fills, as PyTorch prints them.

    Without those of kernels that torch.library registers by itself, without a function of the library's author.
    """
    for name, texts in load_recording(f"{version}.state")["ops"].items():
        by_itself = {Rule.AUTOGRAD} if CUSTOM_OPS[version] in texts["dump"] else set()
        for line in texts["table"].splitlines():
            key, _, kernel = line.partition(": ")
            rule = next(member for member in Rule if kernel.endswith(f" [{member.dump_text}]"))
            if rule not in by_itself | {Rule.FALLBACK, Rule.AMBIGUOUS} and key != UNDEFINED:
                yield name, key, rule.value


@pytest.mark.slow
@pytest.mark.parametrize("version", CUSTOM_OPS)
def test_recorded_guards_speak_of_exactly_the_slots_that_kernels_fill(version: str) -> None:
    state = load_state([], bases=[UNIVERSE_OF[version]])
    reader = Guards(View(state, ()))
    texts = [
        (op, key, guard.wants[0].texts[0])
        for guard in recorded_guards(state, tuple(state.dispatcher), None)
        for op in guard.ops
        for key in reader.keys(guard)
        if key != UNDEFINED
    ]
    assert len(texts) == len(set(texts))
    assert set(texts) == set(filled_slots(version))
    assert Rule.MATH.value in {rule for _, _, rule in texts}


def test_only_what_the_files_register_is_recorded() -> None:
    Path("over.yaml").write_text(
        "dispatch: 1\nextends: [torch-2.15, lib.yaml]\noperators:\n"
        "  - {func: mylib::own(Tensor x) -> Tensor, dispatch: {CPU: own}}\n"
        "libraries:\n  - {kind: IMPL, namespace: aten, dispatch_key: PrivateUse1, impl: {add.Tensor: my_add}}\n"
        "fallbacks: {PrivateUse1: to_cpu}\n",
        encoding="utf-8",
    )
    recorded = yaml.safe_load(call("guards", "over.yaml", "--record").out)["guards"]
    assert recorded == [
        {"op": "aten::add.Tensor", "key": "PrivateUse1", "rule": "kernel", "kernel": "my_add"},
        {"op": "mylib::own", "key": "CPU", "rule": "kernel", "kernel": "own"},
        {"op": "mylib::own", "key": "PrivateUse1", "rule": "fallback", "kernel": "to_cpu"},
    ]
    named = yaml.safe_load(call("guards", "over.yaml", "--record", "--op", "aten::relu.default").out)["guards"]
    assert {row["rule"] for row in named} == {"kernel", "autograd", "fallback"}
    assert [row["kernel"] for row in named if "kernel" in row] == ["to_cpu"]


def test_places_of_captured_kernels_are_recorded_without_lines() -> None:
    library = (
        "dispatch: 1\nlibraries:\n  - kind: DEF\n    namespace: m\n    define: ['f(Tensor x) -> Tensor']\n"
        "  - kind: IMPL\n    namespace: m\n    dispatch_key: CPU\n"
        "    impl:\n      f: {debug: 'registered at /x/src/f [1].cpp:12'}\n"
    )
    Path("cap.yaml").write_text(library, encoding="utf-8")
    recorded = call("guards", "cap.yaml", "--record").out
    assert 'kernel: "registered at *f [[]1].cpp:*"' in recorded
    Path("g.yaml").write_text(recorded, encoding="utf-8")
    for place, code in (("/y/f [1].cpp:99", 0), ("/x/src/g.cpp:12", 1)):
        Path("cap.yaml").write_text(library.replace("/x/src/f [1].cpp:12", place), encoding="utf-8")
        assert check("cap.yaml", "--guards", "g.yaml").code == code


def test_a_capture_with_modules_is_recorded_without_what_pytorch_has() -> None:
    capture = {
        "dispatch": 1,
        "snapshot": True,
        "pytorch": True,
        "universe": "torch-2.15",
        "operators": [{"func": "aten::f(Tensor x) -> Tensor", "dispatch": {"CPU": {"debug": "f"}}}],
        "imported": {
            "modules": ["m"],
            "operators": [{"func": "m::f(Tensor x) -> Tensor", "dispatch": {"CPU": {"debug": "mine"}}}],
        },
    }
    Path("cap.json").write_text(json.dumps(capture), encoding="utf-8")
    assert yaml.safe_load(call("guards", "cap.json", "--record").out)["guards"] == [
        {"op": "m::f", "key": "CPU", "rule": "kernel", "kernel": "mine"},
    ]


CONDITIONAL = """\
TORCH_LIBRARY(my, m) {
  m.def("f(Tensor x) -> Tensor");
  m.def("h(Tensor x) -> Tensor");
#ifdef EXTRA
  m.def("g(Tensor x) -> Tensor");
#endif
}
TORCH_LIBRARY_IMPL(my, CPU, m) {
  m.impl("h", &h_cpu);
#ifdef FAST
  m.impl("f", &f_fast);
#else
  m.impl("f", &f_cpu);
#endif
#ifdef EXTRA
  m.impl("g", &g_cpu);
#endif
}
#ifdef DEVICES
TORCH_LIBRARY_IMPL(my, CUDA, m) { m.impl("f", &f_cuda); m.impl("h", &h_cpu); }
TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&to_cpu>()); }
#endif
"""
DEFINED = ("defined(EXTRA)", "defined(FAST)", "defined(DEVICES)")


def test_recorded_guards_hold_in_every_combination_of_conditions() -> None:
    """A kernel that differs is free; a slot that is empty in some combination is not guarded."""
    Path("c.cpp").write_text(CONDITIONAL, encoding="utf-8")
    result = call("guards", "c.cpp", "--record", "-o", "g.yaml")
    assert yaml.safe_load(Path("g.yaml").read_text(encoding="utf-8"))["guards"] == [
        {"op": "my::f", "key": "CPU", "rule": "kernel"},
        {"op": "my::g", "key": "CPU", "rule": "kernel", "kernel": "g_cpu"},
        {"op": "my::h", "key": "CPU", "rule": "kernel", "kernel": "h_cpu"},
    ]
    assert "note: shown for: defined(DEVICES), defined(EXTRA), defined(FAST)" in result.err
    assert "note: what differs in another combination is not recorded: 6 slots of 3 operators" in result.err
    for chosen in itertools.product(("true", "false"), repeat=len(DEFINED)):
        when = (f"--when={name}={truth}" for name, truth in zip(DEFINED, chosen, strict=True))
        assert check("c.cpp", "--guards", "g.yaml", *when).code == 0
    assert check("c.cpp", "--guards", "g.yaml").code == 0
    Path("c.cpp").write_text(CONDITIONAL.replace('m.impl("f", &f_cpu);', ""), encoding="utf-8")
    changed = check("c.cpp", "--guards", "g.yaml")
    assert (changed.code, "(when not defined(FAST))" in changed.out) == (1, True)
    Path("g.yaml").write_text("dispatch: 1\nguards: [{op: my::gg, key: CPU, rule: kernel}]\n", encoding="utf-8")
    misspelt = check("c.cpp", "--guards", "g.yaml")
    assert (misspelt.code, "my::gg matches no operator" in misspelt.out) == (1, True)


def test_guards_recorded_of_an_extension_hold_in_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    extension, target = "examples/extension", str(file / "g.yaml")
    result = call("guards", extension, "--record", "-o", target)
    assert "note: what differs in another combination is not recorded: 1 slot of 1 operator" in result.err
    kernels = [row.get("kernel") for row in yaml.safe_load(Path(target).read_text(encoding="utf-8"))["guards"]]
    assert "scaled_add" in kernels and "scaled_add_cuda" not in kernels
    assert check(extension, "--guards", target).code == 0
    assert check(extension, "--guards", target, "--when", "defined(WITH_CUDA)=false").code == 0


def test_higher_order_operators_have_no_guards(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("dispatch: 1\nextends: torch-2.15\nguards:\n- {op: cond, key: CPU, rule: kernel}\n", "utf-8")
    assert "tip  higher-order operators have no guards" in call("check-invariants", str(path)).out
