"""Calls in which nodes of autograd were made, by the numbers that autograd gives to its nodes."""

from __future__ import annotations

from dispatch_cli.trace.calls import NONE, RecordedCalls


def calls_with_nodes(calls: RecordedCalls) -> bytearray:
    """A flag for each call: calls inside of it made nodes of autograd, and so record gradients.

    A call notes the number of the next node of its thread. Where the number after a call is greater than that of the
    first call inside of it, a node was made there; the one of the call itself comes before.
    """
    with_nodes = bytearray(len(calls))
    first = [NONE] * len(calls)
    around: list[list[int]] = []
    """Calls of each thread that may still be open."""
    waiting: list[list[int]] = []
    """Calls of each thread that have ended, until one with a number comes."""
    last: list[int] = []
    for call, thread in enumerate(calls.thread):
        number = calls.sequence[call]
        if calls.forward_thread[call] != NONE:
            continue  # it has the number of the node that makes it
        while len(around) <= thread:
            around.append([])
            waiting.append([])
            last.append(NONE)
        stack = around[thread]
        while stack and calls.depth[stack[-1]] >= calls.depth[call]:
            ended = stack.pop()
            if first[ended] != NONE:
                waiting[thread].append(ended)
        if number != NONE:
            last[thread] = number
            for earlier in waiting[thread]:
                with_nodes[earlier] = first[earlier] < number
            waiting[thread].clear()
            for earlier in reversed(stack):
                if first[earlier] != NONE:
                    break
                first[earlier] = number
        stack.append(call)
    for thread, stack in enumerate(around):
        for earlier in (*stack, *waiting[thread]):
            with_nodes[earlier] = NONE != first[earlier] < last[thread]
    return with_nodes
