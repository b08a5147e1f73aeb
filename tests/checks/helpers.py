"""Helpers of the tests of checks."""

from __future__ import annotations

from collections.abc import Callable

from dispatch_cli.answers.findings.report import findings_report
from dispatch_cli.checks.check import Finding
from dispatch_cli.engine.state import State
from dispatch_cli.model.built import BuiltKernel, BuiltLibrary, BuiltOperator
from dispatch_cli.model.kernel import Kernel, WrapKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.settings import CheckSettings, Selector

StateOf = Callable[[str], State]


def findings(state: State, *ops: str, select: str = "", built: BuiltLibrary | None = None) -> tuple[Finding, ...]:
    """The findings about the operators named; when none is, about all, or over a base about the files' own.

    built: the library that the declarations are held against. select: as on the command line.
    By default all but no-fake-kernel, as short examples say nothing of fake tensors.
    """
    own = map(str, state.own_operators()) if state.source is not None else state.dispatcher.names()
    named = [OperatorName.parse(name) for name in sorted(ops or own)]
    own_only = state.source is not None
    declared = state.own_higher_order_operators() if own_only else state.higher_order_operators
    higher_order = [operator for operator in declared if not ops or operator.name in ops]
    wanted = tuple(Selector(part) for part in (select or "all").split(","))
    chosen = (CheckSettings(select=wanted, ignore=() if select else (Selector("no-fake-kernel"),)),)
    report = findings_report(
        state, named, frozenset(named) if ops else None, chosen, higher_order=higher_order, built=built
    )
    return tuple(finding.finding for finding in report.findings)


def library_of(state: State, *modules: str) -> BuiltLibrary:
    """A library that has registered the contents of a state."""
    dispatcher = state.dispatcher
    operators = {}
    for name in dispatcher:
        kernels = {key: _built(registration.kernel) for key, registration in dispatcher.active(name).items()}
        python = tuple(kernel.dispatch_key for kernel in state.python_kernels(name))
        definition = dispatcher.operator(name).definition
        if definition is None:
            operators[str(name)] = BuiltOperator(None, kernels, python)
            continue
        kind = "default" if definition.alias_analysis is None else definition.alias_analysis.value
        schema = dispatcher.header(name).schema
        operators[str(name)] = BuiltOperator(schema, kernels, python, True, definition.tags, kind)
    core = {fallback.key for fallback in dispatcher.universe.fallbacks}
    fallbacks = {
        key: BuiltKernel(registration.kernel.debug, registration.kernel.fallthrough, key not in core)
        for key, registration in dispatcher.fallbacks.items()
    }
    return BuiltLibrary(
        "the library", modules or ("lib",), operators, fallbacks, apart=True,
        universe=dispatcher.universe.name,
    )  # fmt: skip


def _built(kernel: Kernel) -> BuiltKernel:
    is_autograd = kernel.wraps is not None and kernel.wraps.kind is WrapKind.AUTOGRAD
    return BuiltKernel(
        kernel.debug,
        kernel.fallthrough,
        True,
        fake=None if kernel.fake is None else kernel.fake.function is not None,
        backward=kernel.function_name is not None if is_autograd else None,
    )
