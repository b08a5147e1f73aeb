"""PyTorch's own operators on a live PyTorch: the kernel at which the simulation ends runs, with the key set it says."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dispatch_cli.engine.call.kernels.own_kernels import rows
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
from tests.engine.call.random_calls import names
from tests.engine.live_cases import LiveCase, Side

Asked = dict[str, Any]
COUNT = 500
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
    ("cpu quantized", ()),
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


def choose(state: State, dice: random.Random, operators: list[str], count: int, factories: bool) -> Iterator[Asked]:
    """Calls at random. factories: with a device argument."""
    chosen = 0
    while chosen < count:
        tensor, contexts = dice.choice(CASES) if not factories else ("cpu", dice.choice(FACTORY_CASES))
        options = random_options(dice, state.dispatcher.universe) if factories else NO_OPTIONS
        for asked in askable(state, dice.choice(operators), tensor, contexts, options):
            yield asked
            chosen += 1


def askable(
    state: State, operator: str, tensor: str, contexts: tuple[str, ...], options: Options = NO_OPTIONS
) -> Iterator[Asked]:
    """The call of an operator, with the key at which its last kernel is; nothing where that cannot be replaced."""
    universe = state.dispatcher.universe
    definition = state.dispatcher.operator(OperatorName.parse(operator)).definition
    if definition is None or not can_be_called(definition.schema):
        return
    if "enable_functionalization" in contexts and is_mutable(definition.schema):
        return  # its kernel there first calls it with meta tensors
    tensors = [tensor] * (most_tensors(definition.schema) or 0)
    asked = {"operator": operator, "tensors": tensors, "contexts": contexts, "options": options._asdict()}
    call = simulated(state, asked)
    registration = call.hops[-1].live.registration
    if not ends_in_a_kernel_of_its_own(call) or registration is None:
        return
    # a kernel that is replaced at this key does not get into the table where the version does not refresh it
    if registration.key not in universe.aliases or universe.refreshed_by(registration.key):
        yield {**asked, "key": registration.key}


def simulated(state: State, asked: Asked) -> Call:
    """The call that is asked for."""
    tensors, contexts = map(TensorSpec.parse, asked["tensors"]), map(Context.parse, asked["contexts"])
    name, options = OperatorName.parse(asked["operator"]), Options(**asked["options"])
    return simulate(state, name, [*tensors], [*contexts], options=options)


def _ask(side: Side, seed: int) -> Any:
    state, dice = side.state, random.Random(seed)
    aten = [name for name in state.dispatcher.names() if name.startswith("aten::")]
    schemas = {name: state.dispatcher.header(OperatorName.parse(name)).schema or "" for name in aten}
    made = [name for name in aten if all(kind in schemas[name] for kind in ("Device", "Layout", "ScalarType"))]
    listed = [name for row in rows() for name in row.operators if name in schemas]
    calls = [asked for name in listed for case in CASES for asked in askable(state, name, *case)]
    calls += choose(state, dice, dice.sample(aten, COUNT), COUNT, factories=False)
    calls += choose(state, dice, made, FACTORIES, factories=True)
    universe = side.universe
    return {"ids": dict(universe.ids), "functionalities": list(universe.per_backend), "calls": calls}


def _wrong(side: Side, asked: Any, answers: Any) -> list[str]:
    """An operator may refuse its arguments on the way, whose values mean nothing."""
    wrong, ran = [], 0
    for call, live in zip(asked["calls"], answers, strict=True):
        ours = names(simulated(side.state, call).hops[-1].keyset)
        ran += live["keyset"] is not None
        if live["error"] is None and live["keyset"] != ours:
            wrong.append(f"{call}\n  {live['keyset'] or 'it did not run'}\n  ours: {ours}")
    assert ran > len(answers) * 0.9
    return wrong


CASE = LiveCase(Path(__file__).with_name("live_own_kernels.py"), _ask, _wrong)
