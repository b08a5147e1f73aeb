"""Calls on a backend that a live PyTorch gets in Python, and whether what coverage says of them happens."""

from __future__ import annotations

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dispatch_cli.capture.document import document
from dispatch_cli.engine.coverage.answers import Covered, Gradient, NoService, Reach, Service, Training
from dispatch_cli.engine.coverage.backend import backend_of
from dispatch_cli.engine.coverage.coverage import Classifier
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema import parse_schema
from tests import in_pytorch
from tests.capture.support import read_document

KEY, AUTOGRAD = "PrivateUse1", "AutogradPrivateUse1"
TENSORS = {KEY: "backend", "MkldnnCPU": "mkldnn", "IPU": "ipu"}
SCRIPT = Path(__file__).with_name("live_backend.py")
OURS = ("aten::", "prims::", "coverage_test::")
"""Operators that are called before those of other libraries, whose arguments are rarely plain."""
EXPLICIT, IMPLICIT = "CompositeExplicitAutograd", "CompositeImplicitAutograd"
REFUSED = "support automatic differentiation"
FALLBACKS = (None, "cpu", "fallthrough")
Class = tuple[str, ...]


class Asked(NamedTuple):
    """A call: its class by coverage, the operator, the backend, what coverage says, and the keys with a kernel."""

    group: Class
    operator: str
    backend: str
    covered: Covered
    keys: list[str]


class Tally(NamedTuple):
    """Counts of a class: operators that were called, those for which no arguments were found, and what was not as said.

    other: operators that cannot be judged, and why: a module that makes the backend registered more kernels for them,
    a tensor would have to be resized, which one that is made in Python cannot be, or, where there is a fallback to the
    CPU, something that a kernel calls fails.
    """

    called: int
    not_makeable: int
    other: list[tuple[str, str]]
    wrong: list[tuple[str, str]]


def live_dispatcher(state: dict[str, Any]) -> Dispatcher:
    """A dispatcher with the operators that the probe found."""
    dispatcher = read_document(document({**state, "higher_order_operators": []}))
    for name in dispatcher.names():
        dispatcher.settle(OperatorName.parse(name))
    return dispatcher


def class_of(backend: str, one: Covered) -> Class:
    """The class in which a call is counted."""
    words = (one.service, one.lack, one.training, one.gradient, one.reach)
    source = one.source if one.service is Service.COMPOSITE else None
    return (backend, *(word.value for word in words if word is not None), *((source,) if source else ()))


def definitions(
    dispatcher: Dispatcher, count: int, dice: random.Random, key: str
) -> tuple[list[str], list[tuple[str, str, str]]]:
    """New operators without an autograd kernel, which call one of PyTorch's: their schemas, and their kernels."""
    schemas, kernels = [], []
    names = [name for name in dispatcher.names() if re.fullmatch(r"aten::[a-z]\w*[a-z0-9]", name)]
    for name in dice.sample(names, min(len(names), 4 * count)):
        schema = dispatcher.header(OperatorName.parse(name)).schema
        if schema is not None and "!" not in schema and "(a" not in schema and "-> Tensor" in schema:
            schemas.append(schema.replace("aten::", "coverage_test::", 1))
            dispatcher.define(parse_schema(schemas[-1]), "defined")
            operator = name.replace("aten::", "coverage_test::")
            if dice.random() < 0.5:
                kernels.append((operator, key, f"calls {name}"))
            else:  # SparseCPU first: the live table of the other order is stale
                kernels += [(operator, kernel_key, f"calls {name}") for kernel_key in ("SparseCPU", IMPLICIT)]
    return schemas, kernels


def registrations(dispatcher: Dispatcher, count: int, dice: random.Random) -> Iterator[tuple[str, str, str]]:
    """Kernels for operators of a live PyTorch, so that there are operators of every class: operator, key and kind."""
    classifier = Classifier(dispatcher, backend_of(dispatcher.universe, KEY))
    results: dict[tuple[Service, Training], list[str]] = defaultdict(list)
    for name in dispatcher.names():
        class_ = classifier.of(OperatorName.parse(name))
        if name.startswith("aten::") and class_.reach is Reach.TENSORS:
            results[class_.service, class_.training].append(name)
    for names in results.values():
        dice.shuffle(names)
    lacking, math = results[Service.NOTHING, Training.GENERIC], results[Service.COMPOSITE, Training.MATH]
    functional = [name for name in lacking if "!" not in (dispatcher.header(OperatorName.parse(name)).schema or "")]
    functional = functional[: 2 * count]
    lacking = [name for name in lacking if name not in functional]
    explicit = results[Service.COMPOSITE, Training.GENERIC]
    for kinds, names in (
        (((KEY, "cpu"),), lacking),
        (((KEY, "cpu"),), math),
        (((KEY, "cpu"), (AUTOGRAD, "autograd")), functional),
        (((KEY, "cpu"), (AUTOGRAD, "fallthrough")), lacking),
        (((AUTOGRAD, "fallthrough"),), math),
        (((AUTOGRAD, "fallthrough"),), explicit),
        (((KEY, "fallthrough"),), lacking),
        (((KEY, "fallthrough"),), explicit),
    ):
        for _ in range(min(count, len(names))):
            name = names.pop()
            yield from ((name, key, kind) for key, kind in kinds)


def keys_of(dispatcher: Dispatcher, name: str) -> list[str]:
    """The keys with a kernel, sorted."""
    return sorted(dispatcher.operator(OperatorName.parse(name)).kernels)


def plan(dispatcher: Dispatcher, fallback: str | None, count: int, seed: int) -> tuple[dict[str, Any], list[Asked]]:
    """Input for the live PyTorch; the registrations are in the dispatcher then. count: operators of each class."""
    dice = random.Random(seed)
    defined, own = definitions(dispatcher, count, dice, "CPU" if fallback == "cpu" else EXPLICIT)
    chosen = [*own, *(registrations(dispatcher, count, dice) if fallback is None else ())]
    for name, key, kind in chosen:
        dispatcher.implement(OperatorName.parse(name), key, Kernel(f"{kind} {key}", fallthrough=kind == "fallthrough"))
    if fallback is not None:
        dispatcher.fall_back(KEY, Kernel("fallback", fallthrough=fallback == "fallthrough"))
    groups: dict[Class, list[Asked]] = defaultdict(list)
    for backend in TENSORS if fallback is None else (KEY,):
        classifier = Classifier(dispatcher, backend_of(dispatcher.universe, backend))
        for name in dispatcher.names():
            class_ = classifier.of(OperatorName.parse(name))
            if backend == KEY or class_.training is Training.BROKEN:
                groups[class_of(backend, class_)].append(
                    Asked(class_of(backend, class_), name, backend, class_, keys_of(dispatcher, name))
                )
    asked = []
    for group in sorted(groups):
        dice.shuffle(groups[group])
        asked += sorted(groups[group], key=lambda one: not one.operator.startswith(OURS))[:count]
    calls = [
        (number, one.operator, TENSORS[one.backend], one.covered.served is not False and one.covered.lack is None)
        for number, one in enumerate(asked)
    ]
    return {"defined": defined, "registrations": chosen, "fallback": fallback, "calls": calls, "seed": seed}, asked


def answers(python: str, asked: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """Result of each call; of one in which PyTorch crashed only that."""
    results: dict[int, dict[str, Any]] = {}
    rest = asked["calls"]
    while rest:
        text = json.dumps({**asked, "calls": rest})
        done = in_pytorch.run([python, str(SCRIPT)], text, check=False)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        if not lines:
            raise RuntimeError(done.stderr[-2000:])
        results.update({line["number"]: line for line in lines if "number" in line})
        begun = [line["begins"] for line in lines if "begins" in line]
        if begun[-1] not in results:
            results[begun[-1]] = {"made": False, "crashed": True}
        rest = [call for call in rest if call[0] > begun[-1]]
    return results


def judged(asked: Sequence[Asked], said: dict[int, dict[str, Any]], fallback: str | None) -> dict[Class, Tally]:
    """A tally for each class."""
    results: dict[Class, Tally] = {}
    for number, question in enumerate(asked):
        tally = results.setdefault(question.group, Tally(0, 0, [], []))
        answer = said[number]
        why = _not_judged(question, answer, fallback)
        if why is not None:
            tally.other.append((question.operator, why))
            continue
        wrong = wrong_in(question, answer) if answer["made"] else None
        if wrong is not None:
            tally.wrong.append((question.operator, wrong))
        count = int(answer["made"])
        results[question.group] = tally._replace(
            called=tally.called + count, not_makeable=tally.not_makeable + 1 - count
        )
    return results


def _not_judged(one: Asked, answer: dict[str, Any], fallback: str | None) -> str | None:
    """Why what happened says nothing; None where it does."""
    if answer.get("keys", one.keys) != one.keys:
        return f"has kernels at {', '.join(sorted({*answer['keys']} ^ {*one.keys}))} as well"
    if not answer["made"]:
        return None
    plain, trained = answer["plain"], answer["trained"] or {}
    if any(part is not None and part["resized"] for part in (plain, trained or None, trained.get("backward"))):
        return "resizes"
    if one.covered.served and f"Could not run '{one.operator}'" not in (message := plain["error"] or ""):
        if message:
            return message if fallback == "cpu" or one.covered.service is Service.KERNEL else None
        message = trained.get("error") or ""
        if message and fallback == "cpu" and not any(text in message for text in ("Could not run '", REFUSED)):
            return message
    return None


def wrong_in(one: Asked, answer: dict[str, Any]) -> str | None:
    """The first thing that did not happen as coverage says; None if all did."""
    plain = answer["plain"]
    wrong = _wrong_service(one, plain["error"], plain["ran"])
    if wrong is None and answer["trained"] is not None and plain["error"] is None:
        wrong = _wrong_training(one, answer["trained"])
    return wrong


def _wrong_service(one: Asked, error: str | None, ran: Sequence[str]) -> str | None:
    covered, name = one.covered, one.operator
    message = error or ""
    here = f"Could not run '{name}' with arguments from the "
    if covered.training is Training.BROKEN:
        ambiguous = "has kernels registered to both" in message and bool(covered.blockers)
        missing = f"{here}'Autograd" in message and covered.autograd_rule is Rule.MISSING
        return None if ambiguous or missing else f"broken: {message or 'works'}"
    if covered.lack is NoService.MISSING:
        return None if here in message and f"{here}'Autograd" not in message else f"missing: {message or 'works'}"
    if covered.lack is NoService.SKIPPED and covered.reach is Reach.DEVICE:
        return None if "fallthrough_kernel was executed" in message else f"skipped: {message or 'works'}"
    if covered.lack in (NoService.NO_TENSORS, NoService.SKIPPED):
        return (
            None
            if "There were no tensor arguments to this function" in message
            else f"no tensors: {message or 'works'}"
        )
    if covered.lack is NoService.RAISES:
        return (
            None
            if message.startswith("NotImplementedError") and here not in message
            else f"raises: {message or 'works'}"
        )
    own, by_fallback = f"kernel {name}" in ran, f"fallback {name}" in ran
    if covered.service is Service.KERNEL and one.backend == KEY and name.startswith(OURS) and not own:
        return f"own kernel: {message}"
    if covered.service is Service.FALLBACK and not by_fallback:
        return f"fallback: {message or ran}"
    if covered.service in (Service.COMPOSITE, Service.ABOVE) and (own or by_fallback or here in message):
        return f"composite: {message or ran}"
    return None


def _wrong_training(one: Asked, said: dict[str, Any]) -> str | None:
    covered, back = one.covered, said["backward"]
    if said["error"] is not None:  # PyTorch's autograd kernels refuse out= and some dtypes, of what it calls as well
        decomposed = (Gradient.DECOMPOSED, Gradient.DECOMPOSED_WITH_WARNING)
        runs_one = covered.training in (Training.GENERIC, Training.MATH) or covered.gradient in decomposed
        refused = REFUSED in said["error"]
        return None if refused and runs_one else f"error: {said['error']}"
    warned = said["warned"] or (back is not None and back["warned"])
    nodes, new = said["nodes"], said["floating"] and not said["inputs_returned"]
    if covered.training is Training.OWN:
        fine = f"autograd {one.operator}" in said["ran"] and (not nodes or nodes == ["OwnBackward"])
    elif covered.training in (Training.GENERIC, Training.MATH) or covered.gradient is Gradient.DECOMPOSED:
        fine = not warned and "WarnNotImplemented" not in nodes
    elif covered.gradient is Gradient.WARNING:
        quiet = nodes == ["WarnNotImplemented"] and back is not None and back["warned"] and back["gradients"] == 0
        fine = quiet if new else True
    elif covered.gradient is Gradient.DECOMPOSED_WITH_WARNING:
        fine = warned if nodes and new else True
    else:
        fine = covered.gradient is not Gradient.DROPPED or (not nodes and not warned)
    return None if fine else f"{covered.training.value} {covered.gradient}: {json.dumps(said)[:300]}"


def table(tallies: dict[Class, Tally]) -> str:
    """The figures of each class, and what did not happen as said."""
    lines, total = [], Counter[str]()
    for group, tally in sorted(tallies.items()):
        wrong = len(tally.wrong)
        total.update(called=tally.called, wrong=wrong, not_makeable=tally.not_makeable, other=len(tally.other))
        figures = (tally.called, tally.called - wrong, tally.not_makeable, len(tally.other))
        lines.append(f"{' '.join(f'{number:5}' for number in figures)}  {' '.join(group)}")
        lines += [f"        WRONG {operator}: {why}" for operator, why in tally.wrong]
        lines += [f"        {operator}: {why.splitlines()[0][:160]}" for operator, why in tally.other]
    head = "called, as said, without arguments, not judged; class"
    return "\n".join([head, *lines, f"{dict(total)}"])
