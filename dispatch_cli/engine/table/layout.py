"""A universe in the form the engine computes with: bits for key sets, and the candidates of every table slot."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache

from dispatch_cli.engine.rules import PRECEDENCE, Candidate, Rule
from dispatch_cli.model.universe import AUTOGRAD_OTHER, EXPLICIT, UNDEFINED, Universe

_NOT_COVERED = tuple(
    Candidate(precedence.number, precedence.rule, precedence.alias, 0, covers=False) for precedence in PRECEDENCE
)
"""For each alias key, the candidate of a slot that it does not cover."""


class KeyLayout:
    """Derived from a universe once, then shared.

    key_bits: the key-set bits of every key: backend components lowest, functionalities above them. Alias keys and
        Undefined have none.
    backend_mask, functionality_mask: all bits of the one and the other kind.
    registered_bit: one bit per key, for sets of keys that have a kernel.
    candidates: per slot, what could fill it, in order of precedence.
    alike: groups of slots that have the same candidates but for their own kernels: the candidates, and the slots.
    incomplete: the runtime keys at which there may be kernels and backend fallbacks that are not known.
    closed: the bit among those of registered keys that an operator has of which no kernel is unknown; 0 where no key
        is incomplete.
    open_slots: the slots whose answer an unknown kernel could change.
    """

    def __init__(self, universe: Universe, incomplete: tuple[str, ...], python: bool) -> None:
        width = len(universe.backends)
        backend_bit = {backend: 1 << i for i, backend in enumerate(universe.backends)}
        functionality_bit = {key: 1 << (width + i) for i, key in enumerate(universe.functionalities)}
        key_bits = {UNDEFINED: 0} | dict.fromkeys(universe.aliases, 0) | functionality_bit
        for key, (functionality, backend) in universe.runtime_parts.items():
            key_bits[key] = functionality_bit[functionality] | (backend_bit[backend] if backend else 0)
        self.universe = universe
        self.key_bits = key_bits
        self.backend_mask = (1 << width) - 1
        self.functionality_mask = ((1 << len(universe.functionalities)) - 1) << width
        self.registered_bit = {key: 1 << i for i, key in enumerate(universe.keys_by_id)}
        self.incomplete = incomplete
        self.closed = 1 << len(self.registered_bit) if incomplete else 0
        covered = {alias: frozenset(keys) for alias, keys in universe.aliases.items()}
        candidates = [self._candidates(key, covered, python) for key in universe.slots]
        if incomplete:
            unknown = sum(self.registered_bit[key] for key in incomplete)
            candidates = [
                _opened(of_key, unknown, self.closed, key in incomplete)
                for key, of_key in zip(universe.slots, candidates, strict=True)
            ]
        self.candidates = tuple(candidates)
        self.open_slots = tuple(
            slot for slot, of_key in enumerate(candidates) if any(candidate.open for candidate in of_key)
        )
        groups: dict[tuple[Candidate, ...], list[int]] = {}
        for slot, (_, *others) in enumerate(candidates):
            groups.setdefault(tuple(others), []).append(slot)
        self.alike = tuple((others, tuple(slots)) for others, slots in groups.items())

    def _candidates(self, key: str, covered: dict[str, frozenset[str]], python: bool) -> tuple[Candidate, ...]:
        """Candidates for the slot of *key*, in order; an alias that does not cover it is there with no bit to match."""
        bit_of, universe = self.registered_bit, self.universe
        candidates = [Candidate(1, Rule.KERNEL, key, bit_of.get(key, 0), covers=True)]
        for precedence, not_covered in zip(PRECEDENCE, _NOT_COVERED, strict=True):
            alias = precedence.alias
            if key not in covered.get(alias, ()) and not (key == UNDEFINED and precedence.fills_undefined):
                candidates.append(not_covered)
                continue
            unless = ambiguous = 0
            if precedence.yields_to_backends or (python and precedence.rule is Rule.NESTED):
                unless = self._registrable_in(universe.autograd_backends.get(key, ()))
                unless |= bit_of.get(precedence.yields_to or EXPLICIT, 0)
                if key == AUTOGRAD_OTHER and precedence.yields_to_backends:
                    ambiguous = self._registrable_in(universe.autogradother_backends)
            bit = bit_of.get(alias, 0)
            candidates.append(Candidate(precedence.number, precedence.rule, alias, bit, True, unless, ambiguous))
        return tuple(candidates)

    def _registrable_in(self, keys: tuple[str, ...]) -> int:
        """All keys, building blocks such as Sparse among them, whose bits lie in the key set of *keys*.

        A kernel may be registered at a functionality's own name; PyTorch's ``has`` then finds it in any set that has
        the functionality.
        """
        if not keys:
            return 0
        whole = 0
        for key in keys:
            whole |= self.key_bits[key]
        inside = 0
        for key, bit in self.registered_bit.items():
            bits = self.key_bits.get(key, 0)
            if bits and whole & bits == bits:
                inside |= bit
        return inside

    def slots_of(self, registered: int) -> Iterator[int]:
        """The slots that have a kernel of their own, by their bits among registered keys."""
        while registered:
            lowest = registered & -registered
            registered ^= lowest
            slot = self._slot_of_bit.get(lowest)
            if slot is not None:
                yield slot

    def unknown_in(self, keys: int, registered: int) -> int:
        """Those of some keys at which an operator may have a kernel that is not known, as bits.

        registered: bits of the keys at which it has a kernel.
        """
        if not self.incomplete or registered & self.closed:
            return 0
        return keys & ~registered & sum(self.registered_bit[key] for key in self.incomplete)

    def keys_in(self, registered: int) -> tuple[str, ...]:
        """The keys of a set of registered bits, in the order of the enum."""
        if not registered:  # most slots have no blockers
            return ()
        return tuple(key for key, bit in self.registered_bit.items() if registered & bit)

    @cached_property
    def affected(self) -> dict[str, tuple[str, ...]]:
        """Per key, the slots whose canonical entry depends on the kernel that is registered at it."""
        depends_on = []
        for slot, key in enumerate(self.universe.slots):
            bits = 0
            for candidate in self.candidates[slot]:
                bits |= candidate.bits
            depends_on.append((key, bits))
        return {
            source: tuple(key for key, bits in depends_on if bits & bit) for source, bit in self.registered_bit.items()
        }

    @property
    def python(self) -> KeyLayout:
        """The layout by which ``torch._ops.resolve_key`` decides: rule 5 gives way to a backend kernel, too."""
        return layout_of(self.universe, self.incomplete, python=True)

    def left_behind(self, key: str, fallback: bool) -> tuple[str, ...]:
        """The slots that a kernel's coming or going at *key* can change, and that PyTorch does not recompute then.

        fallback: the kernel is a backend fallback, which can change its own slot alone.
        """
        slots = self._left_behind.get((key, fallback))
        if slots is None:
            refreshed = self.universe.refreshed_by(key)
            affected = (key,) if fallback else self.affected[key]
            slots = self._left_behind[key, fallback] = tuple(slot for slot in affected if slot not in refreshed)
        return slots

    @cached_property
    def _left_behind(self) -> dict[tuple[str, bool], tuple[str, ...]]:
        return {}

    @cached_property
    def _slot_of_bit(self) -> dict[int, int]:
        return {
            self.registered_bit[key]: slot for key, slot in self.universe.slot.items() if key in self.registered_bit
        }


@lru_cache(maxsize=16)
def layout_of(universe: Universe, incomplete: tuple[str, ...] = (), *, python: bool = False) -> KeyLayout:
    """The layout of *universe*. incomplete: the keys at which there may be kernels that are not known.

    python: by the rules of ``resolve_key``: rule 5 gives way to backend kernels (`KeyLayout.python`).
    """
    return KeyLayout(universe, incomplete, python)


def _opened(candidates: tuple[Candidate, ...], unknown: int, closed: int, fallback_open: bool) -> tuple[Candidate, ...]:
    """The candidates of a slot, with the keys among those that matter to them at which a kernel may be unknown."""
    own, *others = (
        candidate._replace(open=open_bits, closed=closed) if (open_bits := unknown & candidate.bits) else candidate
        for candidate in candidates
    )
    return (own._replace(fallback_open=fallback_open), *others)
