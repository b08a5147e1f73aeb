"""Header of a file, before its sections: format version, universe, and what it extends; a first look at files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dispatch_cli import bases, universes
from dispatch_cli.declarations import source
from dispatch_cli.declarations.fields import Values, read_record, scalars, word_of
from dispatch_cli.declarations.formats.file_format import FILE, VERSION
from dispatch_cli.declarations.problems import Problems
from dispatch_cli.declarations.source import STDIN
from dispatch_cli.declarations.tree import Mapping, Node, Scalar, kind_of
from dispatch_cli.declarations.yaml_reader import ENDINGS, parse
from dispatch_cli.files import paths
from dispatch_cli.model.declarations import Registrant
from dispatch_cli.model.problem import Problem
from dispatch_cli.model.span import Span
from dispatch_cli.model.text.quoting import quoted
from dispatch_cli.model.text.suggest import suggestion
from dispatch_cli.model.universe import Universe


@dataclass(frozen=True, slots=True)
class Extension:
    """One entry of ``extends``: a state that is embedded, or a file as a path that can be opened from here."""

    target: str
    is_base: bool
    node: Scalar


@dataclass(frozen=True, slots=True)
class Header:
    """The head of a file.

    universe: that it asks for; None where it cannot be had, which is noted. universe_at: where; None where it asks for
    none. by: who registered what the file holds. sections: the fields whose values can be read, in the order they are
    written. privateuse1: the name that it gives to the backend there. extracted: ``extract`` wrote it.
    """

    universe: Universe | None = None
    universe_at: Node | None = None
    by: Registrant = Registrant.USER
    extends: tuple[Extension, ...] = ()
    sections: tuple[tuple[str, Node], ...] = ()
    privateuse1: Scalar | None = None
    extracted: bool = False

    @property
    def is_snapshot(self) -> bool:
        """True if the file holds what PyTorch has printed."""
        return self.by is not Registrant.USER


NO_HEADER = Header()
"""The head of a file that cannot be understood."""


def read_header(problems: Problems, root: Node) -> Header:
    """Read the head of a file. NO_HEADER, noting why, when the rest of it cannot be understood."""
    if type(root) is not Mapping:
        message = f"expected a mapping that begins with 'dispatch: {VERSION}', found {kind_of(root)}"
        problems.add("wrong-type", message, root)
        return NO_HEADER
    values = read_record(problems, root, FILE) or Values(problems, root)
    sections = tuple((name, value) for name, value in values.items() if value is not None)
    by = Registrant.USER
    if values.flag("snapshot"):
        by = Registrant.PYTORCH if values.flag("pytorch") else Registrant.UNKNOWN
    extends = _extensions(problems, values.get("extends"))
    backend = values.get("privateuse1")
    named = backend if type(backend) is Scalar and word_of(problems, backend) is not None else None
    extracted = values.flag("extracted") is True
    return Header(_universe(values), values.get("universe"), by, extends, sections, named, extracted)


def _universe(values: Values) -> Universe | None:
    problems, node = values.problems, values.get("universe")
    if type(node) is Mapping:
        from dispatch_cli.declarations.universe_file import read_universe

        return read_universe(problems, node)
    text = word_of(problems, node)
    if text is None or node is None:
        return None
    text = bases.resolve(text).name
    if text in universes.names():
        return universes.load(text)
    embedded = ", ".join(universes.names())
    hint = f"the embedded universes are {embedded}; one of your own is written here, as captures have it"
    problems.add("unknown-universe", f"there is no embedded universe {quoted(text)}", node, hint)
    return None


def _extensions(problems: Problems, node: Node | None) -> tuple[Extension, ...]:
    extensions: list[Extension] = []
    for item in scalars(problems, node, "the name of an embedded state or the path of a file"):
        text = word_of(problems, item)
        if text is None:
            continue
        text = bases.resolve(text).name
        if "/" in text or os.sep in text or text.endswith(ENDINGS):
            extensions.append(Extension(_beside(problems, text), False, item))
        elif text in bases.names() or text in bases.overlay_names():
            extensions.append(Extension(text, True, item))
        else:
            problems.add("unknown-state", f"there is no embedded state {quoted(text)}", item, base_hint(text))
    return tuple(extensions)


def base_hint(name: str) -> str:
    """Hint for an unknown state: a name to write in its place."""
    if (overlay := suggestion(name, bases.overlay_names(), cutoff=0.8)) and "-" in name.removeprefix("torch-"):
        return overlay
    if f"torch-{name}" in bases.names():
        return f"did you mean torch-{name}?"
    return f"the embedded states are {', '.join(bases.names())}; write a file as a path, such as ./NAME.yaml"


def _beside(problems: Problems, path: str) -> str:
    """A path that is relative to the file, as one that is relative to the working directory."""
    file = problems.source.file
    return path if file == STDIN else paths.join(paths.folder_of(file), path)  # keeps ./ and ../


def broken_declarations(files: Iterable[str]) -> Iterator[Problem]:
    """The first problem of each file that is no YAML, or whose head cannot be read."""
    for file in files:
        try:
            problems = Problems(source.read(file))
        except source.SourceError as error:
            yield Problem(error.code, error.message, Span(file, error.line, error.column), hint=error.hint)
            continue
        root = parse(problems)
        if root is not None:
            read_header(problems, root)
        yield from problems.problems[:1]
