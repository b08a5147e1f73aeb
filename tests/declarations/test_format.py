"""The JSON Schema and the reference say what the loader does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema_rs import Draft202012Validator, meta

from dispatch_cli.declarations.formats.format import RECORDS
from dispatch_cli.declarations.formats.json_schema import json_schema
from tests.declarations.helpers import read
from tests.declarations.test_problems import CASES, GOOD

EVERY_FIELD = """\
dispatch: 1
universe: torch-2.15
privateuse1: npu
extends: []
snapshot: true
pytorch: true
extracted: true
notes: [taken after lunch]
imported: {modules: [mine], operators: [{func: m::e() -> (), dispatch: {CPU: e}}], fallbacks: {CUDA: f}}
operators:
  # dispatch-cli: ignore[guard, DC1] it is meant
  - func: m::a(Tensor x) -> Tensor
    debug: somewhere
    alias_analysis: default
    tags: [core]
    python_module: mylib.ops
    python_module_context: //mylib:ops
    dispatch:
      CPU, CUDA: a
      Meta: {kernel: k, debug: d, signature: "(Tensor x) -> Tensor", boxed: true, unboxed: false, python: true}
      XLA: [fallthrough, {fallthrough: true}]
      HPU: {kernel: r, redispatches: false}
      Autograd: {kernel: s, redispatches: {exclude: "Autograd,CPU"}}
      AutogradCPU: {kernel: t, redispatches: {to: CPU}}
      CatchAll: {kernel: c, at: "x.cpp:5"}
      XPU: {debug: d, python: true, wraps: {by: autograd, kernel: k, at: "x.py:1", setup_context: s, dtype: float16}}
    python_dispatch: {CPU: p}
    fake: {kernel: k, source: "x.py:1", allow_override: false}
  - name: m::b
    fake: [f, {missing: true}]
    fake_tensor_mode:
      {decomposition: d, no_decomposition: true, prim_meta: p, implementation: i, raises: E, meta_refuses: [x]}
  - {name: m::unknown, schema: unknown, reason: no types, at: "x.cpp:3:4", when: [A, "not (B or C >= 2)"]}
  - name: m::devices
    fake_tensor_mode: {mixes: cpu, zero_dim_counts: true, side_effects: true}
  - custom_op: m::made(Tensor x) -> ()
    mutates_args: [x]
    kernel:
      kernel: k
      at: "x.py:1"
      redispatches: false
      body: {parameters: [x], writes: [{argument: x, text: x.add_(1), sometimes: true}], returns: [], values: 1..1}
    kernels: {"cpu, cuda": f}
  - {custom_op: m::refused, schema: unknown, refused: why, kernels: {}}
  - triton_op: m::t(Tensor x) -> Tensor
    kernel: t
    backward: b
    setup_context: s
    vmap: v
    autocast: {cuda: float16}
libraries:
  - {kind: FRAGMENT, namespace: m, define: ["c() -> ()", {func: "d() -> ()", tags: [x]}]}
  - {kind: IMPL, namespace: m, impl: {c: x, d: [y, {kernel: z, dispatch_key: CPU}]}, fake: {c: f}}
  - {kind: IMPL, namespace: _, dispatch_key: CPU, fallback: {kernel: f}}
  - {kind: FRAGMENT, namespace: m, dropped: register}
fallbacks: {"PrivateUse1, XLA": f}
changes:
  - remove: {operator: m::a, dispatch_key: CatchAll, kernel: c, number: 1}
  - {remove: {operator: m::a, python_dispatch: CPU}}
  - move: {operator: m::c, dispatch_key: CatchAll}
    before: {operator: m::a, dispatch_key: XLA, number: 2}
  - {move: {fallback: CPU}, after: {operator: m::a, dispatch_key: CPU}}
higher_order_operators:
  - {name: h, dispatch: {CPU: x}, modes: {M: x}, subclasses: {S: x}, functionalize: f, side_effect: true, mutates: true}
  - name: h
    add: true
    dispatch: {"CUDA, XLA": fallthrough, HPU: {fallthrough: true}, Autograd: {kernel: x, redispatches: true}}
    transforms: {Vmap: {kernel: x, redispatches: raises, error: "ValueError: x"}}
  - {name: i, autograd: {kernel: autograd_not_implemented, deferred_error: true}}
  - {name: j, modes: {M: {kernel: x, returns: NotImplemented}}}
modes: {M: {supports_higher_order_operators: true}}
guards:
  - {op: "*", key: "*", except: CUDA, rule: kernel, not: missing, kernel: x, not_kernel: y, fallthrough: false}
  - {op: "*", key: "*", same_as: CPU}
support:
  - {op: "m::*", backends: [cpu, CUDA], contexts: [eager, train], reason: it is said so}
suppress:
  - {checks: [guard, DC1], op: "*", key: "*", reason: it is meant}
undecided:
  - {at: "x.cpp:1", registers: kernel, unknown: {dispatch_key: key()}, known: {name: m::a, kernel: k}, when: A}
  - {at: "x.cpp:1", registers: definition, unknown: {name: NAME}, known: {schema: "() -> ()", dispatch_key: CPU}}
functions:
  - {at: "ops.py:3:1", name: register, registers: ["ops.py:4:5"]}
not_understood:
  - {at: "x.cpp:9:1", text: m.impl(x), reason: it is not known, when: A, bound: true}
  - {at: "y.py:3:1", text: "def f(", reason: it is not valid Python, unread: true}
"""
BEYOND_JSON_SCHEMA = {
    *("places and conditions", "bad name", "func is a name", "bad schema plain", "bad schema quoted"),
    *("bad schema escaped", "bad signature", "key typo", "key case", "key unknown", "key unparseable"),
    *("key functionality", "CatchAll where a key is needed", "key twice in commas", "duplicate key"),
    *("typevar outside aten", "control character", "long line", "operator with both", "name with definition fields"),
    *("name without namespace", "namespace of fallbacks", "kernel of fallthrough", "redispatches of fallthrough"),
    *("redispatches at keys that are not there", "redispatches at and without keys"),
    *("boolean words", "suppression comment", "define in IMPL", "DEF of wildcard", "DEF with key", "fallback in DEF"),
    *("fallback in namespace", "fallback without key", "impl in wildcard", "bad namespace"),
    *("other namespace in schema", "other namespace in impl", "other key in impl", "guard alias"),
    *("backend of a promise", "rule that falls through", "rule of fallthrough with name"),
    *("rule not falling through", "rule that returns", "deferred error", "universe name", "universe path"),
    *("rule with an error that does not raise", "rule with errors by place"),
    *("custom op on a device that PyTorch does not know", "custom op on a device of its own"),
    *("a kernel on a device that PyTorch does not know", "a fake implementation that is missing, and has a function"),
    *("a state of a version that is not embedded", "custom op that writes, with a backward"),
    *("custom op with a tensor by keyword", "custom op that writes to what it does not have"),
    *("custom op without a function", "triton op without its function"),
    *("no device types for an operator without tensors", "custom op with fields of others"),
    *("custom op in a PyTorch without batching rules", "autocast where there is none"),
    *("functions of one place, on a device that PyTorch does not know", "refusals of functions, defined elsewhere"),
    *("backward that is only half there", "what torch.library refuses of operators that a library has"),
}
"""Mistakes in what text means, and in what holds between fields: these are for the loader alone."""


def errors(text: str) -> list[str]:
    """Errors of the JSON Schema about a file."""
    try:
        return [error.message for error in Draft202012Validator(json_schema()).iter_errors(yaml.safe_load(text))]
    except ValueError as error:  # a name that is no text, which JSON cannot have
        return [str(error)]


def test_it_is_a_json_schema() -> None:
    meta.validate(json_schema())


@pytest.mark.parametrize("text", [EVERY_FIELD, GOOD, "dispatch: 1\nfallbacks: none\n"])
def test_good_files_are_accepted(text: str, tmp_path: Path) -> None:
    read(tmp_path, text)
    assert errors(text) == []


@pytest.mark.parametrize("name", CASES)
def test_bad_files_are_refused(name: str) -> None:
    assert bool(errors(CASES[name].split("----\n")[0])) is (name not in BEYOND_JSON_SCHEMA)


def test_the_example_has_every_field() -> None:
    written: set[str] = set()

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            written.update(value)
        for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            collect(item)

    collect(yaml.safe_load(EVERY_FIELD))
    assert {field.name for record in RECORDS for field in record.fields} <= written


def test_every_field_is_described_in_the_json_schema() -> None:
    schema = json_schema()
    for record in RECORDS:
        definition = schema if record.name == "file" else schema["$defs"][record.name]
        assert {
            name: value["description"].split(" Default: ")[0] for name, value in definition["properties"].items()
        } == {field.name: field.doc for field in record.fields}
