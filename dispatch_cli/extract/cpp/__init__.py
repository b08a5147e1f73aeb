"""Registrations out of C++ sources: a preprocessor, and a reader of registration blocks."""

from __future__ import annotations

from collections import Counter

from dispatch_cli.extract.cpp.body import LibraryFunction
from dispatch_cli.extract.cpp.expander import TooMuch
from dispatch_cli.extract.cpp.project import CppProject
from dispatch_cli.extract.cpp.reader import UnitReader
from dispatch_cli.extract.cpp.unit import TranslationUnit
from dispatch_cli.extract.sources import Sources
from dispatch_cli.model.extracted import Extracted, Extraction, NotUnderstood
from dispatch_cli.model.span import Span


def extract_cpp(sources: Sources) -> Extraction:
    """What the C++ files of a run register."""
    project = CppProject(sources)
    found: dict[Extracted, None] = {}
    not_understood: dict[NotUnderstood, None] = {}
    accounted: set[tuple[str, int]] = set()
    missing: Counter[str] = Counter()
    functions: dict[str, LibraryFunction] = {}
    included: set[str] = set()
    for main in project.mains:
        if main in included:
            continue
        unit = TranslationUnit(project, main, {})
        reader = UnitReader(unit, functions)
        try:
            reader.read()
        except TooMuch as error:
            not_understood[NotUnderstood(Span(main, 1, 1), "", f"{error}")] = None
        included |= unit.included
        findings = reader.findings
        found.update(findings.found)
        not_understood.update(findings.not_understood)
        accounted |= findings.accounted
        missing.update(findings.missing)
    not_understood.update(dict.fromkeys(project.not_understood))
    return Extraction(
        tuple(found),
        tuple(not_understood),
        frozenset(accounted | project.accounted),
        tuple(project.was_read),
        tuple(sorted(missing.items())),
    )
