"""How two schemas of one operator differ."""

from __future__ import annotations

import pytest

from dispatch_cli.model.schema import parse_schema
from dispatch_cli.model.schema.changes import schema_changes
from dispatch_cli.model.schema_part import SchemaPart

CASES = {
    "nothing but the name": ("f(int n) -> Tensor", "g(int n) -> Tensor", []),
    "a type": ("f(int n) -> Tensor", "f(SymInt n) -> Tensor", [("argument", "int n", "SymInt n")]),
    "a default": ("f(int n) -> ()", "f(int n=-1) -> ()", [("argument", "int n", "int n=-1")]),
    "an annotation": ("f(Tensor x) -> ()", "f(Tensor(a!) x) -> ()", [("argument", "Tensor x", "Tensor(a!) x")]),
    "one more": ("f(int n) -> ()", "f(int m, int n) -> ()", [("argument", None, "int m")]),
    "one less": ("f(int n, int m) -> ()", "f(int n) -> ()", [("argument", "int m", None)]),
    "another name": ("f(int n, int m) -> ()", "f(int n, int k) -> ()", [("argument", "int m", "int k")]),
    "another name and type": (
        *("f(int n, int m) -> ()", "f(int n, float k) -> ()"),
        [("argument", "int m", None), ("argument", None, "float k")],
    ),
    "another order": ("f(int n, int m) -> ()", "f(int m, int n) -> ()", [("order", "n, m", "m, n")]),
    "keyword-only": ("f(int n, int m) -> ()", "f(int n, *, int m) -> ()", [("order", "n, m", "n, *, m")]),
    "a return": ("f() -> Tensor", "f() -> (Tensor, Tensor b)", [("return", None, "Tensor b")]),
    "names of returns": ("f() -> (int a, int b)", "f() -> (int a, int c)", [("return", "int b", "int c")]),
    "open ends": ("f(int n) -> ()", "f(int n, ...) -> ()", [("argument", None, "...")]),
}


@pytest.mark.parametrize("case", CASES)
def test_what_differs(case: str) -> None:
    before, after, differences = CASES[case]
    forth = schema_changes(parse_schema(before), parse_schema(after))
    assert [(one.part.value, one.before, one.after) for one in forth] == differences
    back = schema_changes(parse_schema(after), parse_schema(before))
    assert {(one.part, one.after, one.before) for one in back} == set(forth)
    assert all(isinstance(one.part, SchemaPart) for one in forth)
