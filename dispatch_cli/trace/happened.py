"""Kernels of recorded calls: those that were observed, and after them those that the engine predicts."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from dispatch_cli.engine.call.errors import raised_by_kernel
from dispatch_cli.engine.call.trace import Does, End, Hop, Reached, Why
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.model.calls.call import CallEnd, EndKind
from dispatch_cli.trace.explained import Explained, Explainer
from dispatch_cli.trace.recording import NONE, Ran


class Difference(NamedTuple):
    """First difference of the kernels that ran from those that the engine predicts.

    at: which kernel, from 0. ran, predicted: its slot, None where there is none.
    """

    at: int
    ran: str | None
    predicted: str | None


def difference(explained: Explained, ran: Sequence[Ran]) -> Difference | None:
    """The first difference of what ran from what is predicted; None without one, and where nothing was observed."""
    if not ran:
        return None
    predicted = [hop for hop in explained.hops if is_seen(hop)]
    for at, (hop, kernel) in enumerate(zip(predicted, ran, strict=False)):
        if slot_of(hop) != kernel.slot or hop.keyset.bits != kernel.raw:
            return Difference(at, kernel.slot, slot_of(hop))
    if len(ran) < len(predicted) and not ran[-1].raised:
        return Difference(len(ran), None, slot_of(predicted[len(ran)]))
    if len(ran) > len(predicted):
        return Difference(len(predicted), ran[len(predicted)].slot, None)
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
        return CallEnd.RAISED if calls.raised[call] else CallEnd.RETURNED

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
        differs = difference(predicted, ran)
        agreed = len(ran) if differs is None else differs.at
        hops = list(predicted.hops[: self._known(predicted, inside, ran, ended, agreed)])
        hops += self._observed(predicted, ran[agreed:], is_first=not hops)
        hops = hops or list(predicted.hops[:1])
        end, last = predicted.call.end, hops[-1]
        is_whole = len(hops) == len(predicted.hops) and differs is None
        if ended is CallEnd.RETURNED:
            if not is_whole:
                does = Does.ENDS if inside == NONE else Does.CALLS_ANEW
                last, end = last._replace(does=does, why=Why.OBSERVED, passes=None), End(EndKind.KERNEL)
        elif ended is CallEnd.UNFINISHED:
            end = End(EndKind.NOT_KNOWN)
        elif end.error is None or ran or not is_whole:  # it did not raise as predicted
            end = End(EndKind.ERROR, end.handler if is_whole else None, raised_by_kernel())
            raised_here = ran[-1].raised if ran else is_whole and inside == NONE
            if raised_here and last.does in (Does.ENDS, Does.REDISPATCHES, Does.CALLS_ANEW):
                last = last._replace(does=Does.RAISES, why=Why.OBSERVED, passes=None)
        call = predicted.call._replace(hops=(*hops[:-1], last), end=end)
        return predicted._replace(call=call, seen=len(hops) if ran else 1, ended=ended), differs

    def _known(self, predicted: Explained, inside: int, ran: Sequence[Ran], ended: CallEnd, agreed: int) -> int:
        """The number of predicted kernels that ran. agreed: those that were observed."""
        hops, end = predicted.hops, predicted.end
        seen = [at for at, hop in enumerate(hops) if is_seen(hop)]
        if agreed < len(seen) and ran:
            return seen[agreed]
        returned = ended is CallEnd.RETURNED
        raises = end is not None and end.error is not None
        if not returned and not ran:
            return len(hops) if raises and ended is CallEnd.RAISED else 1
        if not ran and inside != NONE:
            first = self._explainer.of_signature(inside).hops
            slot = first[0].slot if first else None
            for at, (hop, following) in enumerate(pairwise(hops)):
                if hop.why is Why.CONVENTION and hop.python is None and following.slot == slot:
                    return at + 1  # this kernel made the call inside
        goes_past = agreed < len(ran) or (returned and raises and len(hops) > 1)
        return len(hops) - 1 if goes_past and not has_kernel(hops[-1]) else len(hops)

    @staticmethod
    def _observed(explained: Explained, ran: Sequence[Ran], is_first: bool) -> Iterator[Hop]:
        """The kernels that ran and are not predicted. is_first: no other ran before them."""
        dispatcher = explained.state.dispatcher
        live = dispatcher.operator(explained.operator).live
        for kernel in ran:
            if kernel.slot not in dispatcher.universe.slot:
                return
            keyset = DispatchKeySet(dispatcher.layout, kernel.raw)
            reached, selection = (Reached.CALL, explained.selection) if is_first else (Reached.REDISPATCH, None)
            yield Hop(kernel.slot, live[kernel.slot], None, keyset, reached, Does.ENDS, Why.OBSERVED, selection)
            is_first = False
