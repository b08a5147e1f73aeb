"""``dispatch-cli diff``: what differs, what is chosen, exit codes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from dispatch_cli import api
from dispatch_cli.engine.support.columns import support_columns
from dispatch_cli.engine.support.verdicts import support_rows
from dispatch_cli.model.names import OperatorName
from tests.cli.support import call

OLD, NEW = "tests/cli/diff_old.yaml", "tests/cli/diff_new.yaml"
OVERLAY = """dispatch: 1
extends: [torch-2.15]
libraries:
- {kind: IMPL, namespace: aten, dispatch_key: @, impl: {@: mine}}
"""


def report(*args: str) -> dict[str, Any]:
    result = call("diff", *args, "--format", "json")
    document: dict[str, Any] = json.loads(result.out)
    assert result.code == int(not document["equal"])
    return document


def test_parts_are_chosen() -> None:
    whole = report(OLD, NEW)
    assert [row["operator"] for row in whole["operators_added"]] == ["mylib::newname"]
    assert [row["operator"] for row in whole["operators_removed"]] == ["mylib::gone", "mylib::oldname"]
    assert [fallback["key"] for fallback in whole["fallbacks"]] == ["AutogradPrivateUse2"]
    parts = {
        "schemas": ("operators_added", "operators_removed", "schemas"),
        "registrations": ("registrations", "fallbacks", "python_kernels", "higher_order_operators", "keys"),
        "slots": ("slots",),
        "cells": ("cells",),
    }
    for part, names in parts.items():
        document = report(OLD, NEW, "--only", part)
        for name in (name for others in parts.values() for name in others):
            assert document[name] == (whole[name] if name in names else [])
    chosen = report(OLD, NEW, "--key", "meta")
    assert [(row["operator"], row["key"]) for row in chosen["registrations"]] == [("mylib::mul_add", "Meta")]
    assert {key for group in chosen["slots"] for key in group["keys"]} == {"Meta"}
    assert chosen["schemas"] == []
    chosen = report(OLD, NEW, "--op", "aten::sin")
    assert [registration["operator"] for registration in chosen["registrations"]] == ["aten::sin"]
    assert chosen["higher_order_operators"] == chosen["fallbacks"] == []
    assert [row["name"] for row in report(OLD, NEW, "--op", "my_*")["higher_order_operators"]] == ["my_cond", "my_loop"]


def test_cells_of_the_support_matrix(tmp_path: Path) -> None:
    """Those that are other ones in the matrices of both sides, of the operators of files that both have."""
    sides = [str(tmp_path / name) for name in ("old.yaml", "new.yaml")]
    head = "dispatch: 1\noperators:\n  - func: a::f(Tensor x) -> Tensor\n    dispatch: "
    same = "\n  - {func: 'a::g(Tensor x) -> Tensor', dispatch: {CPU: g}}\n"
    Path(sides[0]).write_text(f"{head}{{CPU: f, Meta: f}}{same}", encoding="utf-8")
    Path(sides[1]).write_text(f"{head}{{CPU: f, CUDA: c}}{same}", encoding="utf-8")
    document = report(*sides)
    states = [api.load_state([side]) for side in sides]
    name = OperatorName("a::f")
    columns = support_columns(states[1], [name])
    assert {column.backend for column in columns} == {"CPU", "CUDA"}
    (old,), (new,) = (list(support_rows(state, [name], columns)) for state in states)
    assert [(cell["backend"], cell["context"], cell["before"], cell["after"]) for cell in document["cells"]] == [
        (column.backend, column.context.value, was.verdict.value, now.verdict.value)
        for column, was, now in zip(columns, old.cells, new.cells, strict=True)
        if (was.verdict, was.reason) != (now.verdict, now.reason)
    ]
    assert {cell["operator"] for cell in document["cells"]} == {"a::f"}
    assert document["counts"]["cells"] == len(document["cells"]) > 5
    assert {cell["backend"] for cell in report(*sides, "--key", "CUDA")["cells"]} == {"CUDA"}
    assert report("torch-2.4", "torch-2.15", "--only", "cells", "--op", "aten::_jagged_to*")["cells"]


def test_sheets_have_every_difference() -> None:
    sides = ("torch-2.4", "torch-2.15")
    whole = report(*sides)
    rows = list(csv.DictReader(io.StringIO(call("diff", *sides, "--format", "csv").out)))
    what = [row["what"] for row in rows]
    counts = whole["counts"]
    assert what.count("slot") == counts["slots"] > 3_000
    assert what.count("operator") == counts["operators_added"] + counts["operators_removed"]
    assert what.count("registration") == len(whole["registrations"])
    assert what.count("python") == counts["python_kernels"]
    assert what.count("schema") == counts["schemas"]
    assert what.count("tags") == counts["tags"]


def test_further_files_of_a_side(tmp_path: Path) -> None:
    file = tmp_path / "more.yaml"
    file.write_text(OVERLAY.replace("@", "XLA", 1).replace("@", "sin", 1), encoding="utf-8")
    document = report("torch-2.15", "torch-2.15", "--new", str(file))
    assert [registration["key"] for registration in document["registrations"]] == ["XLA"]
    assert document["new"]["named"] == ["torch-2.15", str(file)]
    assert [row["key"] for row in report("torch-2.15", "torch-2.15", "--old", str(file))["registrations"]] == ["XLA"]
    assert report(OLD, OLD, "--old", str(file), "--new", str(file))["equal"]


REFUSED = """#include <torch/library.h>
at::Tensor one(const at::Tensor& x);
at::Tensor two(const at::Tensor& x, double y);
TORCH_LIBRARY(my, m) { m.def("f(Tensor x) -> Tensor"); }
@
TORCH_LIBRARY_IMPL(my, CPU, m) { m.impl("f", &two); }
"""


def test_what_pytorch_refuses_of_one_side_alone(tmp_path: Path) -> None:
    """A kernel with another number of arguments; the same one on another line is no difference."""
    texts = {"same": "", "moved": "\n\n", "more": 'TORCH_LIBRARY_IMPL(my, CUDA, m) { m.impl("f", &two); }'}
    for name, text in texts.items():
        (tmp_path / f"{name}.cpp").write_text(REFUSED.replace("@", text), encoding="utf-8")
    same, moved, more = (str(tmp_path / f"{name}.cpp") for name in texts)
    assert report(same, moved)["equal"]
    document = report(same, more)
    assert [(row["change"], row["operator"], row["declared_at"]["line"]) for row in document["refused"]] == [
        ("added", "my::f", 6)
    ]
    assert document["counts"]["refused_added"] == 1
    assert document["registrations"] == document["slots"] == []
    assert [row["change"] for row in report(more, same, "--op", "my::f")["refused"]] == ["removed"]
    assert report(same, more, "--only", "schemas", "--only", "slots")["equal"]
    rows = list(csv.DictReader(io.StringIO(call("diff", same, more, "--format", "csv").out)))
    assert [(row["what"], row["change"], row["operator"]) for row in rows] == [("refused", "added", "my::f")]
