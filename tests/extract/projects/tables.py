"""The dispatch tables of a project's operators: computed from its sources, and from what its build registered.

Both are computed by our engine, over the same universe, so that they differ only where the registrations do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from dispatch_cli.api import run_declarations
from dispatch_cli.declarations.extracted import ExtractedDocument
from dispatch_cli.declarations.loader import load
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.extract.document import document
from dispatch_cli.model.condition import parse_condition, value
from dispatch_cli.model.extracted import Extraction
from dispatch_cli.model.names import OperatorName
from tests.extract.projects.live import Live
from tests.extract.projects.project import Project


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
