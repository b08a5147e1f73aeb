"""Meaning of good files: the history they stand for, step by step."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dispatch_cli.api import load_state
from dispatch_cli.declarations.loader import load
from dispatch_cli.declarations.sections.guards import GUARD
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.calls.call import Context, TensorSpec
from dispatch_cli.model.calls.guard import Expectation, Guard, GuardField
from dispatch_cli.model.calls.options import Options
from dispatch_cli.model.declarations import (
    Block,
    Define,
    Fallback,
    Implement,
    LibraryKind,
    OpenBlock,
    PythonKernel,
)
from dispatch_cli.model.higher_order import HigherOrderImpl, HigherOrderOperator, ImplKind, ModeType
from dispatch_cli.model.kernel import AliasAnalysisKind, FakeImpl, Kernel, Redispatch, RedispatchKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import InputError
from dispatch_cli.model.schema.parser import parse_schema, parse_signature
from dispatch_cli.model.settings import Selector, Suppression
from dispatch_cli.model.span import Span
from tests.declarations.helpers import read, write

HEAD = "dispatch: 1\n"


def kernel(folder: Path, text: str) -> Kernel:
    """The kernel that *text* declares, on line 2."""
    steps = read(folder, f"{HEAD}operators: [{{name: 'm::a', dispatch: {{CPU: {text}}}}}]\n").steps
    (step,) = (step for step in steps if isinstance(step, Implement))
    return step.kernel


def test_the_short_form(tmp_path: Path) -> None:
    text = f"""{HEAD}operators:
  - func: mylib::mul_add(Tensor a, Tensor b, *, Scalar alpha=1) -> Tensor
    alias_analysis: PURE_FUNCTION
    tags: [pt2_compliant_tag, core]
    dispatch:
      CPU, CUDA: mul_add_native
      AutogradCPU: [first, fallthrough]
      CatchAll: mul_add_math
    python_dispatch: {{"CompositeImplicitAutograd,Meta": decomp}}
"""
    declarations = read(tmp_path, text)
    file = str(tmp_path / "x.yaml")

    def at(line: int, column: int) -> Span:
        return Span(file, line, column)

    block = Block(LibraryKind.FRAGMENT, "mylib", None, file, 3, at(3, 5), implicit=True)
    name = OperatorName("mylib::mul_add")
    native = Kernel("mul_add_native", "mul_add_native", span=at(7, 18))
    falls = Kernel(f"registered at {file}:3", "fallthrough", fallthrough=True, span=at(8, 28))
    schema = parse_schema("mylib::mul_add(Tensor a, Tensor b, *, Scalar alpha=1) -> Tensor")
    assert declarations.steps == (
        OpenBlock(block),
        Define(block, schema, AliasAnalysisKind.PURE_FUNCTION, ("pt2_compliant_tag", "core"), None, at(3, 11)),
        Implement(block, name, "CPU", native, at(7, 7)),
        Implement(block, name, "CUDA", native, at(7, 7)),
        Implement(block, name, "AutogradCPU", Kernel("first", "first", span=at(8, 21)), at(8, 7)),
        Implement(block, name, "AutogradCPU", falls, at(8, 7)),
        Implement(block, name, None, Kernel("mul_add_math", "mul_add_math", span=at(9, 17)), at(9, 7)),
    )
    assert declarations.python_kernels == (
        PythonKernel(name, "CompositeImplicitAutograd", "decomp", at(10, 23)),
        PythonKernel(name, "Meta", "decomp", at(10, 23)),
    )


def test_fake_implementations(tmp_path: Path) -> None:
    """They are registered where they are written, and the kernels of the fields beside them before or after."""
    text = f"""{HEAD}operators:
  - func: m::a(Tensor x) -> Tensor
    fake: [first, {{kernel: second, debug: d, source: "m.py:3", allow_override: false}}]
    dispatch: {{CPU: c}}
libraries:
  - {{kind: FRAGMENT, namespace: m, fake: {{a: {{missing: true}}}}}}
"""
    implements = [step for step in read(tmp_path, text).steps if isinstance(step, Implement)]
    assert [(str(step.operator), step.dispatch_key, step.kernel.debug) for step in implements] == [
        ("m::a", "Meta", "first"),
        ("m::a", "Meta", "d"),
        ("m::a", "CPU", "c"),
        ("m::a", "Meta", f"registered at {tmp_path / 'x.yaml'}:7"),
    ]
    kernels = [step.kernel for step in implements]
    assert [kernel.fake for kernel in kernels] == [
        FakeImpl("first"),
        FakeImpl("second", "m.py:3", allow_override=False),
        None,
        FakeImpl(None),
    ]
    assert [kernel.python for kernel in kernels] == [True, True, False, True]


def test_the_long_form(tmp_path: Path) -> None:
    text = f"""{HEAD}libraries:
  - kind: DEF
    namespace: m
    define:
      - a(Tensor x) -> Tensor
      - {{func: "m::b.out() -> ()", alias_analysis: default, tags: [t], debug: d}}
    impl: {{a: catch_all, m::b.out: [{{kernel: k, dispatch_key: CPU}}, {{kernel: l, dispatch_key: CatchAll}}]}}
  - {{kind: IMPL, namespace: m, dispatch_key: QuantizedMeta, impl: {{a: q}}}}
  - {{kind: IMPL, namespace: _, dispatch_key: AutogradXLA, fallback: fallthrough}}
"""
    file = str(tmp_path / "x.yaml")

    def at(line: int, column: int) -> Span:
        return Span(file, line, column)

    definitions = Block(LibraryKind.DEF, "m", None, file, 3, at(3, 5))
    quantized = Block(LibraryKind.IMPL, "m", "QuantizedMeta", file, 9, at(9, 5))
    fallbacks = Block(LibraryKind.IMPL, "_", "AutogradXLA", file, 10, at(10, 5))
    a, b = OperatorName("m::a"), OperatorName("m::b", "out")
    falls = Kernel(f"registered at {file}:10", "fallthrough", fallthrough=True, span=at(10, 69))
    assert read(tmp_path, text).steps == (
        OpenBlock(definitions),
        Define(
            definitions, parse_schema("m::a(Tensor x) -> Tensor"), AliasAnalysisKind.FROM_SCHEMA, (), None, at(6, 9)
        ),
        Define(definitions, parse_schema("m::b.out() -> ()"), None, ("t",), "d", at(7, 16)),
        Implement(definitions, a, None, Kernel("catch_all", "catch_all", span=at(8, 15)), at(8, 12)),
        Implement(definitions, b, "CPU", Kernel("k", "k", span=at(8, 37)), at(8, 26)),
        Implement(definitions, b, None, Kernel("l", "l", span=at(8, 69)), at(8, 26)),
        OpenBlock(quantized),
        Implement(quantized, a, "QuantizedMeta", Kernel("q", "q", span=at(9, 71)), at(9, 68)),
        OpenBlock(fallbacks),
        Fallback(fallbacks, "AutogradXLA", falls, at(10, 69)),
    )


def test_a_block_of_no_dispatch_key(tmp_path: Path) -> None:
    """`TORCH_LIBRARY_IMPL(m, CatchAll, l)`, and `dispatch(CatchAll, f)` in a block of a key.

    Live PyTorch 2.13 registers the first at CompositeImplicitAutograd, the second at the block's key.
    """
    declared = read(
        tmp_path,
        """\
dispatch: 1
libraries:
  - {kind: IMPL, namespace: m, dispatch_key: CatchAll, impl: {a: k1}}
  - {kind: IMPL, namespace: m, dispatch_key: CPU, impl: {a: {kernel: k2, dispatch_key: CatchAll}}}
  - {kind: IMPL, namespace: m, impl: {a: {kernel: k3, dispatch_key: CatchAll}}}
""",
    )
    kernels = [(step.kernel.debug, step.dispatch_key) for step in declared.steps if type(step) is Implement]
    assert kernels == [("k1", None), ("k2", "CPU"), ("k3", None)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name", Kernel("name", "name")),
        ('"no"', Kernel("no", "no")),
        ('"null"', Kernel("null", "null")),
        ("2020-01-01", Kernel("2020-01-01", "2020-01-01")),
        ("'fallthrough'", Kernel("fallthrough", "fallthrough")),
        ("{kernel: k}", Kernel("k", "k")),
        ("{kernel: k, debug: d}", Kernel("d", "k")),
        ("{debug: d}", Kernel("d", None)),
        ("{kernel: k, boxed: false, unboxed: true}", Kernel("k", "k", None, boxed=False, unboxed=True)),
        ("{kernel: k, signature: () -> ()}", Kernel("k", "k", parse_signature("() -> ()"), unboxed=True)),
        (
            "{kernel: k, signature: () -> (), python: true}",
            Kernel("k", "k", parse_signature("() -> ()"), python=True),
        ),
        ("{fallthrough: true, debug: d}", Kernel("d", "fallthrough", fallthrough=True)),
    ],
)
def test_kernels(text: str, expected: Kernel, tmp_path: Path) -> None:
    declared = kernel(tmp_path, text)
    assert declared.span is not None
    assert declared.span.line == 2
    fields = ("debug", "function", "signature", "boxed", "unboxed", "fallthrough", "python")
    assert [getattr(declared, field) for field in fields] == [getattr(expected, field) for field in fields]


@pytest.mark.parametrize(
    ("text", "kind", "keys"),
    [
        ("false", RedispatchKind.NO, ()),
        ("true", RedispatchKind.BELOW_KEY, ()),
        ("below-key", RedispatchKind.BELOW_KEY, ()),
        ("below-autograd", RedispatchKind.BELOW_AUTOGRAD, ()),
        ("unwrapped", RedispatchKind.UNWRAPPED, ()),
        ("other-operators", RedispatchKind.OTHER_OPERATORS, ()),
        ("raises", RedispatchKind.RAISES, ()),
        ("{to: SparseCPU}", RedispatchKind.TO, ("SparseCPU",)),
        ("{exclude: CPU}", RedispatchKind.EXCLUDE, ("CPU",)),
        ("{exclude: [CPU, AutogradCPU]}", RedispatchKind.EXCLUDE, ("CPU", "AutogradCPU")),
        (
            "{exclude: 'ADInplaceOrView, FuncTorchBatchedDecomposition, CPU'}",
            RedispatchKind.EXCLUDE,
            ("ADInplaceOrView", "FuncTorchBatched", "CPU"),
        ),
    ],
)
def test_redispatches(text: str, kind: RedispatchKind, keys: tuple[str, ...], tmp_path: Path) -> None:
    redispatches = kernel(tmp_path, f"{{redispatches: {text}, kernel: k}}").redispatches
    assert redispatches is not None
    assert (redispatches.kind, redispatches.keys) == (kind, keys)
    assert redispatches.span == Span(str(tmp_path / "x.yaml"), 2, 59)
    assert Redispatch.of_data(redispatches.data) == redispatches._replace(span=None)


def test_higher_order_operators(tmp_path: Path) -> None:
    text = f"""{HEAD}higher_order_operators:
  - name: call_torchbind
    dispatch: {{"CPU,CompositeExplicitAutograd": impl, Autograd: autograd}}
    modes: {{ProxyTorchDispatchMode: inner, MyMode: {{kernel: m, returns: NotImplemented}}}}
    subclasses: {{MyTensor: {{kernel: mine, redispatches: false}}}}
    functionalize: func
    side_effect: true
  - name: bare
    add: true
    autograd: {{kernel: a.b.autograd_not_implemented, deferred_error: true}}
    transforms: {{Vmap: batch}}
    dispatch: {{XLA: fallthrough, HPU: "fallthrough", IPU: {{fallthrough: true}}}}
modes:
  MyMode: {{supports_higher_order_operators: true}}
  Other: {{}}
"""
    file = str(tmp_path / "x.yaml")
    declared = read(tmp_path, text)

    def rule(kind: ImplKind, name: str, kernel: str, line: int, column: int, **facts: bool) -> HigherOrderImpl:
        return HigherOrderImpl(kind, name, kernel, **facts, span=Span(file, line, column))

    assert declared.higher_order_operators == (
        HigherOrderOperator(
            "call_torchbind",
            (
                rule(ImplKind.DISPATCH, "CPU", "impl", 4, 16),
                rule(ImplKind.DISPATCH, "CompositeExplicitAutograd", "impl", 4, 16),
                rule(ImplKind.DISPATCH, "Autograd", "autograd", 4, 55),
                rule(ImplKind.MODE, "ProxyTorchDispatchMode", "inner", 5, 13),
                rule(ImplKind.MODE, "MyMode", "m", 5, 44, not_implemented=True),
                rule(ImplKind.SUBCLASS, "MyTensor", "mine", 6, 18, redispatches=False),
                rule(ImplKind.FUNCTIONALIZE, "", "func", 7, 20),
            ),
            side_effect=True,
            span=Span(file, 3, 5),
        ),
        HigherOrderOperator(
            "bare",
            (
                rule(ImplKind.AUTOGRAD, "", "a.b.autograd_not_implemented", 11, 15, deferred_error=True),
                rule(ImplKind.TRANSFORM, "Vmap", "batch", 12, 18),
                rule(ImplKind.DISPATCH, "XLA", "fallthrough", 13, 16, fallthrough=True),
                rule(ImplKind.DISPATCH, "HPU", "fallthrough", 13, 34),
                rule(ImplKind.DISPATCH, "IPU", "fallthrough", 13, 54, fallthrough=True),
            ),
            adds=True,
            span=Span(file, 9, 5),
        ),
    )
    assert declared.modes == (ModeType("MyMode", True, Span(file, 15, 3)), ModeType("Other", False, Span(file, 16, 3)))


def test_guards(tmp_path: Path) -> None:
    text = f"""{HEAD}guards:
  - {{op: "m::*", key: "Autograd*", not: missing, kernel: "k*"}}
  - {{op: [m::a, m::b], key: [QuantizedHIP, "CPU, Autograd"], rule: [kernel, math], not_kernel: k, reason: it must}}
  - {{op: m::a, key: CPU, fallthrough: false, same_as: CUDA}}
"""
    file = str(tmp_path / "x.yaml")
    assert read(tmp_path, text).guards == (
        Guard(
            ("m::*",),
            ("Autograd*",),
            (Expectation(GuardField.NOT, ("missing",)), Expectation(GuardField.KERNEL, ("k*",))),
            span=Span(file, 3, 5),
        ),
        Guard(
            ("m::a", "m::b"),
            ("QuantizedHIP", "CPU", "Autograd"),
            (Expectation(GuardField.RULE, ("kernel", "math")), Expectation(GuardField.NOT_KERNEL, ("k",))),
            reason="it must",
            span=Span(file, 4, 5),
        ),
        Guard(
            ("m::a",),
            ("CPU",),
            (Expectation(GuardField.FALLTHROUGH, ("false",)), Expectation(GuardField.SAME_AS, ("CUDA",))),
            span=Span(file, 5, 5),
        ),
    )


def test_suppressions(tmp_path: Path) -> None:
    text = f"""{HEAD}operators:
  # dispatch-cli: ignore[guard, DC1] the next line

  # that is not this one
  - func: 'm::a(str x="# dispatch-cli: no") -> ()'  #dispatch-cli:ignore[stale]  here
    dispatch:
      CPU: a
suppress:
  - {{checks: "DC1, guard", op: m::a, key: C*, reason: because}}
"""
    file = str(tmp_path / "x.yaml")

    def name(text: str, line: int, column: int) -> Selector:
        return Selector(text, Span(file, line, column))

    declared = read(tmp_path, text)
    assert declared.suppressions == (
        Suppression(
            (name("DC1", 10, 14), name("guard", 10, 20)),
            "because",
            Span(file, 10, 5),
            None,
            "m::a",
            "C*",
            inherited=False,
        ),
        Suppression((name("guard", 3, 26), name("DC1", 3, 33)), "the next line", Span(file, 3, 3), 6, last=8),
        Suppression((name("stale", 6, 74),), "here", Span(file, 6, 53), 6, last=8),
    )


def test_a_file_of_guards_registers_nothing(tmp_path: Path) -> None:
    text = f"{HEAD}extends: [torch-2.15]\noperators: []\nguards: []\n"
    with pytest.raises(InputError) as raised:
        load([], guards=[str(write(tmp_path, text))])
    assert [(problem.code, problem.span and problem.span.line) for problem in raised.value.problems] == [
        ("only-guards", 2),
        ("only-guards", 3),
    ]


def test_guards_name_the_rules_of_the_engine() -> None:
    assert GUARD.by_name["rule"].type.json["anyOf"][0]["enum"] == [rule.value for rule in Rule]


@pytest.mark.parametrize("indent", ["\t", "  "])
def test_json(indent: str, tmp_path: Path) -> None:
    text = '{\n~"dispatch": 1,\n~"operators": [\n~~{"name": "m::a", "dispatch": {"CPU": "a\\tb"}}\n~]\n}'
    text = text.replace("~", indent).replace("\\t", "_")
    step = read(tmp_path, text, "x.json").steps[-1]
    assert isinstance(step, Implement)
    assert step.span == Span(str(tmp_path / "x.json"), 4, len(indent) * 2 + 31)


# ``torch.library.register_autocast``: a second time for a device, which PyTorch 2.13 takes; arguments by keyword.


KEYWORDS = """\
dispatch: 1
universe: torch-2.15
operators:
  - custom_op: "m::kw(Tensor x, *, Device? device=None, ScalarType? dtype=None, bool m=False) -> Tensor"
    kernel: f
    autocast: {cpu: bfloat16}
"""


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (Options(), None),
        (Options(device="cpu"), "['device']"),
        (Options(device="cpu", dtype="float32"), "['device', 'dtype']"),
    ],
)
def test_options_by_keyword(tmp_path: Path, options: Options, named: str | None) -> None:
    """Answers of a live PyTorch 2.13 for the same operator; an argument that is its default does not count."""
    file = tmp_path / "a.yaml"
    file.write_text(KEYWORDS)
    contexts = [Context.parse("autocast cpu")]
    tensors = [TensorSpec.parse("cpu")]
    error = simulate(load_state([str(file)]), OperatorName("m::kw"), tensors, contexts, options=options).end.error
    message = None if error is None else error.text
    assert message == (None if named is None else f"Custom ops do not support kwargs yet, got {named}")


@pytest.mark.parametrize(
    "schema",
    [
        "(complex x=1j) -> ()",
        "(str x='\\\\t') -> ()",
        "(int x=0x1d) -> ()",
        "(str x='é') -> ()",
        "() -> Future(int)",
        "(torch.distributed.device_mesh.DeviceMesh mesh) -> ()",
    ],
)
def test_a_schema_that_pytorch_takes_and_we_do_not_understand(schema: str, tmp_path: Path) -> None:
    """It is not known, and not refused."""
    declarations = read(tmp_path, f'{HEAD}operators: [{{func: "m::a.b{schema}", dispatch: {{CPU: k}}}}]\n')
    (definition,) = (step for step in declarations.steps if isinstance(step, Define))
    assert definition.schema.name == OperatorName("m::a", "b")
    assert re.search("not understood|is not a type", definition.schema.unknown or "")
