"""Random things to do with a dispatcher, over a base or over nothing, and everything that can be seen of it."""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.dispatcher.dump import dump_registrations
from dispatch_cli.engine.dispatcher.refusal import Refused
from dispatch_cli.engine.table.registration import Handle
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema import parse_schema, parse_signature

KEYS: tuple[str, ...] = ("CPU", "CUDA", "QuantizedCPU", "NestedTensorCPU", "AutogradCPU", "AutogradOther", "Autograd")
KEYS += ("CompositeImplicitAutograd", "CompositeExplicitAutograd", "FuncTorchBatchedDecomposition", "PrivateUse1")
KEYS += ("Meta", "Tracer")
SIGNATURES = (None, "(Tensor _0) -> Tensor _0", "(Tensor _0, int _1) -> Tensor _0")


class Action(NamedTuple):
    """A step and its arguments. target: the operator, namespace or key; for a drop, the position of what is dropped."""

    do: str
    target: str | int
    key: str | None = None
    signature: str | None = None


def random_action(random: Random, names: tuple[str, ...], past: int) -> Action:
    """Something to do after *past* actions."""
    name = random.choice(names)
    kind = random.choices(
        ("impl", "def", "fallback", "drop", "library", "ask", "settle"), (8, 2, 2, 4 if past else 0, 1, 3, 0.3)
    )[0]
    if kind == "impl":
        return Action(kind, name, random.choice((None, *KEYS)), random.choice(SIGNATURES))
    if kind == "drop":
        return Action(kind, random.randrange(past))
    if kind == "fallback":
        return Action(kind, random.choice((*KEYS, "AutogradXPU", "Sparse", *["AutogradPrivateUse1"] * 4)))
    return Action(kind, name.partition("::")[0] if kind == "library" else name)


def perform(
    dispatcher: Dispatcher, action: Action, handles: list[tuple[Handle, ...]]
) -> tuple[tuple[Handle, ...], str | None]:
    """Do it. handles: of the actions before. What can be dropped of it, and the error that it is refused with."""
    debug = f"action {len(handles)}"
    try:
        match action.do:
            case "impl":
                signature = None if action.signature is None else parse_signature(action.signature)
                kernel = Kernel(debug, signature=signature)
                return (dispatcher.implement(OperatorName.parse(str(action.target)), action.key, kernel),), None
            case "def":
                return (dispatcher.define(parse_schema(f"{action.target}(Tensor x) -> Tensor"), debug),), None
            case "fallback":
                return dispatcher.fall_back(str(action.target), Kernel(debug, fallthrough=len(handles) % 2 == 0)), None
            case "library":
                return (dispatcher.open_library(str(action.target), debug),), None
            case "drop":
                for handle in handles[int(action.target)]:
                    dispatcher.drop(handle)
            case "settle":
                dispatcher.settle(OperatorName.parse(str(action.target)))
            case "ask":
                dispatcher.stale_entries(OperatorName.parse(str(action.target)))
    except Refused as refused:
        return (), str(refused)
    return (), None


def everything(dispatcher: Dispatcher, names: tuple[str, ...]) -> dict[str, Any]:
    """All that can be seen of *names* and of what is not an operator's; the dispatcher is left as it was."""
    before = dispatcher.checkpoint()
    seen: dict[str, Any] = {
        "operators": [str(name) for name in dispatcher],
        "count": len(dispatcher),
        "untouched": [dispatcher.is_untouched(OperatorName.parse(name)) for name in names],
        "as captured": [dispatcher.is_as_captured(OperatorName.parse(name)) for name in names],
        "fallbacks": {key: (one.kernel, dispatcher.fallback_bits) for key, one in dispatcher.fallbacks.items()},
        "libraries": [_error(dispatcher, Action("library", name.partition("::")[0])) for name in names],
    }
    for text in names:
        name = OperatorName.parse(text)
        operator = dispatcher.find(name)
        if operator is not None:
            seen[text] = (
                dump_registrations(dispatcher, name),
                dispatcher.dump_table(name),
                [(entry.live.kernel, entry.live.decision) for entry in dispatcher.stale_entries(name)],
                [
                    (entry.cause.cause.kernel.debug, entry.cause.came, entry.cause.time)
                    for entry in dispatcher.stale_entries(name)
                ],
                [operator.live[key].kernel for key in dispatcher.universe.slots],
                [[kernel.overrides for kernel in operator.kernels[key]] for key in operator.kernels],
                operator.visits.ids(),
                operator.holds,
                # the errors of later steps
                _error(dispatcher, Action("impl", text, "CPU", SIGNATURES[2])),
                _error(dispatcher, Action("def", text)),
            )
    dispatcher.restore(before)
    return seen


def _error(dispatcher: Dispatcher, action: Action) -> str | None:
    """The error with which an action would be refused; it is not done."""
    before = dispatcher.checkpoint()
    _, error = perform(dispatcher, action, [])
    dispatcher.restore(before)
    return error
