"""Schemas: live PyTorch's recordings are the judges. `test_live_schemas` tries broken ones."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest

from dispatch_cli.model.names import NO_DEFAULT_OVERLOAD, OperatorName
from dispatch_cli.model.schema.cursor import SchemaError
from dispatch_cli.model.schema.model import find_schema_differences, takes_symint, without_symint
from dispatch_cli.model.schema.parser import parse_operator_name, parse_printed_schema, parse_schema, parse_signature
from dispatch_cli.model.schema_changes import SchemaPart, schema_changes
from tests.support import libraries, load_recording

VERSIONS = ("2.4.1", "2.15.0")
_SIGNATURE = re.compile(r" :: (?!\(none\))(\(.*) \[ [a-z ]*\]$")


@cache
def recorded(version: str) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Every schema of a recorded PyTorch, and every pair of schema and kernel signature."""
    schemas = []
    pairs = []
    for op in load_recording(f"{version}.state")["ops"].values():
        _, schema_line, *lines = op["dump"].splitlines()
        schema = schema_line.removeprefix("schema: ")
        schemas += [schema] * (schema != "(none)")
        pairs += [(schema, match[1]) for line in lines if (match := _SIGNATURE.search(line))]
    return tuple(schemas), tuple(pairs)


def recorded_errors(version: str) -> list[str]:
    """The texts with which the recorded histories refused a kernel or a schema for its signature."""
    steps = [step for history in load_recording(f"{version}.histories")["histories"] for step in steps_of(history)]
    return [step["error"] for step in steps if "reason:" in (step["error"] or "")]


def steps_of(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        return [value] if "error" in value else [step for inner in value.values() for step in steps_of(inner)]
    return [step for inner in value for step in steps_of(inner)] if isinstance(value, list) else []


@pytest.mark.parametrize(
    ("printed", "defaults"),
    [
        ("ns::f(int? x=no comment, int y=3, int[] z=[1, 2]) -> ()", ["no comment", "3", "[1, 2]"]),
        (r'dd::f(Tensor x, str sep="\t") -> Tensor', [r'"\t"']),
        ("dd::f(Tensor x, Scalar y=0.+2.j) -> Tensor", ["0.+2.j"]),
        # a class that `torch._library.opaque_object` registers
        ("_dtensor::mesh_get_process_group(PyObject mesh, int dim) -> PyObject", []),
    ],
)
def test_prints_that_pytorch_does_not_read(printed: str, defaults: list[object]) -> None:
    """2.13 prints so what `torch.library` defined, and does not read its print itself."""
    schema = parse_printed_schema(printed)
    assert str(schema) == printed
    assert [argument.default for argument in schema.arguments if argument.default] == defaults
    with pytest.raises(SchemaError):
        parse_schema(printed)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_recorded_schema_round_trips(version: str) -> None:
    schemas, _ = recorded(version)
    assert len(schemas) > 3500
    assert [str(parse_schema(schema)) for schema in schemas] == list(schemas)
    assert [str(parse_printed_schema(schema)) for schema in schemas] == list(schemas)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_recorded_signature_round_trips_and_fits_its_schema(version: str) -> None:
    _, pairs = recorded(version)
    assert len(pairs) > 15000
    assert [str(parse_signature(signature)) for _, signature in pairs] == [signature for _, signature in pairs]
    differences = [
        (schema, signature, difference)
        for schema, signature in pairs
        if schema != "(none)"
        and (difference := find_schema_differences(parse_schema(schema), parse_signature(signature)))
    ]
    assert differences == []


def test_every_schema_and_signature_of_libraries_round_trips() -> None:
    """As PyTorch printed them; its own parser refuses 50 of the schemas."""
    values = libraries().values()
    schemas = [schema for library in values for schema in library["schemas"]]
    signatures = [signature for library in values for signature in library["signatures"]]
    assert (len(schemas), len(signatures)) == (728, 582)
    assert [str(parse_printed_schema(schema)) for schema in schemas] == schemas
    assert [str(parse_signature(signature)) for signature in signatures] == signatures
    assert sum(map(is_refused, schemas)) == 50


@pytest.mark.parametrize(("version", "symbolic"), [("2.4.1", 1691), ("2.15.0", 1875)])
def test_only_symbolic_kernels_take_symbolic_sizes(version: str, symbolic: int) -> None:
    signatures = [(parse_schema(schema), text) for schema, text in recorded(version)[1] if schema != "(none)"]
    pairs = [(schema, parse_signature(text)) for schema, text in signatures if "SymInt" in text]
    assert sum(takes_symint(signature) for _, signature in pairs) == symbolic
    for schema, signature in pairs:
        unsymbolic = without_symint(signature)
        refused = find_schema_differences(without_symint(schema), signature)
        assert (refused is not None) is takes_symint(signature)
        assert find_schema_differences(schema, unsymbolic) is None


@pytest.mark.parametrize("version", VERSIONS)
def test_recorded_errors(version: str) -> None:
    errors = recorded_errors(version)
    assert len(errors) > 50
    for error in errors:
        lines = [line.strip() for line in error.splitlines()]
        expected = parse_schema(lines[2].removeprefix("expected schema: "))
        inferred = parse_signature(lines[4].removeprefix("inferred schema: "))
        assert find_schema_differences(expected, inferred) == lines[6].removeprefix("reason: ")


# Text, offset, message, hint. PyTorch 2.13 refuses every one of them but those over a limit, and those not understood.
REFUSED: list[tuple[str, int, str, str | None]] = [
    ("", 0, "expected an operator name but found the end", None),
    ("f", 1, "expected '(' but found the end", None),
    ("f()", 3, "expected '->' but found the end", None),
    ("f(Tensor)", 8, "expected an argument name but found ')'", None),
    ("f(Tensr x) -> ()", 2, "'Tensr' is not a type", "did you mean Tensor?"),
    ("f(Dimname x) -> ()", 2, "'Dimname' is not a type", "did you mean str?"),
    ("f(\n  \n  Tensr x) -> ()", 8, "'Tensr' is not a type", "did you mean Tensor?"),
    ("f(int x,) -> ()", 8, "expected a type but found ')'", None),
    ("f(int in) -> ()", 6, "expected an argument name but found 'in'", "in is a keyword; choose another name"),
    ("f(int x) -> () y", 15, "expected the end but found 'y'", None),
    ("f(int x) -> ()\n f", 14, "expected the end but found a line break", None),
    ("f(int x)\n -> ()", 8, "expected '->' but found a line break", None),
    ("a::b::c() -> ()", 4, "expected '(' but found ':'", None),
    ("a:b() -> ()", 2, "expected ':' but found 'b'", None),
    ("f.default() -> ()", 2, "'default' is not a legal overload name", NO_DEFAULT_OVERLOAD),
    ("f.__x() -> ()", 2, "'__x' is not a legal overload name", None),
    ("f(int x=Tru) -> ()", 8, "'Tru' is not a default value", "did you mean True?"),
    ("f(int x=float32) -> ()", 8, "'float32' is not a default value", "did you mean float?"),
    ("f(ScalarType x=flot32) -> ()", 15, "'flot32' is not a default value", "did you mean float32?"),
    ("f(ScalarType[2] x=float32) -> ()", 18, "expected '[' but found 'float32'", None),
    ("f(int x=9223372036854775808) -> ()", 8, "'9223372036854775808' is not a 64-bit integer", None),
    ("f(float x=1e999) -> ()", 10, "'1e999' is not a floating-point number in range", None),
    ("f(int[] x=1) -> ()", 10, "expected '[' but found '1'", None),
    ("f(int[2] x=1.5) -> ()", 11, "a list of int cannot hold 1.5", None),
    ("f(Tensor[] x=[]) -> ()", 13, "a default value of a list is understood for int, float and bool alone", None),
    ('f(Device x="gpu") -> ()', 11, "'gpu' is not a device", None),
    ('f(Device x="cuda:99999999999") -> ()', 11, "the device index 99999999999 is not understood", None),
    ("f(Device x=None) -> ()", 11, "expected a string but found 'None'", None),
    ('f(str x="\\x41") -> ()', 8, "the escape '\\x' in a string is not understood", None),
    ('f(str x="a) -> ()', 8, "the string that starts here has no closing quote", None),
    ("f(int x=) -> ()", 8, "expected a default value but found ')'", None),
    ("f(Any x=1) -> ()", 8, "an argument of type Any cannot have a default", None),
    ("f(int x=1, int y) -> ()", 11, "'y' has no default, but an argument before it has one", None),
    ("f(..., int x) -> ()", 7, "'...' must be the last of the arguments", None),
    ("f(int x=1, ...) -> ()", 14, "a schema with '...' cannot have default values", None),
    ("f() -> (..., int)", 13, "'...' must be the last of the returns", None),
    ("f(None? x) -> ()", 2, "None cannot be optional: it is None already", None),
    ("f(Dict(int) x) -> ()", 10, "Dict holds 2 types, not 1", None),
    ("f(__torch__.foo.x.y x) -> ()", 2, "'__torch__.foo.x.y' is not a type", None),
    ("f(int x=0x1e) -> ()", 8, "a hexadecimal number is not understood", None),
    ("f(complex x=1) -> ()", 12, "a default value of type complex is not understood", None),
    ("f(Future(t) x) -> ()", 2, "Future types are not understood: no operator has one", None),
    ("f(Tensor() x) -> ()", 9, "expected an alias set but found ')'", None),
    ("f(int[-1] x) -> ()", 6, "expected a number but found '-'", None),
    ("f(int ä) -> ()", 6, "expected an argument name but found 'ä'", None),
    ("f\ud800() -> ()", 1, "the schema has a character that is not valid Unicode text", None),
    ("f" + "(" * 200, 65, "brackets are nested more than 64 deep", None),
    ("f(int" + "[]" * 100 + " x) -> ()", 2, "types are nested more than 64 deep", None),
    ("f(int[70000] x=1) -> ()", 15, "a default cannot fill a list of 70000 values", None),
    ("f(Union(int, str) x) -> ()", 2, "Union types are not understood: no operator has one", None),
    ("x" * 70000, 65536, "the schema is longer than 65536 characters", None),
]


@pytest.mark.parametrize(("text", "offset", "message", "hint"), REFUSED)
def test_refused(text: str, offset: int, message: str, hint: str | None) -> None:
    with pytest.raises(SchemaError) as caught:
        parse_schema(text)
    assert (caught.value.offset, caught.value.message, caught.value.hint) == (offset, message, hint)


def test_operator_names() -> None:
    assert parse_operator_name("aten::add.Tensor") == OperatorName("aten::add", "Tensor")
    assert parse_operator_name(" add\n") == OperatorName("add")
    refused = ("aten::add.default", "aten::add(Tensor x) -> ()", "aten::", "add.", "a::b::c", "", "add\n\n x")
    for text in refused:
        with pytest.raises(SchemaError):
            parse_operator_name(text)


def test_types_without_symint() -> None:
    schema = parse_schema("f(SymInt[2] a=1, ScalarType b=long, SymInt?[] c) -> SymInt")
    assert str(schema) == "f(SymInt[2] a=[1, 1], ScalarType b=4, SymInt?[] c) -> SymInt"
    assert str(without_symint(schema)) == "f(int[2] a=1, ScalarType b=4, SymInt?[] c) -> SymInt"


def is_refused(text: str) -> bool:
    try:
        parse_schema(text)
    except SchemaError:
        return True
    return False


# How two schemas of one operator differ.


CASES = {
    "nothing but the name": ("f(int n) -> Tensor", "g(int n) -> Tensor", []),
    "a type": ("f(int n) -> Tensor", "f(SymInt n) -> Tensor", [("argument", "int n", "SymInt n")]),
    "a default": ("f(int n) -> ()", "f(int n=-1) -> ()", [("argument", "int n", "int n=-1")]),
    "an annotation": ("f(Tensor x) -> ()", "f(Tensor(a!) x) -> ()", [("argument", "Tensor x", "Tensor(a!) x")]),
    "one more": ("f(int n) -> ()", "f(int m, int n) -> ()", [("argument", None, "int m")]),
    "one less": ("f(int n, int m) -> ()", "f(int n) -> ()", [("argument", "int m", None)]),
    "another name": (
        *("f(int n, int m) -> ()", "f(int n, int k) -> ()"),
        [("argument", "int m", None), ("argument", None, "int k")],
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
    assert [(difference.part.value, difference.before, difference.after) for difference in forth] == differences
    back = schema_changes(parse_schema(after), parse_schema(before))
    assert {(difference.part, difference.after, difference.before) for difference in back} == set(forth)
    assert all(isinstance(difference.part, SchemaPart) for difference in forth)
