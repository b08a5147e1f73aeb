"""A captured state without some of its registrations, as if they had never been made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from dispatch_cli.model.captured import CapturedHeader, CapturedListing, CapturedOperator, StateSource
from dispatch_cli.model.declarations import CapturedRegistration

if TYPE_CHECKING:
    from dispatch_cli.model.fake_tensor import FakeRules
    from dispatch_cli.model.higher_order import HigherOrderOperator, ModeType

_Entry = TypeVar("_Entry", bound=Sequence[object])


def reduced(source: StateSource | None, without: Iterable[CapturedRegistration]) -> StateSource | None:
    """The whole captured state of *source* without these registrations."""
    source = whole(source)
    gone = [registration for registration in without if registration.operator is not None]
    return ReducedSource(source, gone) if gone and source is not None else source


def whole(source: StateSource | None) -> StateSource | None:
    """The captured state with all of its registrations."""
    return source.whole if isinstance(source, ReducedSource) else source


def left_out(source: StateSource | None, operator: str) -> frozenset[tuple[str, int, bool]]:
    """The registrations of an operator that a source leaves out."""
    return source.left_out(operator) if isinstance(source, ReducedSource) else frozenset()


class ReducedSource:
    """A `StateSource` that leaves registrations out. whole: the one that has them."""

    def __init__(self, whole: StateSource, without: Iterable[CapturedRegistration]) -> None:
        self.whole = whole
        self._without: dict[str, set[tuple[str, int, bool]]] = {}
        for gone in without:
            if gone.operator is not None:
                self._without.setdefault(gone.operator, set()).add((gone.key, gone.number, gone.python))

    def left_out(self, operator: str) -> frozenset[tuple[str, int, bool]]:
        """The registrations of an operator that are left out: key, number from the oldest, whether it is in Python."""
        return frozenset(self._without.get(operator, ()))

    @property
    def name(self) -> str:
        """Name of the state."""
        return self.whole.name

    @property
    def names(self) -> Sequence[str]:
        """The names of its operators: all of them."""
        return self.whole.names

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the captured states that it consists of."""
        return self.whole.parts

    def part_of(self, operator: str, key: str) -> str:
        """The name of that part which has an operator's kernel at a key."""
        return self.whole.part_of(operator, key)

    @property
    def incomplete(self) -> tuple[str, ...]:
        """The runtime keys at which it may lack kernels."""
        return self.whole.incomplete

    def operator(self, name: str) -> CapturedOperator:
        """One operator."""
        full = self.whole.operator(name)
        if name not in self._without:
            return full
        return full._replace(
            kernels=self._left(name, full.kernels), python_kernels=self._left(name, full.python_kernels, python=True)
        )

    def header(self, name: str) -> CapturedHeader:
        """The same operator, as far as a table needs it."""
        full = self.whole.header(name)
        if name not in self._without:
            return full
        listing = self.listing(name)
        counts = Counter(key for key, _, _ in listing.kernels)
        active = dict(self.operator(name).kernels)
        return CapturedHeader(
            full.schema,
            {key: (debug, fallthrough) for key, debug, fallthrough in listing.kernels},
            tuple(key for key, count in counts.items() if count > 1),
            tuple(key for key, _ in listing.python_kernels),
            {
                key: (kernel.fake, kernel.wraps)
                for key, kernel in active.items()
                if kernel.fake is not None or kernel.wraps is not None
            },
        )

    def listing(self, name: str) -> CapturedListing:
        """The same operator, as far as it is compared with that of another state."""
        full = self.whole.listing(name)
        if name not in self._without:
            return full
        return full._replace(
            kernels=self._left(name, full.kernels), python_kernels=self._left(name, full.python_kernels, python=True)
        )

    def python_kernels(self, name: str) -> Sequence[Sequence[str]]:
        """The kernels of the Python dispatcher for the same operator."""
        return self._left(name, self.whole.python_kernels(name), python=True)

    def fake_rules(self, name: str) -> FakeRules:
        """Facts about an operator that ``FakeTensorMode`` asks for, beside its kernels."""
        return self.whole.fake_rules(name)

    @cached_property
    def higher_order_operators(self) -> tuple[HigherOrderOperator, ...]:
        """Its higher-order operators."""
        return self.whole.higher_order_operators

    @property
    def higher_order_names(self) -> Sequence[str]:
        """Names of its higher-order operators."""
        return self.whole.higher_order_names

    @property
    def modes(self) -> tuple[ModeType, ...]:
        """Known mode types."""
        return self.whole.modes

    def _left(self, name: str, entries: Sequence[_Entry], python: bool = False) -> tuple[_Entry, ...]:
        """The entries, oldest first, each of which begins with its key, without those that are left out."""
        without = self._without.get(name, set())
        counts: Counter[object] = Counter()
        left = []
        for entry in entries:
            counts[entry[0]] += 1
            if (entry[0], counts[entry[0]], python) not in without:
                left.append(entry)
        return tuple(left)
