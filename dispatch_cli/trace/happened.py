"""Kernels of recorded calls: those that were observed, and after them those that the engine predicts."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from dispatch_cli.engine.call.errors import raised_by_kernel
from dispatch_cli.engine.call.kernels.entry import COMPOSITES
from dispatch_cli.engine.call.trace import Does, End, Hop, Reached, Why
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.table.layout import KeyLayout
from dispatch_cli.model.calls.call import CallEnd, EndKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema import FunctionSchema
from dispatch_cli.model.schema.model import is_mutable
from dispatch_cli.model.universe import FUNCTIONALIZE, META, PYTHON, PYTHON_DISPATCHER, UNDEFINED, backend_keys
from dispatch_cli.trace.calls import NONE, RAISED
from dispatch_cli.trace.explained import Explained, Explainer
from dispatch_cli.trace.recording import Ran

_ENDS_ITSELF = End(EndKind.KERNEL)
_MAIN = "MainThread"
"""Python's name of the thread that runs the program."""
_GOES_ON = ("fork", "inductor")
"""Reasons why something is not recorded, after which the recording goes on to the end of the program."""


class Difference(NamedTuple):
    """First difference of the kernels that ran from those that the engine predicts.

    at: which kernel, from 0. ran, predicted: its slot, None where there is none.
    """

    at: int
    ran: str | None
    predicted: str | None


def difference(explained: Explained, ran: Sequence[Ran]) -> Difference | None:
    """The first difference of what ran from what is predicted; None without one, and where nothing is predicted.

    ran: the kernels of the call, and those of the same operator that they reached, as they began.
    """
    if explained.call is None or not ran:
        return None
    predicted = [hop for hop in explained.hops if is_seen(hop)]
    seen = chain_of(explained.operator, ran, explained.state.dispatcher)
    for at, (hop, kernel) in enumerate(zip(predicted, seen, strict=False)):
        is_same = slot_of(hop) == kernel.slot and hop.keyset.bits == kernel.raw
        if not is_same or (at and kernel.redispatched != (hop.reached is Reached.REDISPATCH)):
            return Difference(at, kernel.slot, slot_of(hop))
    if len(seen) < len(predicted) and not seen[-1].raised:
        return Difference(len(seen), None, slot_of(predicted[len(seen)]))
    if len(seen) > len(predicted):
        return Difference(len(predicted), seen[len(predicted)].slot, None)
    return None


def has_kernel(hop: Hop) -> bool:
    """True if there is a kernel; a call that comes to a slot without one ends there."""
    return hop.live.kernel is not None or hop.python is not None


def is_seen(hop: Hop) -> bool:
    """True for a kernel of the dispatcher, and not a Python function that the Python dispatcher calls."""
    return hop.live.kernel is not None and (hop.python is None or hop.python.kernel is None)


def slot_of(hop: Hop) -> str | None:
    """The slot of a kernel; of one that the Python dispatcher asks for by a key, that key."""
    return hop.slot if hop.python is None else hop.python.chosen_key


def chain_of(operator: OperatorName, ran: Sequence[Ran], dispatcher: Dispatcher) -> list[Ran]:
    """The kernels of one call: the first one, and each with which one before goes on.

    ran: also those of other calls of the operator that a kernel made, as they began.
    """
    chain, at = [ran[0]], 0
    while (following := _following(operator, ran, at, dispatcher)) is not None:
        at = following
        chain.append(ran[at])
    return chain


def _following(operator: OperatorName, ran: Sequence[Ran], at: int, dispatcher: Dispatcher) -> int | None:
    """Position of the kernel of the same operator that follows.

    One that computes, one written in other operators, and Python code that gets the call may call the same operator
    with tensors of its own; such a call is another one. So is the trial that functionalization makes of an operator in
    place first, on meta tensors.
    """
    kernel, universe = ran[at], dispatcher.universe
    if kernel.slot == PYTHON:
        return None
    inside = []
    for number in range(at + 1, len(ran)):
        if ran[number].depth <= kernel.depth:
            break
        if ran[number].depth == kernel.depth + 1:
            if ran[number].redispatched:
                return number
            inside.append(number)
    if kernel.slot not in universe.slot or kernel.slot in (UNDEFINED, PYTHON_DISPATCHER, *backend_keys(universe)):
        return None
    if dispatcher.operator(operator).live[kernel.slot].rule in COMPOSITES:
        return None
    writes = operator.name.endswith("_") and is_mutable(_schema_of(operator, dispatcher))
    tries = kernel.slot == FUNCTIONALIZE and writes
    if inside and tries and _is_on_meta(ran[inside[0]], dispatcher.layout):
        del inside[0]
    return inside[0] if inside else None


def _schema_of(operator: OperatorName, dispatcher: Dispatcher) -> FunctionSchema | None:
    definition = dispatcher.operator(operator).definition
    return None if definition is None else definition.known_schema


def _is_on_meta(kernel: Ran, layout: KeyLayout) -> bool:
    return DispatchKeySet(layout, kernel.raw & (layout.functionality_mask | layout.backend_mask)).has(META)


class Happened:
    """Explanations of calls. Calls in which the same happened have the same number.

    A kernel of a user is predicted to redispatch. That it calls its operator again is seen by the call inside of it,
    that it does not go on to a kernel that is missing by the return of the call, and all else by the kernels that were
    observed. A prediction is about calls that return: of others, no kernel is known after those that were observed.
    """

    def __init__(self, explainer: Explainer) -> None:
        self._explainer = explainer
        self._recording = explainer.recording
        self._first_again: array[int] | None = None
        self._numbers: dict[object, int] = {}
        self._misses: dict[int, bool] = {}
        self._others: list[Explained] = []
        self._differences: list[Difference | None] = []
        names, stopped = self._recording.threads, self._recording.stopped
        is_whole = self._recording.end is not None and all(missing.reason in _GOES_ON for missing in stopped)
        self._main = names.index(_MAIN) if is_whole and _MAIN in names else None
        """The thread whose calls have all ended, where the recording goes as far as that."""

    def ended_as(self, call: int) -> CallEnd:
        """End of a call. One that was still open when the program itself had ended, raised what ended it."""
        calls = self._recording.calls
        if calls.end[call] == NONE:
            return CallEnd.RAISED if calls.thread[call] == self._main else CallEnd.UNFINISHED
        return CallEnd.RAISED if calls.raised[call] == RAISED else CallEnd.RETURNED

    def number_of(self, call: int) -> int:
        """A number for what happened in a call: that of its signature, where it is as predicted."""
        signature, ended = self._recording.calls.signature[call], self.ended_as(call)
        returned = ended is CallEnd.RETURNED
        ran = self._recording.kernels.get(call)
        again = self.again(call)
        inside = NONE if again == NONE else self._recording.calls.signature[again]
        made_by = None if inside == NONE or ran else self._calls_again_at(signature, inside)
        is_wrong = returned and made_by is None and self._misses_a_kernel(signature)
        if returned and not ran and not is_wrong and made_by is None:
            return signature
        look = (signature, inside, tuple(ran or ()), is_wrong, ended)
        number = self._numbers.get(look)
        if number is None:
            number = self._numbers[look] = len(self._recording.signatures) + len(self._others)
            explained = self._explainer.of_signature(signature)
            differs = difference(explained, ran) if ran else None
            if is_wrong and differs is None and (ran or explained.hops[-2].why is not Why.CONVENTION):
                differs = Difference(sum(map(is_seen, explained.hops)), None, slot_of(explained.hops[-1]))
            self._differences.append(differs)
            observed = self._observed(signature, inside, ran or (), is_wrong, differs)
            self._others.append(observed if returned else self._stopped(observed, inside, ran or (), ended))
        return number

    def of_number(self, number: int) -> Explained:
        """Explanation of the calls with that number."""
        own = number - len(self._recording.signatures)
        return self._explainer.of_signature(number) if own < 0 else self._others[own]

    def of_call(self, call: int) -> Explained:
        """Explanation of a call."""
        return self.of_number(self.number_of(call))

    def difference(self, call: int) -> Difference | None:
        """Difference of the kernels that were observed from those that are predicted."""
        own = self.number_of(call) - len(self._recording.signatures)
        return None if own < 0 else self._differences[own]

    def again(self, call: int) -> int:
        """The first call right inside of a call that is of the same operator; `NONE` where there is none."""
        if self._first_again is None:
            calls = self._recording.calls
            self._first_again = first_again = array("i", [NONE]) * len(calls)
            operators = [signature["operator"] for signature in self._recording.signatures]
            for number, (signature, parent) in enumerate(zip(calls.signature, calls.parent, strict=True)):
                is_first = parent != NONE and first_again[parent] == NONE
                if is_first and operators[signature] == operators[calls.signature[parent]]:
                    first_again[parent] = number
        return self._first_again[call]

    def _misses_a_kernel(self, signature: int) -> bool:
        """True if it is predicted that a kernel goes on to one that is missing, so that the call raises."""
        misses = self._misses.get(signature)
        if misses is None:
            hops, end = self._explainer.of_signature(signature).hops, self._explainer.of_signature(signature).end
            fails = end is not None and end.kind is EndKind.ERROR and len(hops) > 1
            misses = self._misses[signature] = fails and is_seen(hops[-2]) and not is_seen(hops[-1])
        return misses

    def _calls_again_at(self, signature: int, inside: int) -> int | None:
        """Position of the kernel that made the call inside, and is predicted to redispatch; None where none does.

        The call inside begins with the kernel that is predicted after it. inside: its signature.
        """
        hops = self._explainer.of_signature(signature).own_hops
        first = self._explainer.of_signature(inside).hops
        slot = first[0].slot if first else None
        for at, (hop, following) in enumerate(pairwise(hops)):
            if following.slot == slot and following.reached is Reached.REDISPATCH:
                return at if hop.why is Why.CONVENTION and hop.python is None else None
        return None

    def _observed(
        self, signature: int, inside: int, ran: Sequence[Ran], is_wrong: bool, differs: Difference | None
    ) -> Explained:
        """Kernels of such a call where it returns.

        inside: the signature of the call that the kernels made again, or `NONE`. is_wrong: it does not go on to the
        kernel that is missing.
        """
        explained = self._explainer.of_signature(signature)
        if explained.call is None:
            return explained
        if not ran:
            made_by = None if inside == NONE else self._calls_again_at(signature, inside)
            if made_by is not None:
                return self._with_call_inside(explained, made_by, inside)
            return self._of_kernels(explained, len(explained.hops) - 1, ()) if is_wrong else explained
        seen = chain_of(explained.operator, ran, explained.state.dispatcher)
        if differs is None:
            if seen[-1].raised and len(seen) < sum(map(is_seen, explained.hops)):  # and what called it caught that
                return self._of_kernels(explained, self._position(explained, len(seen)), ())
            return explained._replace(seen=len(explained.hops))
        at = self._position(explained, differs.at)
        following = seen[differs.at] if differs.at < len(seen) else None
        if at and following is not None and not following.redispatched and inside != NONE:
            first = self._explainer.of_signature(inside).hops
            if first and slot_of(first[0]) == following.slot:
                return self._with_call_inside(explained, at - 1, inside)._replace(seen=at)
        return self._of_kernels(explained, at, seen[differs.at :])

    @staticmethod
    def _stopped(explained: Explained, inside: int, ran: Sequence[Ran], ended: CallEnd) -> Explained:
        """Kernels of a call that did not return: the observed ones, or the first. All of one that raises as predicted.

        explained: those that would run if it returned. inside: as of `_observed`.
        """
        explained = explained._replace(ended=ended)
        if explained.call is None or explained.end is None:
            return explained
        hops, end = explained.hops, explained.end
        seen = chain_of(explained.operator, ran, explained.state.dispatcher) if ran else []
        raises_as_predicted = end.error is not None and ended is CallEnd.RAISED and not seen
        known = len(hops) if raises_as_predicted else _known(hops, seen)
        is_partly_known = bool(seen) or known < len(hops) or inside != NONE
        raised_at = _raised_at(hops, seen) if is_partly_known else known - 1
        last = hops[known - 1]
        if raised_at == known - 1 and last.does in (Does.ENDS, Does.REDISPATCHES, Does.CALLS_ANEW):
            last = last._replace(does=Does.RAISES, why=Why.OBSERVED, passes=None)
        if ended is CallEnd.UNFINISHED:
            end = End(EndKind.NOT_KNOWN)
        elif known < len(hops) or end.error is None:
            error = raised_by_kernel()
            if raised_at is not None and raised_at < known - 1:
                error = error._replace(slot=hops[raised_at].slot)
            end = End(EndKind.ERROR, end.handler if known == len(hops) else None, error)
        call = explained.call._replace(hops=(*hops[: known - 1], last), end=end)
        return explained._replace(call=call, seen=min(explained.seen, known))

    @staticmethod
    def _position(explained: Explained, kernel: int) -> int:
        """Position of a kernel among the hops: some are no kernels of the dispatcher."""
        places = [at for at, hop in enumerate(explained.hops) if is_seen(hop)]
        end = len(explained.hops) - (explained.hops[-1].live.kernel is None and explained.hops[-1].python is None)
        return places[kernel] if kernel < len(places) else end

    def _with_call_inside(self, explained: Explained, at: int, inside: int) -> Explained:
        """A call whose kernel *at* calls the operator again, and what happens then. inside: the signature of that."""
        again = self._explainer.of_signature(inside).call
        if explained.call is None or again is None:
            return explained
        last = explained.hops[at]._replace(does=Does.CALLS_ANEW, why=Why.OBSERVED, passes=None)
        first = again.hops[0]._replace(reached=Reached.ANEW)
        hops = (*explained.hops[:at], last, first, *again.hops[1:])
        return explained._replace(call=explained.call._replace(hops=hops, end=again.end))

    def _of_kernels(self, explained: Explained, at: int, seen: Sequence[Ran]) -> Explained:
        """A call whose first kernels are as predicted, and then those that were seen."""
        assert explained.call is not None, "the caller has looked"
        dispatcher = explained.state.dispatcher
        live, slots = dispatcher.operator(explained.operator).live, dispatcher.universe.slot
        hops = list(explained.hops[:at])
        selection = explained.hops[0].selection
        for kernel in seen:
            if kernel.slot not in slots:
                break
            keyset = DispatchKeySet(dispatcher.layout, kernel.raw)
            if hops:
                passes = keyset if kernel.redispatched else None
                does = Does.REDISPATCHES if kernel.redispatched else Does.CALLS_ANEW
                hops[-1] = hops[-1]._replace(does=does, why=Why.OBSERVED, passes=passes)
            reached = Reached.REDISPATCH if kernel.redispatched and hops else Reached.CALL
            first = None if hops else selection
            hops.append(Hop(kernel.slot, live[kernel.slot], None, keyset, reached, Does.ENDS, Why.OBSERVED, first))
        if not seen:
            hops[-1] = hops[-1]._replace(does=Does.ENDS, why=Why.OBSERVED, passes=None)
        return explained._replace(call=explained.call._replace(hops=tuple(hops), end=_ENDS_ITSELF), seen=len(hops))


def _known(hops: Sequence[Hop], seen: Sequence[Ran]) -> int:
    """The number of hops up to the last kernel that was seen, or to the first; of all where no kernel follows."""
    known = 1
    places = [at for at, hop in enumerate(hops) if is_seen(hop)]
    if seen and places:
        known = places[min(len(seen), len(places)) - 1] + 1
    return known if any(map(has_kernel, hops[known:])) else len(hops)


def _raised_at(hops: Sequence[Hop], seen: Sequence[Ran]) -> int | None:
    """The last of the kernels that were seen to raise, by its position among the hops; None where none was."""
    kernels = zip((at for at, hop in enumerate(hops) if is_seen(hop)), seen, strict=False)
    return max((at for at, kernel in kernels if kernel.raised), default=None)
