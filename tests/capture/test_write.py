"""From a captured state to a file: what is written reads back as what it was."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from dispatch_cli.api import load_state
from dispatch_cli.capture.document import document
from dispatch_cli.capture.looking import parse_dump
from dispatch_cli.capture.write import Format, head, json_text, state_text, yaml_text
from dispatch_cli.cli.output import write
from dispatch_cli.declarations.loader import load
from dispatch_cli.engine.dispatcher.dump import dump_registrations, dump_table
from dispatch_cli.engine.history import run
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import InputError
from tests.capture.support import recorded_state, state_of, universe_data
from tests.support import UNIVERSE_OF, libraries, load_recording


def kernel(debug: str, signature: str | None = None, flags: str = "boxed") -> dict[str, Any]:
    words = flags.split()
    given = {flag: flag in words for flag in ("fallthrough", "boxed", "unboxed")}
    return {"debug": debug, "signature": signature, **given}


def operator(name: str, **fields: Any) -> dict[str, Any]:
    schema = f"{name}(Tensor a) -> Tensor"
    return {"name": name, "schema": schema, "debug": "here", "alias_analysis": "FROM_SCHEMA", "kernels": {}, **fields}


def from_yaml(text: str) -> Any:
    return yaml.load(text, yaml.CSafeLoader)


@pytest.mark.parametrize(("version", "name"), tuple(zip(UNIVERSE_OF, ("a.yaml", "a.json.gz"), strict=True)))
def test_recorded_states_load_as_declarations(version: str, name: str, tmp_path: Path) -> None:
    """A part of all operators; a capture of a live PyTorch has them all."""
    file, format_ = str(tmp_path / name), Format.of(name)
    assert format_ is not None
    captured = recorded_state(version)
    captured["operators"] = captured["operators"][::20]
    write(state_text(captured, format_ is not Format.YAML), file, format_ is Format.JSON_GZ)
    state = run(load([file]))
    assert sorted(map(str, state.dispatcher)) == sorted(operator["name"] for operator in captured["operators"])
    recorded = load_recording(f"{version}.state")["ops"]
    for operator in state.dispatcher:
        assert dump_registrations(state.dispatcher, operator) == recorded[str(operator)]["dump"]
        assert dump_table(state.dispatcher, operator) == recorded[str(operator)]["table"]
        assert state.dispatcher.stale_entries(operator) == []
    assert from_yaml("".join(state_text(captured, as_json=False))) == document(captured)


def small_state() -> dict[str, Any]:
    plain = kernel("a.cpp:1", "(Tensor _0) -> Tensor _0", "boxed unboxed")
    kernels = {
        "CPU": [plain],
        "Meta": [kernel("b.py:2"), plain],
        "CUDA": [plain],
        "Autograd": [{**plain, "redispatches": {"exclude": ["AutogradCPU", "CPU"]}}],
        "AutogradMeta": [{**plain, "redispatches": False}],
        "AutogradCPU": [kernel("c.cpp:3", None, "fallthrough boxed")],
        "Tracer": [kernel("d.cpp:4", "() -> ()", "boxed")],
        "Python": [kernel("e.cpp:5", None, "unboxed")],
    }
    operators = [
        operator(
            "a::b", kernels=kernels, tags=["core"], python={"Meta": "m.f", "CPU": "m.f"}, alias_analysis="PURE_FUNCTION"
        ),
        operator("a::c", alias_analysis="default"),
        {"name": "a::d", "schema": None, "debug": None, "alias_analysis": None, "kernels": {"CPU": [plain]}},
    ]
    higher = {
        "name": "wrap",
        "dispatch": {"AutocastXPU": "m.autocast"},
        "autograd": {"kernel": "m.autograd_not_implemented", "deferred_error": True},
        "fallthrough": ["XLA", "HPU"],
        "modes": {"FakeTensorMode": "m.fake"},
        "subclasses": {},
        "transforms": {"Vmap": "m.vmap"},
        "functionalize": "m.functional",
        "side_effect": True,
    }
    nothing: dict[str, Any] = {name: {} for name in ("dispatch", "modes", "subclasses", "transforms")}
    bare = {**nothing, "name": "bare", "autograd": None, "fallthrough": [], "functionalize": None, "side_effect": False}
    skipped = [{"name": "x::\ny", "line": "?"}]
    return state_of(
        operators,
        universe_data("torch-2.15"),
        higher_order_operators=[higher, bare],
        modes=["LoggingMode"],
        modules=["torchvision"],
        skipped=skipped,
    )


SMALL = Path(__file__).with_name("small.yaml")
"""Below its head, the file of `small_state`."""


def test_the_yaml_reads_well() -> None:
    text = "".join(state_text(small_state(), as_json=False))
    assert text.endswith(f"\n{SMALL.read_text(encoding='utf-8')}")
    assert text.startswith(
        "# PyTorch 2.15.0+cu132 (cpu), git d0f2af8b66b20da4baa50644c0cd3f887a2eae2e\n"
        "# The state of its dispatcher, written by `dispatch-cli capture`.\n"
        "# Imported besides torch: torchvision\n"
        "# 3 operators with 10 kernels, 1 of them inactive\n"
        "# 1 operators without a schema\n"
        "# 38 backend fallbacks\n"
        "# 2 kernels of the Python dispatcher\n"
        "# 2 higher-order operators\n"
        "# left out, because it cannot be interpreted: x::?y\n"
        "dispatch: 1\n"
        "snapshot: true\n"
        "pytorch: true\n"
        "universe:\n"
        "  format: 1\n"
        "  name: torch-2.15\n"
    )
    # PyTorch's error texts, each the value of a field, are not broken
    fields = [line for line in text.splitlines() if not line.lstrip().startswith(("no_mode_rule: ", "unhandled: "))]
    assert max(map(len, fields)) <= 200


HOSTILE = (
    "", " ", "no", "NULL", "~", "1", "1e3", "0x1f", "2024-01-01", ".inf", "=", "<<", "- a", "? a", "a: b", "a:", "a #b",
    "#a", "a ", " a", "!tag", "&anchor", "*alias", "{a}", "[a]", "a, b", "'a'", '"a"', "back\\slash", "%TAG", "@a",
    "`a`", "|", ">", "a\nb", "a\r\nb", "\ta", "\x00\x07\x1b[31m", "\x7f\x85\x9f", "\u2028\u2029\ufeff\ufffe", "é—ß",
    "\U0001f600", "---", "...", "(a", "_", "a::b", "a->b", "[bold]a[/bold]",
)  # fmt: skip


def test_a_fallback_in_the_place_of_pytorchs_own(tmp_path: Path) -> None:
    """PyTorch's is in the universe, as it was before the modules were imported; theirs takes its place."""
    universe, key, file = universe_data("torch-2.13"), "AutogradPrivateUse1", tmp_path / "a.json"
    theirs = {"key": key, "debug": "registered at npu.cpp:3", "fallthrough": True}
    replaced = [fallback for fallback in universe["fallbacks"] if fallback["key"] == key]
    present = {**universe, "fallbacks": [theirs if row["key"] == key else row for row in universe["fallbacks"]]}
    state = state_of([], present, modules=["npu"], imported_fallbacks=[key], replaced_fallbacks=replaced)
    file.write_text(json.dumps(document(state)), encoding="utf-8")
    loaded = load_state([str(file)])
    assert document(state)["universe"] == universe
    assert loaded.declarations.universe.own_fallbacks[key] == replaced[0]["debug"]
    assert loaded.dispatcher.fallbacks[key].kernel.debug == theirs["debug"]


@pytest.mark.parametrize("library", sorted(libraries()))
def test_every_schema_that_pytorch_printed_loads_from_a_capture(library: str, tmp_path: Path) -> None:
    """The dump that was captured is the dump that is printed, whether or not PyTorch reads its own print."""
    dumps = {
        schema.partition("(")[0]: f"name: {schema.partition('(')[0]}\nschema: {schema}\ndebug: here\n"
        "alias analysis kind: FROM_SCHEMA\n"
        for schema in libraries()[library]["schemas"]
    }
    state = state_of([parse_dump(dump) for dump in dumps.values()], universe_data("torch-2.15"))
    path = str(tmp_path / "a.yaml")
    write(state_text(state, as_json=False), path, compressed=False)
    dispatcher = run(load([path])).dispatcher
    assert {name: dump_registrations(dispatcher, OperatorName.parse(name)) for name in dumps} == dumps


def test_printed_forms_are_for_captures_alone(tmp_path: Path) -> None:
    """PyTorch refuses to read them, and so they are refused where somebody wrote them."""
    file = tmp_path / "a.yaml"
    file.write_text("dispatch: 1\noperators:\n  - func: m::f(Tensor($0! -> ) out) -> ()\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load([str(file)])
    (problem,) = caught.value.problems
    assert problem.message == "expected an alias set but found '$'"
    assert problem.span is not None
    assert (problem.span.line, problem.span.column) == (3, 23)


def test_hostile_texts_come_back_as_they_were() -> None:
    texts = {
        "map": {text: text for text in HOSTILE if text},
        "list": list(HOSTILE),
        "numbers": {text: 1 for text in HOSTILE if text},
        "operators": [{"func": text, "tags": [text], "dispatch": {"CPU": {"debug": text}}} for text in HOSTILE],
        "empty": {"a": {}, "b": [], "c": True, "d": False, "e": -1},
    }
    assert from_yaml("".join(yaml_text(texts))) == texts
    text = "".join(json_text(texts))
    assert json.loads(text) == from_yaml(text) == texts


def test_head_has_no_line_of_its_own_making() -> None:
    lines = head({**small_state(), "torch": "2\n# x", "git": "", "modules": []})
    assert lines[0] == "PyTorch 2?# x (cpu), git unknown"
    assert all(line.isprintable() for line in lines)


def test_a_packed_file_has_the_same_bytes_each_time(tmp_path: Path) -> None:
    target = tmp_path / "a.json.gz"
    write(["{", "}\n"], str(target), compressed=True)
    first = target.read_bytes()
    assert gzip.decompress(first) == b"{}\n"
    assert first[4:8] == bytes(4)
    write(["{}", "\n"], str(target), compressed=True)
    assert target.read_bytes() == first
