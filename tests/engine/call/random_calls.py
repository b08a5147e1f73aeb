"""Calls of random operators: recorded, and asked again of a live PyTorch; ours of the same.

What the simulation says is put into the form of live_calls.py.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import Call, Does, EndKind, ErrorKind, Hop, Why
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.state import State
from dispatch_cli.model.calls.call import Context, TensorSpec
from dispatch_cli.model.calls.options import Options
from dispatch_cli.model.declarations import Declarations, PythonKernel
from dispatch_cli.model.kernel import Kernel, Redispatch, WrapKind, Wrapped
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.parser import parse_schema
from dispatch_cli.model.universe import Universe, backend_keys
from dispatch_cli.universes import version_of
from tests.engine.live_cases import LiveCase, Side
from tests.support import load_recording

SCRIPT = Path(__file__).with_name("live_calls.py")
COUNT = 150
"""Number of operators that a live PyTorch is asked about."""
REGISTER_VMAP = (2, 5)
"""The first version with ``torch.library.register_vmap``."""
Asked = dict[str, Any]
"""An operator, with its kernels and calls, as live_calls.py reads it."""


class RandomCalls(NamedTuple):
    """wrong: the calls that went otherwise here, in words. unmade: of how many there is nothing to compare.

    endings: how many of the others ended in each way.
    """

    calls: int
    wrong: list[str]
    unmade: int
    endings: dict[str, int]


def recorded_operators(universe: Universe) -> list[Asked]:
    """The operators of the recordings of which the universe has all keys and devices, and PyTorch all functions."""
    recorded = (load_recording(f"{version}.random")["calls"][0]["operators"] for version in ("2.13.0", "2.15.0"))
    return [operator for operators in recorded for operator in operators if _is_known(universe, operator)]


def _is_known(universe: Universe, operator: Asked) -> bool:
    keys: set[str] = set()
    for _, _, goes in operator["kernels"]:
        if isinstance(goes, dict):
            keys |= {goes["to"]} if "to" in goes else {*goes["exclude"]}
    devices = set()
    for call in operator["calls"]:
        keys |= {*(call["keyset"] or ())}
        devices |= {text.split()[0] for text in call["tensors"] if text not in ("undefined", "none")}
        devices |= {call["options"]["device"]} - {None}
        for context in call["contexts"]:
            word, _, names = context.partition("=")
            keys |= {*names.split(",")} if word in ("include", "exclude") else set()
            keys |= {f"Autocast{universe.devices.get(context.split()[1])}"} if context.startswith("autocast") else set()
    if version_of(universe.name) < REGISTER_VMAP and any(what == "vmap" for _, what, _ in operator["kernels"]):
        return False
    registered = {kernel[0] for kernel in operator["kernels"]}
    return registered <= {*universe.parseable} and keys <= {*universe.ids} and devices <= {*universe.devices}


def _ends_the_process(call: Call) -> bool:
    return call.end.error is not None and call.end.error.kind is ErrorKind.CRASH


def question(universe: Universe, operators: list[Asked]) -> dict[str, Any]:
    """Input of live_calls.py.

    Calls that end the process are left out: PyTorch would say nothing of any other.
    """
    asked = []
    for operator in operators:
        pairs = zip(operator["calls"], simulated(universe, 0, operator), strict=True)
        asked.append({**operator, "calls": [call for call, ours in pairs if not _ends_the_process(ours)]})
    return {
        "ids": dict(universe.ids),
        "aliases": {alias: list(keys) for alias, keys in universe.aliases.items()},
        "functionalities": list(universe.per_backend),
        "computing": sorted({"Undefined", *backend_keys(universe)}),
        "layer_keys": {
            "Vmap": ["FuncTorchBatched", "BatchedNestedTensor"],
            "Functionalize": ["Functionalize"],
            "Grad": [*universe.aliases["Autograd"], "ADInplaceOrView"],
            "Jvp": [*universe.aliases["Autograd"], "ADInplaceOrView"],
        },
        "operators": asked,
    }


def compare(universe: Universe, operators: list[Asked], answers: list[list[dict[str, Any]]]) -> RandomCalls:
    """Answers of a PyTorch compared with ours."""
    wrong, unmade, endings = [], 0, dict.fromkeys(("ended", "error"), 0)
    for number, (operator, recorded) in enumerate(zip(operators, answers, strict=True)):
        calls = zip(operator["calls"], simulated(universe, number, operator), recorded, strict=True)
        for asked_call, call, recorded_call in calls:
            if "unmade" in recorded_call or failed_on_the_way(call, recorded_call):
                unmade += 1
                continue
            problem = difference(call, recorded_call)
            endings[recorded_call["end"]] = endings.get(recorded_call["end"], 0) + 1
            if problem:
                wrong.append(f"op{number}{operator['schema']} {operator['kernels']}\n {asked_call}\n  {problem}")
    return RandomCalls(sum(len(operator["calls"]) for operator in operators), wrong, unmade, endings)


ON_THE_WAY = ("aten::", "aten.", "version_counter")


def failed_on_the_way(call: Call, said: dict[str, Any]) -> bool:
    """True if another operator failed, which a core fallback called: to clone a tensor, or to slice one.

    Or the fake mode looked for the module of a device that the build does not have. Where the simulation says that this
    happens, it is judged.
    """
    ours = call.end.error
    if said["error"] is not None and said["error"][1].startswith("module 'torch' has no attribute"):
        return True
    if said["error"] is None or (ours is not None and any(text in ours.text for text in ON_THE_WAY)):
        return False
    return any(text in said["error"][1] for text in ON_THE_WAY)


def difference(call: Call, said: dict[str, Any]) -> str | None:
    """The difference of a simulated call from what PyTorch did, or None."""
    ours, whole = said_of(call), call.end.error is None or call.end.error.whole
    if call.end.error is not None and call.end.error.kind is ErrorKind.KERNEL and said["end"] == "error":
        same_error = True  # it is the kernel's own
    else:
        same_error = is_error(normal(ours["error"]), normal(said["error"]), whole)
    if ours["end"] == said["end"] == "too deep":
        said["log"] = said["log"][: len(ours["log"])]  # the simulation stops where the circle closes
    wrong = [
        f"{field}: {said[field]}\n   ours: {ours[field]}"
        for field in ours
        if (not same_error if field == "error" else ours[field] != said[field])
    ]
    return "\n  ".join(wrong) or None


def _of_custom_op(schema: str) -> tuple[str, ...]:
    """Keys at which `torch.library.custom_op` registers kernels, in order."""
    return ("Meta", "Autograd", *(["ADInplaceOrView"] if "!" in schema else []), "CompositeExplicitAutograd")


def state_of(universe: Universe, number: int, asked: Asked) -> tuple[State, OperatorName]:
    """A dispatcher with one operator, as live_calls.py registers it."""
    dispatcher = Dispatcher(universe)
    name = OperatorName(f"live_calls::op{number}")
    here = "registered at live_calls.py:1"
    dispatcher.define(parse_schema(f"{name}{asked['schema']}"), here)
    python = []
    of_custom_op = "registered at /torch/_library/custom_ops.py:1"
    for key in _of_custom_op(asked["schema"]) if asked["custom"] else ():
        wraps = Wrapped(WrapKind.AUTOGRAD) if key == "Autograd" else None
        dispatcher.implement(name, key, Kernel(of_custom_op, "PythonKernelHolder", wraps=wraps))
    for key, what, goes in asked["kernels"]:
        if what == "python":
            python.append(PythonKernel(name, key, f"python at {key}"))
        else:
            is_fallthrough = what == "fallthrough"
            function = None if is_fallthrough else "PythonKernelHolder"
            redispatch = None if goes is None else Redispatch.of_data(goes)
            debug = of_custom_op if asked["custom"] and what == "vmap" else here
            dispatcher.implement(
                name, key, Kernel(debug, function, fallthrough=is_fallthrough, redispatches=redispatch)
            )
    return State(dispatcher, declarations=Declarations(universe, python_kernels=tuple(python))), name


def simulated(universe: Universe, number: int, asked: Asked) -> list[Call]:
    """Every call of an operator."""
    state, name = state_of(universe, number, asked)
    return [
        simulate(
            state,
            name,
            [TensorSpec.parse(text) for text in call["tensors"]],
            [Context.parse(text) for text in call["contexts"]],
            None if call["keyset"] is None else DispatchKeySet.of(universe, call["keyset"]),
            Options(**call["options"]),
        )
        for call in asked["calls"]
    ]


def said_of(call: Call) -> dict[str, Any]:
    """A call in the form of live_calls.py, which ends a call where FakeTensorMode takes it."""
    selection = call.selection
    taken = call.end.fake is not None
    end = "error" if call.end.kind is EndKind.ERROR and not taken else "ended"
    error = None if taken else call.end.error
    if error is not None and error.kind is ErrorKind.ENDLESS:
        end = "too deep"
    return {
        "tensors": [names(argument.keyset) for argument in selection.arguments[: len(call.tensors)]],
        "included": names(selection.included),
        "excluded": names(selection.excluded),
        "log": [*_log(call)],
        "end": end,
        "error": None if error is None or end != "error" else [error.type, error.text],
    }


def names(keyset: DispatchKeySet) -> str:
    """A key set as live_calls.py writes it: its keys, and per-backend functionalities by their own names."""
    functionalities = [key for key in keyset.layout.universe.per_backend if keyset.has(key)]
    return " ".join(sorted([*keyset, *functionalities]))


def _log(call: Call) -> Iterator[list[Any]]:
    for hop in call.hops:
        if hop.python is not None and hop.python.kernel is not None:
            yield ["python", hop.python.chosen_key]
        elif _runs_own_kernel(hop):
            assert hop.live.registration is not None
            yield ["kernel", hop.live.registration.key, names(hop.keyset)]
    last = () if call.end.handler is None else (call.end.handler,)
    for handler in (*call.end.passed, *last):
        yield [handler.kind.value, handler.name, *([handler.position - 1] if handler.kind.value == "mode" else [])]


def _runs_own_kernel(hop: Hop) -> bool:
    registration = hop.live.registration
    if registration is None or registration.operator is None:
        return False
    return hop.does is not Does.RAISES or hop.why in (Why.DECLARED, Why.CONVENTION)


def normal(error: list[str] | None) -> list[str] | None:
    """An error without what a build alone decides: directories and lines of PyTorch's sources."""
    if error is None:
        return None
    text = re.sub(r"(?<=dispatch key DispatchKey\.).*", "", error[1])  # Python's enum does not have every key
    # what older versions note and assert
    text = text.replace("registered at /dev/null:1", "registered at live_calls.py:1")
    text = re.sub(r"registered at \S*custom_ops\.py:[0-9]+", "registered at custom_ops.py", text)
    text = text.replace("false INTERNAL ASSERT", "!isInplaceOp(schema) INTERNAL ASSERT")
    text = re.sub(r'"[^"\n]*?([A-Za-z_]+\.(?:cpp|h))"(?::[0-9]+)?', r'"\1"', text)
    return [error[0], text]


def is_error(ours: list[str] | None, theirs: list[str] | None, whole: bool) -> bool:
    """True if two normal errors are one. whole: ours is all of the text, and not only its beginning."""
    if ours is None or theirs is None or whole:
        return ours == theirs
    return bool(ours[1]) and theirs[0] == ours[0] and theirs[1].startswith(ours[1])


def _ask(side: Side, seed: int) -> Any:
    operators = recorded_operators(side.universe)
    return question(side.universe, random.Random(seed).sample(operators, min(COUNT, len(operators))))


def _wrong(side: Side, asked: Any, answers: Any) -> list[str]:
    total, wrong, unmade, endings = compare(side.universe, asked["operators"], answers)
    assert unmade < total / 5
    assert min(endings["ended"], endings["error"]) > total / 10, endings
    return wrong


CASE = LiveCase(SCRIPT, _wrong, _ask)
