"""Backends that serve the operators: the answer of each for each class of operators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, urlencode

from dispatch_cli.answers.coverage.counts import OperatorClasses, coverage_counts
from dispatch_cli.answers.coverage.document import served_blocks
from dispatch_cli.answers.coverage.overview import overview_report
from dispatch_cli.answers.coverage.overview_document import document as overview_document
from dispatch_cli.answers.coverage.report import groups_of
from dispatch_cli.answers.coverage.wording import SERVICE_NAMES, served_by, served_share, service_words, training_words
from dispatch_cli.answers.table.slot_notes import overlay_of
from dispatch_cli.engine.backend_answers import Covered, CoveredBackend
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.state import State
from dispatch_cli.model.names import OperatorName
from dispatch_cli.page.blocks import written_blocks
from dispatch_cli.page.commands import words_text
from dispatch_cli.page.pool import Pool
from dispatch_cli.render.words import not_built_sentence, plural


def coverage_data(state: State, names: Sequence[OperatorName]) -> dict[str, Any]:
    """class, groups: of each operator. backends: of each the words, and the answer for each class.

    overview: groups of operators on backends, whose cells lead to lists. options: those of the command that choose a
    group, by its name.
    """
    classes, answers, groups = OperatorClasses(state, names), Pool(), Pool()
    report = overview_report(state, names, classes=classes)
    return {
        "class": classes.numbers,
        "groups": [groups.add(tuple(groups_of(state, name))) for name in names],
        "group_lists": groups.values,
        "backends": [_backend(state, backend, classes, answers) for backend in classes.backends],
        "answers": answers.values,
        "overview": [*written_blocks(overview_document(report, most=None), _coverage_address)],
        "options": {group.chosen_by[-1]: words_text(group.chosen_by) for group in report.groups if group.chosen_by},
    }


def _coverage_address(target: tuple[str, tuple[str, ...]]) -> str:
    backend, options = target
    chosen = f"?{urlencode({'group': options[-1]})}" if options else ""
    return f"#!coverage/{quote(backend)}{chosen}"


def _backend(state: State, backend: CoveredBackend, classes: OperatorClasses, answers: Pool) -> dict[str, Any]:
    kinds, answered = classes.answers(backend), Counter[Covered]()
    for number, operators in classes.sizes.items():
        answered[kinds[number]] += operators
    sums = coverage_counts(answered)
    overlay = overlay_of(state.dispatcher, backend.key)
    others = plural(len(state.higher_order_operators), "higher-order operator")
    facts = {
        "Served by": served_by(sums),
        "Device": backend.device,
        "Autograd at": backend.autograd,
        "Not counted": state.higher_order_operators and f"{others}, which no backend has kernels for",
    }
    return {
        "key": backend.key,
        "name": f"{backend.key} ({backend.device})" if backend.device else backend.key,
        "share": served_share(sums),
        "facts": [[label, text] for label, text in facts.items() if text],
        "services": [
            [service.value, SERVICE_NAMES[service]]
            for service in dict.fromkeys(count.service for count in sums.services)
        ],
        "tables": [*written_blocks(served_blocks(sums, backend.key))],
        "not_built": None if overlay is None else not_built_sentence(backend.key, overlay),
        "answers": [answers.build(kind, _covered) for kind in kinds],
    }


def _covered(kind: Covered) -> Any:
    """source: where the kernel is registered; is_fallback: as the backend fallback. words: what serves an operator,
    and how it trains."""
    service = service_words(kind.service, kind.source, kind.lack, kind.otherwise)
    return {
        "service": kind.service.value,
        "slot": kind.slot,
        "source": kind.source,
        "is_fallback": kind.rule is Rule.FALLBACK,
        "words": [service, training_words(kind.training, kind.gradient)],
    }
