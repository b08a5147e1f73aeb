"""``DispatchKey`` and ``DispatchKeySet`` as ``torch._C`` has them: made per universe, because their members differ.

Source: ``c10/core/DispatchKey.h``, ``DispatchKeySet.h`` and their bindings in ``torch/csrc/utils/python_dispatch.cpp``.
Every key of the universe is a member here; PyTorch's own enum leaves a few out (they print as ``???`` there).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from dispatch_cli.engine.call.select import slot_of
from dispatch_cli.engine.keys.keyset import DispatchKeySet as KeyBits
from dispatch_cli.engine.table.layout import layout_of
from dispatch_cli.model.universe import UNDEFINED, Universe

UNKNOWN_NAME = "???"
"""Text that pybind prints for a number that is not a member."""
UNKNOWN_TEXT = "UnknownUnknown"
"""Text that ``c10::toString`` gives for a number that is not a key."""


class KeySpace:
    """The numbers of one universe's keys, and what PyTorch derives from a number.

    members: every enum member's number, with the markers before the first and at the last key of each per-backend
    functionality. DispatchKey, DispatchKeySet: the two classes of this universe.
    """

    def __init__(self, universe: Universe) -> None:
        self.universe = universe
        self.layout = layout_of(universe)
        bits, ids = self.layout.key_bits, universe.ids
        self.starts = {name: ids[keys[0]] - 1 for name, keys in universe.per_backend.items()}
        self.members: Mapping[str, int] = self._members()
        self.names = {number: name for name, number in reversed(self.members.items())}
        parts = {name: (name, None) for name in universe.functionalities} | dict(universe.runtime_parts)
        self._texts = dict(self.names)
        self._bits = {number: bits[name] for name, number in ids.items()}
        self._functionalities = {ids[key]: ids[name] for key, (name, _) in parts.items()}
        for name, number in self.starts.items():  # keys without a backend, such as ``QuantizedUndefined``
            self._texts[number] = KeyBits(self.layout, bits[name]).highest_priority()
            self._bits[number] = bits[name]
            self._functionalities[number] = ids[name]
        self.DispatchKey: type[DispatchKey] = type("DispatchKey", (DispatchKey,), {"_space": self, "__slots__": ()})
        members = {name: self.DispatchKey(number) for name, number in self.members.items()}
        self.DispatchKey.__members__ = members
        for name, key in members.items():
            setattr(self.DispatchKey, name, key)
        self.DispatchKeySet: type[BoundKeySet] = type(
            "DispatchKeySet", (BoundKeySet,), {"_space": self, "__slots__": ()}
        )

    def _members(self) -> dict[str, int]:
        """Real keys come before the markers, so that a number shared with a marker is named after the key."""
        universe = self.universe
        members = {UNDEFINED: 0} | {name: universe.ids[name] for name in universe.keys_by_id}
        for functionality, keys in universe.per_backend.items():
            members[f"StartOf{functionality}Backends"] = self.starts[functionality]
            members[f"EndOf{functionality}Backends"] = universe.ids[keys[-1]]
        return members

    def as_key(self, value: DispatchKey | str) -> DispatchKey:
        """The key that is given itself, or by its name. Errors: RuntimeError, and TypeError for what is no key."""
        if isinstance(value, str):
            return self.parse(value)
        if not isinstance(value, self.DispatchKey):
            raise TypeError(f"{value!r} is no key of {self.universe.name}")
        return value

    def bits_of(self, keyset: BoundKeySet) -> KeyBits:
        """The bits of a set. Errors: TypeError for what is no set of this universe."""
        if not isinstance(keyset, self.DispatchKeySet):
            raise TypeError(f"{keyset!r} is no key set of {self.universe.name}")
        return keyset._bits

    def parse(self, text: str) -> DispatchKey:
        """``c10::parseDispatchKey``. Errors: RuntimeError for a name that the parser does not know."""
        if not self.is_parseable(text):
            raise RuntimeError(f"could not parse dispatch key: {text}")
        return self.key(text)

    def is_parseable(self, text: str) -> bool:
        """True if the parser knows the name."""
        return text == UNDEFINED or text in self.universe.parseable

    def key(self, name: str) -> DispatchKey:
        """The key with the name of a member."""
        return self.DispatchKey(self.members[name])

    def text(self, key: DispatchKey | str) -> str:
        """``c10::toString``."""
        return self._texts.get(self.as_key(key).value, UNKNOWN_TEXT)

    def bits(self, key: DispatchKey | str) -> KeyBits:
        """The key-set bits of a key; none for Undefined, alias keys and numbers that are no key."""
        return KeyBits(self.layout, self._bits.get(self.as_key(key).value, 0))

    def functionality(self, key: DispatchKey | str) -> DispatchKey:
        """``c10::toFunctionalityKey``; Undefined for alias keys."""
        return self.DispatchKey(self._functionalities.get(self.as_key(key).value, 0))

    def is_alias(self, key: DispatchKey | str) -> bool:
        """True if it is an alias key."""
        return self.universe.is_alias(self.as_key(key).name)

    def highest(self, bits: int) -> DispatchKey:
        """``DispatchKeySet::highestPriorityTypeId``."""
        functionality = (bits >> len(self.universe.backends)).bit_length()
        start = self.starts.get(self.names.get(functionality, ""))
        if start is None:
            return self.DispatchKey(functionality)
        return self.DispatchKey(start + (bits & self.layout.backend_mask).bit_length())

    def slot(self, key: DispatchKey | str) -> str:
        """The table slot that PyTorch looks at for *key*: for one without bits it is Undefined's."""
        return slot_of(self.bits(key))

    def wrap(self, bits: KeyBits) -> BoundKeySet:
        """Make a DispatchKeySet of the engine's bits."""
        keyset = object.__new__(self.DispatchKeySet)
        keyset._bits = bits
        return keyset


class DispatchKey:
    """A dispatch key; use the class of a `KeySpace`, whose attributes are its members."""

    __slots__ = ("_value",)
    _space: ClassVar[KeySpace]
    __members__: ClassVar[Mapping[str, DispatchKey]]

    def __init__(self, value: int) -> None:
        self._value = value

    @property
    def value(self) -> int:
        """The number."""
        return self._value

    @property
    def name(self) -> str:
        """The member's name."""
        return self._space.names.get(self._value, UNKNOWN_NAME)

    def __int__(self) -> int:
        return self._value

    def __index__(self) -> int:
        return self._value

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, DispatchKey) and other._value == self._value

    def __hash__(self) -> int:
        return self._value

    def __str__(self) -> str:
        return f"DispatchKey.{self.name}"

    def __repr__(self) -> str:
        return f"<DispatchKey.{self.name}: {self._value}>"


class BoundKeySet:
    """A set of dispatch keys; immutable, `add` and `remove` give a new one. Not hashable, as in PyTorch."""

    __slots__ = ("_bits",)
    _space: ClassVar[KeySpace]
    _bits: KeyBits

    def __init__(self, key: DispatchKey | str, /) -> None:
        self._bits = self._space.bits(key)

    @classmethod
    def from_raw_repr(cls, raw: int, /) -> BoundKeySet:
        """The set with these 64 bits. Errors: ValueError for a number that has more."""
        if not 0 <= raw < 1 << 64:
            raise ValueError(f"{raw} is no number of 64 bits")
        return cls._space.wrap(KeyBits(cls._space.layout, raw))

    def raw_repr(self) -> int:
        """The 64 bits: backend components below, functionalities above."""
        return self._bits.bits

    def __or__(self, other: BoundKeySet, /) -> BoundKeySet:
        return self._space.wrap(self._bits | self._space.bits_of(other))

    def __and__(self, other: BoundKeySet, /) -> BoundKeySet:
        return self._space.wrap(self._bits & self._space.bits_of(other))

    def __sub__(self, other: BoundKeySet, /) -> BoundKeySet:
        return self._space.wrap(self._bits - self._space.bits_of(other))

    def __eq__(self, other: object, /) -> bool:
        return isinstance(other, self._space.DispatchKeySet) and self._bits.bits == other._bits.bits

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def add(self, key: DispatchKey | str, /) -> BoundKeySet:
        """This set with *key*."""
        return self._space.wrap(self._bits | self._space.bits(key))

    def remove(self, key: DispatchKey | str, /) -> BoundKeySet:
        """This set without the functionality of *key*; backend bits stay."""
        return self._space.wrap(self._bits - self._space.bits(key))

    def has(self, key: DispatchKey | str, /) -> bool:
        """True if all bits of *key* are there."""
        bits = self._space.bits(key)
        return (self._bits & bits).bits == bits.bits

    def highestPriorityTypeId(self) -> DispatchKey:  # noqa: N802
        """The key that a call with this set goes to."""
        return self._space.highest(self._bits.bits)

    def __repr__(self) -> str:
        return str(self._bits)
