"""The verdict of a cell: the outcome of a simulated call, and the fate of its gradient.

A kernel is taken to do what the schema and the fake kernel say. What is not decided by declarations is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from dispatch_cli.engine.call.fake_dispatch import DATA_DEPENDENT, DYNAMIC_SHAPE
from dispatch_cli.engine.call.fake_tensor_mode import INPLACE_VIEW
from dispatch_cli.engine.call.gradient import records_gradients
from dispatch_cli.engine.call.kernels.callees import called_by
from dispatch_cli.engine.call.kernels.entry import has_kernels_below
from dispatch_cli.engine.call.thread import GRADS
from dispatch_cli.engine.call.trace import Call, Does, End, EndKind, Error, ErrorKind, FakeOutcome, FakePath, Hop, Why
from dispatch_cli.engine.dispatcher.fakes import active_fake
from dispatch_cli.engine.python.functions import checks_aliases, mismatches, returned_arguments, undeclared_writes
from dispatch_cli.engine.state import State
from dispatch_cli.engine.support.cell import Cell, Column, Reason, SupportCall, SupportRow, Verdict
from dispatch_cli.engine.support.columns import functional_column, support_call, with_contexts
from dispatch_cli.engine.support.gradients import Gradients, Judgment, calls, of_rule, served
from dispatch_cli.engine.support.hazards import (
    decomposes,
    drops_call,
    is_triton_op,
    not_functionalized,
    returns_untraced,
    traced_without_data,
    writes_in_silence,
)
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.calls.call import CallError, ContextKind
from dispatch_cli.model.calls.support import SupportContext
from dispatch_cli.model.kernel import Kernel, WrapKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.model import FunctionSchema, has_tensors, is_mutable, takes_tensors
from dispatch_cli.model.universe import BACKEND_SELECT, BATCHED, IMPLICIT, META, autocast_key_of, backend_keys

_OF_PATH = {
    FakePath.DECOMPOSITION: Verdict.DECOMPOSITION,
    FakePath.COMPOSITE: Verdict.COMPOSITE,
    FakePath.FALLBACK: Verdict.FALLBACK,
    FakePath.TRIVIAL: Verdict.NOTHING_TO_COMPUTE,
}
_MISSING = (ErrorKind.NO_KERNEL, ErrorKind.NO_TENSORS, ErrorKind.META)
_WITH_GRADIENT = (SupportContext.TRAIN, SupportContext.GRAD, SupportContext.JVP)
UNTRACED = "torch.* op returned non-Tensor"
_WITHOUT_SPARSE = (SupportContext.COMPILE, SupportContext.VMAP, SupportContext.JVP)
"""Contexts that do not take sparse results, which an operator named so may have."""
_TRACED = (SupportContext.FAKE, SupportContext.COMPILE)
_RAISING = (Verdict.NO_KERNEL, Verdict.RAISES)
_CALLING = (Verdict.COMPOSITE, Verdict.DECOMPOSITION)
_DOUBTFUL = frozenset(Verdict) - {verdict for verdict in Verdict if verdict.works} - {Verdict.NOT_APPLICABLE}
SPARSE = "sparse"
AUTOCAST = "Autocast"
NOT_APPLICABLE = Cell(Verdict.NOT_APPLICABLE)
INCOMPLETE = Cell(Verdict.NOT_KNOWN, Reason.INCOMPLETE)


class Judges:
    """Judges of the operators of one state."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._kept: dict[OperatorName, Judge] = {}
        self._defines: dict[str | None, bool] = {}

    def of(self, name: OperatorName) -> Judge:
        """The judge of an operator, which is kept: others call the operator."""
        if name not in self._kept:
            self._kept[name] = self.new(name)
        return self._kept[name]

    def new(self, name: OperatorName) -> Judge:
        """A judge of an operator."""
        return self._kept.get(name) or Judge(self, name)

    def defines_in(self, namespace: str | None) -> bool:
        """True if some operator of a namespace is defined, so that a name without a definition may be wrong."""
        if namespace not in self._defines:
            dispatcher = self.state.dispatcher
            self._defines[namespace] = any(
                dispatcher.header(name).schema is not None for name in dispatcher if name.namespace == namespace
            )
        return self._defines[namespace]


class Judge:
    """Judges the calls of one operator. judges: those of the operators that it calls."""

    def __init__(self, judges: Judges, name: OperatorName) -> None:
        self._judges = judges
        self._state = judges.state
        self.universe = judges.state.dispatcher.universe
        self.operator = judges.state.dispatcher.operator(name)
        self.name = name
        self._cells: dict[Column, Cell] = {}
        self.tags, self.schema = self.operator.tags, self.operator.schema
        self.keys = frozenset(self.operator.kernels)

    def cell(self, column: Column) -> Cell:
        """The verdict of a column."""
        cell = self._cells.get(column)
        if cell is None:
            self._cells[column] = NOT_APPLICABLE  # while the operators that it calls are looked at
            cell = self._cell(column)
            if cell.verdict.works and self._is_own:
                cell = self._with_called(column, cell)
            elif not (cell.verdict in _RAISING or self._is_own or cell.call is None):
                cell = self._with_bodies(column, cell)
            if cell.verdict.works and self._differs_in_batch(column, cell):
                cell = _assumed(cell)
            self._cells[column] = cell
        return cell

    def refused(self, call: Call) -> Cell | None:
        """The cell of a call that the dispatcher brings to its end, where PyTorch raises all the same.

        A transform of torch.func refuses the autograd kernel, or a Python function of the operator cannot be right: in
        the call, or in the backward pass of its result.
        """
        if self.schema is None:
            return None
        kinds, shown, hops = {context.kind for context in call.contexts}, SupportCall(()), [call.hops[-1]]
        if call.end.fake is not None:
            cell = self._traced(call.end.fake, shown)
            served = [(cell, active_fake(self.operator) if cell.key == META else None)]
        else:
            if not kinds.isdisjoint(GRADS):
                cell = self._of(self._gradients.differentiated(call.hops, ContextKind.JVP in kinds), shown)
                if cell.verdict is Verdict.RAISES:
                    return cell
            elif records_gradients(call, self.universe):
                hops.append(self._gradients.trained(call.hops).hop)
            served = [(self._served(hop, shown), hop.live.registration) for hop in hops]
        for cell, registration in served:
            fault = None if registration is None or self._is_own else self._fault(registration.kernel)
            if fault is not None and fault[0] is Verdict.RAISES:
                return cell._replace(verdict=fault[0], reason=fault[1])
        return None

    def _differs_in_batch(self, column: Column, cell: Cell) -> bool:
        """True if vmap may get results that do not fit together, as their shape depends on the data."""
        is_rule = cell.verdict is Verdict.OWN and not self._is_own
        return column.context is SupportContext.VMAP and self._reads_data and not is_rule

    @property
    def _reads_data(self) -> bool:
        """True if what is not known without the data decides the results, or their shape."""
        return DATA_DEPENDENT in self.tags or DYNAMIC_SHAPE in self.tags

    def _with_bodies(self, column: Column, cell: Cell) -> Cell:
        """The cell of a library's operator, once the bodies of its Python functions are known."""
        if cell.verdict is Verdict.COMPOSITE and column.context in (*_WITH_GRADIENT, *_TRACED) and self._is_keyless:
            return cell._replace(verdict=Verdict.NOT_KNOWN, reason=Reason.NO_KEY)
        executes = column.context not in (SupportContext.EAGER, SupportContext.FAKE)
        if executes and not (column.context is SupportContext.VMAP and cell.verdict is Verdict.OWN):
            eager = self.cell(column._replace(context=SupportContext.EAGER, tensor=None, contexts=()))
            aliased = eager.reason is Reason.ALIASED_RESULT
            declared = any(result.alias is not None for result in self._known_schema.returns)
            if aliased and declared and column.context is SupportContext.INFERENCE:
                return cell  # nothing tracks views there
            if aliased or eager.reason is Reason.FUNCTION_ARGUMENTS:
                return eager._replace(call=cell.call)
        fake = column.context is SupportContext.FAKE and cell.key == META
        registration = active_fake(self.operator) if fake else None if cell.key is None else self._active(cell.key)
        works = cell.verdict.works
        fault = None if registration is None or not works else self._fault(registration.kernel)
        return cell if fault is None else cell._replace(verdict=fault[0], reason=fault[1])

    @cached_property
    def _is_keyless(self) -> bool:
        """True for a C++ kernel registered without a key, as by ``m.def(SCHEMA, &f)``: it may read tensors' memory."""
        registration = self._active(IMPLICIT)
        is_plain = registration is not None and registration.catch_all and not registration.kernel.python
        return is_plain and any(map(takes_tensors, self._known_schema.arguments))

    def _active(self, key: str) -> Registration | None:
        return self.operator.active(key) if key in self.keys else None

    def _fault(self, kernel: Kernel) -> tuple[Verdict, Reason] | None:
        """The verdict on a Python function that cannot take its arguments, or returns one of them."""
        failing = list(mismatches(kernel, self._known_schema))
        if any(mismatch.always for mismatch in failing):
            return Verdict.RAISES, Reason.FUNCTION_ARGUMENTS
        if any(mismatch.by_default for mismatch in failing):
            return Verdict.NOT_KNOWN, Reason.FUNCTION_ARGUMENTS
        if checks_aliases(kernel):
            returned = list(returned_arguments(kernel, self._known_schema))
            if returned:
                certain = not all(use.sometimes for use in returned)
                return Verdict.RAISES if certain else Verdict.NOT_KNOWN, Reason.ALIASED_RESULT
        return None

    @property
    def _known_schema(self) -> FunctionSchema:
        assert self.schema is not None, "`cell` has looked"
        return self.schema

    def _with_called(self, column: Column, cell: Cell) -> Cell:
        """The cell of one of PyTorch's operators, once what its kernel calls, or its derivative, is known."""
        context, name = column.context, self.name.name
        sparse = SPARSE in name and context in _WITHOUT_SPARSE
        reshapes = INPLACE_VIEW in self.tags and context in (SupportContext.COMPILE, SupportContext.VMAP)
        called = list(self._called(column, cell))
        unseen = cell.verdict in _CALLING and not called
        if context is SupportContext.VMAP:  # a batching rule calls the operator, too
            called.append(self.cell(column._replace(context=SupportContext.EAGER)))
        meta = column.backend == META and (
            unseen or self._reads_data or context in _WITH_GRADIENT
        )  # much has no kernel there
        names = {argument.name for argument in self._known_schema.arguments}
        is_factory = has_tensors(self._known_schema) and "device" in names and "self" not in names
        elsewhere = is_factory and context in _TRACED and column.device != "cpu"  # the result is where the default is
        if sparse or reshapes or meta or elsewhere or any(callee.verdict in _DOUBTFUL for callee in called):
            return _assumed(cell)
        return cell

    def _called(self, column: Column, cell: Cell) -> Iterator[Cell]:
        """The cells of the operators that the composite kernel of a cell calls, as far as that is known."""
        if cell.verdict not in _CALLING:
            return
        dispatcher = self._state.dispatcher
        yield from (self._judges.of(name).cell(column) for name in calls(self.name) if name in dispatcher)
        below = None if cell.kernel is None else called_by(dispatcher, self.name, self.tags, cell.kernel)
        if below is not None:  # it is called below autograd, and by a kernel
            context = SupportContext.FAKE if column.context in _TRACED else SupportContext.EAGER
            yield self._judges.of(below).cell(column._replace(context=context))

    @property
    def _is_own(self) -> bool:
        """True if it is one of PyTorch's own operators, of whose kernels declarations say little."""
        return self.operator.definition is not None and self.operator.definition.captured

    def _cell(self, column: Column) -> Cell:
        if self.schema is None:
            may_be_wrong = self.operator.definition is None and self._judges.defines_in(self.name.namespace)
            return Cell(Verdict.NOT_KNOWN, Reason.NOT_DEFINED if may_be_wrong else Reason.NO_SCHEMA)
        if not self._applies(column):
            return NOT_APPLICABLE
        if column.context is SupportContext.COMPILE:
            compiled = self._compiled(column, self.schema)
            runs_python = any(kernel.dispatch_key != META for kernel in self._state.python_kernels(self.name))
            return _assumed(compiled) if compiled.verdict.fails and runs_python else compiled
        if column.context is SupportContext.AUTOCAST and (cell := self._not_cast(column)) is not None:
            return cell
        try:
            call, shown = support_call(self._state, self.name, self.schema, column)
        except CallError:
            return NOT_APPLICABLE  # the backend has no such tensors
        call = self._ended(call)
        if call.end.fake is not None or column.context is SupportContext.FAKE:
            return self._fake(call, shown)
        cell = self._judged(column, call, shown)
        may_write = column.context in _WITH_GRADIENT and writes_in_silence(self.schema)
        if may_write and cell.verdict not in (*_RAISING, *_CALLING):  # what it calls declares its writes
            return cell._replace(verdict=Verdict.NOT_KNOWN, reason=Reason.UNDECLARED_WRITE)
        return cell

    def _not_cast(self, column: Column) -> Cell | None:
        """The cell under autocast where nothing of the operator is there for it: it is as if autocast was off."""
        key = self._autocast_key(column)
        fallback = None if key is None else self._state.dispatcher.fallbacks.get(key)
        if key in self.keys or fallback is None or not fallback.kernel.fallthrough:
            return None
        eager = self.cell(column._replace(context=SupportContext.EAGER))
        return eager if eager.call is None else eager._replace(call=with_contexts(eager.call, column))

    def _autocast_key(self, column: Column) -> str | None:
        component = self.universe.runtime_parts[column.backend][1]
        return None if component is None else autocast_key_of(self.universe, component)

    def _applies(self, column: Column) -> bool:
        """True if the context can make a difference to a call of the operator."""
        schema, context = self._known_schema, column.context
        if context in (SupportContext.EAGER, SupportContext.FAKE, SupportContext.COMPILE, SupportContext.INFERENCE):
            return True
        if context is SupportContext.AUTOCAST:
            return self._autocast_key(column) is not None
        if not has_tensors(schema):
            return context is SupportContext.CUSTOM
        if context in _WITH_GRADIENT:
            may_write = is_mutable(schema) or (writes_in_silence(schema) and not self._is_own)
            return may_write or any(map(takes_tensors, schema.returns))
        return True

    def _judged(self, column: Column, call: Call, shown: SupportCall) -> Cell:
        rule = next((hop for hop in call.hops if hop.slot == BATCHED), None)
        failed = self._failed(call, shown)
        if failed is not None:
            if rule is not None and rule is not call.hops[-1] and _is_rule(rule):
                return self._at(Verdict.NOT_KNOWN, Reason.ASSUMED, rule, shown)  # it need not call the operator
            error = call.end.error
            if failed.verdict is Verdict.RAISES and error is not None and error.kind is ErrorKind.TRANSFORM:
                is_vmap = column.context is SupportContext.VMAP
                return failed._replace(reason=Reason.NO_VMAP if is_vmap else Reason.AUTOGRAD_FUNCTION)
            return failed
        kinds = {context.kind for context in call.contexts}
        if not kinds.isdisjoint(GRADS):
            return self._of(self._gradients.differentiated(call.hops, ContextKind.JVP in kinds), shown)
        if any(spec.requires_grad for spec in call.tensors):
            return self._of(self._gradients.trained(call.hops), shown)
        if column.context is SupportContext.AUTOCAST:
            return self._cast(call, shown)
        return self._served(rule or call.hops[-1], shown)

    def _cast(self, call: Call, shown: SupportCall) -> Cell:
        """The cell of a call under autocast: a kernel there casts tensors, and what is written goes to the copy."""
        own = next((hop for hop in call.hops if hop.slot.startswith(AUTOCAST)), None)
        kernel = None if own is None else own.live.kernel
        schema = self._known_schema
        if own is None or kernel is None or not (is_mutable(schema) or writes_in_silence(schema)):
            return self._served(own or call.hops[-1], shown)
        if kernel.wraps is not None and kernel.wraps.kind is WrapKind.AUTOCAST:
            return self._at(Verdict.WRONG, Reason.CAST_COPY, own, shown)
        is_known = own.why is not Why.CONVENTION
        return self._served(own, shown) if is_known else self._at(Verdict.NOT_KNOWN, Reason.CAST_COPY, own, shown)

    def _failed(self, call: Call, shown: SupportCall) -> Cell | None:
        """The cell of a call that raises, or of which it is not known whether it does."""
        end, last = call.end, call.hops[-1]
        if end.kind is EndKind.NOT_KNOWN:
            return INCOMPLETE._replace(key=last.slot, call=shown)
        if end.kind is EndKind.HANDLER and end.fake is None:  # a mode or a class of the user's
            return self._at(Verdict.NOT_KNOWN, Reason.ASSUMED, last, shown)
        if end.error is None:
            return None
        assumed = self._assumed(call)
        may_compute = assumed is not None and (assumed.slot == BACKEND_SELECT or not self._has_backends)
        if end.error.kind in _MISSING and assumed is not None and may_compute:
            return self._at(Verdict.NOT_KNOWN, Reason.ASSUMED, assumed, shown)
        is_gap = end.error.kind in _MISSING and last.slot in backend_keys(self.universe)
        text = _error_text(end.error)
        if is_gap:
            return self._at(Verdict.NO_KERNEL, Reason.NO_BACKEND_KERNEL, last, shown)._replace(error=text)
        is_uncast = end.error.kind is ErrorKind.NO_KERNEL and last.slot.startswith(AUTOCAST)
        reason = Reason.NO_AUTOCAST if is_uncast else Reason.CALL
        return self._at(Verdict.RAISES, reason, last, shown)._replace(error=text)

    def _ended(self, call: Call) -> Call:
        """The call as it ends at a kernel above the backends that can only compute the result itself."""
        assumed, error = self._assumed(call), call.end.error
        if assumed is None or error is None or error.kind not in _MISSING or self._has_backends:
            return call
        if META in self.keys and assumed.slot != BACKEND_SELECT:
            return call  # it can be why there is a kernel at autograd
        hops = call.hops[: call.hops.index(assumed)]
        return call._replace(hops=(*hops, assumed._replace(does=Does.ENDS)), end=End(EndKind.KERNEL))

    def _assumed(self, call: Call) -> Hop | None:
        """The kernel of a library that is assumed to go on with the call; it could compute the result, too."""
        assumed = (hop for hop in call.hops if hop.why is Why.CONVENTION)
        return next((hop for hop in assumed if hop.does in (Does.REDISPATCHES, Does.ENDS)), None)

    @cached_property
    def _has_backends(self) -> bool:
        """True if something is registered that a kernel above the backends could go on to."""
        return has_kernels_below(self.universe, self.keys)

    def _served(self, hop: Hop, shown: SupportCall) -> Cell:
        return self._of(served(hop), shown)

    def _of(self, judgment: Judgment, shown: SupportCall) -> Cell:
        cell = self._at(judgment.verdict, judgment.reason, judgment.hop, shown)
        return cell._replace(error=judgment.error)

    @cached_property
    def _gradients(self) -> Gradients:
        return Gradients(self.universe, self.name, self._known_schema)

    def _at(self, verdict: Verdict, reason: Reason | None, hop: Hop, shown: SupportCall) -> Cell:
        kernel = hop.live.kernel
        registration = hop.live.registration
        key = hop.slot if registration is None else registration.key
        label, span = (None, None) if kernel is None else (kernel.label, kernel.span)
        return Cell(verdict, reason, key, label, span, call=shown)

    def _fake(self, call: Call, shown: SupportCall) -> Cell:
        outcome, error = call.end.fake, call.end.error
        if outcome is None:
            return self._failed(call, shown) or self._served(call.hops[-1], shown)
        assumed = self._assumed(call)
        if assumed is not None and not self._has_backends:
            return self._at(Verdict.NOT_KNOWN, Reason.ASSUMED, assumed, shown)
        cell = self._traced(outcome, shown)
        if not outcome.followed or (BACKEND_SELECT in outcome.slots and self._computes_at_select()):
            return _assumed(cell)
        if error is None:
            return cell
        reason = Reason.NO_FAKE if outcome.path in (FakePath.NONE, FakePath.FAKE_IMPL) else Reason.CALL
        cell = cell._replace(verdict=Verdict.RAISES, reason=reason, error=_error_text(error))
        return cell if reason is Reason.CALL else cell._replace(key=None, kernel=None, span=None)

    def _computes_at_select(self) -> bool:
        """True if the operator's kernel at BackendSelect is a library's own, which may compute on the fake tensors."""
        registration = self.operator.active(BACKEND_SELECT)
        return registration is not None and not registration.captured and registration.kernel.wraps is None

    def _traced(self, outcome: FakeOutcome, shown: SupportCall) -> Cell:
        verdict = _OF_PATH.get(outcome.path, Verdict.OWN)
        key = outcome.key
        if outcome.path is FakePath.META and key is not None:
            verdict = of_rule(self.operator.live[key].rule)
            registration = self.operator.live[key].registration
            key = key if registration is None else registration.key
        return Cell(verdict, None, key, outcome.function or outcome.kernel, outcome.span, call=shown)

    def _compiled(self, column: Column, schema: FunctionSchema) -> Cell:
        """The cell of a compiled call: it is traced and functionalized, and what is left of it runs eagerly."""
        eager = self.cell(column._replace(context=SupportContext.EAGER))
        fake = self.cell(column._replace(context=SupportContext.FAKE))
        traced = eager._replace(call=fake.call)
        drops = drops_call(self.universe, schema, self.keys) and not self._state.fake_rules(self.name).side_effects
        if drops and fake.verdict.works and not is_triton_op(self.operator.kernels):
            is_known = traced_without_data(self.operator.active_kernels()) and not self._is_own
            verdict = Verdict.WRONG if is_known else Verdict.NOT_KNOWN
            return traced._replace(verdict=verdict, reason=Reason.UNDECLARED_WRITE, error=None)
        python = {kernel.dispatch_key for kernel in self._state.python_kernels(self.name)}
        keys = self.keys | python
        if not eager.verdict.works and not (IMPLICIT in python and decomposes(self.universe, schema, keys)):
            return eager
        if not fake.verdict.works or is_triton_op(self.operator.kernels):
            is_captured = self._is_own and DYNAMIC_SHAPE in self.tags  # the graph can have a symbol for a size
            return _assumed(fake) if is_captured else fake
        untraced = returns_untraced(self.universe, schema)
        if untraced is not False:
            verdict = Verdict.NOT_KNOWN if untraced is None else Verdict.RAISES
            return traced._replace(verdict=verdict, reason=Reason.CALL, error=UNTRACED, call=None)  # Dynamo refuses it
        refused = not_functionalized(self.universe, schema, self.tags, keys)
        if refused is not None:
            failed = self._cell(functional_column(column))
            return eager._replace(verdict=Verdict.RAISES, reason=refused, error=failed.error, call=failed.call)
        computing = None if eager.key is None else self._active(eager.key)
        if computing is not None and any(undeclared_writes(computing.kernel, schema)):
            return traced._replace(verdict=Verdict.NOT_KNOWN, reason=Reason.UNDECLARED_WRITE)
        return traced if fake.verdict is Verdict.NOTHING_TO_COMPUTE else fake


def _assumed(cell: Cell) -> Cell:
    """The cell, where what a kernel does decides it."""
    return cell._replace(verdict=Verdict.NOT_KNOWN, reason=Reason.ASSUMED, error=None)


def _error_text(error: Error) -> str | None:
    """The first sentence of PyTorch's text, after the exception's name where it is none, as the name of an operator."""
    sentence = error.text.partition("\n")[0].partition(". ")[0].removesuffix(".")
    return sentence if " " in sentence else f"{error.type}: {sentence}" if sentence else None


def _is_rule(hop: Hop) -> bool:
    """True if it is a batching rule of a library, and not PyTorch's fallback or one of PyTorch's rules."""
    kernel = hop.live.kernel
    return hop.why is Why.CONVENTION or (kernel is not None and kernel.wraps is not None)


def support_rows(state: State, names: Sequence[OperatorName], columns: Sequence[Column]) -> Iterator[SupportRow]:
    """The rows, one operator at a time; work grows with what is asked for."""
    judges = Judges(state)
    for name in names:
        judge = judges.new(name)
        definition = judge.operator.definition
        schema, span = (None, None) if definition is None else (str(definition.schema), definition.span)
        yield SupportRow(name, schema, span, tuple(map(judge.cell, columns)))
