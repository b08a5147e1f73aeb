"""Data flows one way: declarations → model → engine → checks → answers → command line. Who may import whom."""

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
    "answers.shared": {"model", "engine", "checks", "answers.shared"},
    "render": {"", "model", "engine", "checks", "answers.shared", "render"},
    "answers.report": {
        *("model", "engine", "checks", "crossref", "bases", "trace", "api", "answers.shared", "answers.report"),
    },
    "answers.document": {
        *("", "model", "engine", "checks", "crossref", "bases", "trace", "render"),
        *("answers.shared", "answers.report", "answers.document"),
    },
    "bases.build": {"model", "universes", "bases", "capture"},  # a tool, run when the embedded states are made
    "bases.regenerate": {"model", "universes", "bases", "capture"},  # and another
    "capture": {"model", "universes", "capture", "bases", "declarations.source"},
    "crossref": {"model", "universes", "engine", "capture", "declarations", "bases", "crossref"},
    "bindings": {"model", "universes", "engine", "bindings"},
    "whatif": {"model", "engine", "checks", "answers.shared", "answers.report", "whatif"},
    "trace": {"model", "engine", "universes", "bases", "capture", "trace"},
    "page": {
        *("", "model", "engine", "checks", "bases", "trace", "render", "page"),
        *("answers.shared", "answers.report", "answers.document"),
    },
    "explore": {
        *("", "model", "engine", "checks", "render", "declarations", "files", "universes", "bases"),
        *("api", "whatif", "trace", "answers.shared", "answers.report", "answers.document", "explore"),
    },
    "cli": {
        *("", "api", "whatif", "page", "explore", "checks", "model", "engine", "declarations", "bases", "capture"),
        *("crossref", "trace", "render", "universes", "extract", "files", "audit", "cli", "answers"),
        *("answers.shared", "answers.report", "answers.document"),
    },
    "answers.command": {
        *("", "api", "checks", "model", "engine", "declarations", "bases", "capture", "crossref", "trace", "render"),
        *("universes", "extract", "files", "audit"),
        *("answers.shared", "answers.report", "answers.document", "cli", "answers.command"),
    },
}
"""Part of the package → the parts that it may import; ``""`` is the package itself (its version).

The modules of an answer are its report (plain data), its documents (blocks of `render`, and their words) and its
commands; their names say which, see `layer_of`.
"""
ANSWERS = (
    *("shared", "findings", "table", "keys", "history", "diff", "explain", "errors", "resolve", "trace"),
    *("coverage", "support", "sources"),
)
"""The answers in order: reports and documents import from their own folder and those before it. Commands may import
all, since they put answers together."""
MOST_FILES = 15
"""Modules of one folder of an answer."""
ENGINE = (
    *("rules", "table", "keys", "dispatcher", "python", "variants", "state", "history", "comparison", "slot_orders"),
    "order",
    "call",
    "backend_answers",
    "coverage",
    "support",
)
"""The parts of the engine in order: each may import itself and those before it."""
OUTSIDE = {
    "click": {"cli", "answers.command"},
    "rich": {"render", "cli", "explore", "answers.command"},
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
    if inside.startswith("answers."):
        return f"answers.{layer_of(inside)}"
    return inside if inside in ALLOWED else inside.partition(".")[0]


def layer_of(inside: str) -> str:
    """The layer of a module of an answer, by its name: shared, command, document or report."""
    parts = inside.split(".")
    if parts[1] == "shared":
        return "shared"
    if "command" in parts[-1].split("_"):
        return "command"
    return "document" if parts[-1].split("_")[-1] in ("document", "wording") else "report"


def is_allowed(part: str, imported: str) -> bool:
    inside = imported.removeprefix("dispatch_cli").removeprefix(".")
    allowed = ALLOWED[part]
    return part_of(imported) in allowed or any(
        inside == area or (area and inside.startswith(f"{area}.")) for area in allowed
    )


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


def folder_of(module: str, part: str) -> str | None:
    """The folder of a part of the package that a module belongs to; None outside the part."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["dispatch_cli", part] and len(parts) > 2 else None


@pytest.mark.parametrize(("part", "order"), [("engine", ENGINE), ("answers", ANSWERS)])
def test_folders_import_from_those_before_them(part: str, order: tuple[str, ...]) -> None:
    between = [
        (module, name, folder_of(module, part), folder_of(name, part))
        for module, name in imports()
        if folder_of(name, part) is not None and part_of(module) != "answers.command"
    ]
    wrong = [
        f"{module} imports {name}"
        for module, name, folder, imported in between
        if folder is not None and imported not in order[: order.index(folder) + 1]
    ]
    assert wrong == []
    assert {path.stem for path in (PACKAGE / part).iterdir()} - {"__init__", "__pycache__"} == set(order)


def test_a_folder_of_an_answer_can_be_read_in_one_sitting() -> None:
    folders = [folder for folder in (PACKAGE / "answers").rglob("*") if folder.is_dir()]
    sizes = {str(folder.relative_to(PACKAGE)): len([*folder.glob("[!_]*.py")]) for folder in folders}
    assert {name: size for name, size in sizes.items() if size > MOST_FILES} == {}


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
    for part, allowed in ALLOWED.items():
        for area in allowed - {"", "answers", part}:
            other = area if area in ALLOWED else area.partition(".")[0]
            names = {name if name in ALLOWED else name.partition(".")[0] for name in ALLOWED[other]}
            assert part not in names, (part, other)
