"""Loading files into a state that can be queried, for the command line and for Python programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.registration import Refusal
from dispatch_cli.model.problem import InputError, Problem

if TYPE_CHECKING:
    from dispatch_cli.bases import Base
    from dispatch_cli.declarations.tree import ExtractedDocument
    from dispatch_cli.engine.table.registration import Registration
    from dispatch_cli.engine.variants import Variant, Variants
    from dispatch_cli.model.captured import StateSource
    from dispatch_cli.model.declarations import Declarations
    from dispatch_cli.model.sources.source_settings import SourceSettings
    from dispatch_cli.model.span import Span
    from dispatch_cli.model.universe import Universe
    from dispatch_cli.trace.state import RegistrationsKnown


def load_state(
    paths: Sequence[str | ExtractedDocument],
    *,
    universe: str | Universe | None = None,
    bases: Sequence[str] = (),
    assumed_base: str | None = None,
    guards: Sequence[str] = (),
    allow_outside: bool = False,
    privateuse1: str | None = None,
    when: Mapping[str, str] | None = None,
) -> State:
    """Read declaration files, run them as one history, and return the state after it.

    paths: files in order, ``-`` for standard input, and documents that were made of sources (`document_of_sources`);
    none of them when a base alone is asked for.
    universe: an embedded name or a path, or the universe itself, for files that name none. bases: names of embedded
    states to start from, or a recording of a program, for the state of its PyTorch. assumed_base: the embedded state to
    start from where neither *bases* nor a file says anything else; `State.over_assumed` says whether it was used.
    guards: files that say what must hold, and register nothing.
    allow_outside: whether files may lead, by what they extend or by links, to files outside of their project: the
    folder of the nearest ``pyproject.toml`` or ``.git`` above the file that is named, else its own.
    privateuse1: the name of the backend at PrivateUse1, as ``torch.utils.rename_privateuse1_backend`` gives it.
    when: what names in conditions stand for; ``undefined`` for a macro that is not defined. Where conditions leave
    something open, the state is the one with the most registrations.

    Errors: InputError with every problem of the files, and every registration that the dispatcher refuses.
    """
    alone = not paths and not guards and universe is None and privateuse1 is None and not when
    known = _recorded(bases)
    notes: tuple[str, ...] = ()
    if known is not None and known.is_base:
        notes = (f"the registrations of its program are not in {bases[0]}: those of {known.base} stand for them",)
        bases, known = (known.base,), None
    if known is not None and alone:
        return known.state
    if bases and alone:
        # nothing to read and nothing to run: the state as it is
        base = _fitting(bases)
        if base is not None:
            if not notes:
                return State(Dispatcher(base.universe, base=base), source=base)
            from dispatch_cli.model.declarations import Declarations

            declarations = Declarations(base.universe, notes=notes)
            return State(Dispatcher(base.universe, base=base), source=base, declarations=declarations)
    from dispatch_cli.declarations.loader import Continued, load

    continued = None
    if known is not None:
        continued = Continued(known.state.source, known.state.declarations.steps)
    try:
        declarations = load(
            paths,
            universe=universe if known is None else known.state.dispatcher.universe,
            bases=bases if known is None else (),
            assumed_base=None if bases or known is not None else assumed_base,
            guards=guards,
            allow_outside=allow_outside,
            privateuse1=privateuse1,
            continued=continued,
        )
    except InputError as error:
        raise InputError(_with_refusals(error, known)) from None
    declarations = declarations._replace(notes=notes)
    state = _run_over(declarations, when, known)
    state.over_assumed = not bases and assumed_base is not None and declarations.bases == (assumed_base,)
    return state


def _recorded(names: Sequence[str]) -> RegistrationsKnown | None:
    """The state of the recording that is among the names of states; None where there is none. Errors: InputError."""
    candidates = [name for name in names if not name.startswith("torch-")]
    if not candidates:
        return None
    from dispatch_cli.trace.recording import is_recording, read
    from dispatch_cli.trace.state import state_of

    files = [name for name in candidates if is_recording(name)]
    if not files:
        return None
    if len(names) > 1:
        message = f"the recording {files[0]} has a state of its own, and no other can be added"
        raise InputError((Problem("several-states", message, hint="give one --base"),))
    return state_of(read(files[0]))


def _run_over(declarations: Declarations, when: Mapping[str, str] | None, known: RegistrationsKnown | None) -> State:
    """Run declarations. known: the state of a recording that they continue. Errors: InputError."""
    if known is not None and declarations.bases:
        name = declarations.bases[0]
        message = f"the file extends {name}, and the state of the recording is another one"
        hint = "leave `extends` out, or name files that extend no embedded state"
        raise InputError((Problem("several-states", message, _extended(declarations, name), hint=hint),))
    return run_declarations(declarations, when, None if known is None else known.state.source)


def document_of_sources(paths: Sequence[str], settings: SourceSettings | None = None) -> ExtractedDocument:
    """Declarations from sources and directories of sources, for `load_state`. Nothing in them is executed or imported.

    settings: how they are read. Errors: InputError for what cannot be read.
    """
    from dispatch_cli.declarations.tree import ExtractedDocument
    from dispatch_cli.extract.run import run

    extraction = run(paths, () if settings is None else (settings,))
    return ExtractedDocument(paths[0], extraction.document, extraction.lines)


def _with_refusals(error: InputError, known: RegistrationsKnown | None) -> tuple[Problem, ...]:
    """The problems of the files, and with them those of registering what could be read. known: as of `_run_over`."""
    if error.partial is None:
        return error.problems
    try:
        _run_over(error.partial, None, known)
    except InputError as refused:
        order = {file: position for position, file in enumerate(error.partial.files)}
        # what is wrong with a block itself is said already
        new = (problem for problem in refused.problems if problem.code != Refusal.BLOCK_MISUSE.value)
        problems = (*error.problems, *new)
        return tuple(sorted(problems, key=lambda problem: _place(problem, order)))
    return error.problems


def _place(problem: Problem, order: dict[str, int]) -> tuple[int, int, int]:
    span = problem.span
    return (-1, 0, 0) if span is None else (order.get(span.file, len(order)), span.line, span.column)


def what_if_state(
    keys: Sequence[str], *, universe: str | None = None, allow_outside: bool = False, privateuse1: str | None = None
) -> State:
    """The state of one operator ``foo(Tensor x)`` with a kernel at each of *keys*.

    universe, allow_outside, privateuse1: as for `load_state`.

    Errors: InputError for unknown keys, and for combinations that PyTorch's PythonDispatcher refuses.
    """
    from dispatch_cli.declarations.what_if import what_if

    return run_declarations(what_if(keys, universe, allow_outside, privateuse1))


def load_universes(
    names: Sequence[str | None], allow_outside: bool = False, privateuse1: str | None = None
) -> list[Universe]:
    """The universes of these names or paths; None is the newest embedded one.

    allow_outside, privateuse1: as for `load_state`. Errors: InputError, for all at once.
    """
    results = [_universe(name, allow_outside) for name in names]
    problems = tuple(problem for result in results if isinstance(result, tuple) for problem in result)
    if problems:
        raise InputError(problems)
    chosen = [result for result in results if not isinstance(result, tuple)]
    if privateuse1 is None:
        return chosen
    from dispatch_cli.declarations.universe_file import named_backend

    return [named_backend(universe, privateuse1) for universe in chosen]


def _universe(name: str | None, allow_outside: bool) -> Universe | tuple[Problem, ...]:
    from dispatch_cli import universes

    if name is None or name in universes.names():
        return universes.load(universes.default_name() if name is None else name)
    from dispatch_cli.declarations.universe_file import load_universe

    try:
        recorded = _recorded((name,))
        return load_universe(name, allow_outside) if recorded is None else recorded.state.dispatcher.universe
    except InputError as error:
        return error.problems


def run_declarations(
    declarations: Declarations, when: Mapping[str, str] | None = None, source: StateSource | None = None
) -> State:
    """Run declarations over the embedded state that they continue, where they do.

    when: as for `load_state`. source: the captured state that they continue, where they name none. Errors: InputError.
    """
    variants = _variants(declarations, when or {})
    if variants is None:
        return _run(declarations, source)
    state = _run(variants.select(variants.default), source)
    state.variants = variants
    return state


def _variants(declarations: Declarations, when: Mapping[str, str]) -> Variants | None:
    """Variants by the conditions; None if there are none. Errors: InputError for a choice of what is in none."""
    from dispatch_cli.model.declarations import has_conditions

    if not has_conditions(declarations):
        _refuse_choices(when, ())
        return None
    from dispatch_cli.engine.variants import Variants

    variants = Variants(declarations, when)
    _refuse_choices(when, variants.atoms)
    return variants


def _decided(declarations: Declarations) -> Declarations:
    """Declarations without conditions; where they have some, those of the variant with the most registrations."""
    variants = _variants(declarations, {})
    return declarations if variants is None else variants.select(variants.default)


def run_variant(state: State, variant: Variant) -> State:
    """The state of another variant of a state's declarations, with the operators to look at in it.

    Errors: InputError.
    """
    assert state.variants is not None, "only declarations with conditions have variants"
    other = _run(state.variants.select(variant), state.source)
    other.start_as(state)
    return other


def further_states(state: State) -> Iterator[tuple[State, Mapping[str, int]]]:
    """The further states that conditional registrations lead to, and the cases of the operators to look at in each.

    Errors: InputError.
    """
    if state.variants is not None:
        for variant in state.variants.variants[1:]:
            yield run_variant(state, variant), variant.cases


def _refuse_choices(when: Mapping[str, str], atoms: Sequence[str]) -> None:
    """Errors: InputError for a name that no condition has."""
    if not when:
        return
    from dispatch_cli.model.conditions.worlds import meaning, names_in
    from dispatch_cli.model.text.suggest import suggestion

    names = dict.fromkeys(name for atom in atoms for name in (*names_in(atom), atom))
    # the words of a condition that is a sentence are no names to be offered
    offered = dict.fromkeys(atom if (statement := meaning(atom)) is None else statement.name for atom in atoms)
    problems = []
    for name in when:
        if name not in names:
            known = f"there are conditions on {', '.join(map(repr, [*offered][:10]))}" if offered else None
            hint = suggestion(name, tuple(names)) or known
            message = f"no condition of a registration mentions {name!r}"
            problems.append(Problem("unknown-condition", message, hint=hint))
    if problems:
        raise InputError(tuple(problems))


def _run(declarations: Declarations, source: StateSource | None = None) -> State:
    """Run declarations whose conditions are decided; source: as for `run_declarations`. Errors: InputError."""
    from dispatch_cli.engine.history import run

    if not declarations.bases:
        try:
            return run(declarations, source)
        except InputError as error:
            raise InputError(tuple(_with_state_hint(problem, declarations) for problem in error.problems)) from None
    base = _embedded(declarations.bases, declarations)
    if conflict := _other_universe(declarations.universe, base):
        raise InputError((Problem("universe-conflict", conflict, _extended(declarations, base.name)),))
    return run(declarations, base)


def _fitting(names: Sequence[str]) -> Base | None:
    """The embedded state of these names, with its overlays; None where a name is none, or they do not go together."""
    from dispatch_cli import bases

    states, overlays = bases.names(), bases.overlay_names()
    if len(names) == 1:
        return bases.load(names[0]) if names[0] in states else None
    if not all(name in states or name in overlays for name in names) or len({*names}) < len(names):
        return None
    from dispatch_cli.bases import overlay

    return None if overlay.conflict(names) is not None else overlay.combined(tuple(names))


def _embedded(names: tuple[str, ...], declarations: Declarations) -> Base:
    """The embedded state of these names, with its overlays. Errors: InputError where they do not go together."""
    from dispatch_cli import bases

    if len(names) == 1 and names[0] in bases.names():
        return bases.load(names[0])
    from dispatch_cli.bases import overlay

    conflict = overlay.conflict(names)
    if conflict is not None:
        place = next((span for name in (conflict.name, *names[1:]) if (span := _extended(declarations, name))), None)
        raise InputError((Problem("several-states", conflict.message, place, hint=conflict.hint),))
    return overlay.combined(names)


def _other_universe(universe: Universe, base: Base) -> str | None:
    """Message for declarations that are not written for the layout of the state that they continue."""
    if universe is base.universe:
        return None
    state, names = base.name, (universe.name, base.universe.name)
    if names[0] != names[1]:
        return f"the state {state} has the universe {names[1]}, not {names[0]}"
    from dispatch_cli.declarations.universe_file import layout_differences

    try:
        fields = layout_differences(universe, base.universe.with_backend(universe.backend_name))
    except ValueError:  # PyTorch gives no backend such a name
        fields = ["devices"]
    if not fields:
        return None
    listed = ", ".join(fields)
    return f"the universe is named {names[0]}, but differs from that of the state {state} in {listed}"


def _with_state_hint(problem: Problem, declarations: Declarations) -> Problem:
    """The problem with a hint at the state to extend, where an operator and all others of its namespace are missing."""
    from dispatch_cli import bases
    from dispatch_cli.engine.table.registration import Refusal
    from dispatch_cli.model.declarations import Define, Implement

    if problem.code != Refusal.UNKNOWN_OPERATOR.value or problem.hint is not None:
        return problem
    steps = declarations.steps
    missing = {step.operator.namespace for step in steps if isinstance(step, Implement) and step.span == problem.span}
    missing -= {step.schema.name.namespace for step in steps if isinstance(step, Define)}
    states = [state for state in map(bases.load, bases.names()) if not _other_universe(declarations.universe, state)]
    for state in states:
        if any(name.partition("::")[0] in missing for name in state.names):
            return problem._replace(hint=f"to load PyTorch's own operators, add extends: [{state.name}]")
    return problem


def _extended(declarations: Declarations, state: str) -> Span | None:
    """Place where a file extends an embedded state; None where the caller asked for it."""
    chains = (entry.through for entry in declarations.inherited if entry.is_state and entry.name == state)
    return next((through[-1] for through in chains if through), None)


def apply_to(dispatcher: Dispatcher, declarations: Declarations) -> tuple[Registration, ...]:
    """Run declarations on a dispatcher that is there already: all of them, or nothing.

    Where registrations have conditions, those are run that `load_state` runs.

    Returns the registrations that took the place of another, where PyTorch warns of it. Python kernels, higher-order
    operators and guards are not a dispatcher's; they stay in the declarations.
    Errors: InputError with every refusal, and for declarations that are written for another universe or state; the
    dispatcher is exactly as it was then.
    """
    from dispatch_cli.engine.history import apply_all

    _check_fit(dispatcher, declarations)
    return apply_all(dispatcher, _decided(declarations).steps)


def _check_fit(dispatcher: Dispatcher, declarations: Declarations) -> None:
    """Refuse declarations that can not continue the dispatcher's state."""
    from dispatch_cli import universes

    problems = []
    theirs, ours = declarations.universe, dispatcher.universe
    if theirs is not ours and (theirs.name != ours.name or universes.differences(theirs, ours)):
        message = f"the declarations have the universe {theirs.name}, but the dispatcher has {ours.name}"
        problems.append(Problem("universe-conflict", message))
    there = () if dispatcher.base is None else dispatcher.base.parts
    for name in declarations.bases:
        if name not in there:
            message = f"the declarations extend the state {name}, but the dispatcher does not"
            problems.append(Problem("state-conflict", message))
    if not declarations.core_fallbacks and dispatcher.has_core_fallbacks:
        message = "the declarations exclude PyTorch's own backend fallbacks, but the dispatcher has them"
        problems.append(Problem("core-fallbacks-conflict", message))
    if problems:
        raise InputError(tuple(problems))
