"""Findings of the readers of a run, as plain data, which a cache can keep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from dispatch_cli.audit import audit
from dispatch_cli.extract.backend_name import backend_names as read_backend_names
from dispatch_cli.extract.backend_name import imported_names, of_package, without_names
from dispatch_cli.extract.sources import Sources
from dispatch_cli.model.extracted import (
    CustomOperator,
    Extracted,
    ExtractedBlock,
    ExtractedDefinition,
    Extraction,
    NotUnderstood,
    SourceKind,
)

_IN_TEMPLATE = "this file is a template, which is filled in when the project is built"
_UNACCOUNTED = "it looks like a registration, and no registration was read there"
_OF_TORCHGEN = (SourceKind.NATIVE_FUNCTIONS, SourceKind.DERIVATIVES, SourceKind.BACKEND_YAML)


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
    from dispatch_cli.extract.questions import with_answers
    from dispatch_cli.extract.readable import readable

    those = list(_extractions(sources, backends, pytorch))
    written = with_alternatives(with_answers(readable([extraction for _, extraction in those])), sources)
    extractions = [(option, extraction) for (option, _), extraction in zip(those, written, strict=True)]
    items = [item for _, extraction in extractions for item in extraction.found]
    missing = Counter(
        {(option, name): count for option, extraction in extractions for name, count in extraction.missing}
    )
    count = Counter(map(_sort, items))
    accounted = frozenset(place for _, extraction in extractions for place in extraction.accounted)
    backend_names = read_backend_names(naming, sources.read)
    if not backend_names:
        backend_names = imported_names(items, sources.files.get(SourceKind.PYTHON, ()), sources.read)
        written += [Extraction(tuple(of_package(name, place))) for name, place in backend_names]
    code = (SourceKind.CPP, SourceKind.PYTHON)
    texts = dict.fromkeys((*sources.headers, *(name for kind in code for name in sources.files.get(kind, ()))))
    places = audit([*sorted(texts), *templates], sources.read, accounted)
    whys = {**dict.fromkeys(texts, _UNACCOUNTED), **dict.fromkeys(templates, _IN_TEMPLATE)}
    audited = Extraction(not_understood=tuple(NotUnderstood(at, text, whys[at.file]) for at, _, text in places))
    backend = backend_names[0][0] if len(backend_names) == 1 else None
    if len(backend_names) > 1:
        several = frozenset(name for name, _ in backend_names)
        written = [extraction._replace(found=tuple(without_names(extraction.found, several))) for extraction in written]
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
        from dispatch_cli.extract.cpp import extract_cpp

        yield "-D", extract_cpp(sources)
    if sources.files.get(SourceKind.PYTHON):
        from dispatch_cli.extract.python import extract_python

        yield "--set", extract_python(sources)
    if any(sources.files.get(kind) for kind in _OF_TORCHGEN):
        from dispatch_cli.extract.torchgen.run import extract_torchgen

        operators = None if pytorch is None else pytorch.schemas
        yield "codegen-backends", extract_torchgen(sources, backends, operators)


def _sort(item: Extracted) -> str:
    if isinstance(item, ExtractedBlock):
        return "block"
    return "definition" if isinstance(item, ExtractedDefinition | CustomOperator) else "registration"


def _is_conditional(item: Extracted) -> bool:
    if isinstance(item, ExtractedBlock):
        return False
    block = getattr(item, "block", None)
    return bool(item.when or (block is not None and block.when))
