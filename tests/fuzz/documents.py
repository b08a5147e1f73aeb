"""Random declarations: good files whose parts are dropped, doubled, moved, or made anew by the format's JSON Schema.

What is not good any more is meant to be so: the format has rules that its schema does not say.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from dispatch_cli.declarations.formats.json_schema import json_schema
from tests.declarations.test_format import EVERY_FIELD
from tests.fuzz import words

Schema = Mapping[str, Any]
ROOT = Path(__file__).parents[2]
MAX_DEPTH = 7

WORDS: dict[str, Callable[[random.Random], str]] = {
    "func": words.schema,
    "custom_op": words.schema,
    "triton_op": words.schema,
    "define": words.schema,
    "signature": lambda dice: words.schema(dice).partition("(")[2].join(("(", "")),
    "name": words.operator,
    "impl#key": words.operator,
    "fake#key": words.operator,
    "op": words.operator_glob,
    **dict.fromkeys(("mode", "modes#key"), words.one_of("FakeTensorMode", "ProxyTorchDispatchMode", "MyMode", "Other")),
    **dict.fromkeys(("subclass", "subclasses#key"), words.one_of("FakeTensor", "FunctionalTensor", "MyTensor")),
    **dict.fromkeys(("transform", "transforms#key"), words.one_of("Vmap", "Grad", "Jvp", "Functionalize", "Torch")),
    "privateuse1": words.backend_name,
    "key": words.key_glob,
    "same_as": words.key,
    "to": words.key,
    "exclude": words.keys,
    "backend": words.key,
    "namespace": words.one_of("a", "b", "m", "_", "aten"),
    "extends": words.base,
    "universe": words.universe,
    "kernels#key": words.device,
    "autocast#key": words.device,
    "device": words.device,
    "generator": words.device,
    "layout": words.layout,
    "dtype": words.dtype,
    "tensors": words.tensor,
    "contexts": words.context,
    "checks": words.check,
    "select": words.check,
    "ignore": words.check,
    "severity#key": words.check,
    "kernel": words.kernel,
    "when": words.condition,
    "at": words.source_place,
}
"""Field, or field whose keys they are → what its texts are."""


@cache
def schema() -> Schema:
    """The JSON Schema of the format."""
    return json_schema()


@cache
def seeds() -> tuple[Any, ...]:
    """Good files."""
    paths = [*sorted((ROOT / "examples").rglob("*.yaml")), *sorted((ROOT / "tests/checks/planted").rglob("*.yaml"))]
    paths += sorted(Path(__file__).with_name("seeds").glob("*.yaml"))
    texts = [EVERY_FIELD, *(path.read_text(encoding="utf-8") for path in paths if path.name != "broken.yaml")]
    loaded = [yaml.load(text, yaml.CSafeLoader) for text in texts]
    return tuple(data for data in loaded if isinstance(data, dict) and "dispatch" in data)


def resolved(one: Schema) -> Schema:
    """A schema, in place of a reference to it."""
    while "$ref" in one:
        one = schema()["$defs"][one["$ref"].rpartition("/")[2]]
    return one


def make(dice: random.Random, one: Schema, field: str, depth: int = 0) -> Any:
    """A value by a schema. field: the field that it is for, which says what its texts are."""
    one = resolved(one)
    if "const" in one or "enum" in one:
        return one["const"] if "const" in one else dice.choice(one["enum"])
    if "properties" in one:
        return _make_record(dice, one, depth)
    kind = one.get("type")
    if kind == "object":
        names = one.get("propertyNames", {})
        value = one.get("additionalProperties", {"type": "string"})
        count = dice.choice([0, 1, 1, 2, 3]) if depth < MAX_DEPTH else 0
        return {
            str(make(dice, names or {"type": "string"}, f"{field}#key", depth + 1)): make(dice, value, field, depth + 1)
            for _ in range(count)
        }
    if kind == "array":
        count = max(dice.choice([0, 1, 1, 2, 3]), one.get("minItems", 0)) if depth < MAX_DEPTH else 0
        return [make(dice, one["items"], field, depth + 1) for _ in range(count)]
    if kind == "boolean":
        return dice.random() < 0.5
    if kind == "string":
        maker = words.keys if one is resolved({"$ref": "#/$defs/dispatch_keys"}) else WORDS.get(field, words.word)
        return words.sometimes_harmful(dice, words.key(dice) if field == "dispatch_key" else maker(dice))
    if "anyOf" in one:
        return make(dice, dice.choice(one["anyOf"]), field, depth)
    return words.word(dice)


def _make_record(dice: random.Random, one: Schema, depth: int) -> dict[str, Any]:
    needed = {*one.get("required", ())}
    if "anyOf" in one:
        needed |= {*dice.choice(one["anyOf"])["required"]}
    chance = 0.25 if depth < MAX_DEPTH else 0
    fields = {name: value for name, value in one["properties"].items() if name in needed or dice.random() < chance}
    return {name: make(dice, value, name, depth + 1) for name, value in fields.items()}


class Spot(NamedTuple):
    """A part of a document: where it is, what the schema says of it, and the field that it belongs to."""

    holder: Any
    key: Any
    schema: Schema
    field: str


def spots(value: Any, one: Schema, field: str = "") -> Iterator[Spot]:
    """All parts below a value."""
    one = _alternative(value, resolved(one))
    if isinstance(value, dict):
        for key, below in value.items():
            inner = one.get("properties", {}).get(key) or one.get("additionalProperties") or {"type": "string"}
            inner = inner if isinstance(inner, dict) else {"type": "string"}
            name = key if "properties" in one else f"{field}#value"
            yield Spot(value, key, inner, name)
            yield from spots(below, inner, name)
    elif isinstance(value, list):
        for index, below in enumerate(value):
            inner = one.get("items", {"type": "string"})
            yield Spot(value, index, inner, field)
            yield from spots(below, inner, field)


def _alternative(value: Any, one: Schema) -> Schema:
    """The alternative of a schema that a value of this type is of."""
    if "properties" in one or "anyOf" not in one:
        return one
    wanted = {dict: "object", list: "array"}.get(type(value))
    for choice in map(resolved, one["anyOf"]):
        alternative = _alternative(value, choice)
        if alternative.get("type") == wanted:
            return alternative
    return one


def document(dice: random.Random, careful: bool) -> Any:
    """A random document. careful: a good file; else of anything that the schema has, or has not."""
    top = schema()
    if not careful and dice.random() < 0.15:
        return {"dispatch": 1, **{name: make(dice, top["properties"][name], name) for name in _sections(dice)}}
    changed = copy.deepcopy(dice.choice(seeds()))
    if careful:
        return changed
    for _ in range(dice.choice([0, 1, 1, 2, 2, 3, 5])):
        places = list(spots(changed, top))
        if not places:
            break
        _change(dice, dice.choice(places))
    if dice.random() < 0.5:
        name = dice.choice(["guards", "suppress", "fallbacks", "operators", "modes", "higher_order_operators"])
        changed.setdefault(name, make(dice, top["properties"][name], name))
    return changed


def _sections(dice: random.Random) -> list[str]:
    names = [name for name in schema()["properties"] if name not in ("dispatch", "snapshot", "pytorch", "imported")]
    return dice.sample(names, dice.randrange(1, 5))


def _change(dice: random.Random, spot: Spot) -> None:
    """Make a part anew, double it, take it away, or move it."""
    holder, key = spot.holder, spot.key
    number = dice.random()
    if number < 0.6:
        holder[key] = make(dice, spot.schema, spot.field, 3)
    elif number < 0.7:
        del holder[key]
    elif number < 0.85 and isinstance(holder, list):
        holder.insert(dice.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
    elif number < 0.9 and isinstance(holder, list):
        dice.shuffle(holder)
    elif number < 0.97 and isinstance(holder, dict):
        holder[words.sometimes_harmful(dice, str(key), 0.5)] = holder.pop(key)
    else:
        holder[key] = dice.choice([None, 1, -1, 1e99, True, [], {}, "", [[]], {"a": {"b": 1}}, "x" * 3000])
