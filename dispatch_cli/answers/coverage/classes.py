"""Operators in classes: those that nothing tells apart have one answer on every backend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dispatch_cli.engine.coverage.answers import Covered, CoveredBackend, backend_keys, backend_of
from dispatch_cli.engine.coverage.coverage import Classifier, CoveredShape
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.names import OperatorName

_Shape = CoveredShape | OperatorName | None


class OperatorClasses:
    """Operators, each with the number of its class.

    sizes: how many operators each class has. backends: those that can be asked for, the dense ones first.
    """

    def __init__(self, state: State, names: Sequence[OperatorName]) -> None:
        self._dispatcher = dispatcher = state.dispatcher
        universe = dispatcher.universe
        self.backends = [backend_of(universe, key) for key in backend_keys(universe)]
        self.backends.sort(key=lambda backend: backend.key not in universe.backends)
        first = Classifier(dispatcher, self.backends[0]) if self.backends else None

        def shape_of(name: OperatorName) -> _Shape:
            # what a stale live table holds is its own
            is_stale = not dispatcher.is_untouched(name) and bool(dispatcher.stale_entries(name))
            return name if is_stale or first is None else first.shape(name)

        shapes = [shape_of(name) for name in names]
        places: dict[tuple[str, _Shape], int] = {}
        self.numbers = [places.setdefault((type(shape).__name__, shape), len(places)) for shape in shapes]
        self.sizes = Counter(self.numbers)
        self._shapes = [shape for _, shape in places]
        rests: dict[tuple[str, _Shape], int] = {}
        self._parts: list[tuple[int, int]] = []
        for shape in self._shapes:
            bits = shape.registered if isinstance(shape, CoveredShape) else 0
            rest = shape._replace(registered=0) if isinstance(shape, CoveredShape) else shape
            self._parts.append((bits, rests.setdefault((type(shape).__name__, rest), len(rests))))

    def answers(self, backend: CoveredBackend) -> tuple[list[int], list[Covered]]:
        """Number of the answer for each class, and the answers. Most classes differ in keys that do not count."""
        classifier = Classifier(self._dispatcher, backend)
        numbers: dict[tuple[int, int], int] = {}
        answers: list[Covered] = []
        parts = [(bits & classifier.bits, rest) for bits, rest in self._parts]
        for part, shape in zip(parts, self._shapes, strict=True):
            if part not in numbers:
                numbers[part] = len(answers)
                answers.append(classifier.of(shape) if isinstance(shape, OperatorName) else classifier.of_shape(shape))
        return [numbers[part] for part in parts], answers
