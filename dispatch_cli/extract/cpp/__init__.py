"""Registrations out of C++ sources: a preprocessor, and a reader of registration blocks."""

from __future__ import annotations

from collections import Counter

from dispatch_cli.extract.cpp.expander import UnclosedMacro
from dispatch_cli.extract.cpp.findings import Findings, FromCpp
from dispatch_cli.extract.cpp.library_functions import LibraryFunctions
from dispatch_cli.extract.cpp.merge import read_all
from dispatch_cli.extract.cpp.project import CppProject
from dispatch_cli.extract.cpp.reader import UnitReader, assumptions
from dispatch_cli.extract.cpp.unit import TranslationUnit
from dispatch_cli.extract.sources import Sources
from dispatch_cli.extract.work import OverWork
from dispatch_cli.model.extracted import ExtractedBlock, Extraction, NotUnderstood
from dispatch_cli.model.span import Span


def extract_cpp(sources: Sources) -> Extraction:
    """Registrations in the C++ files of a run."""
    return _CppRun(CppProject(sources)).extraction()


class _CppRun:
    def __init__(self, project: CppProject) -> None:
        self._project = project
        self._functions = LibraryFunctions()
        self._found: dict[FromCpp, None] = {}
        self._not_understood: dict[NotUnderstood, None] = {}
        self._accounted: set[tuple[str, int]] = set()
        self._missing: Counter[str] = Counter()
        self._included: set[str] = set()
        self._used: set[str] = set()

    def extraction(self) -> Extraction:
        """Read all files."""
        again = [main for main in self._project.mains if main not in self._included and not self._unit(main)]
        self._functions.complete = True
        for main in again:
            self._unit(main)
        self._project.account_macros(self._used)
        self._not_understood.update(dict.fromkeys(self._project.not_understood))
        order = {name: index for index, name in enumerate(self._project.was_read)}
        registrations = sorted(self._found, key=lambda item: _order(item, order))
        statements = sorted(self._not_understood, key=lambda item: (order.get(item.at.file, len(order)), item.at))
        return Extraction(
            tuple(registrations),
            tuple(statements),
            frozenset(self._accounted | self._project.accounted),
            tuple(self._project.was_read),
            tuple(sorted(self._missing.items())),
        )

    def _unit(self, main: str) -> bool:
        """Read one file. Returns False, and keeps nothing, where it calls a function that may be in a later file."""
        self._functions.asked = False
        work = self._project.sources.work
        with work.file(main):
            findings, too_many = read_all(lambda assumed: self._read(main, assumed), work)
        if self._functions.asked and not self._functions.complete:
            return False
        if too_many:
            why = "more of its '#if' belong together than can be told apart"
            findings.not_understood[NotUnderstood(Span(main, 1, 1), "", why, bound=True)] = None
        self._keep(findings)
        return True

    def _read(self, main: str, assumed: dict[str, bool]) -> Findings:
        unit = TranslationUnit(self._project, main, assumed)
        reader = UnitReader(unit, self._functions, assumptions(assumed))
        try:
            reader.read()
        except (OverWork, UnclosedMacro) as error:
            is_bound = isinstance(error, OverWork)
            entry = NotUnderstood(error.at or unit.place(), "", str(error), bound=is_bound)
            reader.findings.not_understood[entry] = None
            reader.findings.forks.clear()
        self._included |= unit.included
        self._used |= unit.used_macros()
        return reader.findings

    def _keep(self, findings: Findings) -> None:
        self._found.update(findings.found)
        self._not_understood.update(findings.not_understood)
        self._accounted |= findings.accounted
        self._missing.update(findings.missing)


def _order(item: FromCpp, order: dict[str, int]) -> tuple[int, int, int, bool]:
    """Sort key: the place of the block, which comes before its registrations."""
    block = item if isinstance(item, ExtractedBlock) else item.block
    return order.get(block.at.file, len(order)), block.at.line, block.at.column, item is not block
