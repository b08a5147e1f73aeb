"""Key sets as PyTorch has them: backend components in the low bits, functionalities above.

Source: ``c10/core/DispatchKeySet.h``. A per-backend functionality and a backend are kept apart, so a set with Dense,
AutogradFunctionality and the CPU bit contains both CPU and AutogradCPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from dispatch_cli.engine.table.layout import KeyLayout, layout_of
from dispatch_cli.model.universe import UNDEFINED, Universe, autograd_keys_of

COMPONENT = "Bit"
"""A backend component is named by its Dense key and this, as C++ does: ``CPUBit``."""


@dataclass(frozen=True, slots=True)
class DispatchKeySet:
    """An immutable set of dispatch keys of one universe.

    bits: PyTorch's raw representation in that universe.
    """

    layout: KeyLayout
    bits: int = 0

    @classmethod
    def of(cls, universe: Universe, keys: Iterable[str] = ()) -> DispatchKeySet:
        """The set of *keys*; alias keys and Undefined add nothing. Errors: KeyError for a name that is no key."""
        layout = layout_of(universe)
        bits = 0
        for key in keys:
            bits |= layout.key_bits[key]
        return cls(layout, bits)

    @classmethod
    def full(cls, universe: Universe) -> DispatchKeySet:
        """Every functionality and every backend."""
        layout = layout_of(universe)
        return cls(layout, layout.backend_mask | layout.functionality_mask)

    @classmethod
    def full_after(cls, universe: Universe, key: str) -> DispatchKeySet:
        """FULL_AFTER: every bit strictly below the functionality of *key*, and the keys that every such set has.

        Undefined and alias keys have no functionality: PyTorch's arithmetic leaves all backends but the last, which
        name no key by themselves.
        """
        layout = layout_of(universe)
        own = layout.key_bits[key] & layout.functionality_mask or 1 << (len(universe.backends) - 1)
        always = cls.of(universe, universe.full_after_always)
        return cls(layout, own - 1 | always.bits)

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(self.layout, self.bits | other.bits)

    def __and__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(self.layout, self.bits & other.bits)

    def __sub__(self, other: DispatchKeySet) -> DispatchKeySet:
        """Difference; backend bits always stay."""
        return DispatchKeySet(self.layout, self.bits & (self.layout.backend_mask | ~other.bits))

    def add(self, key: str) -> DispatchKeySet:
        """This set with *key*."""
        return DispatchKeySet(self.layout, self.bits | self.layout.key_bits[key])

    def remove(self, key: str) -> DispatchKeySet:
        """This set without the functionality of *key*; its backend bit stays."""
        return DispatchKeySet(self.layout, self.bits & ~(self.layout.key_bits[key] & ~self.layout.backend_mask))

    def has(self, key: str) -> bool:
        """True if all bits of *key* are there."""
        bits = self.layout.key_bits[key]
        return self.bits & bits == bits

    def highest_priority(self) -> str:
        """The highest functionality, with the highest backend where it is per backend.

        Undefined when there is no functionality. A per-backend functionality without any backend bit gives the name
        that PyTorch prints then: ``Undefined`` for Dense, ``AutogradUndefined`` and so on.
        """
        universe = self.layout.universe
        width = len(universe.backends)
        index = (self.bits >> width).bit_length() - 1
        if index < 0:
            return UNDEFINED
        functionality = universe.functionalities[index]
        keys = universe.per_backend.get(functionality)
        if keys is None:
            return functionality
        backend = (self.bits & self.layout.backend_mask).bit_length() - 1
        return keys[backend] if backend >= 0 else keys[0].removesuffix(universe.backends[0]) + UNDEFINED

    def __iter__(self) -> Iterator[str]:
        """Runtime keys: the cross product of per-backend functionalities and backends present, in runtime order."""
        universe, bits = self.layout.universe, self.bits
        width = len(universe.backends)
        backends = [i for i in range(width) if bits >> i & 1]
        for index, functionality in enumerate(universe.functionalities):
            if not bits >> (width + index) & 1:
                continue
            keys = universe.per_backend.get(functionality)
            if keys is None:
                yield functionality
            else:
                for i in backends:
                    yield keys[i]

    def __str__(self) -> str:
        return f"DispatchKeySet({', '.join(self)})"


def functionalities_of(keys: DispatchKeySet) -> tuple[str, ...]:
    """The functionality bits of a set by name, lowest first."""
    universe = keys.layout.universe
    return tuple(name for name in universe.functionalities if keys.bits & keys.layout.key_bits[name])


def components_of(keys: DispatchKeySet) -> tuple[str, ...]:
    """The backend bits of a set by name, lowest first."""
    backends = keys.layout.universe.backends
    return tuple(f"{backend}{COMPONENT}" for i, backend in enumerate(backends) if keys.bits >> i & 1)


NAMED_SETS: dict[str, tuple[str, Callable[[Universe], DispatchKeySet]]] = {
    "FULL": ("every key", DispatchKeySet.full),
    "after_autograd": (
        "the keys with which autograd kernels redispatch",
        lambda universe: DispatchKeySet.full_after(universe, universe.after_autograd),
    ),
    "after_ADInplaceOrView": (
        "the keys with which ADInplaceOrView kernels redispatch",
        lambda universe: DispatchKeySet.full_after(universe, universe.after_ADInplaceOrView),
    ),
    "autogradother_backends": (
        "the backend keys that share AutogradOther",
        lambda universe: DispatchKeySet.of(universe, universe.autogradother_backends),
    ),
    "default_included": (
        "the keys that a fresh thread includes in every call",
        lambda universe: DispatchKeySet.of(universe, universe.default_included),
    ),
    "default_excluded": (
        "the keys that a fresh thread excludes from every call",
        lambda universe: DispatchKeySet.of(universe, universe.default_excluded),
    ),
}
"""Name → what it is, and the set."""
FUNCTIONS: dict[str, tuple[str, Callable[[Universe, str], DispatchKeySet]]] = {
    "FULL_AFTER": ("every key below that key's functionality", DispatchKeySet.full_after),
    "runtime": (
        "the runtime keys that an alias key covers",
        lambda universe, key: DispatchKeySet.of(universe, universe.covered_by(key)),
    ),
    "backends": (
        "the backend keys of an autograd key",
        lambda universe, key: DispatchKeySet.of(universe, universe.autograd_backends.get(key, ())),
    ),
    "autograd": (
        "the autograd keys that tensors of a backend key carry",
        lambda universe, key: DispatchKeySet.of(universe, autograd_keys_of(universe, key)),
    ),
}
"""Name → what it is, and the function of one key."""


class KeySet(NamedTuple):
    """A key set: its keys as PyTorch iterates them, and its bits, which can name more than its keys do.

    raw: PyTorch's ``raw_repr``, 64 bits in hexadecimal.
    """

    keys: tuple[str, ...]
    functionalities: tuple[str, ...]
    backends: tuple[str, ...]
    raw: str


def key_set_of(keys: DispatchKeySet) -> KeySet:
    """A key set in parts."""
    return KeySet(tuple(keys), functionalities_of(keys), components_of(keys), hexadecimal(keys.bits))


def hexadecimal(bits: int) -> str:
    """64 bits in hexadecimal."""
    return f"0x{bits:016x}"
