"""Coverage of each backend: once for all operators that nothing tells apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from dispatch_cli.answers.coverage.classes import OperatorClasses
from dispatch_cli.answers.coverage.counts import coverage_counts
from dispatch_cli.answers.coverage.document import served_blocks
from dispatch_cli.answers.coverage.overview import overview_report
from dispatch_cli.answers.coverage.overview_document import matrices, meaning, title
from dispatch_cli.answers.coverage.report import groups_of
from dispatch_cli.answers.coverage.wording import served_by, served_share, service_words, training_words
from dispatch_cli.answers.table.slot_notes import overlay_of
from dispatch_cli.engine.coverage.answers import Covered, CoveredBackend
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.names import OperatorName
from dispatch_cli.page.blocks import headed_matrices, written_blocks
from dispatch_cli.page.pool import Pool
from dispatch_cli.render.data import data_of
from dispatch_cli.render.words import not_built_sentence


def coverage_data(state: State, names: Sequence[OperatorName]) -> dict[str, Any]:
    """class, groups: of each operator. backends: of each the counts, and the answer for each class.

    overview: the matrices of groups on backends, each with its head.
    """
    classes, answers, groups = OperatorClasses(state, names), Pool(), Pool()
    report = overview_report(state, names, classes=classes)
    return {
        "class": classes.numbers,
        "groups": [groups.add(tuple(groups_of(state, name))) for name in names],
        "group_lists": groups.values,
        "backends": [_backend(state, backend, classes, answers) for backend in classes.backends],
        "answers": answers.values,
        "overview": {
            "title": f"{title(report)}. {meaning(report)}",
            "matrices": [*headed_matrices(matrices(report, in_viewer=True))],
        },
    }


def _backend(state: State, backend: CoveredBackend, classes: OperatorClasses, answers: Pool) -> dict[str, Any]:
    numbers, kinds = classes.answers(backend)
    sizes, answered = Counter[int](), Counter[Covered]()
    for number, operators in classes.sizes.items():
        sizes[numbers[number]] += operators
    for number, operators in sizes.items():
        answered[kinds[number]] += operators
    places = [answers.build(kind, _answer) for kind in kinds]
    counts = coverage_counts(answered)
    overlay = overlay_of(state.dispatcher, backend.key)
    return {
        "backend": data_of(backend),
        "counts": data_of(counts),
        "share": served_share(counts),
        "served_by": served_by(counts),
        "tables": [*written_blocks(served_blocks(counts, backend.key))],
        "overlay": overlay,
        "not_built": None if overlay is None else not_built_sentence(backend.key, overlay),
        "answers": [places[number] for number in numbers],
    }


def _answer(kind: Covered) -> Any:
    """words: what serves an operator, and how it trains."""
    service = service_words(kind.service, kind.source, kind.lack, kind.otherwise)
    return data_of(kind) | {"served": kind.served, "words": [service, training_words(kind.training, kind.gradient)]}
