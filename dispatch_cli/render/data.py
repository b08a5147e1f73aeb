"""Reports as JSON, straight from their fields.

A record (a named tuple or a dataclass) is an object with its fields, an enum is its value, a tuple is a list. What
differs from that is in short tables: names and fields (`RENAMED`, `INLINED`, `PAIRS`, `OMITTED`), values that are
written as something else (`converters`), and sentences that a record has in JSON only, in the words of this layer
(`SENTENCES`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from importlib import import_module
from json.encoder import encode_basestring_ascii
from operator import attrgetter
from types import NoneType
from typing import Any

SCHEMA_VERSION = 4
"""Version of every report's schema; it rises when a field is renamed, changes its meaning, or goes."""

RENAMED = {"span": "declared_at"}
"""Fields whose name in JSON is another."""
INLINED = frozenset({"covered", "difference", "finding", "hop", "key_set", "options", "origin", "selection", "what"})
"""Fields whose own fields stand in their place."""
PAIRS = frozenset({"details"})
"""Fields that are pairs of a name and a value, written as an object."""
_OF_CPP = frozenset({"before", "blockers", "live_kernel", "origin", "otherwise", "stale", "when"})
_OF_PYTHON = frozenset({"chosen_key", "differs", "python"})
OMITTED = {
    "Assumed": frozenset({"kernels"}),
    "FindingsReport": frozenset({"affected"}),
    "Finding": frozenset({"mark_follows", "shared", "slots"}),
    "HigherOrderHop": frozenset({"entry"}),
    "HigherOrderRow": _OF_CPP | _OF_PYTHON | {"core_fallback", "fallthrough"},
    "HigherOrderImpl": frozenset(
        {"fallthrough", "redispatches", "not_implemented", "deferred_error", "raises", "errors"}
    ),
    "Hop": frozenset({"canonical", "live", "selection"}),
    "Problem": frozenset({"line_text", "operator", "when", "namespace"}),
    "PythonRow": _OF_CPP | {"slot"},
    "Selection": frozenset({"excluded", "included"}),
    "TableRow": _OF_PYTHON | {"error", "slot"},
}
"""Types → fields that JSON does not have: the report says them in another form, or elsewhere."""
SENTENCES = {
    "Advice": {"text": "dispatch_cli.answers.explain.advice_document.advice_text"},
    "Assumed": {"text": "dispatch_cli.answers.resolve.step_wording.assumption"},
    "Change": {
        "text": "dispatch_cli.answers.explain.advice_document.change_text",
        "declarations": "dispatch_cli.answers.explain.advice_document.declarations_text",
    },
    "ExpressionNote": {"text": "dispatch_cli.answers.keys.key_document.expression_note_text"},
    "Note": {"text": "dispatch_cli.answers.table.wording.note_text"},
    "TraceFinding": {
        "text": "dispatch_cli.answers.trace.findings.wording.finding_text",
        "help": "dispatch_cli.answers.trace.findings.wording.finding_help",
    },
    "RuleEntry": {
        "name": "dispatch_cli.answers.explain.rules_document.name_of",
        "words": "dispatch_cli.answers.explain.rules_document.words_of",
    },
}
"""Types → further fields in JSON, each with the function that words it."""

Encode = Callable[[Any], Any]


def json_text(report: Any) -> Iterator[str]:
    """A report as a JSON object. report: a record with its name in ``REPORT``.

    Where the last field is an iterator or a list, it is written item by item, so that a long one is never held whole.
    """
    names = names_of(type(report))
    last = getattr(report, names[-1])
    head = {"schema_version": SCHEMA_VERSION, "report": report.REPORT, **_opened(report)}
    if not isinstance(last, Iterator | tuple) or hasattr(last, "_fields"):
        yield f"{_text(head)}\n"
        return
    del head[names[-1]]
    yield f'{_text(head)[:-2]},\n  "{names[-1]}": ['
    between = ""
    for item in last:
        yield f"{between}\n    {_text(item, _NEWLINE + 4 * ' ')}"
        between = ","
    yield "\n  ]\n}\n" if between else "]\n}\n"


_NEWLINE = "\n"
_WORDS = {None: "null", True: "true", False: "false"}


def _text(value: Any, newline: str = _NEWLINE) -> str:
    """A value as ``json.dumps`` with an indent of 2 writes it; that one's own encoder, in Python, takes twice as long.

    newline: a line break with the blanks that stand before a further line.
    """
    kind = type(value)
    if kind is str:
        return encode_basestring_ascii(value)
    if value is None or kind is bool:
        return _WORDS[value]
    if kind is int:
        return str(value)
    value = _opened(value)
    inner = f"{newline}  "
    if type(value) is dict and value:
        pairs = [f"{inner}{encode_basestring_ascii(name)}: {_text(item, inner)}" for name, item in value.items()]
        return f"{{{','.join(pairs)}{newline}}}"
    if type(value) is list:
        return f"[{','.join([inner + _text(item, inner) for item in value])}{newline}]" if value else "[]"
    return json.dumps(value)


def data_of(value: Any) -> Any:
    """Any value of a report as what JSON knows: dicts, lists, texts, numbers, bools and None."""
    opened = _opened(value)
    if isinstance(opened, dict):
        return {name: data_of(item) for name, item in opened.items()}
    return [data_of(item) for item in opened] if isinstance(opened, list) else opened


def _opened(value: Any) -> Any:
    """The same, but what is inside of a dict or a list is left as it is."""
    kind = type(value)
    open_ = _OPENERS.get(kind)
    if open_ is None:
        open_ = _OPENERS[kind] = _opener(kind)
    return open_(value)


_OPENERS: dict[type, Encode] = {}
"""Writers of the types that were needed so far."""


def _opener(kind: type) -> Encode:
    convert = converters().get(kind)
    if convert is not None:
        return lambda value: _opened(convert(value))
    if issubclass(kind, Enum):
        return lambda value: value.value
    if kind in (str, int, float, bool, NoneType):
        return lambda value: value
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        return _record(kind)
    if issubclass(kind, Mapping):
        return lambda value: {data_of(key): item for key, item in value.items()}
    if issubclass(kind, tuple | list | Iterator):
        return list
    raise TypeError(f"{kind.__name__} is not a value of a report")


def _record(kind: type) -> Encode:
    names, more = names_of(kind), sentences_of(kind)
    written = [RENAMED.get(name, name) for name in names]
    values = attrgetter(*names, "__class__")  # with one name alone it would not give a tuple
    plain = (INLINED | PAIRS).isdisjoint(names)

    def open_record(value: Any) -> dict[str, Any]:
        record: dict[str, Any] = {}
        if plain:
            record = dict(zip(written, values(value), strict=False))
        else:
            for name, item in zip(written, values(value), strict=False):
                record |= _opened(item) if name in INLINED else {name: dict(item) if name in PAIRS else item}
        for name, sentence in more.items():
            record[name] = sentence(value)
        return record

    return open_record


def names_of(kind: Any) -> tuple[str, ...]:
    """The fields of a record that JSON has."""
    names = kind._fields if hasattr(kind, "_fields") else tuple(field.name for field in fields(kind))
    return tuple(name for name in names if name not in OMITTED.get(kind.__name__, ()))


def sentences_of(kind: type) -> dict[str, Encode]:
    """The sentences that a record has in JSON; the modules that word them are imported only where there are some."""
    functions = {}
    for name, path in SENTENCES.get(kind.__name__, {}).items():
        module, _, function = path.rpartition(".")
        functions[name] = getattr(import_module(module), function)
    return functions


@cache
def converters() -> dict[type, Encode]:
    """Functions that write a type as something else than its fields; their return type is its JSON Schema."""
    from dispatch_cli.answers.shared.slot_row import KeyRuns
    from dispatch_cli.engine.keys.keyset import DispatchKeySet, key_set_of
    from dispatch_cli.model.kernel import Redispatch
    from dispatch_cli.model.names import OperatorName

    def keys_of(runs: KeyRuns) -> tuple[str, ...]:
        return runs.keys

    def declared(redispatch: Redispatch) -> bool | str | dict[str, str | list[str]]:
        return redispatch.data

    return {OperatorName: str, DispatchKeySet: key_set_of, KeyRuns: keys_of, Redispatch: declared}
