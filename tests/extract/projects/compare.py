"""An extraction against the live registrations."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dispatch_cli.api import run_declarations
from dispatch_cli.declarations.loader import load
from dispatch_cli.declarations.tree import ExtractedDocument
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.extract.document import document
from dispatch_cli.model.conditions.condition import parse_condition, value
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.cursor import SchemaError
from dispatch_cli.model.schema.parser import parse_printed_schema, parse_schema
from dispatch_cli.model.sources.extracted import Extraction
from tests.extract.projects.live import Live, LiveRow, Row, Rows, Schema
from tests.extract.projects.project import Project


class Comparison(NamedTuple):
    """live: how many registrations there are. found: those that the sources have, too. placed: those of them that
    have a place in C++, and the same one. with_place: how many have a place.

    missing: live, but not in the sources. unconditional, conditional: in the sources, but not live.
    not_boxed: fallthroughs that have a signature live.
    definitions, equal, missing_definitions, different: the same for schemas; a schema that is not known is different.
    extra_definitions: with no conditions.
    """

    live: int
    found: int
    with_place: int
    placed: int
    missing: list[LiveRow]
    misplaced: list[tuple[LiveRow, list[Row]]]
    unconditional: list[Row]
    conditional: list[Row]
    not_boxed: list[Row]
    definitions: int
    equal: int
    missing_definitions: list[str]
    different: list[tuple[str, str, list[Schema]]]
    extra_definitions: list[Schema]


def compare(live: Live, ours: Rows, root: Path, python: bool) -> Comparison:
    """python: whether registrations of Python are compared."""
    by_pair: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in ours.rows:
        by_pair[row.operator, row.key].append(row)
    wanted = [row for row in live.rows if python or not row.python]
    pairs = {(row.operator, row.key) for row in live.rows}
    missing = [row for row in wanted if (row.operator, row.key) not in by_pair]
    matched = [row for row in wanted if (row.operator, row.key) in by_pair]
    misplaced = [
        (row, by_pair[row.operator, row.key])
        for row in matched
        if row.place is not None
        and not any(same_place(row.place, place, root) for place in by_pair[row.operator, row.key])
    ]
    extra = [row for row in ours.rows if (row.operator, row.key) not in pairs]
    boxed = {(row.operator, row.key): row.boxed for row in live.rows}
    named: dict[str, list[Schema]] = defaultdict(list)
    for schema in ours.schemas:
        named[schema.operator].append(schema)
    with_place = sum(row.place is not None for row in matched)
    different = [
        (name, text, named[name])
        for name, text in live.schemas.items()
        if name in named and not any(same_schema(definition.schema, text) for definition in named[name])
    ]
    missing_definitions = [name for name in live.schemas if name not in named]
    return Comparison(
        live=len(wanted),
        found=len(matched),
        with_place=with_place,
        placed=with_place - len(misplaced),
        missing=missing,
        misplaced=misplaced,
        unconditional=[row for row in extra if not row.when],
        conditional=[row for row in extra if row.when],
        not_boxed=[
            row
            for row in ours.rows
            if row.fallthrough and not row.when and not boxed.get((row.operator, row.key), True)
        ],
        definitions=len(live.schemas),
        equal=len(live.schemas) - len(missing_definitions) - len(different),
        missing_definitions=missing_definitions,
        different=different,
        extra_definitions=[
            schema for schema in ours.schemas if schema.operator not in live.schemas and not schema.when
        ],
    )


def same_place(place: tuple[str, int], row: Row, root: Path) -> bool:
    """True if a live place is that of a row's block: the line, and the path within the project."""
    if row.block is None:
        return False
    file, line = row.block
    return line == place[1] and place[0].endswith("/" + Path(file).relative_to(root).as_posix())


def same_schema(ours: str | None, live: str) -> bool:
    """True if two schemas are the same, once both are read; the live one is as PyTorch prints it."""
    if ours is None:
        return False
    try:
        return _sorted_aliases(str(parse_schema(ours))) == _sorted_aliases(str(parse_printed_schema(live)))
    except SchemaError:
        return False


def _sorted_aliases(schema: str) -> str:
    """The schema with each alias set in order: PyTorch prints ``(a|b)`` in the order of a hash table."""
    return re.sub(
        r"\((\w+(?:\|\w+)+)(!?)\)", lambda found: f"({'|'.join(sorted(found[1].split('|')))}{found[2]})", schema
    )


# The dispatch tables of a project's operators: computed from its sources, and from what its build registered.


class Slots(NamedTuple):
    """operators, slots: how many were compared. different: operator, slot, from the sources, from the registrations."""

    operators: int
    slots: int
    different: list[tuple[str, str, str, str]]


def compare_tables(project: Project, extractions: Sequence[Extraction], live: Live) -> Slots:
    """Compare the tables of all operators that the build registers something for."""
    ours = _dispatcher(in_build(document(extractions), project))
    theirs = _dispatcher(_of_live(live, project))
    operators = sorted({row.operator for row in live.rows if project.python or not row.python})
    slots, different = 0, []
    for operator in operators:
        name = OperatorName.parse(operator)
        # an operator that has kernels only at a key that the universe does not know is in neither
        wanted = theirs.table(name) if name in theirs else {}
        table = ours.table(name) if name in ours else {}
        for key in wanted or table:
            slots += 1
            mine, other = _answer(table.get(key)), _answer(wanted.get(key))
            if mine != other:
                different.append((operator, key, mine, other))
    return Slots(len(operators), slots, different)


def _dispatcher(data: Mapping[str, object]) -> Dispatcher:
    return run_declarations(load([ExtractedDocument("sources", data)])).dispatcher


def _answer(entry: Any) -> str:
    """Content of a slot, without the names of kernels: the rule and the key whose kernel is chosen."""
    if entry is None:
        return "no operator"
    return f"{entry.rule.name} {entry.registration.key if entry.registration is not None else '-'}"


def _of_live(live: Live, project: Project) -> dict[str, object]:
    """The recorded registrations as a document."""
    libraries: dict[str, dict[str, Any]] = {}
    for name in live.schemas:
        _library(libraries, name)["define"].append({"name": name, "schema": "unknown"})
    for row in live.rows:
        if project.python or not row.python:
            entry = {"kernel": "live", "dispatch_key": row.key}
            _library(libraries, row.operator)["impl"][row.operator].append(entry)
    return {"dispatch": 1, "extracted": True, "libraries": [*libraries.values()]}


def _library(libraries: dict[str, dict[str, Any]], operator: str) -> dict[str, Any]:
    namespace = operator.partition("::")[0]
    empty = {"kind": "FRAGMENT", "namespace": namespace, "define": [], "impl": defaultdict(list)}
    return libraries.setdefault(namespace, empty)


def in_build(data: Mapping[str, Any], project: Project) -> dict[str, object]:
    """A document without what the recorded build does not have, without conditions, and without backend fallbacks."""
    facts = {**dict.fromkeys((atom for file in project.files for atom in file.when), False), **dict(project.facts)}
    kept = _kept(data, facts)
    assert isinstance(kept, dict)
    kept["libraries"] = [library for library in kept.get("libraries", ()) if "fallback" not in library]
    return {name: one for name, one in kept.items() if name not in ("undecided", "not_understood")}


def _kept(data: Any, facts: Mapping[str, bool]) -> Any:
    """The data without the entries of which a condition is false."""
    if isinstance(data, dict):
        kept = {key: _kept(one, facts) for key, one in data.items() if key != "when" and _holds(one, facts)}
        return {key: one for key, one in kept.items() if one != [] and one != {}}
    if isinstance(data, list | tuple):
        return [_kept(entry, facts) for entry in data if _holds(entry, facts)]
    return data


def _holds(entry: Any, facts: Mapping[str, bool]) -> bool:
    if not isinstance(entry, dict) or "when" not in entry:
        return True
    conditions = entry["when"]
    values = {
        condition: value(parse_condition(condition), facts)
        for condition in ([conditions] if isinstance(conditions, str) else conditions)
    }
    if False in values.values():
        return False
    assert None not in values.values(), f"whether {values} holds in the recorded build is not said"
    return True
