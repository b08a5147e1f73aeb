"""Conditions that sources lay on a registration: an operator is there, or an exception is raised."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from dispatch_cli.model.conditions.condition import Atom, Condition, Not, parts_of

_QUESTION = re.compile(r"hasattr\(torch\.ops\.(\w+), '(\w+)'\)")
_RAISED = re.compile(r" is raised at line \d+$")


def question_text(namespace: str, name: str) -> str:
    """The test of Python if there is an operator of a name without overload."""
    return f"hasattr(torch.ops.{namespace}, {name!r})"


def operator_asked_for(condition: Condition) -> tuple[str, str] | None:
    """The namespace and the name of a condition that is such a test."""
    match = _QUESTION.fullmatch(condition.text) if isinstance(condition, Atom) else None
    return None if match is None else (match[1], match[2])


def operators_asked_for(when: Iterable[Condition]) -> Iterator[str]:
    """The operators, without overload, that have to be there."""
    for condition in when:
        yield from ("::".join(asked) for part in parts_of(condition) if (asked := operator_asked_for(part)) is not None)


def asks_for(when: Iterable[Condition], operator: str) -> bool:
    """True if a registration is only made where its operator is there."""
    return any(_question(operator) in parts_of(condition) for condition in when)


def is_for_absent(when: Iterable[Condition], operator: str) -> bool:
    """True if a registration is only made where its operator is not there."""
    return any(Not(_question(operator)) in parts_of(condition) for condition in when)


def _question(operator: str) -> Atom:
    namespace, _, name = operator.partition("::")
    return Atom(question_text(namespace, name.partition(".")[0]))


def is_for_absent_namespace(condition: Condition, namespace: str | None) -> bool:
    """True if something of a namespace has to be absent."""
    asked = (operator_asked_for(part.operand) for part in parts_of(condition) if isinstance(part, Not))
    return any(operator is not None and operator[0] == namespace for operator in asked)


def raised_text(exceptions: str, line: int) -> str:
    """The condition of a handler of exceptions. line: of the ``try``."""
    return f"{exceptions} is raised at line {line}"


def is_for_exception(condition: Condition) -> bool:
    """True if a condition holds only where an exception is raised."""
    return any(isinstance(part, Atom) and _RAISED.search(part.text) for part in parts_of(condition))
