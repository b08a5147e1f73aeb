"""What serves the operators on each backend: once for all operators that nothing tells apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from dispatch_cli.answers.coverage.counts import coverage_counts
from dispatch_cli.answers.coverage.report import overlay_of
from dispatch_cli.engine.coverage.answers import Covered
from dispatch_cli.engine.coverage.backend import CoveredBackend, backend_keys, backend_of
from dispatch_cli.engine.coverage.coverage import Classifier, CoveredShape
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.names import OperatorName
from dispatch_cli.page.pool import Pool
from dispatch_cli.render.data import data_of


def coverage_data(state: State, names: Sequence[OperatorName]) -> dict[str, Any]:
    """class: of each operator. backends: of each the counts, and the answer for each class."""
    universe, dispatcher = state.dispatcher.universe, state.dispatcher
    backends = [backend_of(universe, key) for key in backend_keys(universe)]
    backends.sort(key=lambda one: one.key not in universe.backends)
    answers, classes = Pool(), Pool()
    if not backends:
        return {"class": [], "backends": [], "answers": []}
    shapes: list[CoveredShape | OperatorName | None] = []
    first = Classifier(dispatcher, backends[0])
    for name in names:
        # what a stale live table holds is its own
        is_stale = not dispatcher.is_untouched(name) and bool(dispatcher.stale_entries(name))
        shapes.append(name if is_stale else first.shape(name))
    numbers = [classes.add((type(shape).__name__, shape)) for shape in shapes]
    return {
        "class": numbers,
        "backends": [_backend(state, backend, classes, Counter(numbers), answers) for backend in backends],
        "answers": answers.values,
    }


def _backend(
    state: State, backend: CoveredBackend, classes: Pool, numbers: Counter[int], answers: Pool
) -> dict[str, Any]:
    """numbers: how many operators each class has."""
    classifier = Classifier(state.dispatcher, backend)
    found = [
        classifier.of(shape) if isinstance(shape, OperatorName) else classifier.of_shape(shape)
        for _, shape in classes.values
    ]
    answered = Counter[Covered]()
    for number, operators in numbers.items():
        answered[found[number]] += operators
    return {
        "backend": data_of(backend),
        "counts": data_of(coverage_counts(answered)),
        "overlay": overlay_of(state, backend),
        "answers": [answers.made(one, lambda answer: data_of(answer) | {"served": answer.served}) for one in found],
    }
