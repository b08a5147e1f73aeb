"""Registrations in sources that may exist: a check that misses something may only not have seen it.

Where a namespace, name or key in sources depends on something that is not known, such as a macro that the build sets,
the registration is listed as undecided and not run. A check that finds that something of an operator is missing is not
sure then: what is missing may be there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum

from dispatch_cli.model.declarations import Undecided, UnreadStatement
from dispatch_cli.model.names import OperatorName

DEFINITIONS = frozenset({"definition", "custom_op", "triton_op"})
_DEFINES = re.compile(r"([\w.]+)\.def(?:ine)?\(\s*[fr]?['\"]+([\w.]+(?:::[\w.]+)?)\s*\(", re.ASCII)
"""A definition by a library that is an expression: ``lib.define("name(…``."""
_NO_KERNELS = frozenset({"block", "definition", "fallback"})


class MissingPart(Enum):
    """A part that an operator lacks where a check finds something; an undecided registration may be that."""

    DEFINITION = "definition"
    KERNEL = "kernel"


class UndecidedIndex:
    """The undecided registrations, by the operators that they may be of.

    unread: statements that were not understood; some are definitions in a library that is not known.
    """

    def __init__(self, undecided: Iterable[Undecided], unread: Iterable[UnreadStatement] = ()) -> None:
        # by namespace and own name, overload included; None where it is not known
        self._found: dict[tuple[str | None, str | None, MissingPart], Undecided] = {}
        for registration in (*undecided, *_definitions(unread)):
            if registration.registers in DEFINITIONS:
                self._found.setdefault((*_operator(registration), MissingPart.DEFINITION), registration)
            if registration.registers not in _NO_KERNELS:
                self._found.setdefault((*_operator(registration), MissingPart.KERNEL), registration)

    def may_be_there(self, operator: OperatorName, lack: MissingPart) -> Undecided | None:
        """An undecided registration that may be what the operator lacks; the first of the most certain ones."""
        if not self._found:
            return None
        namespace, own = operator.namespace, str(operator).rpartition("::")[2]
        for known in ((namespace, own), (None, own), (namespace, None), (None, None)):
            if (match := self._found.get((*known, lack))) is not None:
                return match
        return None

    def may_define(self, namespace: str) -> bool:
        """True if an undecided definition may be of an operator in a namespace."""
        return any(lack is MissingPart.DEFINITION and known in (namespace, None) for known, _, lack in self._found)


def _definitions(unread: Iterable[UnreadStatement]) -> Iterator[Undecided]:
    """The definitions among statements that were not understood whose operators they name."""
    for statement in unread:
        match = _DEFINES.match(statement.text)
        if match is not None:
            yield Undecided("definition", statement.at, (("namespace", match[1]),), name=match[2])


def _operator(registration: Undecided) -> tuple[str | None, str | None]:
    """Namespace and own name of the operator, as far as they are known."""
    unknown = dict(registration.unknown)
    name = registration.name or (registration.schema or "").partition("(")[0].strip() or None
    namespace = registration.namespace
    if name is None and "name" in unknown and "namespace" in unknown:
        # of NAMESPACE::name only the namespace is not known
        before, separator, own = unknown["name"].rpartition("::")
        name = own if separator and before == unknown["namespace"] and own.replace(".", "_").isidentifier() else None
    if name is not None and "::" in name:
        before, _, name = name.rpartition("::")
        namespace = namespace or before
    return namespace, name
