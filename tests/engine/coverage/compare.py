"""Coverage of an embedded or a captured state, compared with what a live PyTorch says about each key."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dispatch_cli.capture.document import document
from dispatch_cli.engine.coverage.answers import Covered, NoService, Service
from dispatch_cli.engine.coverage.backend import backend_of
from dispatch_cli.engine.coverage.coverage import Classifier
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.model.names import OperatorName
from tests import in_pytorch
from tests.capture.support import read_document

BACKENDS = ("MPS", "XLA", "HPU", "PrivateUse1")


class Compared(NamedTuple):
    """Result of a comparison. known: operators whose kernels are known to do more than their keys tell."""

    operators: int
    different: Sequence[tuple[str, str, Any, Any]]
    known: Sequence[tuple[str, str]]


def live_dispatcher(state: dict[str, Any]) -> Dispatcher:
    """A dispatcher with the operators that the probe found."""
    dispatcher = read_document(document({**state, "higher_order_operators": []}))
    for name in dispatcher.names():
        dispatcher.settle(OperatorName.parse(name))
    return dispatcher


def said_by(python: str, backends: Sequence[str] = BACKENDS) -> dict[str, dict[str, Any]]:
    """Coverage that brute force finds in the PyTorch of *python*."""
    script = Path(__file__).with_name("brute_force.py")
    done = in_pytorch.run([python, str(script), *backends])
    answer: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return answer


def compare(dispatcher: Dispatcher, said: Mapping[str, Mapping[str, Any]]) -> Compared:
    """Every operator on every backend. Of those with a kernel that raises, or computes above, the training counts."""
    different: list[tuple[str, str, Any, Any]] = []
    known = []
    for key, answers in said.items():
        classifier = Classifier(dispatcher, backend_of(dispatcher.universe, key))
        assert sorted(answers) == dispatcher.names()
        for name, theirs in answers.items():
            ours = classifier.of(OperatorName.parse(name))
            if ours.service is Service.ABOVE or ours.lack is NoService.RAISES:
                known.append((key, name))
                if ours.training.value != theirs[-1]:
                    different.append((key, name, theirs, _data(ours)))
            elif _data(ours) != theirs:
                different.append((key, name, theirs, _data(ours)))
    return Compared(sum(map(len, said.values())), different, known)


def _data(ours: Covered) -> list[Any]:
    lack = None if ours.lack is None else ours.lack.value
    source = ours.source if ours.lack is None else None
    return [ours.reach.value, ours.service.value, source, lack, ours.training.value]
