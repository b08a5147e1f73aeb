"""Registrations out of C++ sources: each file is read, where need be several times, and gives one result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from dispatch_cli.extract.cpp.preprocessor.conditions import When
from dispatch_cli.extract.cpp.preprocessor.macro_table import UnclosedMacro
from dispatch_cli.extract.cpp.preprocessor.project import CppProject
from dispatch_cli.extract.cpp.preprocessor.unit import TranslationUnit
from dispatch_cli.extract.cpp.reader import UnitReader, assumptions
from dispatch_cli.extract.cpp.registrations import Findings, FromCpp
from dispatch_cli.extract.cpp.scope import LibraryFunctions
from dispatch_cli.extract.sources import Sources
from dispatch_cli.extract.work import OverWork, WorkBudget
from dispatch_cli.model.conditions.condition import Atom, Condition, Not
from dispatch_cli.model.sources.extracted import ExtractedBlock, ExtractedKernel, Extraction, NotUnderstood
from dispatch_cli.model.span import Span

MAX_RUNS = 32
"""Maximum number of times that a translation unit is read."""
MAX_OPEN = 100
"""Atoms to decide: of more, so few readings decide next to nothing."""
UNITS = 50
"""Units of work for each finding that is merged."""


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
        self._slots: set[tuple[object, ...]] = set()

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
        """Keep what a unit registers; of a header that several include, what the first one of them makes of it."""
        new = [item for item in findings.items if (slot := _slot(item)) is None or slot not in self._slots]
        self._slots.update(slot for item in new if (slot := _slot(item)) is not None)
        self._found.update(dict.fromkeys(new))
        self._not_understood.update(findings.not_understood)
        self._accounted |= findings.accounted
        self._missing.update(findings.missing)


def _slot(item: FromCpp) -> tuple[object, ...] | None:
    """A kernel of a statement, whichever function it is."""
    if not isinstance(item, ExtractedKernel):
        return None
    return item.at, item.block.at, item.operator, item.key or item.block.dispatch_key, item.when


def _order(item: FromCpp, order: dict[str, int]) -> tuple[int, int, int, bool]:
    """Sort key: the place of the block, which comes before its registrations."""
    block = item if isinstance(item, ExtractedBlock) else item.block
    return order.get(block.at.file, len(order)), block.at.line, block.at.column, item is not block


def read_all(read: Callable[[dict[str, bool]], Findings], work: WorkBudget) -> tuple[Findings, bool]:
    """Read a unit under all assumptions that it asks for. Returns also whether there were too many of them.

    work: has room for more readings, or there are too many. Errors: none, if *read* has none.
    """
    left = MAX_RUNS
    too_many = False

    def under(assumed: dict[str, bool]) -> Findings:
        nonlocal left, too_many
        left -= 1
        findings = read(assumed)
        open_atoms = sorted(atom for atom in findings.forks if atom not in assumed)
        if not open_atoms:
            return findings
        work_of_merging = UNITS * (len(findings.items) + len(findings.not_understood))
        if left < 2 or len(open_atoms) > MAX_OPEN or not work.has(work_of_merging):
            too_many = True
            return findings
        work.spend(work_of_merging)
        atom = open_atoms[0]
        return merged(under({**assumed, atom: True}), under({**assumed, atom: False}), atom)

    return under({}), too_many


def merged(yes: Findings, no: Findings, atom: str) -> Findings:
    """Merge the findings of both cases of a condition; those of only one case keep the condition."""
    result = Findings()
    positive, negative = Atom(atom), Not(Atom(atom))
    both = {_block_without(block, positive) for block in yes.blocks()}
    both &= {_block_without(block, negative) for block in no.blocks()}
    first = {_without(item, positive, both): item for item in yes.items}
    second = {_without(item, negative, both): item for item in no.items}
    for stripped, item in first.items():
        result.items[stripped if stripped in second else _with_block(item, positive, both)] = None
    for stripped, item in second.items():
        result.items[stripped if stripped in first else _with_block(item, negative, both)] = None
    result.items = dict.fromkeys(sorted(result.items, key=_place))
    lines = {_plain(statement, positive): statement for statement in yes.not_understood}
    others = {_plain(statement, negative): statement for statement in no.not_understood}
    for plain, statement in lines.items():
        result.not_understood[plain if plain in others else statement] = None
    for plain, statement in others.items():
        result.not_understood[plain if plain in lines else statement] = None
    result.accounted = yes.accounted | no.accounted
    result.missing = yes.missing | no.missing
    return result


def _place(item: FromCpp) -> tuple[Span, bool, Span]:
    block = item if isinstance(item, ExtractedBlock) else item.block
    return block.at, item is not block, item.at


def _removed(when: When, condition: Condition) -> When:
    return tuple(part for part in when if part != condition)


def _block_without(block: ExtractedBlock, condition: Condition) -> ExtractedBlock:
    return block._replace(when=_removed(block.when, condition))


def _with_block(item: FromCpp, condition: Condition, both: set[ExtractedBlock]) -> FromCpp:
    """The item, in the block that both have, if it is in one of those."""
    if isinstance(item, ExtractedBlock):
        return item
    block = _block_without(item.block, condition)
    return item._replace(block=block) if block in both else item


def _without(item: FromCpp, condition: Condition, both: set[ExtractedBlock]) -> FromCpp:
    """The item without the condition."""
    if isinstance(item, ExtractedBlock):
        return _block_without(item, condition)
    return _with_block(item, condition, both)._replace(when=_removed(item.when, condition))


def _plain(statement: NotUnderstood, condition: Condition) -> NotUnderstood:
    return statement._replace(when=_removed(statement.when, condition))
