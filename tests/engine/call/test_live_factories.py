"""Factories and generators on a live PyTorch: where its own kernels at BackendSelect go on, with which key sets."""

from __future__ import annotations

import json
import os
import random
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli import universes
from dispatch_cli.capture.document import document
from dispatch_cli.engine.call.kernels.entry import backend_keys
from dispatch_cli.engine.call.schema_facts import most_tensors
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import Call, Hop
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.model.call import Context, Layout, TensorSpec
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.options import DTYPES, LAYOUT_NUMBERS, Options
from dispatch_cli.model.schema import parse_schema
from dispatch_cli.model.universe import Universe
from tests import in_pytorch
from tests.capture.support import live_state, live_universe, read_document, torch_python
from tests.engine.call.random_calls import names

SEED = "DISPATCH_CLI_LIVE_SEED"
CALLS = 60
"""Number of calls of each factory; its options allow 3,800."""
TENSORS = ("cpu", "meta", "cpu sparse", "cpu quantized", "cpu mkldnn")
BELOW = (Context.parse("below_ADInplaceOrView"),)
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


def settled(operators: list[dict[str, Any]]) -> Dispatcher:
    """A dispatcher with those operators as they are in the live PyTorch."""
    state = {**live_state(), "operators": operators, "higher_order_operators": []}
    dispatcher: Dispatcher = read_document(document(state))
    for name in dispatcher:
        dispatcher.settle(OperatorName.parse(str(name)))
    return dispatcher


def ask(directory: Path, universe: Universe, **asked: Any) -> dict[str, Any]:
    question, answer = directory / "asked.json", directory / "said.json"
    whole = {
        "ids": dict(universe.ids),
        "functionalities": list(universe.per_backend),
        "keys": sorted(key for key in backend_keys(universe) if key in universe.parseable),
        **dict.fromkeys(("factories", "custom", "generators", "dtypes", "layouts"), ()),
        **asked,
    }
    question.write_text(json.dumps(whole), encoding="utf-8")
    script = Path(__file__).with_name("live_factories.py")
    in_pytorch.run([torch_python(), str(script), str(question), str(answer)])
    answers: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
    return answers


def chosen(call: Call) -> str | list[str]:
    """The keys that the kernel at BackendSelect passes, or its error."""
    hop: Hop = next(hop for hop in call.hops if hop.chosen_by is not None)
    if hop.passes is not None:
        return names(hop.passes)
    error = call.end.error
    assert error is not None, "without a set to pass it raises"
    return [error.type, error.text]


@pytest.mark.live
def test_factories(tmp_path: Path) -> None:
    """Every operator of torchgen's kernels at BackendSelect, with options of all kinds."""
    dice = random.Random(seed := int(os.environ.get(SEED) or random.randrange(1 << 32)))
    picked = [
        operator
        for operator in live_state()["operators"]
        if any("RegisterBackendSelect" in kernel["debug"] for kernel in operator["kernels"].get("BackendSelect", ()))
    ]
    dispatcher = settled(picked)
    universe = dispatcher.universe
    devices = [None, None, "cpu", "cuda:1", "meta", *universe.devices]
    layouts = [None, *(layout.value for layout in Layout)]
    every = [*product(devices, layouts, [None, "float32", "bool", "qint8", "quint8", "qint32", "quint4x2", "quint2x4"])]
    asked, ours = [], []
    for text in dispatcher:
        name = OperatorName.parse(str(text))
        definition = dispatcher.operator(name).definition
        assert definition is not None, "PyTorch's operators have schemas"
        calls = []
        for device, layout, dtype in dice.sample(every, CALLS):
            options = Options(device, layout, dtype)
            tensors = [dice.choice(TENSORS) for _ in range(most_tensors(definition.schema) or 0)]
            call = simulate(dispatcher, name, [*map(TensorSpec.parse, tensors)], BELOW, options=options)
            # some keys have no name that a kernel could be registered with, so that none notes the set there
            if call.hops[-1].chosen_by is not None or call.hops[-1].slot in universe.parseable:
                calls.append({"tensors": tensors, "options": options._asdict()})
                ours.append((str(name), options, tensors, chosen(call)))
        asked.append({"operator": str(name), "calls": calls})
    answers = ask(tmp_path, universe, factories=asked)
    theirs = [row for operator in answers["factories"] for row in operator]
    assert [(one, live) for one, live in zip(ours, theirs, strict=True) if one[-1] != live] == [], f"seed {seed}"
    assert len(ours) > len(asked) * CALLS * 0.6
    assert len(asked) > 70


@pytest.mark.live
def test_custom_operators(tmp_path: Path) -> None:
    """A kernel of ``torch.library.custom_op`` at BackendSelect goes by the device, and knows for which it is."""
    universe = universes.from_data(live_universe())
    devices = ["cpu", "meta", "xla", "cuda", "vulkan"]
    asked = [{"registered": registered, "devices": devices} for registered in CUSTOM]
    answers = ask(tmp_path, universe, custom=asked)["custom"]
    assert len(answers) == len(CUSTOM)
    for number, answer in enumerate(answers):
        dispatcher, name = Dispatcher(universe), OperatorName(f"live_factories::fill{number}")
        dispatcher.define(parse_schema(f"{name}(SymInt n, Device device) -> Tensor"), "defined")
        registered = re.findall(r"^(\w+)(?:\[alias\])?(?: \(inactive\))?: (registered.+) :: ", answer["dump"], re.M)
        for key, debug in reversed(registered):
            dispatcher.implement(name, key, Kernel(debug))
        for device, live in zip(devices, answer["said"], strict=True):
            call = simulate(dispatcher, name, options=Options(device))
            error = call.end.error
            ours = call.hops[-1].slot.lower() if error is None else [error.type, error.text]
            assert ours == live, (CUSTOM[number], device)


@pytest.mark.live
def test_generators(tmp_path: Path) -> None:
    """Its key counts in an unboxed call, and in one that an unboxed kernel makes; not in a boxed one."""
    wanted = {operator for operator, *_ in GENERATORS}
    dispatcher = settled([operator for operator in live_state()["operators"] if operator["name"] in wanted])
    asked, ours = [], []
    for (operator, code, tensors, unboxed), contexts in product(GENERATORS, GENERATOR_CONTEXTS):
        name = OperatorName.parse(operator)
        specs, entered = [*map(TensorSpec.parse, tensors)], [*map(Context.parse, contexts)]
        call = simulate(dispatcher, name, specs, entered, options=Options(generator="cpu" if unboxed else "cpu boxed"))
        registered = [hop for hop in call.hops if hop.live.rule.value == "kernel"]
        for hop in (registered[0], registered[-1]) if registered else ():
            question = {"operator": operator, "call": code, "tensors": tensors, "contexts": contexts, "key": hop.slot}
            if question not in asked:
                asked.append(question)
                ours.append(names(hop.keyset))
    answers = ask(tmp_path, dispatcher.universe, generators=asked)["generators"]
    wrong = [(one, keys, live) for one, keys, live in zip(asked, ours, answers, strict=True) if keys != live]
    assert wrong == []
    assert len(asked) > 80


@pytest.mark.live
def test_numbers(tmp_path: Path) -> None:
    """The numbers of dtypes and of layouts, which default values in schemas are."""
    universe = universes.from_data(live_universe())
    words = [layout.value for layout in LAYOUT_NUMBERS]
    answers = ask(tmp_path, universe, dtypes=DTYPES, layouts=words)
    assert {number for number, live in enumerate(answers["dtypes"]) if live not in (number, None)} == set()
    assert answers["dtypes"].count(None) < len(DTYPES) / 2
    for live, found in list(zip(answers["layouts"], answers["layout_of"], strict=True))[:-1]:
        plain = live.removeprefix("torch.").lstrip("_").replace("_", "")
        assert plain.removesuffix("coo") in found.lower().replace("_", ""), live
