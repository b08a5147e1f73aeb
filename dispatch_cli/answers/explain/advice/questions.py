"""Calls by which a change is tried: which tensors get to a slot, and what becomes of a call with them."""

from __future__ import annotations

from collections.abc import Set
from functools import lru_cache
from typing import NamedTuple

from dispatch_cli.engine.call.options import option_argument
from dispatch_cli.engine.call.schema_facts import most_tensors
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.tensors import TensorMaker
from dispatch_cli.engine.call.trace import Call, EndKind
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.registration import Refused
from dispatch_cli.engine.table.table import Table
from dispatch_cli.model.calls.call import CallError, Context, ContextKind, TensorSpec, Wrapper, WrapperKind
from dispatch_cli.model.calls.options import NO_OPTIONS, Options
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema import FunctionSchema
from dispatch_cli.model.universe import AUTOGRAD, UNDEFINED, Universe, autocast_backend, autograd_keys_of

KINDS = ("", "sparse", "sparse_csr", "mkldnn", "quantized", "nested")
"""The kinds of tensors with a key of their own."""
BATCHED = "FuncTorchBatched"


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
