"""A translation unit that is read several times, with atoms assumed to be true and false, and one result of all."""

from __future__ import annotations

from collections.abc import Callable

from dispatch_cli.extract.cpp.context import When
from dispatch_cli.extract.cpp.findings import Findings, FromCpp
from dispatch_cli.extract.work import WorkBudget
from dispatch_cli.model.condition import Atom, Condition, Not
from dispatch_cli.model.extracted import ExtractedBlock, NotUnderstood
from dispatch_cli.model.span import Span

MAX_RUNS = 32
"""Maximum number of times that a translation unit is read."""
MAX_OPEN = 100
"""Atoms to decide: of more, so few readings decide next to nothing."""
UNITS = 50
"""Units of work for each finding that is merged."""


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
        work_of_merging = UNITS * (len(findings.found) + len(findings.not_understood))
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
    first = {_without(item, positive, both): item for item in yes.found}
    second = {_without(item, negative, both): item for item in no.found}
    for stripped, item in first.items():
        result.found[stripped if stripped in second else _with_block(item, positive, both)] = None
    for stripped, item in second.items():
        result.found[stripped if stripped in first else _with_block(item, negative, both)] = None
    result.found = dict.fromkeys(sorted(result.found, key=_place))
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
