"""An operator that is not declared, registered as an error text shows it."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.answers.errors.kinds import TextKind
from dispatch_cli.answers.errors.printed_keys import key_named
from dispatch_cli.answers.errors.printed_table import printed_table
from dispatch_cli.answers.errors.read import ErrorText
from dispatch_cli.answers.errors.table_lines import DumpLine
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.rules import PRECEDENCE, Rule
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName

LISTED = "listed as available in the text"
"""The kernel at a key of which a text says no more."""


def register_from_text(dispatcher: Dispatcher, name: OperatorName, text: ErrorText) -> bool:
    """Register what an error text shows of an operator that is not declared. Returns whether the text shows enough.

    A text that shows nothing is answered too where the error itself says what the slot holds: nothing, or PyTorch's
    own fallback, as of an operator without kernels. What makes a slot ambiguous it has to show.
    """
    universe = dispatcher.universe
    for printed in reversed(text.state):
        key = key_named(universe, printed.key)
        if key in universe.ids:
            dispatcher.implement(name, key, Kernel(printed.kernel, fallthrough=printed.fallthrough))
    shown = printed_table(universe, text)
    if name not in dispatcher:
        for key, line in _registered(dispatcher, shown.lines):
            dispatcher.implement(name, key, Kernel(line.kernel, fallthrough=line.fallthrough))
    if all(line.rule in (Rule.KERNEL, Rule.FALLBACK) for line in shown.lines.values()):
        for key in universe.slots:  # what a list names, and no line shows
            if shown.lists(key) and key not in shown.lines and key not in dispatcher.fallbacks and not text.state:
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


def _registered(dispatcher: Dispatcher, lines: dict[str, DumpLine]) -> Iterator[tuple[str, DumpLine]]:
    """The registrations behind a printed table.

    It shows what the alias keys fill, not where they are registered; of two that are one rule it is taken to be the
    first that covers all slots with that kernel.
    """
    universe = dispatcher.universe
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
