"""What serves the operators on each backend: once for all operators that nothing tells apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

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
    sizes, rests = Counter(numbers), Pool()
    found = [_class(shape, sizes[number], rests) for number, (_, shape) in enumerate(classes.values)]
    return {
        "class": numbers,
        "backends": [_backend(state, backend, found, answers) for backend in backends],
        "answers": answers.values,
    }


class _Class(NamedTuple):
    """Operators that share their answers. registered: bits of the keys with a kernel. rest: number of all else."""

    shape: CoveredShape | OperatorName | None
    operators: int
    registered: int
    rest: int


def _class(shape: CoveredShape | OperatorName | None, operators: int, rests: Pool) -> _Class:
    if isinstance(shape, CoveredShape):
        return _Class(shape, operators, shape.registered, rests.add(shape._replace(registered=0)))
    return _Class(shape, operators, 0, rests.add((type(shape).__name__, shape)))


def _backend(state: State, backend: CoveredBackend, classes: Sequence[_Class], answers: Pool) -> dict[str, Any]:
    """The answers on a backend. Most classes differ in keys that do not count there."""
    classifier = Classifier(state.dispatcher, backend)
    parts = [(one.registered & classifier.bits, one.rest) for one in classes]
    sizes = Counter[tuple[int, int]]()
    for part, one in zip(parts, classes, strict=True):
        sizes[part] += one.operators
    answered = Counter[Covered]()
    numbers = {}
    for part, shape in dict(zip(parts, (one.shape for one in classes), strict=True)).items():
        answer = classifier.of(shape) if isinstance(shape, OperatorName) else classifier.of_shape(shape)
        answered[answer] += sizes[part]
        numbers[part] = answers.made(answer, lambda one: data_of(one) | {"served": one.served})
    return {
        "backend": data_of(backend),
        "counts": data_of(coverage_counts(answered)),
        "overlay": overlay_of(state, backend),
        "answers": [numbers[part] for part in parts],
    }
