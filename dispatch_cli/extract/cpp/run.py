"""Registrations out of C++ sources: each file is read, and gives one result."""

from __future__ import annotations

from dispatch_cli.extract.cpp.preprocessor.project import CppProject
from dispatch_cli.extract.cpp.preprocessor.unit import TranslationUnit
from dispatch_cli.extract.cpp.reader import UnitReader
from dispatch_cli.extract.cpp.registrations import Findings, FromCpp
from dispatch_cli.extract.cpp.statements import LibraryFunctions
from dispatch_cli.extract.sources import Sources
from dispatch_cli.extract.work import OverWork
from dispatch_cli.model.declarations import NotUnderstood
from dispatch_cli.model.sources.extracted import ExtractedBlock, ExtractedKernel, Extraction


def extract_cpp(sources: Sources) -> Extraction:
    """Registrations in the C++ files of a run."""
    project = CppProject(sources)
    functions: LibraryFunctions = {}
    kept = Findings()
    included: set[str] = set()
    slots: set[tuple[object, ...]] = set()
    for main in project.mains:
        if main not in included:
            unit = TranslationUnit(project, main)
            findings = _findings(unit, functions)
            included |= unit.included
            # of a header that several include, what the first one of them makes of it is kept
            new = [item for item in findings.items if (slot := _slot(item)) is None or slot not in slots]
            slots.update(slot for item in new if (slot := _slot(item)) is not None)
            kept.items.update(dict.fromkeys(new))
            kept.not_understood.update(findings.not_understood)
            kept.accounted |= findings.accounted
    kept.not_understood.update(dict.fromkeys(project.not_understood))
    order = {name: index for index, name in enumerate(project.was_read)}
    registrations = sorted(kept.items, key=lambda item: _order(item, order))
    statements = sorted(kept.not_understood, key=lambda item: (order.get(item.at.file, len(order)), item.at))
    return Extraction(tuple(registrations), tuple(statements), frozenset(kept.accounted | project.accounted))


def _findings(unit: TranslationUnit, functions: LibraryFunctions) -> Findings:
    """The registrations of one file."""
    reader = UnitReader(unit, functions)
    try:
        with unit.work.file(unit.main):
            reader.read()
    except OverWork as error:
        entry = NotUnderstood(error.at or unit.file.span(0), "", error.why, bound=error.bound)
        reader.findings.not_understood[entry] = None
    return reader.findings


def _slot(item: FromCpp) -> tuple[object, ...] | None:
    """A kernel of a statement, whichever function it is."""
    if not isinstance(item, ExtractedKernel):
        return None
    return item.at, item.block.at, item.operator, item.key or item.block.dispatch_key, item.when


def _order(item: FromCpp, order: dict[str, int]) -> tuple[int, int, int, bool]:
    """Sort key: the place of the block, which comes before its registrations."""
    block = item if isinstance(item, ExtractedBlock) else item.block
    return order.get(block.at.file, len(order)), block.at.line, block.at.column, item is not block
