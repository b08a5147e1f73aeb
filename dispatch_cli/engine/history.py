"""Run a history on a dispatcher, step by step, noting what is refused.

- `apply` goes on when something is refused, so that everything that is can be reported. The dispatcher then holds what
  was not refused, and is of no use but for that.
- `apply_all` runs all of a history or nothing: when anything is refused, a checkpoint brings the dispatcher back to
  exactly what it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.dispatcher.library import Library
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.registration import Definition, LibraryHold, Refusal, Refused, Registration
from dispatch_cli.model.captured import StateSource, captured_python_kernels
from dispatch_cli.model.declarations import (
    Block,
    CapturedRegistration,
    Declarations,
    Define,
    Fallback,
    Implement,
    OpenBlock,
    PythonKernel,
    Registrant,
    Settle,
    Step,
    has_conditions,
)
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import InputError, Problem, Related
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import META

if TYPE_CHECKING:
    from dispatch_cli.model.changes.change import ChangeError

MAX_REFUSALS = 100
"""Refusals that are reported; the rest is counted."""

BlockStep = OpenBlock | Define | Implement | Fallback
"""The steps that belong to a block."""
_CORE_HINT = "PyTorch itself registers a fallback at this key; leave this one out"
_EARLIER = {
    Definition: "the operator is defined here",
    Registration: "the earlier registration is here",
    LibraryHold: "the namespace is taken here",
}
_KINDS = {refusal.value: refusal for refusal in Refusal}


class Applied(NamedTuple):
    """The result of applying a history.

    overrides: the registrations in effect that took the place of another, where PyTorch warns of it, in order.
    problems: what was refused, in order. of_sources: what was refused of what was extracted from sources.
    """

    overrides: tuple[Registration, ...]
    problems: tuple[Problem, ...]
    of_sources: tuple[Problem, ...] = ()


def apply_all(dispatcher: Dispatcher, steps: Iterable[Step]) -> tuple[Registration, ...]:
    """Run every step; the overrides. Errors: InputError with every refusal, and the dispatcher is as it was."""
    before = dispatcher.checkpoint()
    try:
        applied = apply(dispatcher, steps)
        refuse(applied.problems)
    except BaseException:
        dispatcher.restore(before)
        raise
    return applied.overrides


def refuse(problems: tuple[Problem, ...]) -> None:
    """Raise InputError when there are problems; those beyond what a person reads are counted."""
    if len(problems) > MAX_REFUSALS:
        more = len(problems) - MAX_REFUSALS
        problems = (*problems[:MAX_REFUSALS], Problem("more", f"and {more} more registrations are refused"))
    if problems:
        raise InputError(problems)


def apply(dispatcher: Dispatcher, steps: Iterable[Step]) -> Applied:
    """Run every step that is not refused."""
    libraries: dict[Block, Library] = {}
    refused_blocks: set[Block] = set()
    problems: list[Problem] = []
    of_sources: list[Problem] = []
    overrides: list[Registration] = []
    for step in steps:
        if isinstance(step, Settle):
            overrides = _settle(dispatcher, step, overrides)
            continue
        block = step.block
        if block in refused_blocks:
            continue
        if isinstance(step, Fallback) and block.extracted and _is_pytorchs_own(dispatcher, step):
            continue
        try:
            if block not in libraries:
                libraries[block] = Library(dispatcher, block)
            registration = _register(dispatcher, libraries[block], step)
        except Refused as refused:
            if block.extracted:
                of_sources.append(_of_source(step, _problem(step, refused)))
            else:
                problems.append(_problem(step, refused))
            if block not in libraries:
                refused_blocks.add(block)
            continue
        if registration is not None and registration.warns:
            overrides.append(registration)
    return Applied(tuple(overrides), tuple(problems), tuple(of_sources))


def _settle(dispatcher: Dispatcher, step: Settle, overrides: list[Registration]) -> list[Registration]:
    """The operators of a snapshot are in order; of what overrode what inside it PyTorch has warned."""
    for name in step.operators:
        if name in dispatcher:  # otherwise all of it was refused
            dispatcher.settle(name)
    settled = frozenset(step.operators)
    return [registration for registration in overrides if registration.operator not in settled]


def _register(dispatcher: Dispatcher, library: Library, step: BlockStep) -> Registration | None:
    match step:
        case OpenBlock():
            return None
        case Define():
            library.define(step.schema, step.alias_analysis, step.tags, step.debug, step.span, step.python_module)
            return None
        case Implement():
            _check_meta_kernel(dispatcher, step)
            return library.implement(step.operator, step.kernel, step.dispatch_key)
        case Fallback():
            library.fall_back(step.kernel, step.dispatch_key)
            return None


def _check_meta_kernel(dispatcher: Dispatcher, step: Implement) -> None:
    """Raise Refused for a Python kernel at Meta that ``Library.impl`` refuses; what a snapshot holds was registered."""
    key = step.dispatch_key or step.block.dispatch_key
    kernel = step.kernel
    if key == META and kernel.python and kernel.fake is None and step.block.by is Registrant.USER:
        from dispatch_cli.engine.dispatcher.fakes import refuse_meta_kernel

        full_name = step.block.qualified(step.operator)
        refuse_meta_kernel(step.operator, None if full_name is None else dispatcher.find(full_name))


def _is_pytorchs_own(dispatcher: Dispatcher, step: Fallback) -> bool:
    """True if a fallback of PyTorch's sources is one that PyTorch has, as its universe says.

    The sources may be read in a folder of PyTorch's, so that their paths begin there.
    """
    there = (dispatcher.fallbacks.get(key) for key in dispatcher.universe.covered_by(step.dispatch_key))
    core = next((registration.kernel for registration in there if registration is not None), None)
    if core is None or core.span is not None:
        return False
    from dispatch_cli.model.text.debug_text import file_of_pytorch

    file = file_of_pytorch(core.debug)
    own, read = f"/{file}", f"/{step.block.file}"
    return file != "" and (read.endswith(own) or ("/" in step.block.file and own.endswith(read)))


def _of_source(step: BlockStep, problem: Problem) -> Problem:
    name = step.schema.name if isinstance(step, Define) else step.operator if isinstance(step, Implement) else None
    operator = None if name is None else str(step.block.qualified(name) or name)
    return problem._replace(operator=operator, when=step.when, namespace=step.block.namespace)


def _problem(step: BlockStep, refused: Refused) -> Problem:
    earlier = refused.earlier
    span = step.block.span if isinstance(step, OpenBlock) else step.span
    place = _place(earlier)
    related = (Related(_EARLIER[type(earlier)], place),) if place is not None else ()
    hint = _CORE_HINT if refused.kind is Refusal.DUPLICATE_FALLBACK and place is None else None
    return Problem(refused.kind.value, str(refused), span, hint=hint, related=related)


def _place(earlier: Registration | Definition | LibraryHold | None) -> Span | None:
    if earlier is None:
        return None
    return earlier.kernel.span if isinstance(earlier, Registration) else earlier.span


def run(declarations: Declarations, source: StateSource | None = None, *, refusing: bool = True) -> State:
    """Run the whole history.

    source: the captured state that it continues. refusing: whether a refusal is an error; otherwise the rest counts.
    Errors: InputError with every refusal, each naming both places.
    """
    dispatcher = _fresh(declarations, source, declarations.without)
    applied = apply(dispatcher, declarations.steps)
    places = frozenset(kernel.span for kernel in declarations.python_kernels if kernel.extracted)
    in_python = [*_refused_in_python(declarations, source)]
    if refusing:
        refuse((*applied.problems, *(problem for problem in in_python if problem.span not in places)))
    refused = (
        *declarations.refused,
        *applied.of_sources,
        *(problem for problem in in_python if problem.span in places),
    )
    before, base = declarations.steps_before, None
    is_same = before == declarations.steps and not (declarations.without or declarations.own_python_kernels)
    if (source is not None or before) and not is_same:
        base = _fresh(declarations, source, ())
        apply(base, before)
    return State(dispatcher, applied.overrides, base, source, declarations, refused)


def _fresh(
    declarations: Declarations, source: StateSource | None, without: Iterable[CapturedRegistration]
) -> Dispatcher:
    """A dispatcher before the history begins. without: what is left out of the captured state."""
    return Dispatcher(declarations.universe, declarations.core_fallbacks, source, without)


def _refused_in_python(declarations: Declarations, source: StateSource | None) -> Iterator[Problem]:
    """Refusals of ``py_impl``, for operators and for higher-order ones."""
    yield from _refused_kernels(declarations, source)
    if declarations.higher_order_operators:
        from dispatch_cli.engine.python.higher_order import problems_of as of_higher_order

        captured = source.higher_order_operators if source is not None else ()
        yield from of_higher_order(declarations.higher_order_operators, captured)


def _refused_kernels(declarations: Declarations, source: StateSource | None) -> Iterator[Problem]:
    """The declared Python kernels that ``py_impl`` refuses, beside those of a captured state; both places are named."""
    if not declarations.python_kernels:
        return
    from dispatch_cli.engine.python.table import refusal_text

    taken: dict[OperatorName, dict[str, PythonKernel]] = {}
    for kernel in declarations.python_kernels:
        name, key = kernel.operator, kernel.dispatch_key
        if name not in taken:
            taken[name] = {}
            if source is not None and str(name) in source.names:
                captured = captured_python_kernels(source, str(name), declarations.without)
                taken[name] = {place: PythonKernel(name, place, function) for place, function in captured.items()}
        earlier = taken[name].get(key)
        message = refusal_text(str(name), key, earlier is not None and not kernel.replaces)
        if message is not None:
            place = earlier.span if earlier is not None else None
            related = (Related("the earlier kernel is here", place),) if place is not None else ()
            hint = "the state below the files has one already" if earlier is not None and place is None else None
            yield Problem(Refusal.PYTHON_KERNEL.value, message, kernel.span, hint=hint, related=related)
        else:
            taken[name][key] = kernel


def rerun(state: State, new: Declarations) -> State:
    """The state that other declarations lead to, over the same captured state. Errors: Refused, with PyTorch's text."""
    from dispatch_cli.engine.variants import Variants

    variants = Variants(new, state.variants.chosen) if state.variants is not None and has_conditions(new) else None
    try:
        after = run(new if variants is None else variants.select(variants.default), state.source)
    except InputError as error:
        first = error.problems[0]
        raise Refused(_KINDS.get(first.code, Refusal.BLOCK_MISUSE), first.message) from None
    after.variants = variants
    after.start_as(state)
    return after


def without_changes(state: State) -> State:
    """The state as it would be without the sections ``changes``; worked out once.

    What PyTorch refuses then is left out of it.
    """
    if state.unchanged is None:
        declarations, changes = state.declarations, state.declarations.changes
        assert changes is not None, "only what files change can be undone"
        earlier = changes._asdict()
        del earlier["made"]
        undone = declarations._replace(**earlier, without=(), changes=None)
        state.unchanged = run(undone, state.source, refusing=False)
    return state.unchanged


def refusal_of(error: ChangeError) -> Refused:
    """An error of a change as a refusal."""
    message = str(error) if error.hint is None else f"{error}; {error.hint}"
    return Refused(Refusal.NO_KERNEL, message)


def all_declarations(state: State) -> Declarations:
    """Everything that the files of a state say, under whatever conditions."""
    return state.declarations if state.variants is None else state.variants.declarations
