"""The JSON Schema of each report, from the types of its fields: the same types and tables by which `data` writes it."""

from __future__ import annotations

import pkgutil
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from enum import Enum
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from dispatch_cli import answers
from dispatch_cli.render import data

_OF_PEOPLE = re.compile(r"command|document$|wording$")
"""Modules of answers that have no reports, but what people see of them."""
_SIMPLE = {str: "string", bool: "boolean", int: "integer", float: "number", NoneType: "null"}
_LISTS = (tuple, list, Iterator, Iterable)

Json = dict[str, Any]


def report_types() -> dict[str, type]:
    """Every report by its name."""
    for module in pkgutil.walk_packages(answers.__path__, f"{answers.__name__}."):
        if _OF_PEOPLE.search(module.name) is None:
            import_module(module.name)
    classes = _classes()
    named = ((vars(kind).get("REPORT"), kind) for kind in classes.values())
    return dict(sorted((name, kind) for name, kind in named if isinstance(name, str)))


def report_schema(kind: type) -> Json:
    """The JSON Schema (2020-12) of a report."""
    describer = _Describer()
    body = describer.record(kind)
    head = {"schema_version": {"const": data.SCHEMA_VERSION}, "report": {"const": vars(kind)["REPORT"]}}
    for shape in body.get("anyOf", [body]):
        shape["properties"] = {**head, **shape["properties"]}
        shape["required"] = [*head, *shape["required"]]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"dispatch-cli report {vars(kind)['REPORT']}",
        **body,
        "$defs": dict(sorted(describer.definitions.items())),
    }


def _classes() -> dict[str, type]:
    """The classes of the package that are imported, by name; those of a report's own module count first (`_hints`)."""
    modules = [module for name, module in sys.modules.items() if name.startswith("dispatch_cli.")]
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == module.__name__
    }


class _Describer:
    """Describes types; records are described once, in `definitions`."""

    def __init__(self) -> None:
        self.definitions: dict[str, Json] = {}
        self._classes = _classes()
        self._variables: dict[str, Any] = {}

    def record(self, kind: type) -> Json:
        """A record. A field in whose place other fields stand can have several shapes, and so can the record then."""
        hints = self._hints(kind)
        shapes: list[Json] = [{}]
        for name in data.names_of(kind):
            if name not in data.INLINED:
                pairs = {"type": "object", "additionalProperties": {"type": "string"}}
                described = pairs if name in data.PAIRS else self.described(hints[name])
                for shape in shapes:
                    shape[data.RENAMED.get(name, name)] = described
                continue
            inlined = [self.record(arg) for arg in get_args(hints[name]) or (hints[name],)]
            shapes = [{**shape, **schema["properties"]} for shape in shapes for schema in inlined]
        for name, sentence in data.sentences_of(kind).items():
            property_schema = self.described(self._hints(sentence)["return"])
            for shape in shapes:
                shape[name] = property_schema
        objects: list[Json] = [
            {"type": "object", "properties": shape, "required": [*shape], "additionalProperties": False}
            for shape in shapes
        ]
        return objects[0] if len(objects) == 1 else {"anyOf": objects}

    def _hints(self, annotated: Any) -> dict[str, Any]:
        """The types of fields, or of a function, also those that are imported for type checkers only."""
        module = vars(sys.modules[annotated.__module__])
        return get_type_hints(annotated, localns={**self._classes, **module, **self._variables})

    def described(self, kind: Any) -> Json:
        """Any type that a field of a report has."""
        origin, arguments = get_origin(kind), get_args(kind)
        if kind in _SIMPLE:
            return {"type": _SIMPLE[kind]}
        if origin in (Union, UnionType):
            return {"anyOf": [self.described(argument) for argument in arguments]}
        if origin is Literal:
            return {"enum": [*arguments]}
        if origin in _LISTS:
            return self._list(origin, arguments)
        if origin is not None and issubclass(origin, Mapping):
            return self._mapping(*arguments)
        if origin is not None:  # a record of other records, such as Folded[TableRow]
            return self._generic(origin, arguments)
        return self._class(kind)

    def _list(self, origin: Any, arguments: tuple[Any, ...]) -> Json:
        if origin is tuple and arguments[1:] != (...,):
            schemas = [self.described(argument) for argument in arguments]
            return {"type": "array", "prefixItems": schemas, "minItems": len(schemas), "maxItems": len(schemas)}
        return {"type": "array", "items": self.described(arguments[0])}

    def _mapping(self, key: Any, value: Any) -> Json:
        described: Json = {"type": "object", "additionalProperties": self.described(value)}
        if isinstance(key, type) and issubclass(key, Enum):
            described["propertyNames"] = {"enum": [member.value for member in key]}
        return described

    def _class(self, kind: Any) -> Json:
        convert = data.converters().get(kind)
        if convert is not None:
            return self.described(str if convert is str else self._hints(convert)["return"])
        if issubclass(kind, Enum):
            return {"enum": [member.value for member in kind]}
        if not is_dataclass(kind) and not hasattr(kind, "_fields"):
            raise TypeError(f"{kind} is not a type of a report")
        return self._defined(kind.__name__, kind)

    def _generic(self, origin: Any, arguments: tuple[Any, ...]) -> Json:
        """A record with a type variable; its name has that of the type for the variable."""
        variables = {param.__name__: argument for param, argument in zip(origin.__parameters__, arguments, strict=True)}
        name = "".join((origin.__name__, *(argument.__name__ for argument in arguments)))
        outer, self._variables = self._variables, variables
        try:
            return self._defined(name, origin)
        finally:
            self._variables = outer

    def _defined(self, name: str, kind: Any) -> Json:
        if name not in self.definitions:
            self.definitions[name] = {}  # it may hold itself
            self.definitions[name] = self.record(kind)
        return {"$ref": f"#/$defs/{name}"}
