"""Findings about declarations that were extracted from sources."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.checks.helpers import StateOf, findings
from tests.checks.test_conditions import checked
from tests.cli.support import call

HEAD = "dispatch: 1\nextracted: true\nlibraries:\n"
DEFINITION = '  - {kind: DEF, namespace: demo, define: ["op(Tensor x) -> Tensor"], at: "a.cpp:1:1"}\n'


def block(key: str, kernel: str, file: str, line: int) -> str:
    at = f'"{file}:{line}:1"'
    return (
        f"  - {{kind: IMPL, namespace: demo, dispatch_key: {key}, at: {at}, "
        f"impl: {{op: {{kernel: {kernel}, at: {at}}}}}}}\n"
    )


def checks_of(state_of: StateOf, text: str) -> list[str]:
    return [finding.check for finding in findings(state_of(text))]


def fallback(key: str, file: str) -> str:
    return f'  - {{kind: IMPL, namespace: _, dispatch_key: {key}, at: "{file}:1:1", fallback: fallthrough}}\n'


@pytest.mark.parametrize(
    ("folder", "is_own"),
    [
        ("aten/src/ATen/core", True),
        ("third_party/pytorch/aten/src/ATen/core", True),
        ("ATen/core", True),
        ("npu/csrc/aten", False),
        ("aten/src/ATen", False),
    ],
)
def test_the_fallbacks_of_pytorchs_sources_are_those_that_it_has(state_of: StateOf, folder: str, is_own: bool) -> None:
    """Backends call their files as PyTorch does."""
    dispatcher = state_of(HEAD + fallback("AutogradPrivateUse1", f"{folder}/VariableFallbackKernel.cpp")).dispatcher
    assert (dispatcher.fallbacks["AutogradPrivateUse1"].kernel.span is None) is is_own


def test_the_fallback_of_the_tracer_is_not_below_aten(state_of: StateOf) -> None:
    declared = fallback("Tracer", "torch/csrc/autograd/TraceTypeManual.cpp")
    assert state_of(HEAD + declared).dispatcher.fallbacks["Tracer"].kernel.span is None


def stale(last_file: str) -> str:
    """A kernel at NestedTensorCPU does not refresh AutogradNestedTensor, which the kernel at Autograd should fill."""
    return (
        HEAD
        + DEFINITION
        + block("CompositeImplicitAutograd", "math", "a.cpp", 2)
        + block("Autograd", "autograd", "a.cpp", 3)
        + block("NestedTensorCPU", "nested", last_file, 4)
    )


def test_a_stale_table_is_certain_within_one_file(state_of: StateOf) -> None:
    assert "stale-live-table" in checks_of(state_of, stale("a.cpp"))


def test_a_definition_under_another_condition_makes_a_dangling_kernel_a_warning(tmp_path: Path) -> None:
    """The kernel's file may not be in a build without the definition; the condition says in which it dangles."""
    path = tmp_path / "x.yaml"
    path.write_text(
        "dispatch: 1\noperators:\n"
        '  - {func: "demo::op(Tensor x) -> Tensor", when: defined(USE_CUDA)}\n'
        "  - {name: demo::op, dispatch: {CUDA: f}}\n"
        "  - {name: demo::nowhere, dispatch: {CUDA: f}}\n"
    )
    dangling = [
        finding.finding for finding in checked(path).findings if finding.finding.check == "dangling-implementation"
    ]
    per_operator = {finding.operator: (finding.severity.value, finding.when) for finding in dangling}
    assert per_operator == {"demo::op": ("warning", "not defined(USE_CUDA)"), "demo::nowhere": ("error", None)}


KERNEL = block("AutogradCPU", "f", "a.cpp", 2) + "undecided:\n"
DANGLING = HEAD + DEFINITION.replace("op(", "defined(") + KERNEL
DEFINED = HEAD + DEFINITION + KERNEL
UNDECIDED = '- {{at: "a.cpp:9:1", registers: {registers}, unknown: {{{unknown}}}, known: {{{known}}}}}\n'


def severities(state_of: StateOf, text: str, *undecided: tuple[str, str, str]) -> dict[str, str]:
    entries = (UNDECIDED.format(registers=one, unknown=unknown, known=known) for one, unknown, known in undecided)
    results = findings(state_of(text + "".join(entries)))
    return {finding.check: finding.severity.value for finding in results if finding.operator == "demo::op"}


@pytest.mark.parametrize(
    ("unknown", "known"),
    [
        ("namespace: NS, name: 'NS::op'", ""),
        ("name: name", "namespace: demo"),
        ("namespace: NS, name: name", ""),
        ("namespace: NS", "name: op"),
        ("namespace: NS", "schema: op(Tensor x) -> Tensor"),
    ],
)
def test_what_is_undecided_may_be_what_an_operator_lacks(state_of: StateOf, unknown: str, known: str) -> None:
    definition, kernel = (("definition", unknown, known), ("kernel", unknown, known))
    assert severities(state_of, DANGLING, definition) == {"dangling-implementation": "info"}
    assert severities(state_of, DANGLING, kernel) == {"dangling-implementation": "error"}
    assert severities(state_of, DEFINED, definition) == {"autograd-only": "warning"}
    assert severities(state_of, DEFINED, kernel) == {"autograd-only": "info"}


@pytest.mark.parametrize(
    ("unknown", "known"),
    [
        ("namespace: NS, name: 'NS::other'", ""),
        ("name: name", "namespace: others"),
        ("namespace: NS", "name: op.overload"),
        ("namespace: NS", "schema: ops(Tensor x) -> Tensor"),
    ],
)
def test_what_is_undecided_of_other_operators_changes_nothing(state_of: StateOf, unknown: str, known: str) -> None:
    undecided = [(registers, unknown, known) for registers in ("definition", "kernel")]
    assert severities(state_of, DANGLING, *undecided) == {"dangling-implementation": "error"}
    assert severities(state_of, DEFINED, *undecided) == {"autograd-only": "warning"}


def test_a_definition_that_was_not_understood_may_be_what_is_missing(state_of: StateOf) -> None:
    entry = "not_understood:\n- {at: 'a.py:9:1', text: \"LIB.define('NAME(Tensor x) -> Tensor')\", reason: why}\n"
    text = DANGLING.replace("undecided:\n", "")
    for name, severity in (("op", "info"), ("ops", "error")):
        results = findings(state_of(text + entry.replace("NAME", name)), select="dangling-implementation")
        assert [(finding.severity.value, finding.operator) for finding in results] == [(severity, "demo::op")]


@pytest.mark.parametrize(
    ("statement", "severity"),
    [
        ('DEFINE("f(Tensor x) -> Tensor");', "info"),
        ("for (auto schema : schemas()) { m.def(schema); }", "info"),
        ("for (auto name : names()) { m.impl(name, &g); }", "error"),
        *[
            ("auto& copy = m;", "info"),
            ('DEFINE("f", f);', "info"),
            ("elsewhere(m);", "info"),
            ('LOG_ONCE("x");', "info"),
        ],
        # what is neither a `def` nor given the library defines nothing
        *[("(void)m;", "error"), ("static_cast<void>(m);", "error")],
        ('m.class_<Foo>("Foo")\n#ifdef A\n.def("f", &Foo::f)\n#endif\n;', "error"),
    ],
)
def test_a_statement_that_was_not_understood_may_define_what_is_missing(
    tmp_path: Path, statement: str, severity: str
) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(f'TORCH_LIBRARY(my, m) {{\n  {statement}\n  m.impl("f", &f);\n}}\n')
    options = ("--select", "dangling-implementation", "--severity", "info", "--format", "json")
    report = json.loads(call("check-invariants", str(path), *options).out)
    assert [finding["severity"] for finding in report["findings"]] == [severity]


def test_a_kernel_that_was_not_understood_may_be_what_is_missing(state_of: StateOf) -> None:
    entry = "not_understood:\n- {at: 'a.cpp:9:1', text: 'm.impl(\"NAME\", &f<T>);', reason: why}\n"
    text = DEFINED.replace("undecided:\n", "")
    for name, severity in (("op", "info"), ("ops", "warning")):
        results = findings(state_of(text + entry.replace("NAME", name)), select="autograd-only")
        assert [(finding.severity.value, finding.operator) for finding in results] == [(severity, "demo::op")]


def test_a_fake_implementation_is_judged_over_pytorch(tmp_path: Path) -> None:
    """As PyTorch 2.13: it takes one of aten::add.Tensor, and refuses what is composite or not there."""
    path = tmp_path / "a.py"
    names = ("aten::add.Tensor", "aten::linear", "torchvision::nms", "aten::nothing_like_it", "mnie::f")
    path.write_text(
        'import torch\nlib = torch.library.Library("mine", "DEF")\nlib.define("f(Tensor x) -> Tensor")\n'
        + "".join(f'torch.library.register_fake("{name}", lambda *a: a)\n' for name in names)
        + 'torch.library.register_fake("aten::linear", lambda *a: a, allow_override=True)\n'
    )
    result = call(
        "check-invariants", str(path), "--base", "torch-2.15", "--config", "none", "--select", "refused-registration",
        "--format", "json",
    )  # fmt: skip
    findings = json.loads(result.out)["findings"]
    assert [finding["message"].rpartition("; ")[2] for finding in findings if finding["operator"] == "mnie::f"] == [
        "did you mean mine::f?"
    ]
    assert [(finding["severity"], finding["operator"]) for finding in findings] == [
        ("error", "aten::linear"),
        ("info", "torchvision::nms"),
        ("warning", "aten::nothing_like_it"),
        ("error", "mnie::f"),
        ("error", "aten::linear"),
    ]


ASKING = """
import torch
lib = torch.library.Library("ns", "FRAGMENT")
def has_schema(name):
    try:
        torch._C._dispatch_find_schema_or_throw(f"ns::{name}", "")
    except RuntimeError:
        return False
    return True
def derivative(name):
    if not (has_schema(name) and has_schema(f"{name}_backward")):
        return
    torch.library.register_autograd(f"ns::{name}", lambda ctx, g: g)
derivative("built")
derivative("gone")
if hasattr(torch.ops.ns, "gone"):
    lib.impl("gone", lambda x: x.clone(), "CUDA")
if hasattr(torch.ops.ns, "built"):
    torch.library.Library("ns", "IMPL").impl("built", lambda x: x.clone(), "CUDA")
"""
BUILT = """
#if WITH_NS
TORCH_LIBRARY_FRAGMENT(ns, m) {
  m.def("built(Tensor x) -> Tensor");
  m.def("built_backward(Tensor x) -> Tensor");
}
#endif
"""


def test_what_asks_for_its_operator_is_not_there_without_it(tmp_path: Path) -> None:
    """PyTorch runs such a file with the operators and without them."""
    (tmp_path / "a.py").write_text(ASKING, "utf-8")
    (tmp_path / "b.cpp").write_text(BUILT, "utf-8")
    report = json.loads(call("check-invariants", str(tmp_path), "--select", "DC101", "--format", "json").out)
    assert report["findings"] == []
    extracted = json.loads(call("extract", str(tmp_path), "--format", "json").out)
    assert (extracted["operators"][0]["name"], extracted["operators"][0]["when"]) == ("ns::built", "WITH_NS")
    assert [block["when"] for block in extracted["libraries"] if block["kind"] == "IMPL"] == ["WITH_NS"]


ATTEMPTS = """
import torch
lib = torch.library.Library("ns", "FRAGMENT")
lib.define("f(Tensor x) -> Tensor")
def fake(name, function):
    try:
        torch.library.register_fake(name, allow_override=True)(function)
    except TypeError:
        torch.library.register_fake(name)(function)
fake("ns::f", lambda x: x.clone())
if hasattr(torch.ops.ns, "gone"):
    torch.library.register_fake("ns::gone_too")(lambda x: x.clone())
if hasattr(torch.ops.ns, "f"):
    torch.library.register_fake("ns::missing")(lambda x: x.clone())
torch.library.Library("ns", "IMPL", "Sparse").impl("f", lambda x: x.clone())
"""


def test_a_registration_that_is_not_made_is_not_refused(tmp_path: Path) -> None:
    """PyTorch 2.13 imports the file but for the line before the last, and never runs a kernel at Sparse."""
    (tmp_path / "a.py").write_text(ATTEMPTS, "utf-8")
    report = json.loads(call("check-invariants", str(tmp_path), "--select", "DC106", "--format", "json").out)
    assert [(finding["operator"], finding["message"].split(",")[0]) for finding in report["findings"]] == [
        ("ns::missing", "torch-2.15 refuses this registration without ns::missing"),
        (None, "Sparse has no slot"),
    ]


GUARDED = """
import torch
lib = torch.library.Library("aten", "FRAGMENT")
if not hasattr(torch.ops.aten, "relu"):
    lib.define("relu(Tensor self) -> Tensor")
try:
    torch.library.define("aten::neg", "(Tensor self) -> Tensor")
except RuntimeError:
    pass
try:
    torch.library.define("aten::abs", "(Tensor self) -> Tensor")
except ImportError:
    pass
"""


def test_a_definition_of_what_pytorch_may_have_is_not_refused_where_it_is_guarded(tmp_path: Path) -> None:
    """PyTorch imports the file up to the last definition, which it refuses."""
    (tmp_path / "a.py").write_text(GUARDED, "utf-8")
    options = ("--select", "refused-registration", "--format", "json")
    for base, severity in (((), "warning"), (("--base", "torch-2.13"), "error")):
        report = json.loads(call("check-invariants", str(tmp_path), *base, *options).out)
        rows = [(finding["severity"], finding["operator"]) for finding in report["findings"]]
        assert rows == [(severity, "aten::abs")]


@pytest.mark.parametrize(
    ("first", "second", "severity"),
    [
        ("", "", "error"),
        ("#ifdef A\n", "", "error"),
        ("#ifdef A\n", "#ifdef A\n", "error"),
        ("#ifdef A\n", "#if defined(A) && defined(B)\n", "error"),
        ("#ifdef A\n", "#ifdef B\n", "warning"),
    ],
)
def test_two_definitions_under_conditions_of_their_own_may_exclude_each_other(
    tmp_path: Path, first: str, second: str, severity: str
) -> None:
    define = 'm.def("f(Tensor x) -> Tensor");\n'
    parts = (f"{test}{define}{'#endif' if test else ''}\n" for test in (first, second))
    (tmp_path / "a.cpp").write_text(f"TORCH_LIBRARY(my, m) {{\n{''.join(parts)}}}\n", "utf-8")
    report = json.loads(call("check-invariants", str(tmp_path), "--format", "json").out)
    assert [item["severity"] for item in report["findings"] if item["check"] == "refused-registration"] == [severity]


def test_a_repeated_mistake_without_an_operator_is_said_once(tmp_path: Path) -> None:
    for name in "abc":
        block = 'TORCH_LIBRARY_IMPL(aten, NestedTensor, m) { m.impl("abs", &f); }\n'
        (tmp_path / f"{name}.cpp").write_text(block, "utf-8")
    out = call("check-invariants", str(tmp_path), "--select", "refused-registration").out
    assert out.count("NestedTensor has no slot") == 1
    assert f"also  {tmp_path}/b.cpp:1, {tmp_path}/c.cpp:1" in out and "\n3 errors" in out


def test_definitions_in_calls_and_turns_that_may_exclude_each_other(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(
        'import torch\nlib = torch.library.Library("my", "FRAGMENT")\ndef define(backend):\n'
        "    if probe(backend):\n"
        '        lib.define("f() -> ()")\n        lib.define("g() -> ()")\n'
        '    lib.define(f"{backend}() -> ()")\n'
        'define("a")\ndefine("b")\n'
        'for each in ("a", "b"):\n    if probe(each):\n        lib.define("h() -> ()")\n',
        "utf-8",
    )
    report = json.loads(call("check-invariants", str(tmp_path), "--format", "json").out)
    refused = [item for item in report["findings"] if item["check"] == "refused-registration"]
    assert [(item["severity"], item["operator"]) for item in refused] == [("warning", "my::f")]


REFUSED_CALLS = """
import torch

@torch.library.custom_op("mine::shift", mutates_args=())
def shift(x: torch.Tensor) -> torch.Tensor:
    return x + 1

@shift.register_kernel("nonsense")
def shift_none(x):
    return x + 1

@torch.library.custom_op("mine::fill_", mutates_args=("x",))
def fill_(x: torch.Tensor) -> None:
    x.fill_(1)

fill_.register_autograd(lambda ctx, grad: grad)

@torch.library.custom_op("mine::zeros", mutates_args=())
def zeros(n: int) -> torch.Tensor:
    return torch.zeros(n)

@zeros.register_kernel(["cpu"])
def zeros_cpu(n):
    return torch.zeros(n)

@torch.library.custom_op("mine::ones", mutates_args=(), device_types=())
def ones(n: int) -> torch.Tensor:
    return torch.ones(n)
"""


def test_a_refusal_is_at_the_call_that_pytorch_refuses(tmp_path: Path) -> None:
    """The lines are those of the tracebacks of PyTorch 2.13."""
    path = tmp_path / "a.py"
    path.write_text(REFUSED_CALLS, "utf-8")
    options = ("--select", "refused-registration", "--format", "json")
    report = json.loads(call("check-invariants", str(path), *options).out)
    lines = [int(finding["declared_at"]["line"]) for finding in report["findings"]]
    assert lines == [8, 16, 22, 26]


@pytest.mark.parametrize(("names", "severity"), [("open('names')", "info"), ("['b']", "error")])
def test_a_loop_over_names_that_are_not_known_may_define_an_operator(tmp_path: Path, names: str, severity: str) -> None:
    path = tmp_path / "a.py"
    path.write_text(
        'import torch\nlib = torch.library.Library("mine", "DEF")\n'
        f'for name in {names}:\n    lib.define(name + "(Tensor x) -> Tensor")\n'
        'lib.impl("a", lambda x: x.clone(), "CPU")\n'
    )
    options = ("--select", "dangling-implementation", "--format", "json")
    findings = json.loads(call("check-invariants", str(path), *options).out)["findings"]
    assert [(finding["operator"], finding["severity"]) for finding in findings] == [("mine::a", severity)]
    # nothing that a build sets decides what a loop goes through
    assert "-D" not in findings[0]["tip"]
    listed = call("extract", str(path)).err
    assert "would decide more" not in listed
    assert ("it is in a loop over `open('names')`" in listed) is (severity == "info")


@pytest.mark.parametrize(
    ("namespace", "operator", "severity"),
    [("myropeops", "f", "warning"), ("myropeops", "g", "info"), ("others", "f", "info"), ("my_rope_op", "f", "error")],
)
def test_a_namespace_that_is_almost_that_of_the_project(
    tmp_path: Path, namespace: str, operator: str, severity: str
) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(
        'TORCH_LIBRARY(my_rope_ops, m) { m.def("f(Tensor x) -> Tensor"); }\n'
        f'TORCH_LIBRARY_IMPL({namespace}, CUDA, m) {{ m.impl("{operator}", &f); }}\n'
    )
    report = call("check-invariants", str(path), "--select", "dangling-implementation", "--format", "json")
    (finding,) = json.loads(report.out)["findings"]
    column = len(f'TORCH_LIBRARY_IMPL({namespace}, CUDA, m) {{ m.impl("x')
    assert (finding["severity"], finding["declared_at"]["column"]) == (severity, column)
    assert ("did you mean my_rope_ops::f?" in finding["message"]) is (severity != "info")


def test_a_warning_that_another_pytorch_may_not_need_names_the_one_it_rests_on(tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(
        "at::Tensor f(const at::Tensor& x) { return x; }\n"
        "TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {\n"
        '  m.impl("nothing_like_it", &f);\n  m.impl("abss", &f);\n  m.impl("add.Tensor", &f);\n}\n'
    )
    select = ("--select", "dangling-implementation", "--select", "refused-registration", "--format", "json")
    messages = {}
    for base in ((), ("--base", "torch-2.13")):
        findings = json.loads(call("check-invariants", str(path), *base, *select).out)["findings"]
        messages[base] = [(finding["severity"], finding["message"].partition(". Inf")[0]) for finding in findings]
    refused = "refuses this registration: The number of arguments is different. 3 vs 1"
    kernels = "has kernels at PrivateUse1, but nothing defines it in"
    assert messages[()] == [
        ("warning", f"aten::nothing_like_it {kernels} torch-2.15"),
        ("warning", f"aten::abss {kernels} torch-2.15; did you mean aten::abs?"),
        ("warning", f"torch-2.15 {refused}"),
    ]
    assert messages["--base", "torch-2.13"] == [
        ("warning", f"aten::nothing_like_it {kernels} torch-2.13"),
        ("warning", f"aten::abss {kernels} torch-2.13; did you mean aten::abs?"),
        ("error", f"PyTorch {refused}"),
    ]


def test_what_helps_a_function_that_returns_too_few_gradients(tmp_path: Path) -> None:
    """PyTorch raises "returned an incorrect number of gradients" in the backward pass."""
    path = tmp_path / "a.py"
    path.write_text(
        'import torch\n\n@torch.library.custom_op("mine::scale", mutates_args=())\n'
        "def scale(x: torch.Tensor, f: float) -> torch.Tensor:\n    return x * f\n\n"
        "@scale.register_fake\ndef _(x):\n    return torch.empty_like(x)\n\n"
        "def backward(ctx, g):\n    return g * 2\n\nscale.register_autograd(backward)\n\n"
        '@torch.library.custom_op("mine::seek", mutates_args=())\n'
        "def seek(x: torch.Tensor, mode: str = 'exact') -> torch.Tensor:\n    return x.clone()\n\n"
        "@seek.register_fake\ndef _(x, mode):\n    return torch.empty_like(x)\n"
        "@torch.library.custom_op('mine::turn', mutates_args=())\n"
        "def turn(x: torch.Tensor, by: int = 1) -> torch.Tensor:\n    return x.clone()\n\n"
        "@turn.register_fake\ndef _(x):\n    return torch.empty_like(x)\n"
    )
    options = ("--select", "function-signature", "--severity", "info", "--format", "json")
    findings = json.loads(call("check-invariants", str(path), *options).out)["findings"]
    assert [finding["tip"].partition(";")[0] for finding in findings] == [
        "take the arguments of the schema",
        "return a value for each result of the schema",
        "give it the parameters of the schema, with their defaults",
        "take the arguments of the schema",
    ]
    assert "PyTorch leaves out where they equal the schema's defaults" in findings[2]["message"]
    assert "does not take the arguments of the schema where these have other values" in findings[3]["message"]


def test_what_follows_from_a_refused_kernel_is_an_info(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(
        "at::Tensor f(const at::Tensor& x, double y) { return x; }\n"
        'TORCH_LIBRARY(mine, m) {\n  m.def("f(Tensor x) -> Tensor");\n  m.def("g(Tensor x) -> Tensor");\n}\n'
        'TORCH_LIBRARY_IMPL(mine, CPU, m) { m.impl("f", &f); }\n'
    )
    (tmp_path / "a.py").write_text(
        'import torch\n\ntorch.library.register_autograd("mine::f", lambda ctx, grad: grad)\n'
        'torch.library.register_autograd("mine::g", lambda ctx, grad: grad)\n'
    )
    options = ("--select", "autograd-only", "--select", "refused-registration", "--format", "json")
    findings = json.loads(call("check-invariants", str(tmp_path), *options).out)["findings"]
    assert [(finding["check"], finding["severity"], finding["operator"]) for finding in findings] == [
        ("refused-registration", "error", "mine::f"),
        ("autograd-only", "info", "mine::f"),
        ("autograd-only", "warning", "mine::g"),
    ]
    assert "a refused registration may be what it lacks" in findings[1]["message"]


def test_a_refused_definition_is_found_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its kernels dangle for that reason."""
    monkeypatch.chdir(tmp_path)
    source = 'TORCH_LIBRARY(my, m) { m.def("g(Tensor x) -> Tensr"); m.impl("g", torch::kCPU, &g); }\n'
    (tmp_path / "a.cpp").write_text(source, encoding="utf-8")
    answer = json.loads(call("check-invariants", "a.cpp", "--config", "none", "--format", "json").out)
    assert [(item["check"], item["operator"]) for item in answer["findings"]] == [("refused-registration", "my::g")]


@pytest.mark.parametrize(
    ("call_", "words"),
    [  # as torch 2.4.1, 2.13 and 2.15 say
        ('torch.library.custom_op("my::f")', "missing 1 required keyword-only argument: 'mutates_args'"),
        (
            'torch.library.custom_op("my::f", ())',
            "missing 1 required keyword-only argument: 'mutates_args'",
        ),
        (
            'torch.library.custom_op("my::f", mutates_args="unknow")',
            "must either be a sequence of the names",
        ),
        ('torch.library.custom_op("my::f", mutates_args="unknown")', None),
        ('torch.library.custom_op("my::f", **options)', None),
        ('functools.partial(torch.library.custom_op, **options)("my::f")', None),
        ('torch._custom_op.impl.custom_op("my::f")', None),  # the former interface has no such argument
    ],
)
def test_custom_op_needs_to_know_what_is_written(
    call_: str, words: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = f"import functools\nimport torch\nfrom options import options\n@{call_}\n"
    (tmp_path / "a.py").write_text(f"{source}def f(x: torch.Tensor) -> torch.Tensor:\n    return x.clone()\n", "utf-8")
    answer = json.loads(call("check-invariants", "a.py", "--config", "none", "--format", "json").out)
    messages = [item["message"] for item in answer["findings"] if item["check"] == "refused-registration"]
    assert len(messages) == (words is not None) and all(words is not None and words in text for text in messages)


LOCAL_LIBRARY = """\
import torch
from torch.library import impl

def register(keep):
    lib = torch.library.Library("local", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    {}

kept = []
register(kept.append)
"""


@pytest.mark.parametrize(
    ("use", "is_dropped"),
    [
        ('lib.impl("f", lambda x: x.clone(), "CPU")', True),
        ('torch.library.impl(lib, "f", "CPU")(lambda x: x.clone())', True),
        ('torch.library.register_fake("local::f", lambda x: x.clone(), lib=lib)', True),
        ('for key in range(1): print(key, lib.impl("f", lambda x: x.clone(), "CPU"))', True),
        ("keep(lib)", False),
        ("serve()", False),
        ("return lib", False),
        ("return torch.ops.local.f", False),
        ("torch.library._keep_alive.append(lib)", False),
        ('impl(lib, "f", "CPU")(lambda x: x.clone())', False),
        ('lib.impl("f", lambda x: lib and x.clone(), "CPU")', False),
    ],
)
def test_a_library_in_a_local_variable_is_removed(use: str, is_dropped: bool, tmp_path: Path) -> None:
    """As in PyTorch: `live_claims.py`."""
    file = tmp_path / "a.py"
    file.write_text(LOCAL_LIBRARY.format(use), encoding="utf-8")
    answer = json.loads(call("check-invariants", str(file), "--config", "none", "--format", "json").out)
    codes = [dict(item["details"]).get("code") for item in answer["findings"]]
    assert ("dropped-library" in codes) is is_dropped


@pytest.mark.parametrize(
    ("schema", "warned"),
    [
        ("(Tensor x, *, Tensor out) -> Tensor", True),
        ("(Tensor x, *, Tensor out) -> Tensor?", False),
        ("(Tensor x, *, Tensor out) -> None", False),  # one result, of the type NoneType
        ("(Tensor x, *, Tensor out) -> Any", False),
        # PyTorch's own linalg_lu_solve.out for MPS returns nothing: callers in C++ get what they have passed
        ("(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", False),
    ],
)
def test_a_kernel_that_returns_nothing(tmp_path: Path, schema: str, warned: bool) -> None:
    path = tmp_path / "a.py"
    path.write_text(
        f'import torch\nlib = torch.library.Library("mine", "DEF")\nlib.define("op{schema}")\n'
        'def op(x, *, out):\n    y = x + 1\n    print(y)\n\nlib.impl("op", op, "CPU")\n'
    )
    report = call("check-invariants", str(path), "--select", "function-signature", "--format", "json")
    assert (json.loads(report.out)["findings"] != []) is warned
