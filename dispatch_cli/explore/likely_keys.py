"""The dispatch keys at which something can be registered, the likely ones first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from dispatch_cli.engine.history.apply import all_declarations
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.declarations import Fallback, Implement
from dispatch_cli.model.registration_names import key_of
from dispatch_cli.model.universe import Universe


class LikelyKey(NamedTuple):
    """A dispatch key. operators: how many have a kernel there."""

    key: str
    operators: int


@lru_cache(maxsize=2)
def likely_keys(state: State, aliases: bool) -> tuple[LikelyKey, ...]:
    """The keys of a state: those at which its files register most, then those at which most operators have a kernel.

    aliases: whether alias keys are among them.
    """
    of_files, operators = _of_files(state), _operators(state)
    keys = sorted(_known(state.dispatcher.universe, aliases), key=lambda key: (-of_files[key], -operators[key]))
    return tuple(LikelyKey(key, operators[key]) for key in keys)


def _known(universe: Universe, aliases: bool) -> Iterator[str]:
    """The keys whose names PyTorch's parser knows."""
    for key in universe.ids:
        if key in universe.parseable and (key in universe.slot or (aliases and key in universe.aliases)):
            yield key


def _of_files(state: State) -> Counter[str]:
    """Number of registrations in the files at each key."""
    steps = all_declarations(state).steps
    return Counter(
        step.dispatch_key if isinstance(step, Fallback) else key_of(step)
        for step in steps
        if isinstance(step, Implement | Fallback)
    )


def _operators(state: State) -> Counter[str]:
    """Number of operators with a kernel at each key. Operators with equal sets of keys are counted together."""
    dispatcher = state.dispatcher
    sets = Counter(dispatcher.shape(name)[0] for name in dispatcher)
    counts = Counter[str]()
    for bits, count in sets.items():
        for key in dispatcher.keys_in(bits):
            counts[key] += count
    return counts
