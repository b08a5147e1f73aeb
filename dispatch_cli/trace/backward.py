"""Forward calls that made the nodes of autograd which backward calls belong to, where that is certain."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from dispatch_cli.engine.call.chain import runs_python
from dispatch_cli.engine.call.gradient import autograd_keys
from dispatch_cli.engine.call.kernels.entry import COMPOSITES
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.kernel import WrapKind
from dispatch_cli.trace.calls import NONE, RAISED
from dispatch_cli.trace.explained import Explainer
from dispatch_cli.trace.recording import Recording

_OF_A_FUNCTION = ("backward", "vjp")
"""Names of the method of an ``autograd.Function`` that a backward pass runs."""
Node = tuple[int, int]
"""A node of autograd: the thread of the forward call, and the number that the node has in it."""


@dataclass
class _Numbered:
    """The last call that noted the number of the next node, and what came after it.

    depth: of the call; has_ended: the calls that come are no longer inside of it. is_clear: since then, nothing else
    can have made a node.
    """

    call: int
    number: int
    depth: int
    has_ended: bool = False
    is_clear: bool = True


@dataclass
class _OfNode:
    """The last call before a node was made: nothing else can have made it, if *is_clear*. places: where it runs."""

    call: int
    is_clear: bool
    places: set[int] = field(default_factory=set)


class Backward:
    """Backward calls with the forward calls that they belong to.

    Autograd numbers its nodes per thread, and a call notes the number of the next one. The last call with a number
    made that node, if any call did: an ``autograd.Function`` makes a node as well, and is no call. So a call is named
    only where it has a tensor that wants a gradient and an autograd kernel, and where no such function ran after it.
    That none did is seen where no call without grad mode follows, as those of its ``forward`` are; by other calls of
    the operator, which made nodes; or by the line from which the node calls, which is that of the backward pass.
    """

    def __init__(self, recording: Recording, explainer: Explainer) -> None:
        self._recording = recording
        self._calls = recording.calls
        self._explainer = explainer
        self._candidates: dict[int, bool] = {}
        self._makes: set[int] = set()
        self._makes_none: set[int] = set()
        """Operators whose calls were seen to make a node, or none."""
        self._nodes: dict[Node, _OfNode] = {}
        self._forward: dict[Node, int] = {}
        wanted = self._wanted()
        if wanted:
            self._scan(wanted)
            self._choose()

    def forward_of(self, call: int) -> int | None:
        """The forward call of a backward call; None for others, and where it is not certain."""
        thread = self._calls.forward_thread[call]
        return None if thread == NONE else self._forward.get((thread, self._calls.sequence[call]))

    def _wanted(self) -> set[Node]:
        rows = zip(self._calls.forward_thread, self._calls.sequence, strict=True)
        return {(forward, sequence) for forward, sequence in rows if forward != NONE and sequence != NONE}

    def _scan(self, wanted: set[Node]) -> None:
        """Look at all calls in order, for what each node comes from, and what operators are seen to do."""
        calls = self._calls
        with_grad = [signature.get("grad_mode", True) for signature in self._recording.signatures]
        last: dict[int, _Numbered] = {}
        for call, thread in enumerate(calls.thread):
            number, forward = calls.sequence[call], calls.forward_thread[call]
            if forward != NONE and number != NONE:
                made_by = last.get(forward)
                if made_by is not None and made_by.number == number:
                    self._settle(forward, made_by)
                if (node := self._nodes.get((forward, number))) is not None:
                    node.places.add(calls.place[call])
            before = last.get(thread)
            if before is not None and calls.depth[call] <= before.depth:
                before.has_ended = True
            if forward == NONE and number != NONE:
                if before is not None:
                    self._follow(before, number)
                    if number != before.number and (thread, before.number) in wanted:
                        self._settle(thread, before)
                last[thread] = _Numbered(call, number, calls.depth[call])
            elif before is not None and before.has_ended and with_grad[calls.signature[call]] == (forward != NONE):
                before.is_clear = False

    def _follow(self, before: _Numbered, number: int) -> None:
        """Learn from the number of the next call if the operator of the one before makes a node."""
        operator = self._recording.signatures[self._calls.signature[before.call]]["operator"]
        if operator in (self._makes_none if number == before.number else self._makes):
            return
        if number == before.number:
            if before.has_ended and self._is_candidate(before.call):
                self._makes_none.add(operator)
        elif before.is_clear and self._is_candidate(before.call):
            self._makes.add(operator)

    def _settle(self, thread: int, numbered: _Numbered) -> None:
        """Note the last call before a node was made."""
        self._nodes.setdefault((thread, numbered.number), _OfNode(numbered.call, numbered.is_clear))

    def _choose(self) -> None:
        """Name the calls that are certain."""
        calls = self._calls
        own = {calls.place[call] for call, forward in enumerate(calls.forward_thread) if forward == NONE}
        lines: defaultdict[bool, set[int]] = defaultdict(set)
        doubtful = []
        for node, origin in self._nodes.items():
            signature = calls.signature[origin.call]
            operator = self._recording.signatures[signature]["operator"]
            if not self._is_candidate(origin.call) or operator in self._makes_none:
                continue
            in_python = runs_python(self._explainer.of_signature(signature).hops[0])
            if not in_python and any(self._is_in_a_function(place, own) for place in origin.places):
                continue
            if origin.is_clear or operator in self._makes or self._always_makes(signature):
                self._forward[node] = origin.call
                lines[in_python] |= origin.places
            elif not in_python:
                doubtful.append((node, origin))
        for node, origin in doubtful:
            if origin.places and origin.places <= lines[False]:
                self._forward[node] = origin.call

    def _is_in_a_function(self, place: int, own: set[int]) -> bool:
        """True if a line is in the backward method of an ``autograd.Function``, as far as one can see.

        own: the lines of calls that no node makes. A function of that name which calls ``loss.backward()`` has such.
        """
        if place == NONE or place in own:
            return False
        return self._recording.places[place].function.rpartition(".")[2] in _OF_A_FUNCTION

    def _is_candidate(self, call: int) -> bool:
        """True if a call has an autograd kernel of its operator, and a tensor that may want a gradient."""
        if self._calls.raised[call] == RAISED:
            return False
        signature = self._calls.signature[call]
        is_candidate = self._candidates.get(signature)
        if is_candidate is None:
            explained = self._explainer.of_signature(signature)
            first = explained.hops[0] if explained.hops else None
            is_candidate = self._candidates[signature] = (
                first is not None
                and (explained.wants_gradient or self._may_want(signature))
                and first.slot in autograd_keys(first.keyset.layout.universe)
                and first.live.rule not in (*COMPOSITES, Rule.FALLBACK)
            )
        return is_candidate

    def _may_want(self, signature: int) -> bool:
        """True if it is not recorded which tensors want gradients."""
        recorded = self._recording.signatures[signature]
        return "requires_grad" not in recorded and bool(recorded.get("grad_mode", True))

    def _always_makes(self, signature: int) -> bool:
        """True if PyTorch makes an ``autograd.Function`` of every such call, as for ``register_autograd``."""
        kernel = self._explainer.of_signature(signature).hops[0].live.kernel
        return kernel is not None and kernel.wraps is not None and kernel.wraps.kind is WrapKind.AUTOGRAD
