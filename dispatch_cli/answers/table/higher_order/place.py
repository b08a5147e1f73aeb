"""A place in a higher-order operator, as a user names it: a dispatch key, a mode, a tensor subclass, a transform."""

from __future__ import annotations

from collections.abc import Iterable

from dispatch_cli.engine.call.fake_tensor_mode import FAKE_TENSOR
from dispatch_cli.engine.call.higher_order.handlers import FUNCTIONAL_CLASS
from dispatch_cli.engine.call.thread import INFRA_MODES
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.higher_order import TRANSFORMS, HigherOrderOperator, ImplKind, ImplPlace
from dispatch_cli.model.suggest import suggestion

_PREFIXES = ("mode", "subclass", "transform")


class NoPlace(ValueError):
    """No place has that name. hint: what may be meant; empty for nothing. advice: what can be written instead."""

    def __init__(self, message: str, hint: str = "", advice: str = "") -> None:
        super().__init__(message)
        self.hint = hint
        self.advice = advice


def place_named(state: State, operator: HigherOrderOperator, text: str) -> ImplPlace:
    """The place that a text names: a dispatch key, or a mode, subclass or transform. Errors: NoPlace.

    A class may have its module before it, and the word for what it is: ``mode=MyMode``.
    """
    prefix, sign, rest = text.partition("=")
    kind = ImplKind(prefix) if sign and prefix in _PREFIXES else None
    universe = state.dispatcher.universe
    name = rest.rpartition(".")[2] if kind is not None else universe.key_named(text).rpartition(".")[2]
    if kind is None and (name in universe.slot or name in universe.aliases or name in universe.per_backend):
        # Functionalize is a key and a transform, which is asked for by transform=Functionalize
        return ImplPlace(ImplKind.DISPATCH, name)
    known = _known(state, operator)
    if kind is None:
        kind = next((candidate for candidate, names in known.items() if name in names), None)
    if kind is ImplKind.TRANSFORM and name not in TRANSFORMS:
        raise NoPlace(f"there is no functorch transform {name[:200]!r}. The transforms are {', '.join(TRANSFORMS)}.")
    if kind is not None and name.isidentifier():
        return ImplPlace(kind, name)
    names = [
        *universe.slots,
        *universe.aliases,
        *universe.per_backend,
        *(choice for some in known.values() for choice in some),
    ]
    raise NoPlace(
        f"{operator.name} is a higher-order operator, but {text[:200]!r} is not a dispatch key of {universe.name}, "
        "nor a known mode, subclass or transform.",
        suggestion(name, names, 3) or "",
        " Write your own class as mode=NAME or subclass=NAME.",
    )


def _known(state: State, operator: HigherOrderOperator) -> dict[ImplKind, Iterable[str]]:
    """Names that are known of each kind, which need no word for the kind before them."""
    table = state.higher_order_table(operator)
    return {
        ImplKind.MODE: dict.fromkeys((*INFRA_MODES, *table.modes, *state.modes)),
        ImplKind.SUBCLASS: dict.fromkeys((FAKE_TENSOR, FUNCTIONAL_CLASS, *table.subclasses)),
        ImplKind.TRANSFORM: TRANSFORMS,
    }
