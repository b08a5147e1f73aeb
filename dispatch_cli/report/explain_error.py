"""An error text held against what the declarations say: whether they give the same answer, and where they do not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.keys.autograd import autograd_key_of
from dispatch_cli.engine.python.table import resolve_key
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import AUTOGRAD, META, Universe
from dispatch_cli.report.error_case import built_backends, case_of
from dispatch_cli.report.error_facts import ErrorFact, ErrorStep, device_of
from dispatch_cli.report.error_reasons import facts, steps
from dispatch_cli.report.error_text import ErrorText
from dispatch_cli.report.messages.kinds import TextKind
from dispatch_cli.report.messages.table import MESSAGES, filled
from dispatch_cli.report.other_errors import OtherError, is_read_by_author, other_errors
from dispatch_cli.report.printed_keys import read_key
from dispatch_cli.report.printed_table import PrintedTable, Shown, printed_table
from dispatch_cli.report.printed_version import Fit, VersionFit, version_fits
from dispatch_cli.report.text_differences import TextDifference, text_differences

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
    TextKind.NOT_ON_DEVICE: (Rule.FALLBACK, Rule.MISSING),
    TextKind.NO_NAMES: (Rule.FALLBACK, Rule.MISSING),
}
"""The kinds that are about a slot → the rule that decides the slot where PyTorch prints the text."""
AUTOGRAD_TOO = (
    "Register a kernel that computes the gradient at {key} too, or remove the kernel that displaces the math kernel: "
    "the math kernel calls operators that the backend has, and they have gradients."
)
"""What helps the author of a kernel that displaces a math kernel at an autograd key."""


class ErrorReport(NamedTuple):
    """An error text, and what it has to do with the answer.

    file: where it was read from. kind, operator, key, line: of the first error in it, the line from 1; key is None
    where the text names none. printed_key: the key as the text writes it. backend_name: what it calls PrivateUse1.
    others: further errors.
    means: what PyTorch means, where that is always the same. facts: what is so. steps: what helps who calls the
    operator, the best first; none where its author ran a test of it.
    author: what helps who wrote such an operator, whatever is registered for it.
    reproduced: the slot holds what the error says, or for an error of the Python dispatcher: so does ``resolve_key``.
    operator_from_text: the operator is not declared here, and its registrations were read from the text;
    shows_registrations: which shows them, and not only that there are none.
    table, keys: how much the text shows of the operator's table, and of the list of its keys.
    table_lines: how many lines of a table the text has. versions: how its keys fit the versions that are known.
    devices_there, devices_here: backends that only the text's build has, or only the one that is compared.
    differences: where the text differs from the table here, as far as it shows it, and beyond what its version and its
    devices explain; None where it shows nothing of a table, or the table here was made from it.
    """

    file: str
    kind: TextKind
    operator: str
    key: str | None
    printed_key: str | None
    backend_name: str | None
    line: int
    means: str
    facts: tuple[ErrorFact, ...]
    steps: tuple[ErrorStep, ...]
    author: tuple[str, ...]
    reproduced: bool
    operator_from_text: bool
    shows_registrations: bool
    table: Shown
    keys: Shown
    table_lines: int
    versions: tuple[VersionFit, ...]
    devices_there: tuple[str, ...]
    devices_here: tuple[str, ...]
    differences: tuple[TextDifference, ...] | None
    others: tuple[OtherError, ...]


def error_report(
    state: State,
    name: OperatorName,
    key: str,
    file: str,
    errors: list[ErrorText],
    from_text: bool,
    universes: Sequence[Universe] = (),
) -> ErrorReport:
    """Hold the first of *errors* against the table of *name*: the live one of C++, or what ``resolve_key`` answers.

    universes: the versions that are known, beside that of the state.
    """
    first = errors[0]
    universe = state.dispatcher.universe
    shown = printed_table(universe, first)
    versions = version_fits(_newest_first([universe, *universes]), first)
    fit = next(one.fit for one in versions if one.version == universe.name)
    reproduced = _rule_here(state, name, key, first.kind) in ANSWERS[first.kind]
    printed = None if first.key is None else read_key(universe, first.key)
    backend_name = None if printed is None else printed.backend
    case = case_of(state, name, key, first, shown, from_text, reproduced, fit, backend_name)
    there, here = ((), ()) if from_text or not case.pytorchs else _devices(state.dispatcher, name, shown)
    return ErrorReport(
        file=file,
        kind=first.kind,
        operator=str(name),
        key=None if first.key is None else key,
        printed_key=first.key,
        backend_name=backend_name,
        line=first.line,
        means=filled(MESSAGES[first.kind].means, str(name), key, first.details),
        facts=facts(case),
        steps=() if is_read_by_author(errors) else steps(case),
        author=(*MESSAGES[first.kind].author, *((AUTOGRAD_TOO.format(key=key),) if case.displacing else ())),
        reproduced=reproduced,
        operator_from_text=from_text,
        shows_registrations=bool(first.dump or first.state or first.available),
        table=shown.table,
        keys=shown.keys,
        table_lines=len(first.dump),
        versions=versions,
        devices_there=there,
        devices_here=here,
        differences=None if from_text else _differences(state.dispatcher, name, shown, fit, (*there, *here)),
        others=other_errors(errors),
    )


def _newest_first(universes: Sequence[Universe]) -> list[Universe]:
    """Each version once, by the numbers of their builds."""
    known = {universe.name: universe for universe in reversed(universes)}
    return sorted(known.values(), key=lambda one: [int(part) for part in _NUMBERS.findall(one.torch)[:3]], reverse=True)


_NUMBERS = re.compile(r"\d+")


def _devices(
    dispatcher: Dispatcher, name: OperatorName, shown: PrintedTable
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The backends that only the text's build seems to have, and only the compared one.

    The latter has kernels of the operator for them, where the text shows that there is none at any of their keys.
    """
    universe, table, built = dispatcher.universe, dispatcher.table(name), built_backends(dispatcher)
    kernels = shown.kernels(universe)
    if kernels is None or not built:
        return (), ()
    there = {device_of(universe, key) for key in kernels}
    strange = {device_of(universe, key) for key in kernels if table[key].rule is Rule.MISSING}
    own = {backend: _keys_of(universe, backend) for backend in universe.backends if backend != META}
    filled = {
        backend: [key for key in keys if table[key].rule is Rule.KERNEL and shown.sure_of(key)]
        for backend, keys in own.items()
    }
    only_there = (one for one in own if one in strange and one not in built)
    only_here = (one for one in own if one not in there and one in built and filled[one])
    return tuple(only_there), tuple(only_here)


def _keys_of(universe: Universe, backend: str) -> list[str]:
    """The keys of the tensors of a backend."""
    return [key for key in universe.runtime if autograd_key_of(universe, key) and device_of(universe, key) == backend]


def _differences(
    dispatcher: Dispatcher, name: OperatorName, shown: PrintedTable, fit: Fit, devices: tuple[str, ...]
) -> tuple[TextDifference, ...] | None:
    if Shown.NOTHING is shown.table is shown.keys:
        return None
    universe = dispatcher.universe
    core = {one.key for one in universe.fallbacks}
    there = {*shown.lines, *(shown.listed or ())}
    ignored = {*shown.unknown, *(core - there)} if fit in (Fit.OLDER, Fit.NEWER) else set()
    ignored |= {key for backend in devices for key in _keys_of(universe, backend)}
    return tuple(text_differences(dispatcher.table(name), shown, ignored))


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
