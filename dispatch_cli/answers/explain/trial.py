"""Changes of declarations, tried out: the state after them, a finding that is new, and what becomes of calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from functools import cached_property, lru_cache
from itertools import count
from typing import NamedTuple

from dispatch_cli.checks.catalogue import check_named
from dispatch_cli.checks.check import Check, Finding
from dispatch_cli.checks.view import View
from dispatch_cli.engine.call.options import option_argument
from dispatch_cli.engine.call.schema_facts import most_tensors
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.tensors import TensorMaker
from dispatch_cli.engine.call.trace import Call, EndKind
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.registration import Refused
from dispatch_cli.engine.table.table import Table
from dispatch_cli.model.calls.call import CallError, Context, ContextKind, TensorSpec, Wrapper, WrapperKind
from dispatch_cli.model.calls.options import NO_OPTIONS, Options
from dispatch_cli.model.changes.change import (
    Action,
    Addition,
    AdditionPlace,
    Edit,
    Function,
    key_of,
    operator_of,
    with_added,
)
from dispatch_cli.model.declarations import Fallback, Implement, Settle, Step
from dispatch_cli.model.kernel import FakeImpl, Kernel
from dispatch_cli.model.names import OperatorName, Severity
from dispatch_cli.model.schema.model import FunctionSchema
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import AUTOGRAD, BATCHED, UNDEFINED, Universe, autocast_backend, autograd_keys_of

PLACE = "advice"
"""Stands for the file that a change is written to."""
NO_AUTOGRAD = "no-autograd-kernel"
NO_VIEWS = "missing-adinplaceorview"
JUDGES = (
    *("stale-live-table", "order-sensitive", "overridden-kernel", "unused-registration", "ambiguous-autogradother"),
    *("math-kernel-displaced", NO_AUTOGRAD, "sparse-bypass", "autograd-only", NO_VIEWS),
    *("unreachable-factory", "alias-gap", "no-fake-kernel"),
    *("sibling-disagreement", "python-resolution"),
)
"""Checks that can find something new when a kernel of an operator that is defined comes, moves or goes."""
JUDGES_OF_FUNCTIONS = ("function-signature", "returned-argument", "undeclared-write", "unsymbolic-kernel")
"""Those that can where a kernel's function is known, which a change may register elsewhere."""
ALIASED_RESULT = "aliased-result"
"""One that can where a result has an alias; the keys with a kernel say whether calls are traced as they are."""
DROPPED_CALL = "dropped-call"
"""One that can where nothing is returned, for the same reason."""
SERIOUS = (Severity.WARNING, Severity.ERROR)
KINDS = ("", "sparse", "sparse_csr", "mkldnn", "quantized", "nested")
"""The kinds of tensors with a key of their own."""


class Trial:
    """Tries changes on a state that is as it was after each.

    name: the operator that they are about; findings are about it and its other forms. view: as it is without a change.
    """

    def __init__(self, state: State, name: OperatorName) -> None:
        # what is meant to be so elsewhere is no reason to advise it here
        declarations = state.declarations._replace(suppressions=(), changes=None)
        self._state = State(state.dispatcher, state.overrides, state.base, state.source, declarations)
        self.name = name
        self.universe = state.dispatcher.universe
        self.view = self._view(self._state)
        results = (self.view.schema_text(name) or "").rpartition("->")[2].strip()
        self._judges = sorted(map(check_named, self._names_of_judges(results)), key=lambda check: check.code)
        self._of_dropped_calls = [check_named(DROPPED_CALL)] if results == "()" else []
        before = _serious(self.view, [*self._judges, *self._of_dropped_calls])
        self._known = frozenset(finding.identity for finding in before)

    @property
    def dispatcher(self) -> Dispatcher:
        """The one that changes while something is tried."""
        return self._state.dispatcher

    @contextmanager
    def after(self, edits: Sequence[Edit]) -> Iterator[State]:
        """The state after a change. Errors: Refused when PyTorch refuses it."""
        dispatcher, before = self.dispatcher, self.dispatcher.checkpoint()
        try:
            yield self._changed(edits)
        finally:
            dispatcher.restore(before)

    def new_finding(self, state: State) -> Finding | None:
        """The first finding that matters and is not there without the change; `after` gave the state.

        A dropped call is no reason against a change that lets calls be traced: the schema is wrong without it, too.
        """
        return next(self._new(state, self._judges), None)

    def drops_calls(self, state: State) -> bool:
        """True if torch.compile drops calls only after a change; `after` gave the state."""
        return any(self._new(state, self._of_dropped_calls))

    # inside

    def _new(self, state: State, checks: Sequence[Check]) -> Iterator[Finding]:
        return (item for item in _serious(self._view(state), checks) if item.identity not in self._known)

    def _names_of_judges(self, results: str) -> Iterator[str]:
        """The checks that can find something new after a change of the operator. results: of its schema, as text."""
        yield from JUDGES
        if "(" in results:
            yield ALIASED_RESULT
        kernels = [entry.kernel for stack in self.view.kernels(self.name).values() for entry in stack]
        of_files = [kernel for kernel in kernels if kernel.span is not None]
        if any(kernel.body or kernel.setup_body or kernel.signature for kernel in of_files):
            yield from JUDGES_OF_FUNCTIONS
        if self._state.declarations.guards:
            yield "guard"
        if self._state.declarations.promises:
            yield "broken-promise"

    def _view(self, state: State) -> View:
        return View(state, self._family, frozenset(self._family))

    @cached_property
    def _family(self) -> tuple[OperatorName, ...]:
        """The operator, its overloads, and its in-place or functional forms."""
        own = self.name.name
        names = {own, own.removesuffix("_"), f"{own}_"}
        texts = (text for text in self.dispatcher.names() if text.startswith(own.removesuffix("_")))
        return tuple(name for name in map(OperatorName.parse, texts) if name.name in names)

    def _changed(self, edits: Sequence[Edit]) -> State:
        """The state after edits. Only what they concern is registered again, since many are tried."""
        before = self._state.declarations
        removals = [edit for edit in edits if edit.action is Action.REMOVE]
        added = [
            Addition(edit.operator, edit.key, kernel_of(edit, self.dispatcher))
            for edit in edits
            if edit.action is not Action.REMOVE
        ]
        gone = {id(_step_of(edit, before.steps)) for edit in removals}
        kept = tuple(step for step in before.steps if id(step) not in gone)
        places = (Span(PLACE, line, 1) for line in count(1))
        after = with_added(before._replace(steps=kept), added, (AdditionPlace(at, at, at) for at in places))
        for name in {edit.operator for edit in removals if edit.operator is not None}:
            self._replay(name, before.steps, kept)
        for step in after.steps[len(kept) :]:
            if isinstance(step, Fallback):
                self.dispatcher.fall_back(step.dispatch_key, step.kernel)
            elif isinstance(step, Implement):
                self.dispatcher.implement(step.operator, step.dispatch_key, step.kernel)
        return State(self.dispatcher, self._state.overrides, self._state.base, self._state.source, after)

    def _replay(self, name: OperatorName, before: Iterable[Step], after: Iterable[Step]) -> None:
        """Register for an operator what *after* says in the place of what *before* says."""
        dispatcher = self.dispatcher
        own = {id(step.kernel) for step in before if isinstance(step, Implement) and step.operator == name}
        for registrations in [*dispatcher.operator(name).kernels.values()]:
            for registration in [*registrations]:
                if id(registration.kernel) in own and not registration.captured:
                    dispatcher.drop(registration)
        if name in dispatcher:
            dispatcher.settle(name)
        for step in after:
            if isinstance(step, Implement) and step.operator == name:
                dispatcher.implement(name, key_of(step), step.kernel)
            elif isinstance(step, Settle) and name in step.operators and name in dispatcher:
                dispatcher.settle(name)


def _step_of(edit: Edit, steps: Sequence[Step]) -> Step | None:
    """The step that a removal takes out: the last one at its key; None where there is none in a file."""
    own = (step for step in reversed(steps) if isinstance(step, Implement) and operator_of(step) == edit.operator)
    return next((step for step in own if key_of(step) == edit.key), None)


def kernel_of(edit: Edit, dispatcher: Dispatcher) -> Kernel:
    """The kernel that an edit registers. dispatcher: of the state that is edited."""
    match edit.function:
        case Function.FALLTHROUGH:
            return Kernel("fallthrough", "fallthrough", fallthrough=True)
        case Function.SAME if edit.source is not None and edit.operator is not None:
            registration = dispatcher.operator(edit.operator).active(edit.source)
            return Kernel("") if registration is None else registration.kernel
        case Function.FALLBACK:
            return dispatcher.fallbacks[edit.key].kernel
        case Function.FAKE:
            return Kernel(edit.kernel or "", python=True, fake=FakeImpl(edit.kernel))
        case _:
            return Kernel(edit.kernel or "", edit.kernel, redispatches=edit.redispatches)


def _serious(view: View, checks: Iterable[Check]) -> Iterator[Finding]:
    runs = (check for check in checks if check.unmet(view) is None)
    findings = (check.hedged(view, finding) for check in runs for finding in check.find(view))
    return (finding for finding in findings if finding.severity in SERIOUS or _loses_autograd(view, finding))


def _loses_autograd(view: View, finding: Finding) -> bool:
    """True for an info about what autograd loses: who registers a kernel may want one for it as well."""
    if finding.check != NO_AUTOGRAD or finding.operator is None:
        return finding.check == NO_VIEWS
    return "!" not in (view.schema_text(OperatorName.parse(finding.operator)) or "")


class Question(NamedTuple):
    """A call to be made: its tensors and contexts, and what it is given besides."""

    tensors: tuple[TensorSpec, ...] = ()
    contexts: tuple[Context, ...] = ()
    options: Options = NO_OPTIONS


@lru_cache(maxsize=8)
def _with_tensors(universe: Universe) -> tuple[tuple[str, Question], ...]:
    """A call for every kind of tensor, outside and inside of inference mode, each with the tensor's backend key."""
    maker, inference, questions = TensorMaker(universe), Context.parse("inference_mode"), []
    for device in universe.devices:
        for kind in KINDS:
            spec = TensorSpec.parse(f"{device} {kind}".strip())
            try:
                key = maker.own_key(spec)
            except CallError:
                continue
            questions.append((key, Question((spec,))))
            questions.append((key, Question((spec._replace(inference=True),), (inference,))))
    return tuple(questions)


class Calls:
    """The calls of an operator by which its slots are tried. schema: None where it is not known."""

    def __init__(self, universe: Universe, schema: FunctionSchema | None) -> None:
        self._universe = universe
        self._takes_tensors = schema is None or most_tensors(schema) != 0
        self._takes_device = option_argument(schema, "device") is not None

    @property
    def all(self) -> tuple[tuple[str, Question], ...]:
        """Every call, with the backend key of its tensor or device."""
        if self._takes_tensors:
            return _with_tensors(self._universe)
        devices = self._universe.devices.items() if self._takes_device else ()
        return ((UNDEFINED, Question()), *((key, Question(options=Options(device))) for device, key in devices))

    def to(self, table: Table, slot: str, reached: Set[str]) -> list[Question]:
        """The calls that are to work when a slot is put right.

        table: the operator's, as it is. reached: the backend keys whose kernels they are to reach, where these are
        known; otherwise calls of the backends that have a kernel, if one of them gets to the slot.
        """
        universe = self._universe
        if slot == UNDEFINED:
            return [Question()]
        if not self._takes_tensors:
            return [question for key, question in self.all if key in (reached or {slot})]
        plain = [(key, question) for key, question in self.all if not question.contexts]
        if reached:
            return [question for key, question in plain if key in reached]
        if slot == BATCHED:
            vmap, wrapper = Context.parse("vmap"), Wrapper(WrapperKind.BATCHED)
            kept = [(key, question.tensors[0]) for key, question in plain if table[key].rule is Rule.KERNEL]
            return [Question((spec._replace(wrappers=(wrapper,)),), (vmap,)) for key, spec in kept]
        backend = autocast_backend(universe, slot)
        if backend is not None:
            answered = [(key, question) for key, question in plain if table[key].rule is not Rule.MISSING]
            device = next((device for device, key in universe.devices.items() if key == backend), None)
            autocast = (Context(ContextKind.AUTOCAST, device=device),)
            of_backend = [question for key, question in answered if universe.runtime_parts[key][1] == backend]
            return [question._replace(contexts=autocast) for question in of_backend] if device is not None else []
        if slot not in universe.covered_by(AUTOGRAD):
            return [question for key, question in self.all if key == slot]
        above = [(key, question) for key, question in plain if slot in autograd_keys_of(universe, key)]
        own = [question for key, question in above if table[key].rule is Rule.KERNEL]
        return own or [question for _, question in above[:1]]


def answer(state: State, name: OperatorName, question: Question) -> Call | None:
    """Simulated call of a question; None where it cannot be made."""
    try:
        return simulate(state, name, question.tensors, question.contexts, options=question.options)
    except (CallError, Refused):
        return None


def works(call: Call | None) -> bool:
    """True if a call is made, and is not known to fail."""
    return call is not None and call.end.kind is not EndKind.ERROR


def failing_slot(call: Call) -> str:
    """The slot at which a call fails; where a fallthrough has sent it past its last key, the one of that key."""
    slot = call.hops[-1].slot
    selection = next(hop.selection for hop in reversed(call.hops) if hop.selection is not None)
    if slot == UNDEFINED and selection.keyset.bits and selection.skipped:
        return selection.skipped[-1]
    return slot
