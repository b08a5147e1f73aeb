"""A run over sources: the files are found, read by their kinds, and what they say becomes one document."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dispatch_cli.audit import Unaccounted, audit
from dispatch_cli.declarations import source
from dispatch_cli.extract.cache import Cache, key_of
from dispatch_cli.extract.plan import exclusions, settings_of_files
from dispatch_cli.extract.sources import Sources, digest
from dispatch_cli.extract.walk import LeftOut, Walked, walk
from dispatch_cli.model.condition import parse_condition
from dispatch_cli.model.extracted import (
    CustomOperator,
    Extracted,
    ExtractedBlock,
    ExtractedDefinition,
    Extraction,
    NotUnderstood,
    SourceKind,
)
from dispatch_cli.model.source_settings import SourceSettings
from dispatch_cli.model.span import Span

Progress = Callable[[str, int, int], None]
"""Is told the file, how many were read before, and how many there are."""
_LINE_BREAK = re.compile("\r\n|[\r\n]")


class SourceRun(NamedTuple):
    """What sources say.

    document: a declaration file as plain data. blocks, definitions, registrations: how many; conditional: how many of
    the definitions and registrations depend on a condition. not_understood: as in `Extraction`. unaccounted: what a
    second look at the texts finds besides. missing: an option that would decide more, a name for it, and how much.
    files: how many were read, by kind. left_out: what was not read. declarations: declaration files in directories.
    lines: gives the lines of a file.
    """

    document: dict[str, Any]
    blocks: int
    definitions: int
    registrations: int
    conditional: int
    not_understood: tuple[NotUnderstood, ...]
    unaccounted: tuple[Unaccounted, ...]
    missing: tuple[tuple[str, str, int], ...]
    files: tuple[tuple[SourceKind, int], ...]
    left_out: tuple[LeftOut, ...]
    declarations: tuple[str, ...]
    lines: Callable[[str], Sequence[str]]


def run(
    paths: Sequence[str],
    said: Sequence[SourceSettings] = (),
    *,
    allow_outside: bool = False,
    cache: str | None = None,
    progress: Progress | None = None,
) -> SourceRun:
    """Read sources.

    paths: files and directories. said: how they are read, by the places that say it, the weaker first. allow_outside:
    as for declarations. cache: the folder of the cache; None for none. Errors: InputError for what was named and cannot
    be used.
    """
    derivatives = next((one.derivatives for one in reversed(said) if one.derivatives is not None), None)
    named = [*paths, *((derivatives,) if derivatives is not None and derivatives not in paths else ())]
    told = _Told(progress)
    walked = walk(named, exclusions(said), allow_outside, told.found)
    include = tuple(dict.fromkeys(path for one in reversed(said) for path in one.include))
    sources = Sources(
        files={kind: names for kind, names in walked.files.items() if kind is not SourceKind.DECLARATIONS},
        headers=walked.headers,
        include=include,
        settings=settings_of_files(said),
        digests=walked.digests,
        progress=told.read,
    )
    kept = None if cache is None else Cache(cache)
    key = "" if kept is None else _key(walked, said)
    data = None if kept is None else _kept(kept.get(key))
    if data is None:
        told.start(sum(map(len, sources.files.values())))
        data = _read(sources, walked.templates)
        if kept is not None:
            kept.put(key, data)
    return _run_of(data, walked)


def _key(walked: Walked, said: Sequence[SourceSettings]) -> str:
    kinds = [(kind.value, names) for kind, names in walked.files.items()]
    return key_of(kinds, sorted(walked.digests.items()), repr(said), os.getcwd())  # noqa: PTH109


def _kept(data: Any) -> dict[str, Any] | None:
    """What the cache has, if the files outside of the run are as they were."""
    if not isinstance(data, dict):
        return None
    if any(_digest_of(name) != noted for name, noted in data["opened"]):
        return None
    if any(os.path.isfile(path) != there for path, there in data["looked_for"]):  # noqa: PTH113
        return None
    return data


def _digest_of(name: str) -> str:
    try:
        return digest(source.read_plain(name, source.MAX_SOURCE_BYTES))
    except source.SourceError:
        return ""


def _read(sources: Sources, templates: Sequence[str]) -> dict[str, Any]:
    """What the files say, as plain data. templates: looked through, too. Errors: InputError."""
    from dispatch_cli.extract.document import document

    extractions = list(_extractions(sources))
    found = [one for _, extraction in extractions for one in extraction.found]
    missing = Counter(
        {(option, name): count for option, extraction in extractions for name, count in extraction.missing}
    )
    count = Counter(map(_sort, found))
    accounted = frozenset(place for _, extraction in extractions for place in extraction.accounted)
    code = (SourceKind.CPP, SourceKind.PYTHON)
    texts = dict.fromkeys((*sources.headers, *(name for kind in code for name in sources.files.get(kind, ()))))
    return {
        "document": document([extraction for _, extraction in extractions]),
        "counts": [count["block"], count["definition"], count["registration"], sum(map(_is_conditional, found))],
        "not_understood": [
            [*one.at, one.text, one.why, [str(condition) for condition in one.when]]
            for _, extraction in extractions
            for one in extraction.not_understood
        ],
        "unaccounted": [
            [*one.at, one.what, one.text] for one in audit([*sorted(texts), *templates], sources.read, accounted)
        ],
        "missing": [[option, name, count] for (option, name), count in missing.most_common()],
        "opened": sorted(sources.opened.items()),
        "looked_for": sorted(sources.looked_for.items()),
    }


def _extractions(sources: Sources) -> Iterator[tuple[str, Extraction]]:
    """What each reader finds, with the option that decides more; it is imported where there are files of its kind."""
    if sources.files.get(SourceKind.CPP):
        from dispatch_cli.extract.cpp import extract_cpp

        yield "-D", extract_cpp(sources)
    if sources.files.get(SourceKind.PYTHON):
        from dispatch_cli.extract.python import extract_python

        yield "--set", extract_python(sources)


def _sort(one: Extracted) -> str:
    if isinstance(one, ExtractedBlock):
        return "block"
    return "definition" if isinstance(one, ExtractedDefinition | CustomOperator) else "registration"


def _is_conditional(one: Extracted) -> bool:
    if isinstance(one, ExtractedBlock):
        return False
    block = getattr(one, "block", None)
    return bool(one.when or (block is not None and block.when))


def _run_of(data: dict[str, Any], walked: Walked) -> SourceRun:
    blocks, definitions, registrations, conditional = data["counts"]
    return SourceRun(
        document=data["document"],
        blocks=blocks,
        definitions=definitions,
        registrations=registrations,
        conditional=conditional,
        not_understood=tuple(
            NotUnderstood(Span(file, line, column), text, why, tuple(map(parse_condition, when)))
            for file, line, column, text, why, when in data["not_understood"]
        ),
        unaccounted=tuple(
            Unaccounted(Span(file, line, column), what, text) for file, line, column, what, text in data["unaccounted"]
        ),
        missing=tuple((option, name, count) for option, name, count in data["missing"]),
        files=tuple((kind, len(walked.files[kind])) for kind in SourceKind if kind in walked.files),
        left_out=walked.left_out,
        declarations=tuple(walked.files.get(SourceKind.DECLARATIONS, ())),
        lines=_lines_of({**walked.digests, **dict(data["opened"])}),
    )


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


class _Told:
    """Who is told how far the run is."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._seen: set[str] = set()
        self._total = 0

    def start(self, total: int) -> None:
        self._seen, self._total = set(), total

    def found(self, name: str) -> None:
        self._tell(name, 0)

    def read(self, name: str) -> None:
        self._tell(name, self._total)

    def _tell(self, name: str, total: int) -> None:
        if self._progress is not None and name not in self._seen:
            self._progress(name, len(self._seen), total)
            self._seen.add(name)
