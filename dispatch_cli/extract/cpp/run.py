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
    return _CppRun(CppProject(sources)).extraction()


class _CppRun:
    def __init__(self, project: CppProject) -> None:
        self._project = project
        self._functions: LibraryFunctions = {}
        self._kept = Findings()
        self._included: set[str] = set()
        self._slots: set[tuple[object, ...]] = set()

    def extraction(self) -> Extraction:
        """Read all files."""
        for main in self._project.mains:
            if main not in self._included:
                self._unit(main)
        kept = self._kept
        kept.not_understood.update(dict.fromkeys(self._project.not_understood))
        order = {name: index for index, name in enumerate(self._project.was_read)}
        registrations = sorted(kept.items, key=lambda item: _order(item, order))
        statements = sorted(kept.not_understood, key=lambda item: (order.get(item.at.file, len(order)), item.at))
        return Extraction(
            tuple(registrations),
            tuple(statements),
            frozenset(kept.accounted | self._project.accounted),
        )

    def _unit(self, main: str) -> None:
        """Read one file, and keep what it registers."""
        with self._project.sources.work.file(main):
            unit = TranslationUnit(self._project, main)
            reader = UnitReader(unit, self._functions)
            try:
                reader.read()
            except OverWork as error:
                at = error.at or unit.file.span(0)
                entry = NotUnderstood(at, "", error.why, bound=error.bound)
                reader.findings.not_understood[entry] = None
        self._included |= unit.included
        findings = reader.findings
        # of a header that several include, what the first one of them makes of it is kept
        new = [item for item in findings.items if (slot := _slot(item)) is None or slot not in self._slots]
        self._slots.update(slot for item in new if (slot := _slot(item)) is not None)
        self._kept.items.update(dict.fromkeys(new))
        self._kept.not_understood.update(findings.not_understood)
        self._kept.accounted |= findings.accounted


def _slot(item: FromCpp) -> tuple[object, ...] | None:
    """A kernel of a statement, whichever function it is."""
    if not isinstance(item, ExtractedKernel):
        return None
    return item.at, item.block.at, item.operator, item.key or item.block.dispatch_key, item.when


def _order(item: FromCpp, order: dict[str, int]) -> tuple[int, int, int, bool]:
    """Sort key: the place of the block, which comes before its registrations."""
    block = item if isinstance(item, ExtractedBlock) else item.block
    return order.get(block.at.file, len(order)), block.at.line, block.at.column, item is not block
