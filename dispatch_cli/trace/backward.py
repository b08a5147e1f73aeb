"""Which forward call made the node of autograd that a backward call belongs to."""

from __future__ import annotations

from dispatch_cli.trace.calls import NONE, RecordedCalls


class Backward:
    """Backward calls with their forward calls, by thread and sequence number.

    Autograd numbers its nodes per thread. A call notes the number of the next node, so the last call of forward with a
    number is the one that made the node.
    """

    def __init__(self, calls: RecordedCalls) -> None:
        wanted = {
            (forward, sequence)
            for forward, sequence in zip(calls.forward_thread, calls.sequence, strict=True)
            if forward != NONE and sequence != NONE
        }
        self._calls = calls
        self._forward: dict[tuple[int, int], int] = {}
        if wanted:
            rows = zip(calls.thread, calls.sequence, calls.forward_thread, strict=True)
            for call, (thread, sequence, forward) in enumerate(rows):
                if forward == NONE and (thread, sequence) in wanted:
                    self._forward[thread, sequence] = call

    def forward_of(self, call: int) -> int | None:
        """The forward call of a backward call; None for others, and where it is not recorded."""
        thread = self._calls.forward_thread[call]
        return None if thread == NONE else self._forward.get((thread, self._calls.sequence[call]))
