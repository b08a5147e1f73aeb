"""Guards: what each kind of them says when it does not hold, whole, and that it is silent when it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.answers.findings.guards.recorded import recorded_guards
from dispatch_cli.api import load_state
from dispatch_cli.checks.check import Finding
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import Related
from dispatch_cli.model.severity import Severity
from dispatch_cli.model.span import Span
from tests.checks.helpers import StateOf, findings

GUARDED = """\
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, CompositeImplicitAutograd: op_math}
guards:
"""
MATH = (4, 56)


def place(line: int, column: int) -> Span:
    return Span("x.yaml", line, column)


def guarded(state_of: StateOf, guard: str) -> tuple[Finding, ...]:
    """Findings of the checks of guards."""
    return findings(state_of(f"{GUARDED}  - {{{guard}}}\n"), select="DC9")


@pytest.mark.parametrize(
    ("guard", "wanted", "key", "found", "places"),
    [
        ("key: AutogradCPU, rule: math", "rule math", "AutogradCPU", "", [("the kernel at CPU", (4, 21))]),
        ("key: CPU, not: kernel", "any rule but kernel", "CPU", "op_cpu by rule kernel", [("", (4, 21))]),
        ("key: CPU, rule: [math, default]", "rule math or default", "CPU", "op_cpu by rule kernel", [("", (4, 21))]),
        ("key: CUDA, kernel: other", "kernel other", "CUDA", "op_math by rule math", [("", MATH)]),
        ("key: CUDA, kernel: [x, other]", "kernel x or other", "CUDA", "op_math by rule math", [("", MATH)]),
        ("key: CUDA, not_kernel: 'op_*'", "any kernel but op_*", "CUDA", "op_math by rule math", [("", MATH)]),
        ("key: Fake, kernel: '*'", "kernel *", "Fake", "nothing (missing)", []),
        ("key: Fake, not: missing", "any rule but missing", "Fake", "nothing (missing)", []),
        ("key: CUDA, fallthrough: true", "a fallthrough", "CUDA", "op_math by rule math", [("", MATH)]),
        ("key: CUDA, same_as: CPU", "the same function as CPU", "CUDA", "op_math by rule math", [("", MATH)]),
        (
            "key: CUDA, rule: kernel, kernel: 'op_*', same_as: CPU",
            "rule kernel and the same function as CPU",
            "CUDA",
            "op_math by rule math",
            [("", MATH)],
        ),
    ],
)
def test_a_broken_guard(
    guard: str, wanted: str, key: str, found: str, places: list[tuple[str, tuple[int, int]]], state_of: StateOf
) -> None:
    (finding,) = guarded(state_of, f"op: 'demo::*', {guard}")
    found = found or (
        "the kernel registered at /__w/pytorch/pytorch/aten/src/ATen/core/VariableFallbackKernel.cpp:66 by rule "
        "fallback, because of the kernel at CPU"
    )
    assert finding._replace(subject="") == Finding(
        check="guard",
        severity=Severity.ERROR,
        message=f"demo::op: the guard requires {wanted} at {key}, but it holds {found}",
        operator="demo::op",
        key=key,
        details=(("wanted", wanted), ("found", found)),
        span=place(6, 26),
        mark=key,
        mark_follows=True,
        related=tuple(
            Related(f"{what or 'the kernel in the slot'} is registered here", place(*where)) for what, where in places
        ),
    )


@pytest.mark.parametrize(
    "guard",
    [
        "key: CPU, kernel: 'op_*', rule: kernel, fallthrough: false, same_as: CPU",
        "key: 'CUDA, XLA', same_as: HIP, rule: [math, kernel], not: [missing, fallback], not_kernel: [x, y]",
        "backend: CPU",
        "backend: CUDA",
        "tensors: [cpu], resolves: op_cpu",
        "tensors: [cpu requires_grad], resolves: {end: kernel, key: CPU, kernel: [x, op_cpu]}",
        "tensors: [cuda], resolves: {end: decomposition, key: AutogradCUDA, kernel: op_math}",
        "tensors: [cuda], contexts: [inference_mode], resolves: {end: decomposition}",
    ],
)
def test_a_guard_that_holds(guard: str, state_of: StateOf) -> None:
    assert guarded(state_of, f"op: 'demo::*', {guard}") == ()


def test_an_alias_key_stands_for_every_key_that_it_covers(state_of: StateOf) -> None:
    results = guarded(state_of, "op: demo::op, key: [Autograd, CPU], not: fallback")
    assert [(finding.key, finding.details[2:]) for finding in results] == [("AutogradCPU", ())]
    state = state_of(f"{GUARDED}  - {{op: demo::op, key: Autograd, rule: kernel}}\n")
    covered = state.dispatcher.universe.covered_by("Autograd")
    others = [key for key in covered if key != "AutogradCPU"]
    math, fallback = findings(state, select="guard")
    assert math.message == (
        f"demo::op: the guard requires rule kernel at {others[0]} … {others[-1]} ({len(others)} keys), but they hold "
        "op_math by rule math"
    )
    assert (math.key, math.details[2]) == (others[0], ("keys", ", ".join(others)))
    assert fallback.key == "AutogradCPU"


def test_a_call_that_does_not_end_as_wanted(state_of: StateOf) -> None:
    (finding,) = guarded(
        state_of, "op: demo::op, tensors: [cpu], contexts: [inference_mode], resolves: {kernel: other, key: CUDA}"
    )
    assert finding._replace(subject="") == Finding(
        check="guard",
        severity=Severity.ERROR,
        message=(
            "demo::op: the guard requires a call with cpu under inference_mode to end in kernel other and at CUDA, "
            "but it ends in op_cpu at CPU by rule kernel"
        ),
        operator="demo::op",
        key="CPU",
        details=(
            ("wanted", "a call with cpu under inference_mode to end in kernel other and at CUDA"),
            ("found", "ends in op_cpu at CPU by rule kernel"),
        ),
        span=place(6, 10),
        mark="demo::op",
        mark_follows=True,
        related=(Related("the kernel in the slot is registered here", place(4, 21)),),
    )


def test_a_call_that_is_an_error(state_of: StateOf) -> None:
    text = GUARDED.replace("CPU: op_cpu, CompositeImplicitAutograd: op_math", "CPU: op_cpu")
    error = "Could not run 'demo::op' with arguments from the 'CUDA' backend."
    holds = f'  - {{op: demo::op, tensors: [cuda], resolves: {{end: error, error: "{error}*"}}}}\n'
    broken = "  - {op: demo::op, tensors: [cuda], resolves: op_cuda}\n"
    (finding,) = findings(state_of(f"{text}{holds}{broken}"), select="DC9")
    assert finding.span == place(7, 10)
    assert finding.message.startswith(
        f"demo::op: the guard requires a call with cuda to end in kernel op_cuda, but it raises {error}"
    )


def test_a_call_that_the_universe_does_not_have(state_of: StateOf) -> None:
    (finding,) = guarded(state_of, "op: demo::op, tensors: [gpu], resolves: op_cpu")
    assert finding.message.startswith("demo::op: the guard requires a call with gpu, but it cannot be made: ")


def test_a_backend_that_does_not_have_an_operator(state_of: StateOf) -> None:
    text = GUARDED.replace(
        "CompositeImplicitAutograd: op_math", "PrivateUse1: fallthrough, CompositeExplicitAutograd: op"
    )
    text += "  - {op: 'demo::*', backend: PrivateUse1, reason: ours}\n  - {op: 'demo::*', backend: XLA}\n"
    (finding,) = findings(state_of(text), select="DC9")
    assert (finding.key, finding.span) == ("PrivateUse1", place(6, 11))
    assert finding.details[0] == ("wanted", "a backend kernel or a composite one")
    assert finding.details[2] == ("reason", "ours")


@pytest.mark.parametrize(
    ("guard", "what", "tip"),
    [
        ("op: 'none::*', key: CPU", "none::* matches no operator", None),
        ("op: demo::oop, key: CPU", "demo::oop matches no operator", "did you mean demo::op?"),
        ("op: [demo::op, x::y], key: CPU", "x::y matches no operator", None),
        ("op: demo::op, key: [CPU, 'Nix*']", "Nix* matches no dispatch key", None),
        ("op: 'demo::*', key: 'None*'", "None* matches no dispatch key", None),
        ("op: 'demo::*', key: 'CPU, Nix*'", "Nix* matches no dispatch key", None),
    ],
)
def test_a_guard_that_guards_nothing(guard: str, what: str, tip: str | None, state_of: StateOf) -> None:
    (finding,) = guarded(state_of, f"{guard}, rule: [kernel, math]")
    assert finding._replace(subject="") == Finding(
        check="unmatched-guard",
        severity=Severity.ERROR,
        message=f"the guard's pattern {what}",
        span=place(6, f"  - {{{guard}}}".index(what.split()[0]) + 1),
        mark=what.split()[0],
        mark_follows=True,
        tip=tip,
    )


def test_guards_about_other_operators_than_those_asked_for(state_of: StateOf) -> None:
    text = GUARDED.replace("guards:\n", "  - func: demo::fine(Tensor x) -> Tensor\nguards:\n")
    state = state_of(f"{text}  - {{op: 'demo::op', key: CPU, rule: math}}\n")
    assert "guard" not in {finding.check for finding in findings(state, "demo::fine")}
    assert "guard" in {finding.check for finding in findings(state, "demo::op")}


def test_equal_guards_count_once(state_of: StateOf) -> None:
    guard = "op: demo::op, rule: math, key: CPU"
    again = f"  - {{{guard}}}\n" * 2 + f"  - {{{guard}, reason: another}}\n" * 2
    text = f"{GUARDED}{again}"
    (finding,) = findings(state_of(text), select="DC9")
    assert finding.span == place(6, 37)
    assert finding.details[-1] == ("reason", "another")
    repeated = [related.span for related in finding.related if related.message == "the same guard is declared here"]
    assert repeated == [place(7, 5), place(8, 5), place(9, 5)]


@pytest.mark.parametrize(
    "guard",
    [
        "op: demo::op, key: [CUDA, CPU], rule: [math, kernel], kernel: [x, y]",
        "kernel: [y, x], rule: [kernel, math], key: 'CPU, CUDA', op: [demo::op]",
        "op: [demo::op, demo::op], key: [CPU, CUDA, CPU], rule: [kernel, math], kernel: [x, y]",
        "op: demo::op, key: [CPU, CUDA, XLA], except: XLA, rule: [kernel, math], kernel: [x, y]",
    ],
)
def test_guards_that_ask_for_the_same_in_other_words_count_once(guard: str, state_of: StateOf) -> None:
    text = f"{GUARDED}  - {{op: demo::op, key: 'CPU, CUDA', rule: [kernel, math], kernel: [x, y]}}\n  - {{{guard}}}\n"
    results = findings(state_of(text), select="DC9")
    assert [(finding.key, finding.span, finding.related[-1].span) for finding in results] == [
        ("CPU", place(6, 26), place(7, 5)),
        ("CUDA", place(6, 26), place(7, 5)),
    ]


def test_guards_that_ask_for_other_things_count_each(state_of: StateOf) -> None:
    others = (
        "op: 'demo::*', key: CPU, rule: math",
        "op: demo::op, key: 'CPU, XLA', rule: math",
        "op: demo::op, key: CPU, rule: [math, default]",
        "op: demo::op, key: CPU, not: kernel",
        "op: demo::op, key: CPU, rule: math, fallthrough: false",
    )
    lines = "".join(f"  - {{{guard}}}\n" for guard in ("op: demo::op, key: CPU, rule: math", *others))
    results = findings(state_of(f"{GUARDED}{lines}"), select="guard")
    assert [finding.span.line for finding in results if finding.span is not None] == [*range(6, 12)]


def test_keys_that_a_guard_leaves_out(state_of: StateOf) -> None:
    results = guarded(state_of, "op: demo::op, key: CompositeImplicitAutograd, except: 'CPU, Autograd*', rule: math")
    assert results == ()
    (finding,) = guarded(state_of, "op: demo::op, key: CompositeImplicitAutograd, except: CPU, rule: math")
    assert finding.key == "AutogradCPU"


def test_a_guard_on_a_key_of_another_pytorch(state_of: StateOf) -> None:
    (finding,) = guarded(state_of, "op: demo::op, key: 'CPU, Named', rule: kernel")
    assert (finding.check, finding.span, finding.mark) == ("unmatched-guard", place(6, 31), "Named")
    assert finding.message == "the guard's pattern Named matches no dispatch key"
    assert finding.tip == "torch-2.15 has no such key; other versions of PyTorch have it"
    assert guarded(state_of, "op: demo::op, key: CPU, except: Named, rule: kernel") == ()


def test_a_guard_names_the_python_function_that_a_kernel_was_made_of(state_of: StateOf) -> None:
    text = (
        "dispatch: 1\noperators:\n  - {custom_op: demo::f(Tensor x) -> Tensor, kernels: {cpu: f_cpu}, fake: f_fake}\n"
    )
    wanted = "guards:\n  - {op: demo::f, key: CPU, kernel: f_cpu}\n  - {op: demo::f, key: Meta, kernel: 'f_f*'}\n"
    assert findings(state_of(f"{text}{wanted}"), select="DC9") == ()
    refused = "guards:\n  - {op: demo::f, key: CPU, kernel: f_cuda}\n  - {op: demo::f, key: Meta, not_kernel: f_fake}\n"
    first, second = findings(state_of(f"{text}{refused}"), select="DC9")
    assert first.message == "demo::f: the guard requires kernel f_cuda at CPU, but it holds f_cpu by rule kernel"
    assert second.message.endswith("requires any kernel but f_fake at Meta, but it holds f_fake by rule kernel")


def test_a_guard_says_through_what_it_came(state_of: StateOf) -> None:
    state_of("dispatch: 1\n")
    guard = "dispatch: 1\nguards:\n  - {op: demo::op, key: CPU, rule: math}\n"
    Path("guards.yaml").write_text(guard, encoding="utf-8")
    text = GUARDED.replace("guards:\n", "").replace("operators:", "extends: [./guards.yaml]\noperators:")
    (finding,) = findings(state_of(text), select="DC9")
    assert finding.span == Span("./guards.yaml", 3, 25)
    assert finding.related[-1] == Related("the guard is loaded through this entry", place(2, 11))


def test_guards_over_a_base() -> None:
    state = load_state([], bases=["torch-2.15"])
    assert findings(state, "aten::relu", select="DC9") == ()


def test_a_file_of_guards_over_a_base(tmp_path: Path) -> None:
    file = tmp_path / "g.yaml"
    file.write_text(
        "dispatch: 1\nguards:\n  - {op: 'aten::add.*', key: 'CPU, CUDA', kernel: '*'}\n"
        "  - {op: aten::relu, key: CPU, rule: math}\n",
        encoding="utf-8",
    )
    state = load_state([], bases=["torch-2.15"], guards=[str(file)])
    results = findings(state, select="DC9")
    assert [(finding.operator, finding.key) for finding in results] == [("aten::relu", "CPU")]
    assert state.dispatcher.is_untouched(next(name for name in state.dispatcher if str(name) == "aten::abs"))


FACTORY = """\
dispatch: 1
operators:
  - func: demo::fill(int size, *, Device device) -> Tensor
    dispatch: {BackendSelect: fill_by_device, CPU: fill_cpu, CUDA: fill_cuda}
guards:
"""


def test_a_guard_on_a_factory(state_of: StateOf) -> None:
    def messages(guard: str) -> list[str]:
        return [
            finding.message
            for finding in findings(state_of(f"{FACTORY}  - {{op: demo::fill, {guard}}}\n"), select="DC9")
        ]

    assert messages("resolves: fill_cpu") == []
    assert messages("device: cuda:1, resolves: fill_cuda") == []
    assert messages("device: cuda, resolves: fill_cpu") == [
        "demo::fill: the guard requires a call with no tensors and device cuda to end in kernel fill_cpu, but it ends "
        "in fill_cuda at CUDA by rule kernel"
    ]
    (message,) = messages("device: cudda, resolves: fill_cuda")
    assert "cannot be made: the universe torch-2.15 has no device 'cudda'" in message


def test_a_stale_slot_holds_what_calls_find(state_of: StateOf) -> None:
    """PyTorch leaves the autograd slots as they were when CompositeExplicitAutograd comes last."""
    state = state_of(
        """\
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CompositeImplicitAutograd: op_math, CompositeExplicitAutograd: op_default}
guards:
  - {op: "demo::op", key: AutogradCPU, rule: fallback}
  - {op: "demo::op", key: AutogradCUDA, rule: math, kernel: op_math}
  - {op: "demo::op", key: CPU, rule: default}
"""
    )
    (finding,) = findings(state, select="guard")
    assert dict(finding.details) == {"wanted": "rule fallback", "found": "op_math by rule math"}
    recorded = [*recorded_guards(state, [OperatorName.parse("demo::op")], frozenset(("AutogradCPU",)))]
    assert [guard.wants[0].texts for guard in recorded] == [("math",)]
