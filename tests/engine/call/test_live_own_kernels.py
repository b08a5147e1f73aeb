"""PyTorch's own operators on a live PyTorch: the kernel at which the simulation ends runs, with the key set it says."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli import universes
from dispatch_cli.api import load_state
from dispatch_cli.capture.write import state_text
from dispatch_cli.engine.call.options import option_argument
from dispatch_cli.engine.call.schema_facts import most_tensors
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import Call, EndKind
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.call import Context, Layout, TensorSpec
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.options import NO_OPTIONS, Options
from dispatch_cli.model.schema import FunctionSchema
from dispatch_cli.model.schema.arguments import is_mutable, is_tensor
from dispatch_cli.model.universe import Universe
from tests import in_pytorch
from tests.capture.support import live_state, torch_python
from tests.engine.call.random_calls import names

COUNT = 500
SEED = "DISPATCH_CLI_LIVE_SEED"
CASES = (
    ("cpu", ()),
    ("cpu", ("autocast cpu",)),
    ("cpu", ("below_autograd",)),
    ("cpu", ("python_dispatcher",)),
    ("cpu", ("enable_functionalization",)),
    ("cpu inference", ("inference_mode",)),
    ("cpu batched=1", ("vmap",)),
    ("cpu grad-wrapped=1", ("grad",)),
    ("cpu grad-wrapped=1 batched=2", ("grad", "vmap")),
    ("cpu functional=1", ("functionalize",)),
    ("cpu functional", ()),
    ("cpu conj", ()),
    ("cpu zerotensor", ()),
    ("cpu mkldnn", ()),
    ("cpu sparse", ()),
    ("cpu nested", ()),
    ("meta", ()),
)
FACTORIES = 300
FACTORY_CASES = (
    (),
    (),
    ("autocast cpu",),
    ("inference_mode",),
    ("below_autograd",),
    ("enable_functionalization",),
    ("python_dispatcher",),
    ("pre_dispatch",),
    ("grad",),
    ("functionalize",),
    ("include=AutogradCPU",),
    ("exclude=BackendSelect",),
)
PLAIN = ("int", "float", "bool", "number", "Scalar", "str", "SymInt")


def can_be_called(schema: FunctionSchema) -> bool:
    """True if an argument of any value can be made for everything that the operator needs."""
    most = most_tensors(schema)
    others = [argument for argument in schema.arguments if not is_tensor(argument.type) and argument.default is None]
    kinds = {other.type.text.split("[")[0] for other in others}
    factory = option_argument(schema, "device") is not None
    few = most is not None and most <= 4 and (most > 0 or factory)
    return few and kinds <= {*PLAIN, "Device"}


def random_options(dice: random.Random, universe: Universe) -> Options:
    """Options that every factory takes, and that go together often."""
    device = dice.choice([None, "cpu", "cuda", *universe.devices])
    layout = dice.choice([None, None, *(layout.value for layout in Layout)])
    return Options(device, layout, dice.choice([None, None, "float64", "qint8", "quint4x2"]))


def ends_in_a_kernel_of_its_own(call: Call) -> bool:
    """True if its last kernel is a C++ one of the operator, which `Library.impl` replaces."""
    last = call.hops[-1]
    registration = last.live.registration
    ends = call.end.kind in (EndKind.KERNEL, EndKind.DECOMPOSITION)
    in_python = last.python is not None and last.python.kernel is not None
    return ends and not in_python and registration is not None and registration.operator is not None


def choose(
    state: State, seed: int, operators: list[OperatorName], count: int, factories: bool = False
) -> list[tuple[dict[str, Any], str]]:
    """Calls at random, and the key set that the last kernel gets. factories: with a device argument."""
    dice, dispatcher = random.Random(seed), state.dispatcher
    # a kernel that is replaced at this key does not get into the table where the version does not refresh it
    unseen = {key for key in dispatcher.universe.aliases if not dispatcher.universe.refreshed_by(key)}
    results: list[tuple[dict[str, Any], str]] = []
    while len(results) < count:
        name = dice.choice(operators)
        tensor, contexts = dice.choice(CASES) if not factories else ("cpu", dice.choice(FACTORY_CASES))
        options = random_options(dice, dispatcher.universe) if factories else NO_OPTIONS
        definition = dispatcher.operator(name).definition
        if definition is None or not can_be_called(definition.schema):
            continue
        if "enable_functionalization" in contexts and is_mutable(definition.schema):
            continue  # its kernel there first calls it with meta tensors
        tensors = [tensor] * (most_tensors(definition.schema) or 0)
        specs = [TensorSpec.parse(text) for text in tensors]
        call = simulate(state, name, specs, [Context.parse(text) for text in contexts], options=options)
        registration = call.hops[-1].live.registration
        if not ends_in_a_kernel_of_its_own(call) or registration is None or registration.key in unseen:
            continue
        asked = {"operator": str(name), "tensors": tensors, "contexts": contexts, "options": options._asdict()}
        asked["key"] = registration.key
        results.append((asked, names(call.hops[-1].keyset)))
    return results


@pytest.mark.live
@pytest.mark.parametrize("factories", [False, True])
def test_own_kernels(tmp_path: Path, factories: bool) -> None:
    seed = int(os.environ.get(SEED) or random.randrange(1 << 32))
    python, count = torch_python(), FACTORIES if factories else COUNT
    state = live_state(python)
    universe = universes.from_data(state["universe"])
    picked = [
        operator
        for operator in state["operators"]
        if operator["name"].startswith("aten::") and operator["schema"] is not None
    ]
    if factories:
        picked = [
            operator
            for operator in picked
            if all(kind in operator["schema"] for kind in ("Device", "Layout", "ScalarType"))
        ]
    picked = random.Random(seed).sample(picked, min(COUNT, len(picked)))
    file = tmp_path / "capture.json"
    captured = {**state, "operators": picked, "higher_order_operators": []}
    file.write_text("".join(state_text(captured, as_json=True)), encoding="utf-8")
    loaded = load_state([str(file)])
    chosen = choose(loaded, seed, list(loaded.dispatcher), count, factories)
    question, answer = tmp_path / "asked.json", tmp_path / "said.json"
    asked = {
        "ids": dict(universe.ids),
        "functionalities": list(universe.per_backend),
        "calls": [one for one, _ in chosen],
    }
    question.write_text(json.dumps(asked), encoding="utf-8")
    script = Path(__file__).with_name("live_own_kernels.py")
    in_pytorch.run([python, str(script), str(question), str(answer)])
    answers = json.loads(answer.read_text(encoding="utf-8"))
    both = [(one, ours, live["keyset"], live["error"]) for (one, ours), live in zip(chosen, answers, strict=True)]
    # An operator may refuse its arguments on the way, whose values mean nothing.
    ran = [(one, ours, theirs) for one, ours, theirs, _ in both if theirs is not None]
    silent = [one for one, _, theirs, error in both if theirs is None and error is None]
    refused = [(one, error) for one, _, _, error in both if error is not None]
    wrong = [row for row in ran if row[1] != row[2]]
    assert wrong == [], f"seed {seed}"
    assert silent == [], f"seed {seed}"
    assert len(ran) > count * 0.9, f"seed {seed}: {refused[:20]}"
