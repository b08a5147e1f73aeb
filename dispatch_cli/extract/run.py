"""A run over sources: the files are found, read by their kinds, and what they say becomes one document."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from dispatch_cli.audit import audit
from dispatch_cli.declarations import source
from dispatch_cli.declarations.header import broken_declarations
from dispatch_cli.extract.alternatives import with_alternatives
from dispatch_cli.extract.document import document
from dispatch_cli.extract.given_names import backend_names, imported_names, of_package, without_guesses, without_names
from dispatch_cli.extract.kinds import is_code
from dispatch_cli.extract.left_out import BOUNDS, Exclusion, LeftOut, Walked, WhyLeftOut
from dispatch_cli.extract.readable import readable, with_answers
from dispatch_cli.extract.sources import Sources, settings_of_files
from dispatch_cli.extract.walk import walk
from dispatch_cli.files.ignore_rules import IgnoreList
from dispatch_cli.model.declarations import NotUnderstood
from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.model.sources.extracted import (
    CustomOperator,
    Extracted,
    ExtractedBlock,
    ExtractedDefinition,
    Extraction,
    SourceKind,
    Unknown,
)
from dispatch_cli.model.sources.source_settings import SourceSettings
from dispatch_cli.model.span import Span

_IN_TEMPLATE = "this file is a template, which is filled in when the project is built"
_UNACCOUNTED = "it looks like a registration, and no registration was read there"
_OF_TORCHGEN = (SourceKind.NATIVE_FUNCTIONS, SourceKind.DERIVATIVES, SourceKind.BACKEND_YAML)
_LINE_BREAK = re.compile("\r\n|[\r\n]")


def _collect(
    walked: Walked, sources: Sources, backends: tuple[str, ...] | None, pytorch: Callable[[], Iterable[str]] | None
) -> SourceRun:
    """Read the files. Errors: InputError for those that were named and cannot be read."""
    those = list(_extractions(sources, backends, pytorch))
    guessed = frozenset(name for name, is_guess in sources.stand_ins.items() if is_guess)
    known = without_guesses(map(readable, those), guessed, sources.read)
    extractions = with_alternatives(with_answers(known), sources)
    items = [item for extraction in extractions for item in extraction.items]
    not_blocks = [item for item in items if not isinstance(item, ExtractedBlock)]
    not_understood = {statement.at for extraction in extractions for statement in extraction.not_understood}
    certain = [item for item in items if not (_may_define(item) and item.at in not_understood)]
    blocks = sum(isinstance(item, ExtractedBlock) for item in certain)
    definitions = sum(isinstance(item, ExtractedDefinition | CustomOperator) for item in certain)
    names, written = _with_backends(extractions, items, walked, sources)
    problems = [problem for extraction in extractions for problem in extraction.problems]
    problems += broken_declarations(walked.files.get(SourceKind.DECLARATIONS, ()))
    if of_named := [problem for problem in problems if problem.span is None or problem.span.file in walked.named]:
        raise InputError(tuple(of_named))
    broken = {problem.span.file: problem for problem in reversed(problems) if problem.span is not None}
    unread = [*_audited(walked, sources, extractions), *_unread(walked, broken)]
    backend = names[0][0] if len(names) == 1 else None
    data = document([*written, Extraction(not_understood=tuple(unread))], backend)
    return SourceRun(
        document=data,
        blocks=blocks,
        definitions=definitions,
        registrations=len(certain) - blocks - definitions,
        conditional=sum(bool(item.when or getattr(item, "block", item).when) for item in not_blocks),
        not_understood=tuple((it["at"], it["text"], it["reason"]) for it in data.get("not_understood", ())),
        missing=tuple(part for extraction in extractions for part in extraction.missing),
        stand_ins=tuple(sorted(sources.stand_ins)),
        files=tuple((kind, len(walked.files[kind])) for kind in SourceKind if kind in walked.files),
        left_out=(*walked.left_out, *map(_broken, broken.values())),
        declarations=tuple(file for file in walked.files.get(SourceKind.DECLARATIONS, ()) if file not in broken),
        lines=partial(_lines, sources.opened),
        backend_names=tuple(names),
    )


def _with_backends(
    extractions: list[Extraction], items: Sequence[Extracted], walked: Walked, sources: Sources
) -> tuple[list[tuple[str, Span]], list[Extraction]]:
    """The names of the backend at PrivateUse1, and the extractions with what follows from them."""
    names = backend_names(walked.naming, sources.read)
    if not names:
        names = imported_names(items, sources.files.get(SourceKind.PYTHON, ()), sources.read)
        extractions = [*extractions, *(Extraction(tuple(of_package(name, place))) for name, place in names)]
    if len(names) > 1:
        several = frozenset(name for name, _ in names)
        extractions = [part._replace(items=tuple(without_names(part.items, several))) for part in extractions]
    return names, extractions


def _audited(walked: Walked, sources: Sources, extractions: Iterable[Extraction]) -> Iterator[NotUnderstood]:
    """The statements that only the audit finds."""
    accounted = frozenset(place for extraction in extractions for place in extraction.accounted)
    code = (SourceKind.CPP, SourceKind.PYTHON)
    texts = dict.fromkeys((*sources.headers, *(name for kind in code for name in sources.files.get(kind, ()))))
    whys = {**dict.fromkeys(texts, _UNACCOUNTED), **dict.fromkeys(walked.templates, _IN_TEMPLATE)}
    for at, _, text in audit([*sorted(texts), *walked.templates], sources.read, accounted):
        yield NotUnderstood(at, text, whys[at.file])


def _extractions(
    sources: Sources, backends: tuple[str, ...] | None, pytorch: Callable[[], Iterable[str]] | None
) -> Iterator[Extraction]:
    """Findings of each reader, which is imported where there are files of its kind."""
    if sources.files.get(SourceKind.CPP):
        from dispatch_cli.extract.cpp.run import extract_cpp

        yield extract_cpp(sources)
    if sources.files.get(SourceKind.PYTHON):
        from dispatch_cli.extract.python.reading import extract_python

        yield extract_python(sources)
    if any(sources.files.get(kind) for kind in _OF_TORCHGEN):
        from dispatch_cli.extract.torchgen.run import extract_torchgen

        yield extract_torchgen(sources, backends, pytorch)


def _may_define(item: Extracted) -> bool:
    """True for a definition of which neither the name nor the schema is known."""
    return isinstance(item, ExtractedDefinition) and item.schema is None and isinstance(item.name, Unknown)


class SourceRun(NamedTuple):
    """Result of a run over sources.

    document: a declaration, as plain data. blocks, definitions, registrations: numbers; conditional: number of those
    definitions and registrations that depend on a condition. not_understood: place, text and reason of each
    statement, as the document has them. missing: what ``--set`` would decide more by, and how much.
    stand_ins: namespaces that stand for a ``TORCH_EXTENSION_NAME`` that is not known.
    files: number of those read, by kind. left_out: files not read. declarations: declaration files in directories.
    lines: gives the lines of a file. backend_names: the names that the sources give to the backend at PrivateUse1, each
    with its place; the document has a single one.
    """

    document: dict[str, Any]
    blocks: int
    definitions: int
    registrations: int
    conditional: int
    not_understood: tuple[tuple[str, str, str], ...]
    missing: tuple[tuple[str, int], ...]
    stand_ins: tuple[str, ...]
    files: tuple[tuple[SourceKind, int], ...]
    left_out: tuple[LeftOut, ...]
    declarations: tuple[str, ...]
    lines: Callable[[str], Sequence[str]]
    backend_names: tuple[tuple[str, Span], ...]


def run(
    paths: Sequence[str],
    settings: Sequence[SourceSettings] = (),
    *,
    allow_outside: bool = False,
    progress: Callable[[str], None] | None = None,
    pytorch: Callable[[], Iterable[str]] | None = None,
) -> SourceRun:
    """Read sources.

    paths: files and directories. settings: how they are read, the weaker ones first. allow_outside: as for
    declarations. progress: is told each file that is read. pytorch: gives the schemas of PyTorch's operators, with
    namespaces.
    Errors: InputError for what was named and cannot be used.
    """
    derivatives = next((item.derivatives for item in reversed(settings) if item.derivatives is not None), None)
    named = [*paths, *((derivatives,) if derivatives is not None and derivatives not in paths else ())]
    backends = next((item.codegen_backends for item in reversed(settings) if item.codegen_backends is not None), None)
    with_tests = next((item.tests for item in reversed(settings) if item.tests is not None), False)
    excluded = [Exclusion(item.folder, IgnoreList(item.exclude)) for item in settings if item.exclude]
    walked = walk(named, excluded, allow_outside, with_tests)
    include = tuple(dict.fromkeys(path for item in reversed(settings) for path in item.include))
    sources = Sources(
        files={kind: names for kind, names in walked.files.items() if kind is not SourceKind.DECLARATIONS},
        headers=walked.headers,
        include=include,
        settings=settings_of_files(settings),
        named=walked.named,
        progress=progress,
    )
    return _collect(walked, sources, backends, pytorch)


def _unread(walked: Walked, broken: Mapping[str, Problem]) -> Iterator[NotUnderstood]:
    """The statements for what a bound leaves out, for code that cannot be opened, and for broken declarations."""
    for part in walked.left_out:
        bound = part.reason in BOUNDS
        unread = part.reason is WhyLeftOut.UNREADABLE and not part.is_folder and is_code(part.path)
        if bound or unread:
            why = f"{part.reason.value}: {part.detail}" if part.detail else part.reason.value
            yield NotUnderstood(Span(part.path, 1, 1), "", why, bound=bound, unread=unread)
    for file, problem in broken.items():
        bound = problem.code in ("too-large", "too-deep")
        if bound or file in walked.files.get(SourceKind.DECLARATIONS, ()):
            yield NotUnderstood(problem.span or Span(file, 1, 1), "", problem.message, bound=bound, unread=not bound)


def _broken(problem: Problem) -> LeftOut:
    assert problem.span is not None, "only files are left out"
    place = f"line {problem.span.line}, column {problem.span.column}"
    return LeftOut(problem.span.file, WhyLeftOut.BROKEN, detail=f"{problem.message} ({place})")


def _lines(read: Collection[str], name: str) -> list[str]:
    """The lines of a file that a run read."""
    if name not in read:
        return []
    try:
        data = source.read_plain(name, source.MAX_SOURCE_BYTES)
    except source.SourceError:
        return []
    return _LINE_BREAK.split(data.decode("utf-8-sig", "replace"))
