"""Everything that can be seen of a dispatcher."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.dispatcher.dump import dump_registrations
from dispatch_cli.engine.table.registration import Refused
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.parser import parse_schema, parse_signature

OTHER_SIGNATURE = "(Tensor _0, int _1) -> Tensor _0"


def everything(dispatcher: Dispatcher, names: tuple[str, ...]) -> dict[str, Any]:
    """All that can be seen of *names* and of what is not an operator's; the dispatcher is left as it was."""
    before = dispatcher.checkpoint()
    seen: dict[str, Any] = {
        "operators": [str(name) for name in dispatcher],
        "count": len(dispatcher),
        "untouched": [dispatcher.is_untouched(OperatorName.parse(name)) for name in names],
        "as captured": [dispatcher.is_as_captured(OperatorName.parse(name)) for name in names],
        "fallbacks": {key: (one.kernel, dispatcher.fallback_bits) for key, one in dispatcher.fallbacks.items()},
        "libraries": [_error(dispatcher, _library(name)) for name in names],
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
                operator.visit_order(),
                operator.holds,
                # the errors of later steps
                _error(dispatcher, _implement(name)),
                _error(dispatcher, _define(name)),
            )
    dispatcher.restore(before)
    return seen


Step = Callable[[Dispatcher], object]


def _library(name: str) -> Step:
    return lambda dispatcher: dispatcher.open_library(name.partition("::")[0], "a later library")


def _implement(name: OperatorName) -> Step:
    kernel = Kernel("a later kernel", signature=parse_signature(OTHER_SIGNATURE))
    return lambda dispatcher: dispatcher.implement(name, "CPU", kernel)


def _define(name: OperatorName) -> Step:
    return lambda dispatcher: dispatcher.define(parse_schema(f"{name}(Tensor x) -> Tensor"), "a later definition")


def _error(dispatcher: Dispatcher, step: Step) -> str | None:
    """The error with which a step would be refused; it is not done."""
    before = dispatcher.checkpoint()
    try:
        step(dispatcher)
    except Refused as refused:
        return str(refused)
    finally:
        dispatcher.restore(before)
    return None
