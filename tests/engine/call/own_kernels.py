"""PyTorch's own kernels on a live PyTorch: those at which the simulation ends run, with the key sets that it says.

The kernels of its factories at BackendSelect go on with the key sets that it says.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import Call, Hop
from dispatch_cli.model.calls.call import Context, TensorSpec
from dispatch_cli.model.calls.options import Options
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.types import DTYPES
from tests.engine.call.random_calls import names
from tests.engine.live_cases import LiveCase, Side

BELOW = ("below_ADInplaceOrView",)


def simulated(side: Side, asked: dict[str, Any]) -> Call:
    """The call that is asked for."""
    tensors, contexts = map(TensorSpec.parse, asked["tensors"]), map(Context.parse, asked["contexts"])
    name, options = OperatorName.parse(asked["operator"]), Options(**asked["options"])
    return simulate(side.state, name, [*tensors], [*contexts], options=options)


def _wrong(side: Side, asked: Any, answers: Any) -> list[str]:
    """An operator may refuse its arguments on the way, whose values mean nothing."""
    wrong, ran = [], 0
    for call, live in zip(asked["calls"], answers, strict=True):
        ours = names(simulated(side, call).hops[-1].keyset)
        ran += live["keyset"] is not None
        if live["error"] is None and live["keyset"] != ours:
            wrong.append(f"{call}\n  {live['keyset'] or 'it did not run'}\n  ours: {ours}")
    assert ran > len(answers) * 0.9
    return wrong


def chosen(call: Call) -> str | list[str]:
    """The keys that the kernel at BackendSelect passes, or its error."""
    hop: Hop = next(hop for hop in call.hops if hop.chosen_by is not None)
    if hop.passes is not None:
        return names(hop.passes)
    error = call.end.error
    assert error is not None, "without a set to pass it raises"
    return [error.type, error.text]


def _wrong_factories(side: Side, asked: Any, answers: Any) -> list[str]:
    """A generator's key counts in an unboxed call, and in one that an unboxed kernel makes; not in a boxed one."""
    rows: list[tuple[Any, Any, Any]] = []
    for factory, live in zip(asked["factories"], answers["factories"], strict=True):
        for call, answer in zip(factory["calls"], live, strict=True):
            question = {"operator": factory["operator"], "contexts": BELOW, **call}
            rows.append((question, chosen(simulated(side, question)), answer))
    for generator, live in zip(asked["generators"], answers["generators"], strict=True):
        options = Options(generator="cpu" if generator["unboxed"] else "cpu boxed")
        hops = simulated(side, {**generator, "options": options._asdict()}).hops
        keyset = next(hop.keyset for hop in hops if hop.slot == generator["key"] and hop.live.rule.value == "kernel")
        rows.append((generator, names(keyset), live))
    rows += [(DTYPES[number], number, live) for number, live in enumerate(answers["dtypes"]) if live is not None]
    assert len(asked["factories"]) > 70
    assert answers["dtypes"].count(None) < len(DTYPES) / 2
    for live, printed in list(zip(answers["layouts"], answers["layout_of"], strict=True))[:-1]:
        plain = live.removeprefix("torch.").lstrip("_").replace("_", "")
        assert plain.removesuffix("coo") in printed.lower().replace("_", ""), live
    return [f"{question}: {live}, ours: {ours}" for question, ours, live in rows if ours != live]


SCRIPT = Path(__file__).with_name("live_own_kernels.py")
CASE = LiveCase(SCRIPT, _wrong)
FACTORIES = LiveCase(SCRIPT, _wrong_factories)
