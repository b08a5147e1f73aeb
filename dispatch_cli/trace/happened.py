"""Kernels of recorded calls: those that were observed, and after them those that the engine predicts."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from dispatch_cli.engine.call.errors import raised_by_kernel
from dispatch_cli.engine.call.trace import Does, End, Hop, Reached, Why
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.model.calls.call import CallEnd, EndKind
from dispatch_cli.trace.explained import Explained, Explainer
from dispatch_cli.trace.recording import NONE, RAISED, Ran

_ENDS_ITSELF = End(EndKind.KERNEL)


class Difference(NamedTuple):
    """First difference of the kernels that ran from those that the engine predicts.

    at: which kernel, from 0. ran, predicted: its slot, None where there is none.
    """

    at: int
    ran: str | None
    predicted: str | None


def difference(explained: Explained, ran: Sequence[Ran], is_inside: bool) -> Difference | None:
    """The first difference of what ran from what is predicted; None without one, and where nothing is predicted.

    What a kernel calls again is a call of its own, which is compared by itself. is_inside: there is such a call.
    """
    if explained.call is None or not ran:
        return None
    predicted = [hop for hop in explained.own_hops if is_seen(hop)]
    for at, (hop, kernel) in enumerate(zip(predicted, ran, strict=False)):
        if slot_of(hop) != kernel.slot or hop.keyset.bits != kernel.raw:
            return Difference(at, kernel.slot, slot_of(hop))
    if len(ran) < len(predicted) and not ran[-1].raised:
        return Difference(len(ran), None, slot_of(predicted[len(ran)]))
    if len(ran) > len(predicted):
        return Difference(len(predicted), ran[len(predicted)].slot, None)
    if len(explained.own_hops) < len(explained.hops) and not is_inside and not ran[-1].raised:
        return Difference(len(ran), None, slot_of(explained.hops[len(explained.own_hops)]))
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
        self._happened: list[tuple[Explained, Difference | None]] = []

    def ended_as(self, call: int) -> CallEnd:
        """End of a call."""
        calls = self._recording.calls
        if calls.end[call] == NONE:
            return CallEnd.UNFINISHED
        return CallEnd.RAISED if calls.raised[call] == RAISED else CallEnd.RETURNED

    def number_of(self, call: int) -> int:
        """A number for what happened in a call."""
        signatures, again = self._recording.calls.signature, self.again(call)
        inside = NONE if again == NONE else signatures[again]
        look = (signatures[call], inside, tuple(self._recording.kernels.get(call, ())), self.ended_as(call))
        number = self._numbers.get(look)
        if number is None:
            number = self._numbers[look] = len(self._happened)
            self._happened.append(self._of(*look))
        return number

    def of_number(self, number: int) -> Explained:
        """Explanation of the calls with that number."""
        return self._happened[number][0]

    def of_call(self, call: int) -> Explained:
        """Explanation of a call."""
        return self.of_number(self.number_of(call))

    def difference(self, call: int) -> Difference | None:
        """Difference of the kernels that were observed from those that are predicted."""
        return self._happened[self.number_of(call)][1]

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

    def _of(
        self, signature: int, inside: int, ran: Sequence[Ran], ended: CallEnd
    ) -> tuple[Explained, Difference | None]:
        """Explanation of such calls. inside: the signature of a call of the operator right inside; `NONE` without."""
        predicted = self._explainer.of_signature(signature)
        if predicted.call is None:
            return predicted._replace(ended=ended), None
        returned = ended is CallEnd.RETURNED
        made_by = None if inside == NONE else self._calls_again_at(predicted, inside)
        misses = returned and made_by is None and _misses_a_kernel(predicted)
        differs = difference(predicted, ran, inside != NONE)
        if misses and differs is None and (ran or predicted.hops[-2].why is not Why.CONVENTION):
            differs = Difference(sum(map(is_seen, predicted.hops)), None, slot_of(predicted.hops[-1]))
        if made_by is not None and (differs is not None or not ran):
            observed = self._with_call_inside(predicted, made_by, inside)
        else:
            observed = self._observed(predicted, ran, misses, differs)
        return observed if returned else self._stopped(observed, ran, ended, inside != NONE), differs

    def _calls_again_at(self, explained: Explained, inside: int) -> int | None:
        """Position of the kernel that made the call inside, and is predicted to redispatch; None where none does.

        The call inside begins with the kernel that is predicted after it. inside: its signature.
        """
        hops = explained.own_hops
        first = self._explainer.of_signature(inside).hops
        slot = first[0].slot if first else None
        for at, (hop, following) in enumerate(pairwise(hops)):
            if following.slot == slot and following.reached is Reached.REDISPATCH:
                return at if hop.why is Why.CONVENTION and hop.python is None else None
        return None

    def _observed(
        self, predicted: Explained, ran: Sequence[Ran], misses: bool, differs: Difference | None
    ) -> Explained:
        """Kernels of such a call where it returns. misses: it does not go on to the kernel that is missing."""
        hops = predicted.hops
        places = [at for at, hop in enumerate(hops) if is_seen(hop)]
        if differs is not None:
            first = differs.at
        elif not ran and misses:
            first = len(places)
        elif ran and ran[-1].raised and len(ran) < sum(map(is_seen, predicted.own_hops)):  # what called it caught that
            first = len(ran)
        else:
            return predicted._replace(seen=len(predicted.own_hops)) if ran else predicted
        end = len(hops) - (not has_kernel(hops[-1]))
        return self._of_kernels(predicted, places[first] if first < len(places) else end, ran[first:])

    @staticmethod
    def _stopped(explained: Explained, ran: Sequence[Ran], ended: CallEnd, is_inside: bool) -> Explained:
        """Kernels of a call that did not return: the observed ones, or the first. All of one that raises as predicted.

        explained: those that would run if it returned. is_inside: a kernel made the call again.
        """
        assert explained.call is not None, "the caller has looked"
        hops, end = explained.hops, explained.call.end
        raises_as_predicted = end.error is not None and ended is CallEnd.RAISED and not ran
        known = len(hops) if raises_as_predicted else _known(hops, ran)
        last = hops[known - 1]
        raised_here = ran[-1].raised if ran else known == len(hops) and not is_inside
        if raised_here and last.does in (Does.ENDS, Does.REDISPATCHES, Does.CALLS_ANEW):
            last = last._replace(does=Does.RAISES, why=Why.OBSERVED, passes=None)
        if ended is CallEnd.UNFINISHED:
            end = End(EndKind.NOT_KNOWN)
        elif known < len(hops) or end.error is None:
            end = End(EndKind.ERROR, end.handler if known == len(hops) else None, raised_by_kernel())
        call = explained.call._replace(hops=(*hops[: known - 1], last), end=end)
        return explained._replace(call=call, seen=min(explained.seen, known), ended=ended)

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
                hops[-1] = hops[-1]._replace(does=Does.REDISPATCHES, why=Why.OBSERVED, passes=keyset)
            reached, first = (Reached.REDISPATCH, None) if hops else (Reached.CALL, selection)
            hops.append(Hop(kernel.slot, live[kernel.slot], None, keyset, reached, Does.ENDS, Why.OBSERVED, first))
        if not seen:
            hops[-1] = hops[-1]._replace(does=Does.ENDS, why=Why.OBSERVED, passes=None)
        return explained._replace(call=explained.call._replace(hops=tuple(hops), end=_ENDS_ITSELF), seen=len(hops))


def _misses_a_kernel(explained: Explained) -> bool:
    """True if it is predicted that a kernel goes on to one that is missing, so that the call raises."""
    hops, end = explained.hops, explained.end
    fails = end is not None and end.kind is EndKind.ERROR and len(hops) > 1
    return fails and is_seen(hops[-2]) and not is_seen(hops[-1])


def _known(hops: Sequence[Hop], seen: Sequence[Ran]) -> int:
    """The number of hops up to the last kernel that was seen, or to the first; of all where no kernel follows."""
    known = 1
    places = [at for at, hop in enumerate(hops) if is_seen(hop)]
    if seen and places:
        known = places[min(len(seen), len(places)) - 1] + 1
    return known if any(map(has_kernel, hops[known:])) else len(hops)
