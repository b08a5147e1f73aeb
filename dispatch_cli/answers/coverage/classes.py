"""Operators in classes: those that nothing tells apart have one answer on every backend."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch_cli.engine.coverage.answers import Covered
from dispatch_cli.engine.coverage.backend import CoveredBackend, backend_keys, backend_of
from dispatch_cli.engine.coverage.coverage import Classifier, CoveredShape
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.names import OperatorName


_Shape = CoveredShape | OperatorName | None


class OperatorClasses:
    """Operators, each with the number of its class.

    backends: those that can be asked for, the dense ones first.
    """

    def __init__(self, state: State, names: Sequence[OperatorName]) -> None:
        self._dispatcher = dispatcher = state.dispatcher
        universe = dispatcher.universe
        self.backends = [backend_of(universe, key) for key in backend_keys(universe)]
        self.backends.sort(key=lambda one: one.key not in universe.backends)
        first = Classifier(dispatcher, self.backends[0]) if self.backends else None

        def shape(name: OperatorName) -> _Shape:
            # what a stale live table holds is its own
            is_stale = not dispatcher.is_untouched(name) and bool(dispatcher.stale_entries(name))
            return name if is_stale or first is None else first.shape(name)

        shapes = [shape(name) for name in names]
        places: dict[tuple[str, _Shape], int] = {}
        self.numbers = [places.setdefault((type(one).__name__, one), len(places)) for one in shapes]
        self._shapes = [one for _, one in places]
        rests: dict[tuple[str, _Shape], int] = {}
        self._parts: list[tuple[int, int]] = []
        for one in self._shapes:
            bits = one.registered if isinstance(one, CoveredShape) else 0
            rest = one._replace(registered=0) if isinstance(one, CoveredShape) else one
            self._parts.append((bits, rests.setdefault((type(one).__name__, rest), len(rests))))

    def answers(self, backend: CoveredBackend) -> list[Covered]:
        """What serves each class on a backend. Most differ only in keys that do not count there."""
        classifier = Classifier(self._dispatcher, backend)
        found: dict[tuple[int, int], Covered] = {}
        parts = [(bits & classifier.bits, rest) for bits, rest in self._parts]
        for part, one in zip(parts, self._shapes, strict=True):
            if part not in found:
                found[part] = classifier.of(one) if isinstance(one, OperatorName) else classifier.of_shape(one)
        return [found[part] for part in parts]
