"""An extraction against the live registrations."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from dispatch_cli.model.schema.error import SchemaError
from dispatch_cli.model.schema.parser import parse_printed_schema, parse_schema
from tests.extract.projects.live import Live, LiveRow
from tests.extract.projects.rows import Row, Rows, Schema


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
