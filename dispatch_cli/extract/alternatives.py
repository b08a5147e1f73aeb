"""Alternatives: files that register the same. The user says that one program loads both by naming both.

A project may have an implementation for each build, in a file of its own. Two such files contradict each other: both
define an operator, both have the ``TORCH_LIBRARY`` block of a namespace, or a kernel for one operator at one key. What
contradicts gets the condition that its file is in the build, and the other is not (`model.sources.file_choice`); so
each choice of files is checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

from dispatch_cli.extract.readable import is_decided, is_readable, not_all, operator_of
from dispatch_cli.extract.sources import Sources
from dispatch_cli.model.conditions.condition import And, Condition, Or
from dispatch_cli.model.conditions.simplify import simplified
from dispatch_cli.model.conditions.worlds import exclude_each_other
from dispatch_cli.model.declarations import LibraryKind, NotUnderstood
from dispatch_cli.model.sources.extracted import (
    CustomOperator,
    Extracted,
    ExtractedBlock,
    ExtractedDefinition,
    ExtractedFallback,
    ExtractedKernel,
    Extraction,
    FunctionRole,
    OperatorFunction,
    SourceKind,
)
from dispatch_cli.model.sources.file_choice import MOST_RIVALS, FileChoice, is_in_build

MOST_WHENS = 3
"""Conditions of the other file's registrations that are said in the condition of one."""
MOST_COMPARED = 16
"""Conditions of a claim in one file that are compared with those in another."""
When = tuple[Condition, ...]
Definitions = dict[str, tuple[frozenset[str], Condition]]
"""The files that define an operator, and the condition that it is defined."""


class _Claim(NamedTuple):
    """A thing that only one file may register. part: ``block``, ``definition``, ``fallback``, or the kernel's key."""

    part: str
    name: str


def with_alternatives(extractions: Sequence[Extraction], sources: Sources) -> list[Extraction]:
    """Add conditions to registrations of files that are alternatives."""
    claims: dict[_Claim, dict[str, list[When]]] = {}
    for extraction in extractions:
        for item in extraction.items:
            for claim in _claims(item):
                claims.setdefault(claim, {}).setdefault(item.at.file, []).append(item.when)
    shared = {claim: by_file for claim, by_file in claims.items() if len(by_file) > 1}
    alternatives = _Alternatives(sources, shared)
    if not (alternatives.rivals or alternatives.dropped):
        return list(extractions)
    return alternatives.conditional(extractions)


def _claims(item: Extracted) -> Iterator[_Claim]:
    """The things that a registration has for itself."""
    if not is_decided(item):
        return
    match item:
        case ExtractedBlock(kind=LibraryKind.DEF, implicit=False):
            yield _Claim("block", str(item.namespace))
        case ExtractedDefinition() | CustomOperator():
            yield _Claim("definition", str(item.name))
        case ExtractedKernel():
            yield _Claim(str(item.key or item.block.dispatch_key), str(item.operator))
        case ExtractedFallback():
            yield _Claim("fallback", str(item.key))
        case OperatorFunction(role=FunctionRole.FAKE):
            yield _Claim("Meta", str(item.operator))
        case OperatorFunction(role=FunctionRole.PY_IMPL):
            yield from (_Claim(f"py_impl {key}", str(item.operator)) for key in item.devices)


class _Alternatives:
    """The files that are alternatives of each other, and the conditions of their registrations.

    claims: with the conditions of each file. rivals: of a file at a claim. dropped: files whose registrations at a
    claim are left out, since too many files have it.
    """

    def __init__(self, sources: Sources, claims: dict[_Claim, dict[str, list[When]]]) -> None:
        self._named = sources.named
        self._code = sources.headers.union(sources.files.get(SourceKind.PYTHON, ()))
        self._parts: dict[str, set[str]] = {}
        self._claims = claims
        self._blocks: dict[ExtractedBlock, ExtractedBlock] = {}
        self.rivals: dict[str, dict[_Claim, set[str]]] = {}
        self.dropped: dict[tuple[str, _Claim], str] = {}
        for claim, by_file in claims.items():
            files = [*by_file]
            for first, other in combinations(files[:MOST_RIVALS], 2):
                if self._are_rivals(first, other, claim):
                    self._note(first, other, claim)
            for file in files[MOST_RIVALS:]:
                if self._are_rivals(files[0], file, claim):
                    self.dropped[file, claim] = files[0]
        choices = (FileChoice(file, tuple(sorted(self._rivals_of(file)))) for file in self.rivals)
        atoms = {choice.file: is_in_build(choice) for choice in choices}
        self._in_build = {file: atom for file, atom in atoms.items() if atom is not None and is_readable(atom)}

    def _rivals_of(self, file: str) -> set[str]:
        """The rivals of a file."""
        return set().union(*self.rivals.get(file, {}).values())

    def _are_rivals(self, first: str, other: str, claim: _Claim) -> bool:
        files = {first, other}
        if files <= self._named or not files <= self._code:  # what torchgen makes of its YAML is part of the build
            return False
        several = [[*dict.fromkeys(self._claims[claim][file])][:MOST_COMPARED] for file in (first, other)]
        return any(not exclude_each_other(left, right) for left, right in product(*several))

    def _note(self, first: str, other: str, claim: _Claim) -> None:
        part = self._parts.get(first, {first}) | self._parts.get(other, {other})
        if len(part) > MOST_RIVALS:
            self.dropped[other, claim] = first
            return
        for file in part:
            self._parts[file] = part
        for file, rival in ((first, other), (other, first)):
            self.rivals.setdefault(file, {}).setdefault(claim, set()).add(rival)

    def conditional(self, extractions: Sequence[Extraction]) -> list[Extraction]:
        """The extractions with these conditions."""
        defined = self._conditions_of_definitions(extractions)
        return [self._extraction(extraction, defined) for extraction in extractions]

    def _extraction(self, extraction: Extraction, defined: Definitions) -> Extraction:
        kept, missed = [], list(extraction.not_understood)
        for item in extraction.items:
            first = self._dropped(item) or self._dropped(getattr(item, "block", None))
            if first is None:
                kept.append(self._item(item, defined))
            elif not isinstance(item, ExtractedBlock):
                why = f"more than {MOST_RIVALS} files register the same, {first} among them"
                missed.append(NotUnderstood(item.at, str(operator_of(item) or ""), why, item.when))
        return extraction._replace(items=tuple(kept), not_understood=tuple(missed))

    def _dropped(self, item: Extracted | None) -> str | None:
        """A file that registers the same as one that is left out."""
        if item is None or not self.dropped:
            return None
        return next(filter(None, (self.dropped.get((item.at.file, claim)) for claim in _claims(item))), None)

    def _item(self, item: Extracted, defined: Definitions) -> Extracted:
        if isinstance(item, ExtractedBlock):
            return self._block(item)
        added = self._added(item) or self._of_definition(item, defined)
        if isinstance(item, ExtractedDefinition | ExtractedKernel | ExtractedFallback):
            block = self._block(item.block)
            return item._replace(block=block, when=tuple(dict.fromkeys((*block.when, *item.when, *added))))
        return item._replace(when=(*item.when, *added)) if added else item

    def _block(self, block: ExtractedBlock) -> ExtractedBlock:
        if block not in self._blocks:
            added = self._added(block)
            self._blocks[block] = block._replace(when=(*block.when, *added)) if added else block
        return self._blocks[block]

    def _added(self, item: Extracted) -> When:
        """The condition that the file of a registration is in the build, where that decides about it."""
        file = item.at.file
        in_build, claims = self._in_build.get(file), self.rivals.get(file)
        if in_build is None or claims is None:
            return ()
        concerned = [claim for claim in self._concerned(item) if claim in claims]
        if not concerned:
            return ()
        others = [
            tuple(condition for condition in when if condition not in item.when)
            for claim in concerned
            for rival in claims[claim]
            for when in self._claims[claim][rival]
        ]
        conditional = list(dict.fromkeys(others))
        if () in conditional or len(conditional) > MOST_WHENS:
            return (in_build,)
        unless = [not_all(when) for when in conditional]
        whole = Or((in_build, unless[0] if len(unless) == 1 else And(tuple(unless))))
        return (whole if is_readable(whole) else in_build,)

    def _concerned(self, item: Extracted) -> Iterator[_Claim]:
        """The claims that decide about a registration: its own, its operator's definition, its namespace's block."""
        yield from _claims(item)
        if isinstance(operator := operator_of(item), str):
            yield _Claim("definition", operator)
            yield _Claim("block", operator.partition("::")[0])

    def _conditions_of_definitions(self, extractions: Iterable[Extraction]) -> Definitions:
        """The operators that only some choices define: the files of their definitions, and when there is one."""
        definitions: dict[str, list[Extracted]] = {}
        for extraction in extractions:
            for item in extraction.items:
                if isinstance(item, ExtractedDefinition | CustomOperator) and is_decided(item):
                    definitions.setdefault(str(item.name), []).append(item)
        conditions: Definitions = {}
        for operator, items in definitions.items():
            whens = [self._added(item) for item in items]
            if () in whens:
                continue
            parts = [condition for when in whens for condition in when]
            whole = simplified(parts[0] if len(parts) == 1 else Or(tuple(parts)))
            if whole is not None and is_readable(whole):
                conditions[operator] = frozenset(item.at.file for item in items), whole
        return conditions

    def _of_definition(self, item: Extracted, defined: Definitions) -> When:
        """The condition that the operator is defined, for a registration in a file that goes with any choice."""
        files, condition = defined.get(str(operator_of(item)), (frozenset(), None))
        if condition is None or item.at.file in files:
            return ()
        return () if self._rivals_of(item.at.file) & files else (condition,)
