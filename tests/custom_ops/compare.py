"""Comparison of a live PyTorch's record of random operators with the declarations of the same operators."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dispatch_cli import universes
from dispatch_cli.api import load_state
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import Call, FakePath
from dispatch_cli.engine.dispatcher.dump import dump_registrations, dump_table
from dispatch_cli.engine.dispatcher.operator import Operator as DispatcherOperator
from dispatch_cli.engine.state import State
from dispatch_cli.model.calls.call import Context, TensorSpec
from dispatch_cli.model.calls.options import Options
from dispatch_cli.model.kernel import WrapKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import InputError
from dispatch_cli.model.universe import TorchLibrary
from tests import in_pytorch
from tests.capture.support import live_universe
from tests.custom_ops.declared import IMPLICIT, USER, Entry, Operator, entries

CALLS = {
    "cpu": ("cpu", ()),
    "requires_grad": ("cpu requires_grad", ()),
    "no_grad": ("cpu requires_grad", ("no_grad",)),
    "inference_mode": ("cpu", ("inference_mode",)),
    "meta": ("meta", ()),
    "sparse": ("cpu sparse", ()),
    "autocast": ("cpu", ("autocast cpu",)),
    "vmap": ("cpu batched", ("vmap",)),
    "grad": ("cpu", ("grad",)),
    "functionalize": ("cpu functional", ("functionalize",)),
    "fake": ("cpu fake", ("mode=FakeTensorMode",)),
}
"""The calls that are simulated: what each tensor is, and the contexts."""
OF_THE_USERS = (WrapKind.FUNCTION, WrapKind.KERNEL, WrapKind.TRITON, WrapKind.VMAP)
"""The kernels that begin with the user's function."""
NOT_OF_DISPATCH = re.compile(
    r"vmap\(<lambda>|vmap: Expected at least one Tensor|Expected a value of type|list index out of range|"
    r"Could not run 'aten::|Cannot access storage of|The output of this custom operator|"
    r"Tensors returned from custom ops"
)
"""Errors that a function of these tests causes by what it computes, or the transform by what it gets."""


class Comparison(NamedTuple):
    """agreed: comparisons by kind. differences: what is not as live. skipped: why comparisons were not made."""

    agreed: Counter[str]
    differences: list[tuple[str, str, str, Any, Any]]
    skipped: Counter[str]


def compared(recording: Any, universe: dict[str, Any], library: TorchLibrary, scratch: Path) -> Comparison:
    """Compare everything that is recorded. universe: its data."""
    comparison = Comparison(Counter(), [], Counter())
    texts = {text for text in library.functions.values() if text} | {library.custom_op, library.fake}
    good: list[tuple[Any, list[Entry]]] = []
    for operator in recording["operators"]:
        _refusals(comparison, operator, universe, library, scratch)
        if _is_half_done(operator):
            comparison.skipped["a kernel that is refused after the choice by device was registered"] += 1
        elif "steps" in operator:
            steps = [(n, step) for n, step in enumerate(operator["operator"]["steps"]) if operator["steps"][n] is None]
            good.append((operator, entries(operator["operator"], steps, dict(library.functions))))
    path = _written(scratch / "all.json", universe, [entry for _, several in good for entry in several])
    state = load_state([path])
    for operator, _ in good:
        _registrations(comparison, operator, state, texts)
        _calls(comparison, operator, state)
    return comparison


def _is_half_done(row: Any) -> bool:
    """True if PyTorch has registered a part of what it then refused: a declaration that is refused registers nothing.

    For an operator without tensors it registers the kernel that chooses by the device, and looks at the devices then.
    """
    operator = row["operator"]
    if operator["kind"] != "factory" or operator["devices"]:
        return False
    errors = [
        error
        for step, error in zip(operator["steps"], row.get("steps", ()), strict=False)
        if step["do"] == "kernel" and step["devices"]
    ]
    return any(error is not None for error in errors) and not any(error is None for error in errors)


def _written(path: Path, universe: dict[str, Any], operators: list[Entry]) -> str:
    path.write_text(json.dumps({"dispatch": 1, "universe": universe, "operators": operators}), encoding="utf-8")
    return str(path)


def _note(tally: Comparison, kind: str, name: str, detail: str, ours: Any, theirs: Any) -> None:
    if ours == theirs:
        tally.agreed[kind] += 1
    else:
        tally.differences.append((kind, name, detail, ours, theirs))


def _refusals(tally: Comparison, row: Any, universe: dict[str, Any], library: TorchLibrary, scratch: Path) -> None:
    """A refusal of PyTorch is a problem with PyTorch's text, where only that is declared beside what was taken."""
    operator, taken = row["operator"], []
    functions = dict(library.functions)
    tries: list[tuple[str, Any, Any]] = [("made", row["made"], [])]
    for number, (step, error) in enumerate(zip(operator["steps"], row.get("steps", ()), strict=False)):
        if error is None:
            taken.append((number, step))
        else:
            tries.append((f"{step['do']}{number}", error, [*taken, (number, step)]))
    for what, error, steps in tries:
        if error is None or _not_makeable(error[1]):
            tally.skipped["not in this PyTorch"] += error is not None
            continue
        if what == "made" and operator["kind"] == "wrong_mutates" and operator["given"]:
            tally.skipped["mutates_args adds to a schema that says nothing of it"] += 1
            continue
        if what.startswith("rule"):
            tally.skipped["register_torch_dispatch is no registration with the dispatcher"] += 1
            continue
        path = _written(scratch / "one.json", universe, entries(operator, steps, functions))
        try:
            load_state([path])
            messages = []
        except InputError as refused:
            messages = [problem.message for problem in refused.problems]
        text = _plain(error[1])
        _note(tally, "refused", operator["name"], what, messages if text not in map(_plain, messages) else text, text)


def _not_makeable(text: str) -> bool:
    return "has no attribute" in text and ("torch" in text or "CustomOpDef" in text)


def _plain(text: str) -> str:
    """A text without what only a function's signature says, and without how Python prints lists and sets."""
    text = text.removeprefix("infer_schema(func): ").split(", or just the string 'unknown'")[0]
    text = re.sub(r"\.? Got func with signature .*|\.$", "", text, flags=re.S).replace("set()", "{}")
    text = re.sub(r"at \"[^\"]*\":?\d*.*", "", text)
    text = re.sub(r"registered at \S+", "registered at its place", text)
    return re.sub(r"\s+", " ", text).strip()


def _registrations(tally: Comparison, row: Any, state: State, texts: set[str]) -> None:
    name = OperatorName.parse(row["operator"]["name"])
    dispatcher = state.dispatcher
    library = dispatcher.universe.torch_library
    if name not in dispatcher:
        tally.differences.append(("dump", str(name), "", "nothing", row["dump"]))
        return
    steps = zip(row["operator"]["steps"], row["steps"], strict=True)
    # register_kernel that is refused for a device type has registered a kernel at BackendSelect before
    partly = any(step["do"] == "kernel" and error is not None for step, error in steps)
    several = any(len(step.get("devices") or ()) > 1 for step in row["operator"]["steps"])
    if partly and several and row["operator"]["made_by"] == "define" and library is not None and not library.overrides:
        tally.skipped["register_kernel for several devices was refused after one of them, in no order"] += 1
        return
    again = "BackendSelect (inactive)" if partly else "no line begins so"

    def same(kind: str, ours: str, theirs: str) -> None:
        pair = (_lines(text, texts) for text in (ours, theirs))
        _note(tally, kind, str(name), "", *([line for line in lines if not line.startswith(again)] for lines in pair))

    same("dump", dump_registrations(dispatcher, name), row["dump"])
    same("table", dump_table(dispatcher, name), row["table"])
    definition = dispatcher.operator(name).definition
    assert definition is not None
    _note(tally, "tags", str(name), "", sorted(definition.tags), row["python"]["tags"])
    python = sorted(kernel.dispatch_key for kernel in state.python_kernels(name))
    _note(tally, "Python dispatcher", str(name), "", python, row["python"]["py_kernels"])


def _lines(text: str, texts: set[str]) -> list[str]:
    """A dump by lines; a place in the user's program is one word, whatever it is."""

    def known(match: re.Match[str]) -> str:
        place = match[0]
        return place if place in texts or match[1].startswith(("aten", "torch/csrc", "../aten")) else USER

    return [
        re.sub(r"registered at (\S+:\d+)", known, line)
        for line in text.splitlines()
        if "[backend fallback]" not in line
    ]


def _calls(tally: Comparison, row: Any, state: State) -> None:
    operator = row["operator"]
    name = OperatorName.parse(operator["name"])
    for call, (tensor, contexts) in CALLS.items():
        ran, error = row["calls"][call]
        count = sum(
            {"Tensor[]": 2}.get(argument["type"], "Tensor" in argument["type"]) for argument in operator["arguments"]
        )
        if not count and call not in ("cpu", "autocast", "inference_mode"):
            tally.skipped["no tensors for this call"] += 1
            continue
        tensors = [tensor] * count
        if call == "grad":
            tensors[0] = "cpu grad-wrapped"
        specs = [TensorSpec.parse(text) for text in tensors]
        options = Options("cpu", None, None) if operator["kind"] == "factory" else Options(None, None, None)
        ours = simulate(state, name, specs, [Context.parse(text) for text in contexts], options=options)
        text = None if error is None else error[1]
        if text is not None and NOT_OF_DISPATCH.search(text):
            tally.skipped["the functions of these tests raise"] += 1
            text = "…"
        if text is not None and "do not support kwargs" in text and _by_default(operator, text):
            tally.skipped["it is not said which arguments with defaults are passed by keyword"] += 1
            continue
        theirs = _without_setup(ran)
        simulated = _ran(ours, state.dispatcher.operator(name))
        if text == "…":
            simulated, message = simulated[: len(theirs)], "…"
        else:
            message = _first(None if ours.end.error is None else ours.end.error.text)
        if call == "vmap" and not any(key == "FuncTorchBatched" for key in theirs) and theirs == simulated * 2:
            theirs = simulated  # PyTorch's fallback runs it for each of two slices
        _note(tally, f"call: {call}", str(name), operator["kind"], [simulated, message], [theirs, _first(text)])


def _by_default(operator: Any, text: str) -> bool:
    """True if PyTorch refuses an argument by keyword that has a default. text: one of two kernels names them."""
    has_default = [
        row["default"] is not None for row in operator["arguments"] if row["keyword"] and _is_named(row, text)
    ]
    return any(has_default) if "got [" in text else all(has_default)


def _is_named(argument: Any, text: str) -> bool:
    return "got [" not in text or repr(argument["name"]) in text


def _first(text: str | None) -> str | None:
    """The first line of an error's text, as far as it has no place in PyTorch's sources."""
    return None if text is None else re.split(r"\n| at \"|backend\. This| Please use `", text)[0][:300]


def _without_setup(ran: list[str]) -> list[str]:
    return [name for name in ran if not name.endswith("_setup")]


def _ran(call: Call, operator: DispatcherOperator) -> list[str]:
    """The Python kernels that ran, by their keys, and the user's functions in them."""
    entries = [hop.live for hop in call.hops]
    if call.end.fake is not None:  # a call inside of FakeTensorMode
        entries += [operator.live[slot] for slot in call.end.fake.slots]
    registrations = [entry.registration for entry in entries]
    if call.end.fake is not None and call.end.fake.path is FakePath.COMPOSITE:
        registrations.append(operator.active(IMPLICIT))
    lines: list[str] = []
    for registration in registrations:
        if registration is None or not registration.kernel.python:
            continue
        kernel = registration.kernel
        lines.append(registration.key)
        if kernel.fake is not None and kernel.fake.function is not None:
            lines.append(f"fn:{kernel.fake.function}")
        elif kernel.wraps is not None and kernel.wraps.kind in OF_THE_USERS:
            lines.append(f"fn:{kernel.wraps.function}")
    if call.end.fake is not None and call.end.fake.path is FakePath.FAKE_IMPL and call.end.fake.function is not None:
        lines.append(f"fn:{call.end.fake.function}")
    return lines


# Ask a live PyTorch for operators, and for its universe.


ROOT = Path(__file__).parent.parent.parent
RECORD = "import sys; from tests.recordings.record_custom_ops import main; main(sys.argv[1])"


def live_comparison(python: str, operators: Sequence[Operator], scratch: Path) -> Comparison:
    """Answers of a live PyTorch to the operators. scratch: a directory for files."""
    out = scratch / "recorded.json"
    in_pytorch.run([python, "-c", RECORD, str(out)], json.dumps(operators), folder=ROOT)
    recording = json.loads(out.read_text(encoding="utf-8"))
    universe = live_universe(python)
    library = universes.from_data(universe).torch_library
    assert library is not None
    return compared(recording, universe, library, scratch)
