"""Checks that read Python functions and schemas: they warn of what PyTorch fails on, and of nothing else."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import in_pytorch
from tests.capture.support import torch_python
from tests.cli.support import call


class Case(NamedTuple):
    """check: the check that warns; None where none does. how: ``compile``, ``train`` or ``vmap``."""

    name: str
    outcome: str
    check: str | None
    source: str
    body: str
    how: str


def good(name: str, source: str, body: str = "return op(x)", how: str = "compile") -> Case:
    """A case that works: no check warns of it."""
    return Case(name, "same", None, source, body, how)


def raises(name: str, check: str, source: str, body: str = "return op(x)", how: str = "compile") -> Case:
    """A case of which a check warns, and that raises."""
    return Case(name, "raises", check, source, body, how)


def differs(name: str, check: str, source: str, body: str = "return op(x)", how: str = "compile") -> Case:
    """A case of which a check warns, and whose result is another one than without compilation."""
    return Case(name, "differs", check, source, body, how)


DROPPED, ALIASED, RETURNED, WRITTEN, SIGNATURE = (
    *("dropped-call", "aliased-result", "returned-argument", "undeclared-write"),
    "function-signature",
)
WRITES = "op(x); return x"


def library(schema: str, kernel: str, fake: str | None = None, key: str = "CPU", tags: str = "()") -> str:
    """A module with `torch.library.Library`."""
    text = f"lib.define('op{schema}', tags={tags})\nlib.impl('op', {kernel}, '{key}')\n"
    return text + (f"torch.library.register_fake(NS + '::op', {fake}, lib=lib)\n" if fake is not None else "")


def custom(signature: str, body: str, fake: str | None = "lambda x: torch.empty_like(x)", mutates: str = "()") -> str:
    """A module with `torch.library.custom_op`."""
    text = f"@custom_op(NS + '::op', mutates_args={mutates})\ndef op{signature}:\n    {body}\n"
    return text + (f"op.register_fake({fake})\n" if fake is not None else "")


def trained(backward: str, setup: str = "None", n: str = "n: int = 2") -> str:
    """A custom operator with a backward."""
    autograd = f"op.register_autograd({backward}, setup_context={setup})\n"
    return custom(f"(x: Tensor, {n}) -> Tensor", "return x * n", "lambda x, n=2: torch.empty_like(x)") + autograd


def batched(rule: str) -> str:
    """A custom operator with a batching rule."""
    fake = "lambda x, n: torch.empty_like(x)"
    return custom("(x: Tensor, n: int) -> Tensor", "return x * n", fake) + f"op.register_vmap({rule})\n"


MASK = "lambda x: write(x)"
IN_PLACE = "(Tensor(a!) x) -> Tensor(a!)"
OUT = "(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"
OUT_KERNEL, OUT_FAKE = "lambda x, *, out: out.copy_(x + 1)", "lambda x, *, out: out"
TWICE = "return op(x, 2)"
INTO = "return op(x, out=torch.empty(2, 3))"
NOTHING = "lambda x: None"
CASES = (
    # a call that returns nothing
    differs("silent write, with a fake", DROPPED, library("(Tensor x) -> ()", MASK, NOTHING), WRITES),
    good("declared write", library("(Tensor(a!) x) -> ()", MASK, NOTHING), WRITES),
    good("silent write that decomposes", library("(Tensor x) -> ()", MASK, key="CompositeImplicitAutograd"), WRITES),
    good(
        "silent write with a side effect",
        library("(Tensor x) -> ()", MASK, NOTHING)
        + "torch.fx.node.has_side_effect(getattr(torch.ops, NS).op.default)\n",
        WRITES,
    ),
    # a result that is what was written to
    raises("in place, untagged", ALIASED, library(IN_PLACE, "lambda x: x.add_(1)", "lambda x: x")),
    good("in place, tagged", library(IN_PLACE, "lambda x: x.add_(1)", "lambda x: x", tags="torch.Tag.inplace")),
    raises("out, untagged", ALIASED, library(OUT, OUT_KERNEL, OUT_FAKE), INTO),
    good("out, tagged", library(OUT, OUT_KERNEL, OUT_FAKE, tags="torch.Tag.out"), INTO),
    raises("view", ALIASED, library("(Tensor(a) x) -> Tensor(a)", "lambda x: x.view(-1)", "lambda x: x.view(-1)")),
    # a kernel that returns its argument
    raises("returns it", RETURNED, custom("(x: Tensor) -> Tensor", "return x")),
    raises("returns a view", RETURNED, custom("(x: Tensor) -> Tensor", "return x.view(-1).unsqueeze(0)")),
    raises(
        "returns another twice",
        RETURNED,
        custom("(x: Tensor) -> tuple[Tensor, Tensor]", "y = x + 1; return y, y", "lambda x: (x.clone(), x.clone())"),
        "return op(x)[0]",
    ),
    raises("returns what it wrote", RETURNED, custom("(x: Tensor) -> Tensor", "return x.add_(1)", mutates="('x',)")),
    raises(
        "returns a view by another name", RETURNED, custom("(x: Tensor) -> Tensor", "y = x.t(); z = y.t(); return z")
    ),
    good(
        "returns what was cloned", custom("(x: Tensor) -> Tensor", "y = x.view(-1); x = y.clone(); return x.view(2, 3)")
    ),
    good(
        "returns one of two",
        custom("(x: Tensor) -> Tensor", "y = x.t()\n    if x.dim() == 2:\n        y = x.clone()\n    return y"),
    ),
    *(
        good(f"returns a copy: x[{index}]", custom("(x: Tensor) -> Tensor", f"y = x[{index}]; y.mul_(2); return y"))
        for index in ("[0, 1]", "(0, 1),", ":, [2, 1, 0]")
    ),
    *(
        raises(f"returns a view: x[{index}]", RETURNED, custom("(x: Tensor) -> Tensor", f"return x[{index}]"))
        for index in ("0, 1", "-1", "..., None", "()")
    ),
    good("returns a clone", custom("(x: Tensor) -> Tensor", "return x.view(-1).clone().view(2, 3)")),
    # a kernel that writes to its argument
    *(
        differs(f"writes: {write}", WRITTEN, custom("(x: Tensor) -> Tensor", f"{write}; return x.clone()"), WRITES)
        for write in (
            "x.add_(1)",
            "x[0] = 1",
            "x[[0, 1]] = 1",
            "x += 1",
            "torch.add(x, 1, out=x)",
            "torch._foreach_add_([x], 1)",
        )
    ),
    good(
        "writes to a copy",
        custom("(x: Tensor) -> Tensor", "x[[0, 1]].add_(1); x[[0]][0] = 1; return x.clone()"),
        WRITES,
    ),
    differs("writes to a view", WRITTEN, custom("(x: Tensor) -> None", "x.view(-1)[0] = 1", NOTHING), WRITES),
    differs("writes by another name", WRITTEN, custom("(x: Tensor) -> None", "y = x[0]; y.add_(1)", NOTHING), WRITES),
    differs(
        "writes to each of a list",
        WRITTEN,
        custom("(xs: list[Tensor]) -> None", "for x in xs:\n        x.add_(1)", "lambda xs: None"),
        "op([x]); return x",
    ),
    good(
        "writes to a list",
        custom(
            "(xs: list[Tensor]) -> Tensor", "ys = xs[:]; ys[0] = ys[0] + 1; return ys[0]", "lambda xs: xs[0].clone()"
        ),
        "return op([x])",
    ),
    good("writes as declared", custom("(x: Tensor) -> None", "x.add_(1)", NOTHING, "('x',)"), WRITES),
    good("writes to a new tensor", custom("(x: Tensor) -> Tensor", "return torch.empty_like(x).copy_(x)"), WRITES),
    good("writes to a clone", custom("(x: Tensor) -> Tensor", "x = x.clone(); x.add_(1); return x"), WRITES),
    # what is not known of a source
    good(
        "a decorator clones",
        "cloning = lambda f: lambda x: f(x.clone())\n@cloning\ndef kernel(x):\n    x.add_(1)\n    return x\n"
        + library("(Tensor x) -> Tensor", "kernel", "torch.empty_like"),
    ),
    good(
        "fake for some defaults only",
        library(
            "(Tensor x, int n=1, int m=2) -> Tensor", "lambda x, n=1, m=2: x * n", "lambda x, n=1: torch.empty_like(x)"
        ),
        "return op(x, 5)",
    ),
    raises(
        "fake that needs an argument with a default",
        SIGNATURE,
        library("(Tensor x, int n=1) -> Tensor", "lambda x, n=1: x * n", "lambda x, n: torch.empty_like(x)"),
        "return op(x, 1)",
    ),
    # results of another kind
    raises(
        "returns its argument for nothing",
        SIGNATURE,
        library("(Tensor(a!) x) -> ()", "lambda x: x.add_(1)", NOTHING),
        WRITES,
    ),
    raises("returns nothing for a result", SIGNATURE, custom("(x: Tensor) -> Tensor", "y = x + 1"), "return op(x) + 1"),
    raises(
        "returns None for two results",
        SIGNATURE,
        custom("(x: Tensor) -> tuple[Tensor, Tensor]", "return None", "lambda x: (x, x)"),
        "return op(x)[0]",
    ),
    raises(
        "returns one of two results",
        SIGNATURE,
        custom("(x: Tensor) -> tuple[Tensor, Tensor]", "return x.clone()", "lambda x: (x.clone(), x.clone())"),
        "return op(x)[0]",
    ),
    good(
        "raises for a result",
        custom("(x: Tensor) -> Tensor", "if x.dim() == 3:\n        y = 1\n        raise ValueError\n    return x + 1"),
    ),
    good("a gradient, and no other", trained("lambda ctx, g: g.mul(2)"), how="train"),
    # functions that PyTorch cannot call
    raises("fake without n", SIGNATURE, custom("(x: Tensor, n: int) -> Tensor", "return x * n"), TWICE),
    good(
        "fake with another name",
        custom("(x: Tensor, n: int) -> Tensor", "return x * n", "lambda a, b: torch.empty_like(a)"),
        TWICE,
    ),
    raises(
        "kernel without n",
        SIGNATURE,
        library("(Tensor x, int n) -> Tensor", "lambda x: x + 1", "lambda x, n: torch.empty_like(x)"),
        TWICE,
    ),
    raises("vmap without in_dims", SIGNATURE, batched("lambda x, n: (x * n, 0)"), TWICE, "vmap"),
    good("vmap", batched("lambda info, in_dims, x, n: (x * n, 0)"), TWICE, "vmap"),
    good("backward", trained("lambda ctx, g: (g * 2, None)"), how="train"),
    good("backward, one too few for a default", trained("lambda ctx, g: (g * 2,)"), how="train"),
    raises("backward, one too few", SIGNATURE, trained("lambda ctx, g: (g * 2,)", n="n: int"), TWICE, "train"),
    raises("backward, one too many", SIGNATURE, trained("lambda ctx, g: (g * 2, None, g)"), how="train"),
    raises("backward, the gradient alone", SIGNATURE, trained("lambda ctx, g: g", n="n: int"), TWICE, "train"),
    good("backward, a call", trained("lambda ctx, g: tuple([g * 2, None])", n="n: int"), TWICE, "train"),
    good("backward, the gradient for a default", trained("lambda ctx, g: g * 2"), how="train"),
    raises("backward without ctx", SIGNATURE, trained("lambda g: (g * 2, None)"), how="train"),
    raises(
        "setup_context with other names",
        SIGNATURE,
        trained("lambda ctx, g: (g * 2, None)", "lambda ctx, args, result: None"),
        how="train",
    ),
)
REFUSED = (
    *("(x: Tensor, y) -> Tensor", "(x: Tensor, n: tuple[int, int]) -> Tensor", "(x: Tensor, n: list) -> Tensor"),
    *("(x: Tensor, n: list[int] = (1, 2)) -> Tensor", "(x: Tensor, *others: Tensor) -> Tensor", "(x: Tensor)"),
    *("(x: Tensor) -> Optional[Tensor]", "(z: Tensor) -> Tensor", "(x: Tensor, n: Sequence[int] = None) -> Tensor"),
)
"""Signatures of functions that write to ``x``, which `custom_op` refuses."""
TAKEN = (
    "(x: Tensor, n: Optional[Sequence[int]] = None) -> Tensor",
    "(x: Tensor, n: list[int]) -> Tensor",
    "(x: Tensor) -> None",
)
HEAD = """\
import torch
from typing import Optional, Sequence
from torch import Tensor
from torch.library import custom_op

def write(x):
    x.add_(1)

"""


def module(namespace: str, source: str) -> str:
    """The text of a module, in a namespace of its own."""
    text = HEAD + ("lib = torch.library.Library(NS, 'DEF')\n" if "lib." in source else "") + source
    return text.replace("getattr(torch.ops, NS)", f"torch.ops.{namespace}").replace("NS", repr(namespace))


CHECKS = "dropped-call,aliased-result,returned-argument,undeclared-write,function-signature,refused-registration"
INFERRED = [
    module(f"inferred{number}", custom(signature, "return x", None, "('x',)"))
    for number, signature in enumerate((*REFUSED, *TAKEN))
]


def warned(folder: Path, modules: list[str]) -> list[list[tuple[str, str]]]:
    """The checks that warn of each module, and their messages."""
    for number, text in enumerate(modules):
        (folder / f"case{number}.py").write_text(text, encoding="utf-8")
    report = json.loads(call("check-invariants", str(folder), "--select", CHECKS, "--format", "json").out)
    rows_at: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for finding in report["findings"]:
        if finding["severity"] != "info":
            file = Path(finding["declared_at"]["file"]).stem
            rows_at[int(file.removeprefix("case"))].append((finding["check"], finding["message"]))
    return [rows_at[number] for number in range(len(modules))]


def test_a_check_warns_of_what_fails(tmp_path: Path) -> None:
    modules = [module(f"case{number}", one.source) for number, one in enumerate(CASES)]
    warnings = dict(zip((case.name for case in CASES), warned(tmp_path, modules), strict=True))
    assert {name: [check for check, _ in checks] for name, checks in warnings.items()} == {
        case.name: [] if case.check is None else [case.check] for case in CASES
    }
    assert all((case.check is None) is (case.outcome == "same") for case in CASES)


def test_functions_without_a_schema_are_refused(tmp_path: Path) -> None:
    results = warned(tmp_path, INFERRED)
    assert [[check for check, _ in rows] for rows in results[: len(REFUSED)]] == [["refused-registration"]] * len(
        REFUSED
    )
    assert not any("refused-registration" in dict(rows) for rows in results[len(REFUSED) :])


@pytest.mark.live
def test_pytorch_fails_there(tmp_path: Path) -> None:
    cases = [
        (module(f"case{number}", one.source), f"case{number}", one.body, one.how) for number, one in enumerate(CASES)
    ]
    script = Path(__file__).with_name("live_compiled_cases.py")
    given = json.dumps({"cases": cases, "modules": INFERRED})
    outcomes, refusals = json.loads(in_pytorch.run([torch_python(), str(script)], given).stdout)
    assert dict(zip((case.name for case in CASES), outcomes, strict=True)) == {
        case.name: case.outcome for case in CASES
    }
    ours = [rows[0][1].partition(": ")[2] for rows in warned(tmp_path, INFERRED)[: len(REFUSED)]]
    for text, words in zip(refusals, ours, strict=False):
        start = words.partition(" unsupported type ")[0]  # PyTorch prints the type that Python makes of the annotation
        is_parsed = words.startswith("expected")  # the schema is refused, and its parser has a text of its own
        assert text is not None and (is_parsed or text.startswith(start)), (text, words)
    assert refusals[len(REFUSED) :] == [None] * len(TAKEN)


CPP = """
#include <torch/library.h>
void raw(at::Tensor& x) { x.data_ptr<float>()[0] = 7; }
void calls(const at::Tensor& x) { auto y = x; y.add_(1); }
TORCH_LIBRARY(reads, m) {
  m.def("op", raw);
  m.impl("op", c10::DispatchKey::CPU, &raw);
}
TORCH_LIBRARY(calls, m) {
  m.def("op(Tensor x) -> ()", TORCH_FN(calls));
  m.impl("op", c10::DispatchKey::CPU, TORCH_FN(calls));
}
"""


def test_a_composite_kernel_in_cpp_may_fail_on_fake_tensors(tmp_path: Path) -> None:
    (tmp_path / "library.cpp").write_text(CPP, "utf-8")
    report = json.loads(call("check-invariants", str(tmp_path), "--select", DROPPED, "--format", "json").out)
    findings = [(finding["severity"], finding["operator"]) for finding in report["findings"]]
    assert findings == [("info", "reads::op"), ("info", "calls::op")]
    assert all("fails where that reads their data" in finding["message"] for finding in report["findings"])
