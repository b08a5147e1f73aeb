"""Universes that are files, or are written in one: which may be read, what is wrong in them, which are the same."""

from __future__ import annotations

from dispatch_cli import universes
from dispatch_cli.declarations import source
from dispatch_cli.declarations.problems import Problems
from dispatch_cli.declarations.project import within
from dispatch_cli.declarations.tree import Mapping, Node, plain_data
from dispatch_cli.declarations.yaml_reader import parse
from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.model.universe import Universe


def load_universe(name: str, allow_outside: bool = False) -> Universe:
    """The embedded universe of that name, or that of a file that the user named.

    allow_outside: whether it can be a link out of its project. Errors: InputError, with a place for each fault.
    """
    if name in universes.names():
        return universes.load(name)
    try:
        text = source.read(name, within(name, allow_outside))
    except source.SourceError as error:
        if error.code == "file-not-found":
            message = f"there is no universe and no file named {name[:200]!r}"
            hint = f"the embedded universes are {', '.join(universes.names())}"
            raise InputError((Problem("unknown-universe", message, hint=hint),)) from None
        raise InputError((Problem(error.code, f"the universe {name}: {error.message}", hint=error.hint),)) from None
    problems = Problems(text)
    root = parse(problems)
    if root is None and not problems:
        raise InputError((Problem("bad-universe", f"{name} is empty"),))
    root = None if root is None else _universe_in(problems, root)
    universe = None if root is None else read_universe(problems, root)
    if universe is None:
        raise InputError(problems.problems)
    return universe


def _universe_in(problems: Problems, root: Node) -> Node | None:
    """Node of the universe in a file: all of it is one, or it has declarations with one in it, as captures have."""
    if not isinstance(root, Mapping) or not any(key.text == "dispatch" for key, _ in root.pairs):
        return root
    universe = next((value for key, value in root.pairs if key.text == "universe"), None)
    if isinstance(universe, Mapping):
        return universe
    hint = "name the universe that it has" if universe is not None else "captures have one"
    problems.add("bad-universe", "this file of declarations has no universe written in it", universe or root, hint)
    return None


def read_universe(problems: Problems, node: Node) -> Universe | None:
    """The universe that a file holds at *node*; None, noting every fault, when it does not hold together."""
    try:
        return universes.from_data(plain_data(node))
    except universes.UniverseError as error:
        for fault in error.faults:
            problems.add("bad-universe", fault, node)
        return None


_BUILD = ("name", "torch", "git", "fallbacks")
"""The fields in which builds of one PyTorch version differ; of the fallbacks, the texts with lines of the source."""


def named_backend(universe: Universe, name: str | None) -> Universe:
    """The universe with that name of the backend at PrivateUse1; None: as it is. Errors: InputError."""
    try:
        return universe if name is None else universe.with_backend(name)
    except ValueError as error:
        raise InputError((Problem("backend-name", str(error)),)) from None


def is_free_backend_name(name: str) -> bool:
    """True if the newest PyTorch takes a name for the backend at PrivateUse1, and has no device of that name."""
    universe = universes.load(universes.default_name())
    try:
        universe.with_backend(name)
    except ValueError:
        return False
    return name not in universe.devices


def layout_differences(first: Universe, second: Universe) -> list[str]:
    """The fields in which two layouts of keys differ; what builds are called, and source lines, do not count."""
    differences = [field for field in universes.differences(first, second) if field not in _BUILD]
    ours, theirs = ([(row.key, row.fallthrough) for row in universe.fallbacks] for universe in (first, second))
    return differences if ours == theirs else [*differences, "fallbacks"]
