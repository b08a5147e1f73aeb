"""The dispatch keys at which something can be registered, the likely ones first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from dispatch_cli.engine.coverage.backend import CoveredBackend, backend_keys, backend_of
from dispatch_cli.engine.history.changed import all_declarations
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
    """The keys of a state: those of its files, of backends and alias keys that have kernels, of autograd, the others.

    Of each kind, those with most kernels first. aliases: whether alias keys are among them.
    """
    universe = state.dispatcher.universe
    of_files, operators = _of_files(state), _operators(state)
    backends = [backend_of(universe, key) for key in backend_keys(universe)]
    plain = {
        backend.key
        for backend in backends
        if backend.device is not None and universe.runtime_parts[backend.key][1] is not None
    }
    beside = {
        key
        for backend in backends
        if backend.key in of_files or backend.autograd in of_files
        for key in _all_keys(backend)
    }
    used = {key for key in plain if operators[key]} | universe.aliases.keys()
    autograd = {backend.autograd for backend in backends if backend.key in used}
    kinds: tuple[Callable[[str], bool], ...] = (
        of_files.__contains__, beside.__contains__, used.__contains__, autograd.__contains__
    )  # fmt: skip

    def rank(key: str) -> tuple[int, int, int, bool]:
        kind = next((number for number, has in enumerate(kinds) if has(key)), len(kinds))
        return kind, -of_files[key], -operators[key], key not in plain

    return tuple(LikelyKey(key, operators[key]) for key in sorted(_known(universe, aliases), key=rank))


def _known(universe: Universe, aliases: bool) -> Iterator[str]:
    """The keys whose names PyTorch's parser knows."""
    for key in universe.ids:
        if key in universe.parseable and (key in universe.slot or (aliases and key in universe.aliases)):
            yield key


def _all_keys(backend: CoveredBackend) -> Iterator[str | None]:
    yield from (backend.key, backend.autograd, backend.autocast)


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
