"""Comparison of what sources register with what a state holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from dispatch_cli.model.built import BuiltKernel, BuiltLibrary, BuiltOperator
from dispatch_cli.model.condition import Condition
from dispatch_cli.model.declarations import Declarations, Define, Fallback, Implement
from dispatch_cli.model.schema.error import SchemaError
from dispatch_cli.model.schema.model import FunctionSchema
from dispatch_cli.model.schema.parser import parse_printed_schema
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import CATCH_ALL


class AgainstKind(Enum):
    """Kinds of registrations that are compared."""

    DEFINITION = "definition"
    KERNEL = "kernel"
    FALLBACK = "fallback"


class AgainstOutcome(Enum):
    """Outcome of comparing a registration of the sources with the state.

    NOT_IN_BUILD: the state lacks what the sources have under conditions only. NOT_KNOWN: the sources define the
    operator, and its schema is not known.
    """

    SAME = "same"
    ONLY_IN_SOURCES = "only-in-sources"
    ONLY_IN_STATE = "only-in-state"
    DIFFERENT = "different"
    NOT_IN_BUILD = "not-in-build"
    NOT_KNOWN = "not-known"


class InSources(NamedTuple):
    """A registration in the sources. text: the schema as PyTorch prints it, ``kernel`` or ``fallthrough``; None for a
    schema that is not known.
    """

    text: str | None
    span: Span | None
    when: tuple[Condition, ...]


class InState(NamedTuple):
    """A registration of the state. debug: where it was registered, as far as PyTorch says."""

    text: str
    debug: str | None


class AgainstRow(NamedTuple):
    """A registration of the sources, the state or both.

    operator: None for a backend fallback. key: None for a definition. sources, state: the schema, ``kernel`` or
    ``fallthrough``; None where there is none, or where the sources do not say the schema.
    place, when: of the registration in the sources, of the first where there are several. debug: where the state has
    it from, as far as PyTorch says.
    """

    outcome: AgainstOutcome
    registered: AgainstKind
    operator: str | None
    key: str | None
    sources: str | None
    place: Span | None
    when: tuple[str, ...]
    state: str | None
    debug: str | None


_Place = tuple[AgainstKind, str, str | None]


def compare_with_state(declarations: Declarations, library: BuiltLibrary) -> list[AgainstRow]:
    """Everything that either has, by operator and key; definitions first.

    declarations: of the sources. library: of the state; its operators that do not concern the sources are left out.
    """
    ours = _of_sources(declarations)
    theirs = dict(_of_state(library, _AgainstScope(ours, library)))
    rows = [_row(*place, ours.get(place, ()), theirs.get(place)) for place in {**ours, **theirs}]
    ids = declarations.universe.ids
    return sorted(rows, key=lambda row: (row.operator or "", ids.get(row.key, 0) if row.key else -1, row.key or ""))


def names_in(declarations: Declarations) -> frozenset[str]:
    """The operators that sources define or register kernels for."""
    return frozenset(operator for _, operator, _ in _of_sources(declarations) if operator)


def _of_sources(declarations: Declarations) -> Mapping[_Place, Sequence[InSources]]:
    by_place: dict[_Place, list[InSources]] = defaultdict(list)
    for step in declarations.own_steps:
        match step:
            case Define(schema=schema):
                text = None if schema.unknown is not None else str(schema)
                by_place[AgainstKind.DEFINITION, str(schema.name), None].append(InSources(text, step.span, step.when))
            case Implement():
                place = (AgainstKind.KERNEL, str(step.operator), step.dispatch_key or CATCH_ALL)
                by_place[place].append(InSources(_kind(step.kernel.fallthrough), step.span, step.when))
            case Fallback():
                kind = _kind(step.kernel.fallthrough)
                by_place[AgainstKind.FALLBACK, "", step.dispatch_key].append(InSources(kind, step.span, step.when))
            case _:
                pass
    return by_place


class _AgainstScope:
    """Selects those of a state's registrations that concern the sources, or the modules that were imported.

    Where it is known what the modules registered, these; beside them, all of the operators in namespaces in which the
    sources define operators, except PyTorch's own.
    """

    def __init__(self, ours: Mapping[_Place, object], library: BuiltLibrary) -> None:
        self._defined = {operator for registered, operator, _ in ours if registered is AgainstKind.DEFINITION}
        self._namespaces = {operator.partition("::")[0] for operator in self._defined}
        self._library = library
        self._places = frozenset(ours)

    def has_definition(self, name: str, operator: BuiltOperator) -> bool:
        """True if the definition of an operator is compared."""
        return (AgainstKind.DEFINITION, name, None) in self._places or self._is_theirs(name, operator.imported)

    def has_kernel(self, name: str, key: str, kernel: BuiltKernel) -> bool:
        """True if a kernel of an operator is compared."""
        return (AgainstKind.KERNEL, name, key) in self._places or self._is_theirs(name, kernel.imported)

    def has_fallback(self, key: str, kernel: BuiltKernel) -> bool:
        """True if a backend fallback is compared."""
        return (AgainstKind.FALLBACK, "", key) in self._places or (self._library.apart and kernel.imported)

    def _is_theirs(self, name: str, imported: bool) -> bool:
        if self._library.apart:
            return imported
        return name in self._defined or name.partition("::")[0] in self._namespaces


def _of_state(library: BuiltLibrary, scope: _AgainstScope) -> Iterator[tuple[_Place, InState]]:
    for name, operator in library.operators.items():
        if operator.schema is not None and scope.has_definition(name, operator):
            yield (AgainstKind.DEFINITION, name, None), InState(operator.schema, operator.debug)
        for key, kernel in operator.kernels.items():
            if scope.has_kernel(name, key, kernel):
                yield (AgainstKind.KERNEL, name, key), InState(_kind(kernel.fallthrough), kernel.debug)
    for key, kernel in library.fallbacks.items():
        if scope.has_fallback(key, kernel):
            yield (AgainstKind.FALLBACK, "", key), InState(_kind(kernel.fallthrough), kernel.debug)


def _kind(fallthrough: bool) -> str:
    return "fallthrough" if fallthrough else "kernel"


def _row(
    registered: AgainstKind, operator: str, key: str | None, ours: Sequence[InSources], theirs: InState | None
) -> AgainstRow:
    first = ours[0] if ours else InSources(None, None, ())
    return AgainstRow(
        _outcome(registered, ours, theirs),
        registered,
        operator or None,
        key,
        *(first.text, first.span, tuple(map(str, first.when))),
        *(theirs or (None, None)),
    )


def _outcome(registered: AgainstKind, ours: Sequence[InSources], theirs: InState | None) -> AgainstOutcome:
    if theirs is None:
        return AgainstOutcome.NOT_IN_BUILD if all(source.when for source in ours) else AgainstOutcome.ONLY_IN_SOURCES
    if not ours:
        return AgainstOutcome.ONLY_IN_STATE
    texts = [source.text for source in ours]
    if registered is not AgainstKind.DEFINITION:
        return AgainstOutcome.SAME if theirs.text in texts else AgainstOutcome.DIFFERENT
    if _printed(theirs.text) in texts:
        return AgainstOutcome.SAME
    return AgainstOutcome.NOT_KNOWN if None in texts else AgainstOutcome.DIFFERENT


def _printed(schema: str) -> str:
    """The schema of a state as we print it: read first, so that both are written alike."""
    try:
        read: FunctionSchema | str = parse_printed_schema(schema)
    except SchemaError:
        read = schema
    return str(read)
