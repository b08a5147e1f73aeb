"""Calls on a backend that a live PyTorch gets in Python, and whether what coverage says of them happens."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from dispatch_cli.engine.backend_answers import Covered, Gradient, NoService, Service, Training, backend_of
from dispatch_cli.engine.coverage import Classifier
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.kernel import Kernel, Redispatch, RedispatchKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.parser import parse_schema
from dispatch_cli.model.universe import Universe
from tests import in_pytorch

KEY = "PrivateUse1"
TENSORS = {KEY: "backend", "MkldnnCPU": "mkldnn", "IPU": "ipu"}
FALLBACKS = (None, "computes", "fallthrough")
KINDS = {
    "PrivateUse1": ("computes", "computes", "computes", "raises", "fallthrough"),
    "AutogradPrivateUse1": ("autograd", "fallthrough"),
    "Autograd": ("autograd", "calls", "fallthrough"),
    "CompositeImplicitAutograd": ("calls",),
    "CompositeExplicitAutograd": ("calls",),
    "CPU": ("computes",),
    "SparseCPU": ("computes",),
    "MkldnnCPU": ("computes",),
    "IPU": ("computes",),
}
"""Kernels of the operators, as live_backend.py makes them."""
STALE = "expected_k._equalsBoxedAndUnboxed(dispatchTable_[idx]) INTERNAL ASSERT FAILED"
"""Of the error in the place of that of a missing kernel, where PyTorch's live table is stale."""
DECLARED = {
    "raises": RedispatchKind.RAISES,
    "computes": RedispatchKind.NO,
    "calls": RedispatchKind.NO,
    "autograd": RedispatchKind.BELOW_AUTOGRAD,
}


class Asked(NamedTuple):
    """A call: the operator, the backend, and what coverage says of it."""

    operator: str
    backend: str
    kernels: list[tuple[str, str]]
    covered: Covered

    def __str__(self) -> str:
        return f"{self.backend} {self.kernels} {self.covered}"


def plan(universe: Universe, fallback: str | None, count: int, seed: int) -> tuple[dict[str, Any], list[Asked]]:
    """Random operators and calls of them: input for the live PyTorch, and ours."""
    dice, dispatcher, kernels = random.Random(seed), Dispatcher(universe), {}
    if fallback is not None:
        dispatcher.fall_back(KEY, Kernel("fallback", fallthrough=fallback == "fallthrough"))
    for number in range(count):
        name = OperatorName(f"covered::op{number}")
        dispatcher.define(parse_schema(f"{name}(Tensor x) -> Tensor"), "defined")
        chosen = [(key, dice.choice(KINDS[key])) for key in dice.sample([*KINDS], dice.randint(1, 4))]
        for key, kind in chosen:
            redispatches = Redispatch(DECLARED[kind]) if kind in DECLARED else None
            kernel = Kernel(kind, fallthrough=kind == "fallthrough", redispatches=redispatches)
            dispatcher.implement(name, key, kernel)
        kernels[f"op{number}"] = chosen
    asked = []
    for backend in TENSORS if fallback is None else (KEY,):
        classifier = Classifier(dispatcher, backend_of(universe, backend))
        for text, held in kernels.items():
            covered = classifier.of(OperatorName.parse(f"covered::{text}"))
            asked.append(Asked(text, backend, held, covered))
    operators = [{"name": name, "kernels": held} for name, held in kernels.items()]
    calls = [(row.operator, TENSORS[row.backend]) for row in asked]
    return {"operators": operators, "fallback": fallback, "calls": calls}, asked


def wrong(python: str, universe: Universe, fallback: str | None, count: int, seed: int) -> Iterator[str]:
    """Differences between calls and coverage, in words."""
    question, ours = plan(universe, fallback, count, seed)
    answers = in_pytorch.ask(python, Path(__file__).with_name("live_backend.py"), question)
    for asked, answer in zip(ours, answers, strict=True):
        difference = _wrong_service(asked, answer["plain"])
        if difference is None and answer["trained"] is not None and answer["plain"]["error"] is None:
            difference = _wrong_training(asked.covered, answer["trained"])
        if difference is not None:
            yield f"{asked}: {difference}"


def _wrong_service(asked: Asked, live: dict[str, Any]) -> str | None:
    covered, ran, message = asked.covered, live["ran"], live["error"] or ""
    here = f"Could not run 'covered::{asked.operator}' with arguments from the "
    above = f"{here}'Autograd"
    if covered.training is Training.BROKEN:
        ambiguous = "has kernels registered to both" in message and bool(covered.blockers)
        missing = above in message or STALE in message
        fine = ambiguous or (missing and covered.autograd_rule is Rule.MISSING)
    elif covered.lack is NoService.MISSING:
        fine = here in message and above not in message
    elif covered.lack is NoService.SKIPPED:
        fine = "There were no tensor arguments to this function" in message
    elif covered.lack is NoService.RAISES:
        fine = message == "NotImplementedError: this kernel has no code"
    elif covered.service is Service.KERNEL:
        fine = not message and asked.backend in ran
    elif covered.service is Service.FALLBACK:
        fine = not message and "fallback" in ran
    else:
        source = covered.autograd_source if covered.bypassed else covered.source
        fine = not message and "fallback" not in ran and source in ran
    return None if fine else f"{message or 'works'} {ran}"


def _wrong_training(covered: Covered, live: dict[str, Any]) -> str | None:
    node, back = live["node"], live["backward"]
    warned = live["warned"] or (back is not None and back["warned"])
    if covered.training is Training.OWN or covered.training is Training.GENERIC:
        fine = node == "OwnBackward" and not warned
    elif covered.training is Training.MATH or covered.gradient is Gradient.DECOMPOSED:
        fine = not warned and node != "WarnNotImplemented"
    elif covered.gradient is Gradient.WARNING:
        fine = node == "WarnNotImplemented" and warned and not back["gradient"]
    elif covered.gradient is Gradient.DECOMPOSED_WITH_WARNING:
        fine = warned if node is not None else True
    else:
        fine = covered.gradient is not Gradient.DROPPED or (node is None and not warned)
    return None if fine else f"{live}"
