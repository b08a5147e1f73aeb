"""Data flows one way: declarations → model → engine → checks → report → render → cli. Who may import whom."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "dispatch_cli"
ALLOWED: dict[str, set[str]] = {
    "": {"api", "declarations", "engine", "model"},  # the package's own names, imported when they are used
    "__main__": {"cli"},
    "model": {"model"},
    "universes": {"model", "universes"},
    "bases": {"model", "universes", "bases"},
    "engine": {"model", "engine"},
    "files": {"model", "files"},
    "declarations": {"model", "files", "universes", "bases", "declarations"},
    "audit": {"model", "audit", "declarations.source"},  # independent of extract, whose work it checks
    "extract": {"model", "files", "extract", "declarations", "audit"},
    "api": {"model", "declarations", "engine", "bases", "universes", "extract", "audit", "trace"},
    "checks": {"model", "engine", "checks"},
    "report": {"model", "engine", "checks", "crossref", "bases", "trace", "report"},
    "render": {"", "model", "engine", "checks", "crossref", "trace", "report", "render", "declarations.text", "bases"},
    "bases.build": {"model", "universes", "bases", "declarations"},  # a tool, run when the embedded states are made
    "bases.regenerate": {"model", "universes", "bases", "declarations", "capture"},  # and another
    "capture": {"model", "universes", "capture", "bases", "declarations.source"},
    "crossref": {"model", "universes", "engine", "capture", "declarations", "bases", "crossref"},
    "bindings": {"model", "universes", "engine", "bindings"},
    "whatif": {"model", "engine", "checks", "report", "whatif"},
    "trace": {
        *("model", "engine", "universes", "bases", "capture", "trace"),
        *("extract.signing", "extract.cache", "extract.cache_files"),
    },
    "answers": {"model", "engine", "bases", "api", "report", "render", "answers"},  # rooms: a report and its document
    "page": {"", "model", "engine", "checks", "report", "render", "bases", "trace", "page"},
    "explore": {
        *("", "model", "engine", "checks", "report", "render", "declarations", "files", "universes", "bases"),
        *("api", "whatif", "trace", "explore"),
    },
    "cli": {
        "",
        "api",
        "whatif",
        "page",
        "explore",
        "checks",
        "model",
        "engine",
        "declarations",
        "bases",
        "capture",
        "crossref",
        "trace",
        "report",
        "render",
        "answers",
        "cli",
        "universes",
        "extract",
        "files",
        "audit",
    },
}
"""Part of the package → the parts that it may import; ``""`` is the package itself (its version)."""
ROOMS = (
    *("rules", "keys", "table", "dispatcher", "python", "variants", "history", "comparison", "order", "call"),
    "coverage",
)
"""The parts of the engine in order: each may import itself and those before it."""
OUTSIDE = {
    "click": {"cli"},
    "rich": {"render", "cli", "explore"},
    "yaml": {"declarations"},
    "torch": {"capture"},
    "tomllib": {"declarations"},
    "tomli": {"declarations"},
    "textual": {"explore"},
}
"""Package from outside → the parts that may import it. Nothing else from outside is imported."""


@cache
def imports() -> tuple[tuple[str, str], ...]:
    """The module that imports, and what it imports; those that only a type checker sees count too."""
    return tuple(_imports())


def _imports() -> Iterator[tuple[str, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        module = ".".join(parts).removesuffix(".__init__")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            for name in _imported(node):
                yield module, name


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        assert node.module is not None
        for alias in node.names:
            inside = PACKAGE.parent.joinpath(*node.module.split("."), alias.name)
            is_module = inside.with_suffix(".py").exists() or (inside / "__init__.py").exists()
            yield f"{node.module}.{alias.name}" if is_module else node.module


def part_of(module: str) -> str:
    inside = module.removeprefix("dispatch_cli").removeprefix(".")
    return inside if inside in ALLOWED else inside.partition(".")[0]


def is_allowed(part: str, imported: str) -> bool:
    inside = imported.removeprefix("dispatch_cli").removeprefix(".")
    return any(inside == one or (one and inside.startswith(f"{one}.")) for one in ALLOWED[part])


def test_every_part_is_in_the_table() -> None:
    assert {part_of(module) for module, _ in imports()} <= set(ALLOWED)
    assert len(imports()) > 300


@pytest.mark.parametrize("part", ALLOWED)
def test_nothing_is_imported_from_above(part: str) -> None:
    wrong = [
        f"{module} imports {name}"
        for module, name in imports()
        if part_of(module) == part and name.split(".")[0] == "dispatch_cli" and not is_allowed(part, name)
    ]
    assert wrong == []


def room_of(module: str) -> str | None:
    """The part of the engine that a module belongs to; None outside the engine."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["dispatch_cli", "engine"] and len(parts) > 2 else None


def test_the_engine_is_in_the_order_of_its_rooms() -> None:
    between = [
        (module, name, room_of(module), room_of(name)) for module, name in imports() if room_of(name) is not None
    ]
    wrong = [
        f"{module} imports {name}"
        for module, name, room, imported in between
        if room is not None and imported not in ROOMS[: ROOMS.index(room) + 1]
    ]
    assert wrong == []
    folder = PACKAGE / "engine"
    assert {path.stem for path in folder.iterdir()} - {"__init__", "__pycache__"} == set(ROOMS)


def test_no_modules_import_each_other() -> None:
    """In any way, at whatever time: functions and type checkers import, too."""
    graph: dict[str, set[str]] = {module: set() for module, _ in imports()}
    for module, name in imports():
        if name in graph and name != module:
            graph[module].add(name)
    done: set[str] = set()
    circles = [circle for module in graph if (circle := _circle(graph, [module], done))]
    assert circles == []


def _circle(graph: dict[str, set[str]], way: list[str], done: set[str]) -> list[str]:
    """The first circle that importing the last module of *way* runs into; none where it leads to an end."""
    for name in sorted(graph[way[-1]] - done):
        if name in way:
            return [*way[way.index(name) :], name]
        if circle := _circle(graph, [*way, name], done):
            return circle
    done.add(way[-1])
    return []


def test_what_comes_from_outside() -> None:
    wrong = [
        f"{module} imports {name}"
        for module, name in imports()
        if name.split(".")[0] not in {*sys.stdlib_module_names, "dispatch_cli"}
        and part_of(module) not in OUTSIDE.get(name.split(".")[0], set())
    ]
    assert wrong == []


def test_the_table_allows_nothing_that_goes_up() -> None:
    """The table itself is in order: no two parts may import each other."""
    order = list(ALLOWED)
    for part, allowed in ALLOWED.items():
        for one in allowed - {"", part}:
            other = one.partition(".")[0]
            assert part not in {name.partition(".")[0] for name in ALLOWED[other]}, (part, other)
    assert order[-1] == "cli"
