"""Registrations that sources make only where an operator is there: they have the conditions of its definition.

``if hasattr(torch.ops.my, "add"):`` asks for what C++ files define, in the builds in which they do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from dispatch_cli.model.condition import And, Atom, Condition
from dispatch_cli.model.extracted import (
    CustomOperator,
    Extracted,
    ExtractedDefinition,
    ExtractedKernel,
    Extraction,
    OperatorFunction,
)

_QUESTION = re.compile(r"hasattr\(torch\.ops\.(\w{1,99}), '(\w{1,99})'\)")
_When = tuple[Condition, ...]


def with_answers(extractions: Sequence[Extraction]) -> list[Extraction]:
    """Answer questions by the conditions of an operator's definitions, where these are the same."""
    definitions: dict[str, set[_When]] = {}
    for extraction in extractions:
        for item in extraction.found:
            if isinstance(item, ExtractedDefinition | CustomOperator) and isinstance(item.name, str):
                definitions.setdefault(item.name.partition(".")[0], set()).add(item.when)
    answers = {name: next(iter(whens)) for name, whens in definitions.items() if len(whens) == 1}
    return [
        extraction._replace(found=tuple(_answered(item, answers) for item in extraction.found))
        for extraction in extractions
    ]


def _answered(item: Extracted, answers: Mapping[str, _When]) -> Extracted:
    if not item.when or not isinstance(item, ExtractedKernel | OperatorFunction):
        return item
    when = tuple(dict.fromkeys(part for condition in item.when for part in _parts(condition, answers)))
    return item._replace(when=when)


def _parts(condition: Condition, answers: Mapping[str, _When]) -> Iterator[Condition]:
    """The conditions that hold together where one does."""
    if isinstance(condition, And):
        for part in condition.operands:
            yield from _parts(part, answers)
        return
    question = _QUESTION.fullmatch(condition.text) if isinstance(condition, Atom) else None
    answer = None if question is None else answers.get(f"{question[1]}::{question[2]}")
    yield from (condition,) if answer is None else answer
