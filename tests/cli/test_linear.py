"""Steps grow with the size of the input and not with its square, for every kind of input.

Steps are lines of this program that run, counted, so that no machine is too slow. Twice as much more input is twice as
many more steps; of a square they are four times as many. What runs in C, such as regular expressions, is no step.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.support import call
from tests.ends import counted
from tests.trace.support import Writer

pytestmark = pytest.mark.slow
MOST = 2.7
"""Two for steps that grow with the input, a little more with its logarithm; four for a square."""
OPERATOR = "- func: demo::op(Tensor x) -> Tensor\n  dispatch: {CPU: k, Autograd: a}\n"
HEAD = f"dispatch: 1\noperators:\n{OPERATOR}"


class Kind(NamedTuple):
    """A kind of input: the text of so many of it, and the command that reads it. file: what the text is written to."""

    name: str
    text: Callable[[int], str]
    command: tuple[str, ...] = ("check-invariants", "x.yaml")
    size: int = 100
    file: str = "x.yaml"

    @property
    def form(self) -> str:
        return "html" if self.command[0] == "page" else "json"


def each(template: str, between: str = "") -> Callable[[int], str]:
    """The template with 0, 1, 2, … in it, one after the other."""
    return lambda count: between.join(template.replace("@", str(number)) for number in range(count))


def within(before: str, texts: Callable[[int], str], after: str = "\n") -> Callable[[int], str]:
    return lambda count: f"{before}{texts(count)}{after}"


def both(first: Callable[[int], str], other: Callable[[int], str]) -> Callable[[int], str]:
    return lambda count: first(count) + other(count)


def schema(arguments: Callable[[int], str]) -> Callable[[int], str]:
    return within('dispatch: 1\noperators:\n- func: "demo::op(', arguments, ') -> Tensor"\n  dispatch: {CPU: k}\n')


def entries(count: int) -> str:
    rows = [{"check": "guard", "operator": f"demo::op{number}", "key": "CPU"} for number in range(count)]
    return json.dumps({"schema_version": 1, "report": "baseline", "findings": rows})


def calls(count: int) -> str:
    """Calls of a program that repeat and that do not, nested ones, and backward ones."""
    writer = Writer()
    for number in range(count):
        writer.call("aten::linear", ends=False, line=number % 7)
        writer.call(f"aten::{('sin', 'cos', 'relu')[number * number % 3]}", 1, grads=(True,), nodes=[number])
        writer.end()
        writer.call("aten::relu", thread="backward", sequence=number, forward="MainThread")
    return writer.text()


GUARD = "{op: 'demo::op', key: CPU, kernel: z@}"
OPERATORS = within(
    "dispatch: 1\noperators:\n", each("- func: demo::op@(Tensor x) -> Tensor\n  dispatch: {CPU: k, Autograd: a}\n"), ""
)
IN_ANY_ORDER = within(
    "dispatch: 1\noperators:\n",
    each("- func: demo::op@(Tensor x) -> Tensor\n  dispatch: {SparseCPU: k, CompositeImplicitAutograd: a}\n"),
    "",
)
CONDITIONAL = each('- {func: "demo::op.o@(Tensor x@) -> Tensor", when: A@}\n')
CONFIG = ("check-invariants", "y.yaml", "--config", "x.yaml")
KINDS = (
    Kind("guards", within(f"{HEAD}guards:\n", each(f"- {GUARD}\n"))),
    Kind("findings on one line", within(f"{HEAD}guards: [", each(GUARD, ", "), "]\n")),
    Kind("operators", OPERATORS, size=40),
    Kind("operators whose order matters", IN_ANY_ORDER, ("check-invariants", "x.yaml", "--select", "order"), 80),
    Kind("operators of a backend", OPERATORS, ("coverage", "CPU", "x.yaml", "--op", "*"), 40),
    Kind("operators of a page", OPERATORS, ("page", "x.yaml"), 40),
    Kind("operators that differ", OPERATORS, ("diff", "x.yaml", "x.yaml", "--new", "z.yaml"), 20),
    Kind(
        "suppressions and findings",
        both(OPERATORS, within("suppress:\n", each("- {checks: all, op: 'demo::op@', key: K, reason: x}\n"))),
        size=40,
    ),
    Kind("conditions of one operator", within(HEAD, CONDITIONAL), size=20),
    Kind("comments", lambda count: OPERATORS(count).replace("}\n", "} # dispatch-cli: ignore[all] x\n"), size=40),
    Kind("arguments", schema(each("Tensor x@", ", "))),
    Kind("a baseline", entries, ("check-invariants", "y.yaml", "--baseline", "x.yaml")),
    Kind("a project's checks", within("[tool.dispatch-cli]\nselect = [\n", each("'x@',\n"), "]\n"), CONFIG),
    Kind("calls of a program", calls, ("trace", "x.trace"), file="x.trace"),
    Kind("an error's text", each("  File 'a.py', line @, in f\n"), ("explain", "--from-error", "x.yaml")),
)  # fmt: skip


BLOCK = 'TORCH_LIBRARY_FRAGMENT(m@, m) { m.def("f() -> ()"); m.impl("f", k); }\n'
IN_A_BLOCK = 'm.def("f@(Tensor x) -> Tensor", &k);\n'
CPP, PYTHON = ("extract", "x.cpp"), ("extract", "x.py")
BODY = "TORCH_LIBRARY(my, m) {\n", "}\n"
TORCH = "import torch\nlibrary = torch.library.Library('my', 'DEF')\n"
SOURCES: dict[str, Callable[[int], str]] = {
    "blocks": each(BLOCK),
    "registrations": within(BODY[0], each(IN_A_BLOCK), BODY[1]),
    "macros": both(each("#define D@(x) m.impl(#x, k@);\n"), within(BODY[0], each("D@(f)\n"), BODY[1])),
    "expansions": within("#define D(x) m.impl(#x, k);\n" + BODY[0], each("D(f@)\n"), BODY[1]),
    "conditions": each(f"#if defined(X@) && Y > 1\n{BLOCK}#else\n#define Z@ 1\n#endif\n"),
    "open braces": within(BODY[0], each("{")),
    "open comments": within(BLOCK, each("/* ")),
    "includes": within("", each('#include "a@.h"\n'), BLOCK),
    "chained operators": within("static auto r = torch::RegisterOperators()", each('.op("m::f@() -> ()", &k)'), ";\n"),
}
PYTHON_SOURCES: dict[str, Callable[[int], str]] = {
    "definitions": within(TORCH, each("library.define('f@(Tensor x) -> Tensor')\n")),
    "functions": within(TORCH, each("@torch.library.impl('my::f@', 'CPU')\ndef f@(x):\n    return x\n\n")),
    "conditions": within(TORCH, each("if c@:\n    library.define('f@() -> ()')\n")),
    "a loop": within(TORCH + "for n in [", each("'f@', "), "]:\n    library.define(n + '() -> ()')\n"),
    "helpers": within(TORCH + "def d(n):\n    library.define(n)\n", each("d('f@() -> ()')\n")),
    "helpers of helpers": within(TORCH + "def d0(n):\n    library.define(n)\n", each("d@ = d0\nd@('f@() -> ()')\n")),
}
YAML_SOURCES: dict[str, Callable[[int], str]] = {
    "native functions": each("- func: f@(Tensor x) -> Tensor\n  dispatch:\n    CPU: k\n"),
    "a backend": within("backend: XLA\ncpp_namespace: x\nsupported:\n", each("- f@\n"), ""),
}
SOURCE_KINDS = (
    *(Kind(f"C++: {name}", text, CPP, 40, "x.cpp") for name, text in SOURCES.items()),
    *(Kind(f"Python: {name}", text, PYTHON, 40, "x.py") for name, text in PYTHON_SOURCES.items()),
    *(Kind(f"YAML: {name}", text, ("extract", "x.yaml"), 40) for name, text in YAML_SOURCES.items()),
    Kind("rules of .gitignore", each("a@/*/b\n*c@\n"), ("extract", "."), file=".gitignore"),
)


class Run(NamedTuple):
    """A run: its exit code, and its steps."""

    code: int
    steps: int


def write(kind: Kind, count: int) -> None:
    Path(kind.file).write_text(kind.text(count), encoding="utf-8")


def run(kind: Kind, count: int) -> Run:
    write(kind, count)
    with counted() as steps:
        result = call(*kind.command, "--format", kind.form)
    assert result.code in (0, 1, 2), result.err
    assert "Usage:" not in result.err, "an option that the command does not have"
    return Run(result.code, steps[0])


@pytest.mark.parametrize("kind", (*KINDS, *SOURCE_KINDS), ids=lambda kind: kind.name.replace(" ", "-"))
def test_steps_grow_with_the_input(kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("y.yaml").write_text(HEAD, encoding="utf-8")
    Path("z.yaml").write_text("dispatch: 1\nfallbacks: {PrivateUse1: f}\n", encoding="utf-8")
    write(kind, kind.size)
    call(*kind.command, "--format", kind.form)  # what is computed once is computed here
    runs = [run(kind, kind.size * times) for times in (1, 2, 4)]
    assert len({outcome.code for outcome in runs}) == 1, "a size is over a limit: its run has other steps"
    once, twice, four_times = (outcome.steps for outcome in runs)
    less, more = twice - once, four_times - twice
    assert more <= max(less, kind.size) * MOST, f"{once}, {twice}, {four_times} steps"


@pytest.mark.parametrize("command", ["guards", "check-invariants"])
def test_guards_that_ask_too_much(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dispatch_cli.checks.guarding.MAX_WORK", 30_000)
    text = "dispatch: 1\nextends: [torch-2.15]\nguards:\n" + each('- {op: "*", key: "*", same_as: CPU, reason: r}\n')(1)
    Path("x.yaml").write_text(text, encoding="utf-8")
    result = call(command, "x.yaml")
    assert (result.code, result.out) == (2, "")
    assert "x.yaml:4:3: error[too-many-comparisons]" in result.err
    assert "--guards FILE" in result.err
