"""An error text held against what the declarations say: whether they give the same answer, and where they do not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.keys.autograd import autograd_key_of
from dispatch_cli.engine.python.table import resolve_key
from dispatch_cli.engine.rules import PRECEDENCE, Rule
from dispatch_cli.engine.table.table import Table, TableEntry
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import AUTOGRAD, UNDEFINED
from dispatch_cli.report.error_text import DumpLine, ErrorText, known_lines
from dispatch_cli.report.messages.kinds import TextKind

LISTED = "listed as available in the text"
"""The kernel at a key of which a text says no more."""
ANSWERS = {
    TextKind.NO_KERNEL: (Rule.MISSING,),
    TextKind.NO_TENSORS: (Rule.MISSING,),
    TextKind.NO_META: (Rule.FALLBACK, Rule.MISSING),
    TextKind.AMBIGUOUS: (Rule.AMBIGUOUS,),
    TextKind.NO_AUTOGRAD: (Rule.FALLBACK,),
    TextKind.NO_PYTHON_KERNEL: (Rule.MISSING,),
    TextKind.NO_BATCHING_RULE: (Rule.FALLBACK, Rule.MISSING),
    TextKind.NO_IMPL: (Rule.FALLBACK, Rule.MISSING),
    TextKind.NOT_ON_MPS: (Rule.FALLBACK, Rule.MISSING),
    TextKind.NO_NAMES: (Rule.FALLBACK, Rule.MISSING),
}
"""The kinds that are about a slot → the rule that decides the slot where PyTorch prints the text."""


class DifferenceKind(Enum):
    """How the printed table differs from ours; the value is the name in machine formats.

    NO_KEY: the universe does not know the key.
    """

    ONLY_THERE = "only-there"
    ONLY_HERE = "only-here"
    RULE = "rule"
    KERNEL = "kernel"
    NO_KEY = "no-key"


class TextDifference(NamedTuple):
    """Slots that differ in one way. there: what the text says; None where it has nothing. here: what we say."""

    kind: DifferenceKind
    keys: tuple[str, ...]
    there: DumpLine | None
    here: DumpLine | None


class NamedError(NamedTuple):
    """A further error of a text. operator, key: None where it names none."""

    kind: TextKind
    operator: str | None
    key: str | None


class ErrorReport(NamedTuple):
    """An error text, and what it has to do with the answer.

    file: where it was read from. kind, operator, key, line: of the first error in it, the line from 1; key is None
    where the text names none. others: further errors.
    reproduced: the slot holds what the error says, or for an error of the Python dispatcher: so does ``resolve_key``.
    operator_from_text: the operator is not declared here, and its registrations were read from the text;
    shows_registrations: which shows them, and not only that there are none.
    table_lines: how many lines of a table the text has.
    differences: where that table differs from the one here; None where the text has no table.
    """

    file: str
    kind: TextKind
    operator: str
    key: str | None
    line: int
    reproduced: bool
    operator_from_text: bool
    shows_registrations: bool
    table_lines: int
    differences: tuple[TextDifference, ...] | None
    others: tuple[NamedError, ...]


def error_report(
    state: State, name: OperatorName, key: str, file: str, errors: list[ErrorText], from_text: bool
) -> ErrorReport:
    """Hold the first of *errors* against the table of *name*: the live one of C++, or what ``resolve_key`` answers."""
    first, *others = errors
    dispatcher = state.dispatcher
    table = dispatcher.table(name)
    differences: tuple[TextDifference, ...] | None = None
    if first.dump:
        differences = tuple(_differences(table, first.dump))
    elif first.available is not None:
        differences = tuple(_available(dispatcher, table, first.available))
    return ErrorReport(
        file=file,
        kind=first.kind,
        operator=str(name),
        key=first.key,
        line=first.line,
        reproduced=_rule_here(state, name, key, first.kind) in ANSWERS[first.kind],
        operator_from_text=from_text,
        shows_registrations=bool(first.dump or first.state or first.available),
        table_lines=len(first.dump),
        differences=differences,
        others=tuple(NamedError(one.kind, one.operator, one.key) for one in others),
    )


def _rule_here(state: State, name: OperatorName, key: str, kind: TextKind) -> Rule:
    """The rule that decides a slot, in the dispatcher that raises such an error."""
    if kind is TextKind.NO_PYTHON_KERNEL:
        python_keys = [kernel.dispatch_key for kernel in state.python_kernels(name)]
        return resolve_key(state.dispatcher, name, key, python_keys).rule
    return state.dispatcher.operator(name).live[key].rule


def key_of(dispatcher: Dispatcher, name: OperatorName) -> str:
    """The autograd key that a warning means which names none: the first with PyTorch's own fallback above a kernel."""
    universe, table = dispatcher.universe, dispatcher.table(name)
    above = {autograd_key_of(universe, key) for key in table.active}
    keys = universe.covered_by(AUTOGRAD)
    fallen = [key for key in keys if table[key].rule is Rule.FALLBACK]
    of_backends = [key for key in keys if universe.runtime_parts[key][1] is not None]
    of_kernels = [key for key in fallen if key in above]
    of_devices = [key for key in of_backends if key in fallen]
    return (of_kernels or of_devices or fallen or of_backends or list(keys))[0]


def _line(entry: TableEntry) -> DumpLine | None:
    return None if entry.kernel is None else DumpLine(entry.kernel.debug, entry.is_fallthrough, entry.rule)


def _differences(table: Table, dump: dict[str, DumpLine]) -> Iterator[TextDifference]:
    groups: dict[tuple[object, ...], list[tuple[DifferenceKind, str, DumpLine | None, DumpLine | None]]] = {}
    for key in [*table, *(key for key in dump if key not in table)]:
        there, here = dump.get(key), _line(table[key]) if key in table else None
        kind = _kind(there, here) if key in table else DifferenceKind.NO_KEY
        if kind is not None:
            kernels = (there and _source_file(there.kernel), here and _source_file(here.kernel))
            answer = (kind, there and there[1:], here and here[1:], kind is DifferenceKind.KERNEL and kernels)
            groups.setdefault(answer, []).append((kind, key, there, here))
    for found in groups.values():
        kind, _, there, here = found[0]
        yield TextDifference(kind, tuple(key for _, key, _, _ in found), there, here)


def _kind(there: DumpLine | None, here: DumpLine | None) -> DifferenceKind | None:
    if there is None or here is None:
        return None if there is here else DifferenceKind.ONLY_HERE if there is None else DifferenceKind.ONLY_THERE
    if (there.rule, there.fallthrough) != (here.rule, here.fallthrough):
        return DifferenceKind.RULE
    files = (_source_file(there.kernel), _source_file(here.kernel))
    return DifferenceKind.KERNEL if all(files) and files[0] != files[1] else None


_REGISTERED_AT = re.compile(r"registered at (?:.*[/\\])?([^/\\]+?)(?:_\d+)?(\.\w+):\d+")


def _source_file(debug: str) -> str | None:
    """The file of ``registered at PATH:LINE``; builds differ in directories, lines, and numbers of generated files."""
    match = _REGISTERED_AT.match(debug)
    return None if match is None else match[1] + match[2]


def _available(dispatcher: Dispatcher, table: Table, available: tuple[str, ...]) -> Iterator[TextDifference]:
    """The keys that a first line lists hold something; it does not say what."""
    listed = frozenset(available)
    only_there = tuple(key for key in listed if key in table and table[key].rule is Rule.MISSING)
    # Undefined is in no such list
    only_here = tuple(
        key for key in table if key not in listed and key != UNDEFINED and table[key].rule is not Rule.MISSING
    )
    unknown = tuple(key for key in available if key not in table)
    order = dispatcher.universe.slot
    if only_there:
        yield TextDifference(DifferenceKind.ONLY_THERE, tuple(sorted(only_there, key=order.__getitem__)), None, None)
    if only_here:
        yield TextDifference(DifferenceKind.ONLY_HERE, only_here, None, None)
    if unknown:
        yield TextDifference(DifferenceKind.NO_KEY, unknown, None, None)


def register_from_text(dispatcher: Dispatcher, name: OperatorName, text: ErrorText) -> bool:
    """Register what an error text shows of an operator that is not declared; whether there is an answer then.

    A text that shows nothing is answered too where the error itself says what the slot holds: nothing, or PyTorch's
    own fallback, as of an operator without kernels. What makes a slot ambiguous it has to show.
    """
    universe = dispatcher.universe
    for printed in reversed(text.state):
        if printed.key in universe.ids:
            dispatcher.implement(name, printed.key, Kernel(printed.kernel, fallthrough=printed.fallthrough))
    if name not in dispatcher:
        for key, line in _registered(dispatcher, text.dump):
            dispatcher.implement(name, key, Kernel(line.kernel, fallthrough=line.fallthrough))
    if name not in dispatcher:
        for key in text.available or ():
            if key in universe.slot and key not in dispatcher.fallbacks:
                dispatcher.implement(name, key, Kernel(LISTED))
    # a name without a namespace is a higher-order operator's, which has no kernels
    if name not in dispatcher and text.kind is not TextKind.AMBIGUOUS and name.namespace is not None:
        _define(dispatcher, name)
    if name not in dispatcher:
        return False
    # the order of the lines is not that of the registrations: nothing can be said of a live table
    dispatcher.settle(name)
    return True


def _define(dispatcher: Dispatcher, name: OperatorName) -> None:
    """An operator without kernels; its schema stands for one that is not known."""
    from dispatch_cli.model.schema import parse_schema
    from dispatch_cli.model.schema.error import SchemaError

    try:
        schema = parse_schema(f"{name}(Tensor self) -> Tensor")
    except SchemaError:
        return
    dispatcher.define(schema, "not declared")


def _registered(dispatcher: Dispatcher, dump: dict[str, DumpLine]) -> Iterator[tuple[str, DumpLine]]:
    """The registrations behind a printed table.

    It shows what the alias keys fill, not where they are registered; of two that are one rule it is taken to be the
    first that covers all slots with that kernel.
    """
    universe = dispatcher.universe
    lines = known_lines(dump, universe.slot)
    kernels: dict[tuple[Rule, str], list[str]] = {}
    for key, line in lines.items():
        if line.rule is Rule.KERNEL:
            yield key, line
        elif line.rule not in (Rule.FALLBACK, Rule.AMBIGUOUS, Rule.MISSING):
            kernels.setdefault((line.rule, line.kernel), []).append(key)
    free = list(PRECEDENCE)
    for (rule, _), keys in kernels.items():
        runtime_keys = frozenset(key for key in keys if key in universe.runtime_parts)
        for one in free:
            if one.rule is rule and runtime_keys.issubset(universe.covered_by(one.alias)):
                yield one.alias, lines[keys[0]]
                free.remove(one)
                break
