"""Run declarations through a dispatcher: the history, step by step, and everything that was refused on the way."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.engine.dispatcher import Dispatcher
from dispatch_cli.engine.library import Library
from dispatch_cli.engine.refusal import Refusal, Refused
from dispatch_cli.engine.registration import Definition, LibraryHold, Registration
from dispatch_cli.engine.state import State
from dispatch_cli.model.declarations import Block, Declarations, Define, Fallback, Implement, OpenBlock, Settle, Step
from dispatch_cli.model.problem import InputError, Problem, Related
from dispatch_cli.model.span import Span
from dispatch_cli.model.state_source import StateSource

Entry = OpenBlock | Define | Implement | Fallback
"""The steps that belong to a block."""


MAX_REFUSALS = 100
"""Refusals that are reported; the rest is counted."""


def run(declarations: Declarations, source: StateSource | None = None) -> State:
    """Run the whole history.

    source: the captured state that it continues. Errors: InputError with every refusal, each naming both places.
    """
    problems: list[Problem] = []
    dispatcher, overrides = _play(declarations, declarations.steps, source, problems)
    problems += _refused_in_python(declarations, source)
    if problems:
        more = len(problems) - MAX_REFUSALS
        if more > 0:
            problems[MAX_REFUSALS:] = [Problem("more", f"and {more} more registrations are refused")]
        raise InputError(tuple(problems))
    before = declarations.steps[: declarations.inherited_steps]
    base = None
    if (source is not None or before) and len(before) < len(declarations.steps):
        base, _ = _play(declarations, before, source, [])
    return State(dispatcher, overrides, base, source, declarations)


def _play(
    declarations: Declarations, steps: tuple[Step, ...], source: StateSource | None, problems: list[Problem]
) -> tuple[Dispatcher, tuple[Registration, ...]]:
    dispatcher = Dispatcher(declarations.universe, declarations.core_fallbacks, source)
    libraries: dict[Block, Library] = {}
    refused_blocks: set[Block] = set()
    overrides: list[Registration] = []
    for step in steps:
        if isinstance(step, Settle):
            for name in step.operators:
                dispatcher.settle(name)
            # what overrode what inside a snapshot is PyTorch's own affair
            settled = frozenset(step.operators)
            overrides = [registration for registration in overrides if registration.operator not in settled]
            continue
        block = step.block
        if block in refused_blocks:
            continue
        try:
            if block not in libraries:
                libraries[block] = Library(dispatcher, block)
            registration = _take(libraries[block], step)
        except Refused as refused:
            if block not in libraries:
                refused_blocks.add(block)
            problems.append(_problem(step, refused))
            continue
        if registration is not None and registration.warns:
            overrides.append(registration)
    return dispatcher, tuple(overrides)


def _refused_in_python(declarations: Declarations, source: StateSource | None) -> Iterator[Problem]:
    """What ``py_impl`` refuses: of operators, and of higher-order ones."""
    if declarations.python_kernels:
        from dispatch_cli.engine.python_operator import problems_of as of_operators

        yield from of_operators(declarations.python_kernels, source)
    if declarations.higher_order_operators:
        from dispatch_cli.engine.higher_order import problems_of as of_higher_order

        captured = source.higher_order_operators if source is not None else ()
        yield from of_higher_order(declarations.higher_order_operators, captured)


def _take(library: Library, step: Entry) -> Registration | None:
    match step:
        case OpenBlock():
            return None
        case Define():
            library.define(step.schema, step.alias_analysis, step.tags, step.debug, step.span)
            return None
        case Implement():
            return library.implement(step.operator, step.kernel, step.dispatch_key)
        case Fallback():
            library.fall_back(step.kernel, step.dispatch_key)
            return None


def _problem(step: Entry, refused: Refused) -> Problem:
    earlier = refused.earlier
    span = step.block.span if isinstance(step, OpenBlock) else step.span
    place = _place(earlier)
    related = (Related(_EARLIER[type(earlier)], place),) if place is not None else ()
    hint = _CORE_HINT if refused.kind is Refusal.DUPLICATE_FALLBACK and place is None else None
    return Problem(refused.kind.value, str(refused), span, hint=hint, related=related)


_CORE_HINT = "PyTorch itself registers a fallback at this key; leave this one out, or set core_fallbacks: false"


_EARLIER = {
    Definition: "the operator is defined here",
    Registration: "the earlier registration is here",
    LibraryHold: "the namespace is taken here",
}


def _place(earlier: Registration | Definition | LibraryHold | None) -> Span | None:
    if earlier is None:
        return None
    return earlier.kernel.span if isinstance(earlier, Registration) else earlier.span
