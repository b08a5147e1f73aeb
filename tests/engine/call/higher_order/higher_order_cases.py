"""Calls of higher-order operators, as ``live_higher_order.py`` makes them, and ours of the same."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from dispatch_cli import api
from dispatch_cli.engine.call.higher_order.handlers import REDIRECT_TO_MODE
from dispatch_cli.engine.call.higher_order.simulate import simulate_higher_order
from dispatch_cli.engine.call.higher_order.trace import Asker, HandlerAnswer, HigherOrderCall, HigherOrderHop
from dispatch_cli.engine.call.trace import EndKind, Error, ErrorKind
from dispatch_cli.engine.state import State
from dispatch_cli.model.calls.call import Context, TensorSpec
from dispatch_cli.model.higher_order import HigherOrderImpl, ImplKind, is_autograd_not_implemented
from tests.engine.live_cases import LiveCase, Side


class Difference(NamedTuple):
    """A call that went otherwise here."""

    case: dict[str, Any]
    ours: dict[str, Any]
    theirs: dict[str, Any]


def declarations(universe: Any, cases: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The document that declares the operators of the cases. universe: a name, or the data of one."""
    return {
        "dispatch": 1,
        "universe": universe,
        "higher_order_operators": [case["operator"] for case in cases],
        "modes": {"Supporting": {"supports_higher_order_operators": True}},
    }


def differences(state: State, cases: Iterable[dict[str, Any]]) -> tuple[list[Difference], set[EndKind | ErrorKind]]:
    """Simulate every case; those that went otherwise, and the ends that were seen."""
    problems, ends = [], set()
    for case in cases:
        operator = state.higher_order_operator(case["operator"]["name"])
        assert operator is not None
        tensors = [TensorSpec.parse(text) for text in case["tensors"]]
        contexts = [Context.parse(text) for text in case["contexts"]]
        call = simulate_higher_order(state, operator, tensors, contexts)
        error = call.end.error
        ends.add(call.end.kind if error is None else error.kind)
        ours, theirs = said(call), {field: case[field] for field in ("ran", "error")}
        if theirs["error"] == ["Endless", ""]:
            # The simulation stops where the call is as it was before; the script goes round some more times.
            theirs["ran"] = theirs["ran"][: len(ours["ran"])]
        same = is_error(error, ours["error"], theirs["error"])
        if not same or ours["ran"] != theirs["ran"]:
            problems.append(Difference(case, ours, theirs))
    return problems, ends


def is_error(error: Error | None, told: list[str] | None, theirs: list[str] | None) -> bool:
    """True if an error, in the form that the script prints, is theirs; of some only the first words are known."""
    if error is None or error.whole or not error.text or told is None or theirs is None:
        return told == theirs
    return theirs[0] == told[0] and theirs[1].startswith(told[1])


def ran(hop: HigherOrderHop) -> Iterator[str]:
    """The rules that a step runs, by the names that the script notes."""
    for asked in hop.asked:
        if asked.kind is Asker.MODE_ITSELF:
            yield f"itself:{asked.name}"
        elif asked.impl is not None and (asked.answer is HandlerAnswer.HANDLES or runs_before_it_refuses(asked.impl)):
            yield asked.impl.kernel
    rule = hop.impl
    if hop.asked or rule is None or is_autograd_not_implemented(rule.kernel):
        return
    if rule.kind is not ImplKind.AUTOGRAD or hop.needs_gradient:
        yield rule.kernel


def runs_before_it_refuses(rule: HigherOrderImpl) -> bool:
    """True if the rule itself returns NotImplemented, and not a wrapper of PyTorch in its place."""
    return rule.not_implemented or REDIRECT_TO_MODE in rule.kernel


def said(call: HigherOrderCall) -> dict[str, Any]:
    """A call as the script says it."""
    rules = [name for hop in call.hops for name in ran(hop)]
    error = call.end.error
    if error is not None and error.kind is ErrorKind.ENDLESS:
        ending: list[str] | None = ["Endless", ""]
    else:
        ending = None if error is None else [error.type, error.text.split("\n")[0]]
    return {"ran": rules, "error": ending}


def loaded(document: dict[str, Any]) -> State:
    """The state that a document declares."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "operators.json"
        file.write_text(json.dumps(document), encoding="utf-8")
        return api.load_state([str(file)], allow_outside=True)


def _wrong(side: Side, _: Any, cases: Any) -> list[str]:
    different, ends = differences(loaded(declarations(side.data, cases)), cases)
    assert {EndKind.KERNEL, ErrorKind.PYTHON, ErrorKind.NO_KERNEL, ErrorKind.MODES, ErrorKind.IMPL} <= ends
    return [*map(str, different)]


CASE = LiveCase(Path(__file__).with_name("live_higher_order.py"), _wrong)
