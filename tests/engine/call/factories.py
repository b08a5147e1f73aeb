"""Factories and generators on a live PyTorch: where its own kernels at BackendSelect go on, with which key sets."""

from __future__ import annotations

import random
import re
from itertools import product
from pathlib import Path
from typing import Any

from dispatch_cli.engine.call.kernels.entry import backend_keys
from dispatch_cli.engine.call.schema_facts import most_tensors
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import Call, Hop
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.call import Context, Layout, TensorSpec
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.options import DTYPES, LAYOUT_NUMBERS, Options
from dispatch_cli.model.schema import parse_schema
from tests.engine.call.random_calls import names
from tests.engine.live_cases import LiveCase, Side

CALLS = 60
"""Number of calls of each factory; its options allow 3,800."""
TENSORS = ("cpu", "meta", "cpu sparse", "cpu quantized", "cpu mkldnn")
BELOW = (Context.parse("below_ADInplaceOrView"),)
DEVICES = ("cpu", "meta", "xla", "cuda", "vulkan")
CUSTOM = (["cpu"], ["cuda"], ["cpu", "xla"], ["meta", "cpu"])
GENERATORS = (
    # of Python's functions, whose calls are unboxed, and of torch.ops; the first kernel, or that at the key
    ("aten::rand.generator", "torch.rand(2, generator=g)", (), True),
    ("aten::rand.generator", "torch.ops.aten.rand.generator([2], generator=g)", (), False),
    ("aten::randn.generator", "torch.randn(2, generator=g)", (), True),
    ("aten::randint.generator", "torch.randint(3, (2,), generator=g)", (), True),
    ("aten::randperm.generator", "torch.randperm(2, generator=g)", (), True),
    ("aten::normal.float_float", "torch.normal(0.0, 1.0, (2,), generator=g)", (), True),
    ("aten::normal_", "x[0].normal_(generator=g)", ("meta",), True),
    ("aten::normal_", "torch.ops.aten.normal_(x[0], generator=g)", ("meta",), False),
    ("aten::normal_", "x[0].normal_(generator=g)", ("cpu sparse",), True),
    ("aten::bernoulli.p", "torch.bernoulli(x[0], 0.5, generator=g)", ("meta",), True),
    ("aten::bernoulli.p", "torch.ops.aten.bernoulli.p(x[0], 0.5, generator=g)", ("meta",), False),
    ("aten::poisson", "torch.poisson(x[0], generator=g)", ("meta",), True),
    ("aten::multinomial", "torch.multinomial(x[0], 1, generator=g)", ("meta",), True),
    ("aten::normal.Tensor_Tensor", "torch.normal(x[0], x[1], generator=g)", ("meta", "meta"), True),
)
GENERATOR_CONTEXTS = (
    (),
    ("inference_mode",),
    ("below_autograd",),
    ("enable_functionalization",),
    ("autocast cpu",),
    ("pre_dispatch",),
    ("include=AutogradOther",),
)


def chosen(call: Call) -> str | list[str]:
    """The keys that the kernel at BackendSelect passes, or its error."""
    hop: Hop = next(hop for hop in call.hops if hop.chosen_by is not None)
    if hop.passes is not None:
        return names(hop.passes)
    error = call.end.error
    assert error is not None, "without a set to pass it raises"
    return [error.type, error.text]


def _ask(side: Side, seed: int) -> Any:
    universe = side.universe
    return {
        "ids": dict(universe.ids),
        "functionalities": list(universe.per_backend),
        "keys": sorted(key for key in backend_keys(universe) if key in universe.parseable),
        "factories": _factories(side.state, random.Random(seed)),
        "custom": [{"registered": registered, "devices": DEVICES} for registered in CUSTOM],
        "generators": _generators(side.state),
        "dtypes": DTYPES,
        "layouts": [layout.value for layout in LAYOUT_NUMBERS],
    }


def _factories(state: State, dice: random.Random) -> list[dict[str, Any]]:
    """Calls of every operator of torchgen's kernels at BackendSelect, with options of all kinds."""
    dispatcher, universe = state.dispatcher, state.dispatcher.universe
    devices = [None, None, "cpu", "cuda:1", "meta", *universe.devices]
    layouts = [None, *(layout.value for layout in Layout)]
    dtypes = [None, "float32", "bool", "qint8", "quint8", "qint32", "quint4x2", "quint2x4"]
    every = [*product(devices, layouts, dtypes)]
    factories = []
    for text in dispatcher.names():
        name = OperatorName.parse(text)
        select = dispatcher.active(name).get("BackendSelect")
        definition = dispatcher.operator(name).definition if select is not None else None
        if select is None or definition is None or "RegisterBackendSelect" not in select.kernel.debug:
            continue
        calls = []
        for device, layout, dtype in dice.sample(every, CALLS):
            tensors = [dice.choice(TENSORS) for _ in range(most_tensors(definition.schema) or 0)]
            asked = {"tensors": tensors, "options": Options(device, layout, dtype)._asdict()}
            last = _factory_call(state, text, asked).hops[-1]
            # some keys have no name that a kernel could be registered with, so that none notes the set there
            if last.chosen_by is not None or last.slot in universe.parseable:
                calls.append(asked)
        factories.append({"operator": text, "calls": calls})
    return factories


def _factory_call(state: State, operator: str, asked: dict[str, Any]) -> Call:
    tensors = [*map(TensorSpec.parse, asked["tensors"])]
    return simulate(state, OperatorName.parse(operator), tensors, BELOW, options=Options(**asked["options"]))


def _generators(state: State) -> list[dict[str, Any]]:
    """A generator's key counts in an unboxed call, and in one that an unboxed kernel makes; not in a boxed one."""
    asked = []
    for (operator, code, tensors, unboxed), contexts in product(GENERATORS, GENERATOR_CONTEXTS):
        question = {"operator": operator, "call": code, "tensors": tensors, "contexts": contexts, "unboxed": unboxed}
        slots = [hop.slot for hop in _generator_call(state, question).hops if hop.live.rule.value == "kernel"]
        asked += [{**question, "key": slot} for slot in dict.fromkeys(slots[:1] + slots[-1:])]
    return asked


def _generator_call(state: State, asked: dict[str, Any]) -> Call:
    tensors, contexts = [*map(TensorSpec.parse, asked["tensors"])], [*map(Context.parse, asked["contexts"])]
    options = Options(generator="cpu" if asked["unboxed"] else "cpu boxed")
    return simulate(state, OperatorName.parse(asked["operator"]), tensors, contexts, options=options)


def _wrong(side: Side, asked: Any, answers: Any) -> list[str]:
    rows: list[tuple[Any, Any, Any]] = []
    for factory, live in zip(asked["factories"], answers["factories"], strict=True):
        for call, answer in zip(factory["calls"], live, strict=True):
            rows.append(
                ((factory["operator"], call), chosen(_factory_call(side.state, factory["operator"], call)), answer)
            )
    assert len(rows) > len(asked["factories"]) * CALLS * 0.6
    assert len(asked["factories"]) > 70
    rows += _custom(side, asked["custom"], answers["custom"])
    for generator, live in zip(asked["generators"], answers["generators"], strict=True):
        hops = [hop for hop in _generator_call(side.state, generator).hops if hop.live.rule.value == "kernel"]
        rows.append((generator, names(next(hop for hop in hops if hop.slot == generator["key"]).keyset), live))
    rows += [(DTYPES[number], number, live) for number, live in enumerate(answers["dtypes"]) if live is not None]
    assert answers["dtypes"].count(None) < len(DTYPES) / 2
    for live, found in list(zip(answers["layouts"], answers["layout_of"], strict=True))[:-1]:
        plain = live.removeprefix("torch.").lstrip("_").replace("_", "")
        assert plain.removesuffix("coo") in found.lower().replace("_", ""), live
    return [f"{question}: {live}, ours: {ours}" for question, ours, live in rows if ours != live]


def _custom(side: Side, asked: Any, answers: Any) -> list[tuple[Any, Any, Any]]:
    """A kernel of ``torch.library.custom_op`` at BackendSelect goes by the device, and knows for which it is."""
    rows = []
    for number, (question, answer) in enumerate(zip(asked, answers, strict=True)):
        dispatcher, name = Dispatcher(side.universe), OperatorName(f"live_factories::fill{number}")
        dispatcher.define(parse_schema(f"{name}(SymInt n, Device device) -> Tensor"), "defined")
        registered = re.findall(r"^(\w+)(?:\[alias\])?(?: \(inactive\))?: (registered.+) :: ", answer["dump"], re.M)
        for key, debug in reversed(registered):
            dispatcher.implement(name, key, Kernel(debug))
        for device, live in zip(question["devices"], answer["said"], strict=True):
            call = simulate(dispatcher, name, options=Options(device))
            error = call.end.error
            ours = call.hops[-1].slot.lower() if error is None else [error.type, error.text]
            rows.append(((question["registered"], device), ours, live))
    return rows


CASE = LiveCase(Path(__file__).with_name("live_factories.py"), _ask, _wrong)
