"""Fields of declarations: what a value may be, its words for messages and its JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field
from typing import Any

from dispatch_cli.declarations.tree import Mapping, Node, Scalar, Sequence

BOOLEANS = ("true", "false")
FALLTHROUGH = "fallthrough"
CATCH_ALL = "CatchAll"
"""The word for a registration without a dispatch key."""
UNKNOWN = "unknown"
"""The word for a schema that is not known."""
CUSTOM_OP, TRITON_OP = "custom_op", "triton_op"
MAKERS = (CUSTOM_OP, TRITON_OP)
"""The fields with the schema of an operator that ``torch.library`` makes."""
FUNCTIONS = {
    "kernels": "register_kernel",
    "backward": "register_autograd",
    "vmap": "register_vmap",
    "autocast": "register_autocast",
}
"""The functions of ``torch.library`` that register what the fields of an operator say."""


@dataclass(frozen=True, slots=True)
class Type:
    """Type of a value.

    words: for messages and the reference. shapes: the nodes it may be. json: its JSON Schema.
    choices: the only texts it may be; plain: those without quotes. filled: a list must not be empty.
    """

    words: str
    shapes: tuple[type[Node], ...]
    json: AnyMapping[str, Any]
    choices: tuple[str, ...] = ()
    plain: bool = False
    filled: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """One field. default: what holds when it is left out, in words.

    needs: it is only for a mapping that has one of these fields. excludes: and that has none of these.
    """

    name: str
    type: Type
    doc: str
    required: bool = False
    default: str | None = None
    needs: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """A mapping with known fields.

    words: what it is, for messages (``an operator``). one_of: of these fields at least one must be there.
    bound: the fields that need or exclude others.
    """

    name: str
    words: str
    doc: str
    fields: tuple[Field, ...]
    one_of: tuple[str, ...] = ()
    by_name: AnyMapping[str, Field] = field(init=False)
    required: tuple[Field, ...] = field(init=False)
    bound: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", {entry.name: entry for entry in self.fields})
        object.__setattr__(self, "required", tuple(entry for entry in self.fields if entry.required))
        bound = frozenset(entry.name for entry in self.fields if entry.needs or entry.excludes)
        object.__setattr__(self, "bound", bound)


def choice(*texts: str) -> Type:
    """One of these texts."""
    words = texts[0] if len(texts) == 1 else f"one of {', '.join(texts)}"
    return Type(words, (Scalar,), {"enum": list(texts)}, texts)


def list_of(item: Type, words: str, filled: bool = False) -> Type:
    """A list. words: what the items are, in the plural. filled: it must not be empty."""
    least = {"minItems": 1} if filled else {}
    return Type(f"a list of {words}", (Sequence,), {"type": "array", "items": item.json, **least}, filled=filled)


def map_of(names: AnyMapping[str, Any], value: Type, words: str) -> Type:
    """A mapping whose fields are not known. names: their JSON Schema. words: what is mapped to what."""
    schema = {"type": "object", "propertyNames": names, "additionalProperties": value.json}
    return Type(f"a mapping of {words}", (Mapping,), schema)


def either(*types: Type) -> Type:
    """A value of one of these types."""
    shapes = tuple(shape for each in types for shape in each.shapes)
    schema = {"anyOf": [each.json for each in types]}
    *first, last = [each.words for each in types]
    before = " or ".join(first)
    words = f"{before}{',' if ',' in before or ' or ' in before else ''} or {last}"
    return Type(words, shapes, schema, filled=any(each.filled for each in types))


def record(name: str, words: str = "a mapping") -> Type:
    """The mapping with known fields that has this name."""
    return Type(words, (Mapping,), {"$ref": f"#/$defs/{name}"})


def text_or(words: str, name: str) -> Type:
    """A text, or the record *name* where the text alone does not say enough. words: what the text is."""
    return either(Type(words, (Scalar,), NAME), record(name))


def some(item: Type, words: str) -> Type:
    """One value, or a list of them that is not empty. words: what they are, in the plural."""
    return either(item, list_of(item, words, filled=True))


NAME = {"type": "string", "minLength": 1}
"""The JSON Schema of a text."""
KEYS = {"$ref": "#/$defs/dispatch_keys"}
"""The JSON Schema of dispatch keys, separated by commas."""
TEXT = Type("a string", (Scalar,), NAME)
BARE_NAME = Type("a string", (Scalar,), {**NAME, "not": {"pattern": "::"}})
BOOLEAN = Type("true or false", (Scalar,), {"type": "boolean"}, BOOLEANS, plain=True)
ONE_KEY = Type("a dispatch key", (Scalar,), {"$ref": "#/$defs/dispatch_key"})
TEXTS = some(TEXT, "strings")
AT = Field(
    "at",
    TEXT,
    "Where it is in the sources, as `FILE:LINE` or `FILE:LINE:COLUMN`; the path is relative to the working directory. "
    "Findings and errors about it are shown there.",
    default="its place in this file",
)
WHEN = Field(
    "when",
    TEXTS,
    "The conditions under which it is registered, all of which must hold: `defined(USE_CUDA)`, `not (A or B >= 2)`. "
    "They consist of any expressions, joined by `and`, `or` and `not`. Registrations whose conditions exclude each "
    "other are never loaded together.",
    default="always",
)
A_KERNEL = text_or("a kernel name", "kernel")
