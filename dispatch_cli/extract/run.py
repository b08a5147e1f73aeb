"""A run over sources: the files are found, read by their kinds, and what they say becomes one document."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from dispatch_cli.audit import audit
from dispatch_cli.declarations import source
from dispatch_cli.declarations.header import broken_declarations
from dispatch_cli.extract.cache import Cache, key_of
from dispatch_cli.extract.document import with_not_understood
from dispatch_cli.extract.given_names import backend_names as read_backend_names
from dispatch_cli.extract.given_names import imported_names, of_package, without_guesses, without_names
from dispatch_cli.extract.kinds import is_code
from dispatch_cli.extract.left_out import BOUNDS, LeftOut, Walked, WhyLeftOut
from dispatch_cli.extract.sources import ReadSettings, Sources, digest, exclusions, settings_of_files
from dispatch_cli.extract.walk import walk
from dispatch_cli.files import paths
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
from dispatch_cli.model.span import Span, cut_line

_IN_TEMPLATE = "this file is a template, which is filled in when the project is built"
_UNACCOUNTED = "it looks like a registration, and no registration was read there"
_OF_TORCHGEN = (SourceKind.NATIVE_FUNCTIONS, SourceKind.DERIVATIVES, SourceKind.BACKEND_YAML)
Progress = Callable[[str, int, int], None]
"""Called with the file, the number of files read before, and the number of all files."""
_LINE_BREAK = re.compile("\r\n|[\r\n]")


class PyTorchOperators(NamedTuple):
    """PyTorch's operators. name: of the state. schemas: gives them, with namespaces."""

    name: str
    schemas: Callable[[], Iterable[str]]


def collect(
    sources: Sources,
    templates: Sequence[str],
    naming: Sequence[str],
    backends: tuple[str, ...] | None,
    pytorch: PyTorchOperators | None,
) -> dict[str, Any]:
    """The content of the files as plain data, which JSON can express.

    templates: looked through, too. naming: files that may name the backend at PrivateUse1.
    """
    from dispatch_cli.extract.alternatives import with_alternatives
    from dispatch_cli.extract.document import document
    from dispatch_cli.extract.readable import readable, with_answers

    those = list(_extractions(sources, backends, pytorch))
    guessed = frozenset(name for name, is_guess in sources.stand_ins.items() if is_guess)
    known = without_guesses(readable([extraction for _, extraction in those]), guessed, sources.read)
    written = with_alternatives(with_answers(known), sources)
    extractions = [(option, extraction) for (option, _), extraction in zip(those, written, strict=True)]
    items = [item for _, extraction in extractions for item in extraction.items]
    missing = Counter(
        {(option, name): count for option, extraction in extractions for name, count in extraction.missing}
    )
    not_understood = {statement.at for _, extraction in extractions for statement in extraction.not_understood}
    count = Counter(_sort(item) for item in items if not (_may_define(item) and item.at in not_understood))
    accounted = frozenset(place for _, extraction in extractions for place in extraction.accounted)
    python = sources.files.get(SourceKind.PYTHON, ())
    backend_names = read_backend_names(naming, sources.read)
    if not backend_names:
        backend_names = imported_names(items, python, sources.read)
        written += [Extraction(tuple(of_package(name, place))) for name, place in backend_names]
    code = (SourceKind.CPP, SourceKind.PYTHON)
    texts = dict.fromkeys((*sources.headers, *(name for kind in code for name in sources.files.get(kind, ()))))
    places = audit([*sorted(texts), *templates], sources.read, accounted)
    whys = {**dict.fromkeys(texts, _UNACCOUNTED), **dict.fromkeys(templates, _IN_TEMPLATE)}
    audited = Extraction(not_understood=tuple(NotUnderstood(at, text, whys[at.file]) for at, _, text in places))
    backend = backend_names[0][0] if len(backend_names) == 1 else None
    if len(backend_names) > 1:
        several = frozenset(name for name, _ in backend_names)
        written = [extraction._replace(items=tuple(without_names(extraction.items, several))) for extraction in written]
    return {
        "document": document([*written, audited], backend),
        "backend_names": [[name, *place] for name, place in backend_names],
        "counts": [count["block"], count["definition"], count["registration"], sum(map(_is_conditional, items))],
        "problems": [
            [problem.code, problem.message, problem.span, problem.line_text, problem.hint]
            for _, extraction in extractions
            for problem in extraction.problems
        ],
        "missing": [[option, name, count] for (option, name), count in missing.most_common()],
        "stand_ins": sorted(sources.stand_ins),
        "opened": sorted(sources.opened.items()),
        "looked_for": sorted(sources.looked_for.items()),
    }


def _extractions(
    sources: Sources, backends: tuple[str, ...] | None, pytorch: PyTorchOperators | None
) -> Iterator[tuple[str, Extraction]]:
    """Findings of each reader, with what decides more; it is imported where there are files of its kind."""
    if sources.files.get(SourceKind.CPP):
        from dispatch_cli.extract.cpp.run import extract_cpp

        yield "-D", extract_cpp(sources)
    if sources.files.get(SourceKind.PYTHON):
        from dispatch_cli.extract.python.reading import extract_python

        yield "--set", extract_python(sources)
    if any(sources.files.get(kind) for kind in _OF_TORCHGEN):
        from dispatch_cli.extract.torchgen.run import extract_torchgen

        operators = None if pytorch is None else pytorch.schemas
        yield "codegen-backends", extract_torchgen(sources, backends, operators)


def _may_define(item: Extracted) -> bool:
    """True for a definition of which neither the name nor the schema is known."""
    return isinstance(item, ExtractedDefinition) and item.schema is None and isinstance(item.name, Unknown)


def _sort(item: Extracted) -> str:
    if isinstance(item, ExtractedBlock):
        return "block"
    return "definition" if isinstance(item, ExtractedDefinition | CustomOperator) else "registration"


def _is_conditional(item: Extracted) -> bool:
    if isinstance(item, ExtractedBlock):
        return False
    block = getattr(item, "block", None)
    return bool(item.when or (block is not None and block.when))


class SourceRun(NamedTuple):
    """Result of a run over sources.

    document: a declaration, as plain data. blocks, definitions, registrations: numbers; conditional: number of those
    definitions and registrations that depend on a condition. not_understood: place, text and reason of each
    statement, as the document has them. missing: an option that would decide more, a name for it, and how much.
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
    missing: tuple[tuple[str, str, int], ...]
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
    cache: str | None = None,
    progress: Progress | None = None,
    pytorch: PyTorchOperators | None = None,
) -> SourceRun:
    """Read sources.

    paths: files and directories. settings: how they are read, the weaker ones first. allow_outside:
    as for declarations. cache: the folder of the cache; None for none. pytorch: what a backend's YAML speaks of.
    Errors: InputError for what was named and cannot be used.
    """
    derivatives = next((item.derivatives for item in reversed(settings) if item.derivatives is not None), None)
    named = [*paths, *((derivatives,) if derivatives is not None and derivatives not in paths else ())]
    backends = next((item.codegen_backends for item in reversed(settings) if item.codegen_backends is not None), None)
    with_tests = next((item.tests for item in reversed(settings) if item.tests is not None), False)
    reporter = _Reporter(progress)
    read_settings = settings_of_files(settings)
    walked = _built(walk(named, exclusions(settings), allow_outside, reporter.read, with_tests), read_settings)
    include = tuple(dict.fromkeys(path for item in reversed(settings) for path in item.include))
    sources = Sources(
        files={kind: names for kind, names in walked.files.items() if kind is not SourceKind.DECLARATIONS},
        headers=walked.headers,
        include=include,
        settings=read_settings,
        named=walked.named,
        digests=walked.digests,
        progress=reporter.read,
    )
    kept = None if cache is None else Cache(cache)
    key = "" if kept is None else _key(walked, settings, "" if pytorch is None else pytorch.name)
    data = None if kept is None else kept.get(key)
    if data is not None:
        with suppress(ArithmeticError, AttributeError, LookupError, TypeError, ValueError):  # this program wrote it not
            if _is_as_it_was(data):
                return _result(data, walked)
    reporter.start(sum(map(len, sources.files.values())))
    data = collect(sources, walked.templates, walked.naming, backends, pytorch)
    if kept is not None:
        kept.put(key, data)
    return _result(data, walked)


def _built(walked: Walked, read_settings: Callable[[str], ReadSettings]) -> Walked:
    """The same without files that the build does not have, as macros say."""
    absent = {name for names in walked.files.values() for name in names if not read_settings(name).is_built}
    if not absent:
        return walked
    files = {kind: [name for name in names if name not in absent] for kind, names in walked.files.items()}
    left_out = (*walked.left_out, *(LeftOut(name, WhyLeftOut.NOT_BUILT) for name in sorted(absent)))
    return walked._replace(files=files, headers=walked.headers - absent, left_out=left_out)


def _result(data: dict[str, Any], walked: Walked) -> SourceRun:
    """Result of a run from its data. Errors: InputError; any other where the data is not of a run."""
    problems = [*_problems(data, walked), *broken_declarations(walked.files.get(SourceKind.DECLARATIONS, ()))]
    result = _run_of(data, walked, problems)
    if of_named := [problem for problem in problems if problem.span is None or problem.span.file in walked.named]:
        raise InputError(tuple(of_named))
    return result


def _key(walked: Walked, settings: Sequence[SourceSettings], pytorch: str) -> str:
    kinds = [(kind.value, names) for kind, names in walked.files.items()]
    others = [(name, _digest_of(name)) for name in walked.templates]
    named = sorted(walked.named)
    return key_of(kinds, sorted(walked.digests.items()), others, named, repr(settings), pytorch, os.getcwd())  # noqa: PTH109


def _is_as_it_was(data: Any) -> bool:
    """True if the files outside of the run are as they were when the cache got what it has."""
    return all(_digest_of(name) == noted for name, noted in data["opened"]) and all(
        paths.is_file(path) == there for path, there in data["looked_for"]
    )


def _digest_of(name: str) -> str:
    try:
        return digest(source.read_plain(name, source.MAX_SOURCE_BYTES))
    except source.SourceError:
        return ""


def _problems(data: dict[str, Any], walked: Walked) -> Iterator[Problem]:
    """Problems of files that could not be read."""
    lines = _lines_of(walked.digests)
    for code, message, place, line_text, hint in data["problems"]:
        span = None if place is None else Span(*place)
        text = line_text
        if text is None and span is not None:
            text = next(iter(lines(span.file)[span.line - 1 : span.line]), None)
            text = None if text is None else cut_line(text, span.column)
        yield Problem(code, message, span, text, hint)


def _run_of(data: dict[str, Any], walked: Walked, problems: Sequence[Problem]) -> SourceRun:
    broken = {problem.span.file: problem for problem in reversed(problems) if problem.span is not None}
    blocks, definitions, registrations, conditional = data["counts"]
    written: dict[str, Any] = with_not_understood(data["document"], tuple(_unread(walked, broken)))
    return SourceRun(
        document=written,
        blocks=blocks,
        definitions=definitions,
        registrations=registrations,
        conditional=conditional,
        not_understood=tuple((it["at"], it["text"], it["reason"]) for it in written.get("not_understood", ())),
        missing=tuple((option, name, count) for option, name, count in data["missing"]),
        stand_ins=tuple(map(str, data["stand_ins"])),
        files=tuple((kind, len(walked.files[kind])) for kind in SourceKind if kind in walked.files),
        left_out=(*walked.left_out, *map(_broken, broken.values())),
        declarations=tuple(file for file in walked.files.get(SourceKind.DECLARATIONS, ()) if file not in broken),
        lines=_lines_of({**walked.digests, **dict(data["opened"])}),
        backend_names=tuple((name, Span(*place)) for name, *place in data["backend_names"]),
    )


def _unread(walked: Walked, broken: Mapping[str, Problem]) -> Iterator[NotUnderstood]:
    """The statements for what a bound leaves out, for code that cannot be opened, and for broken declarations."""
    for part in walked.left_out:
        bound = part.reason in BOUNDS
        unread = part.reason is WhyLeftOut.UNREADABLE and not part.is_folder and is_code(part.path)
        if bound or unread:
            why = f"{part.reason.value}: {part.detail}" if part.detail else part.reason.value
            yield NotUnderstood(Span(part.path, 1, 1), "", why, bound=bound, unread=unread)
    for file in walked.files.get(SourceKind.DECLARATIONS, ()):
        if file in broken:
            yield NotUnderstood(broken[file].span or Span(file, 1, 1), "", broken[file].message, unread=True)


def _broken(problem: Problem) -> LeftOut:
    assert problem.span is not None, "only files are left out"
    place = f"line {problem.span.line}, column {problem.span.column}"
    return LeftOut(problem.span.file, WhyLeftOut.BROKEN, detail=f"{problem.message} ({place})")


def _lines_of(digests: Mapping[str, str]) -> Callable[[str], list[str]]:
    """Gives the lines of the files of a run; those of a file that is not as it was read are not given."""

    def lines(name: str) -> list[str]:
        try:
            data = source.read_plain(name, source.MAX_SOURCE_BYTES) if name in digests else b""
        except source.SourceError:
            return []
        is_same = digest(data) == digests.get(name)
        return _LINE_BREAK.split(data.decode("utf-8-sig", "replace")) if is_same else []

    return lines


class _Reporter:
    """Reports the progress of the run."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._seen: set[str] = set()
        self._total = 0

    def start(self, total: int) -> None:
        self._seen, self._total = set(), total

    def read(self, name: str) -> None:
        if self._progress is not None and name not in self._seen:
            self._progress(name, len(self._seen), self._total)
            self._seen.add(name)
