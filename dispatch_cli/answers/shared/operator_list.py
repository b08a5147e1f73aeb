"""The operators of a state in the order of a list to choose from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from dispatch_cli.engine.state import State


class ListedOperator(NamedTuple):
    """An operator of the list. higher_order: it is a higher-order one."""

    name: str
    higher_order: bool = False


def own_names(state: State) -> frozenset[str]:
    """The operators of both kinds that are the files' own; none where there is nothing but the files."""
    if state.base is None and state.source is None:
        return frozenset()
    others = (operator.name for operator in state.own_higher_order_operators())
    return frozenset([*map(str, state.own_operators()), *others])


def listed_operators(state: State, own: frozenset[str] | None = None) -> tuple[ListedOperator, ...]:
    """All operators: first those of the files, then PyTorch's own (aten), the other namespaces, and higher-order ones.

    In each of these parts, the operators whose names begin with an underscore come last. own: those of the files, where
    they are known.
    """
    own = own_names(state) if own is None else own
    ordinary, others = state.dispatcher.names(), sorted(state.higher_order_names)
    parts = [_parts(names, own, True) for names in (ordinary, others)]
    parts += [_parts(names, own, False) for names in (ordinary, others)]
    return tuple(
        ListedOperator(name, number % 2 == 1) for number, names in enumerate(parts) for part in names for name in part
    )


def _parts(names: Iterable[str], own: frozenset[str], wanted: bool) -> tuple[list[str], ...]:
    """Names that are in order, as they are listed: those that are in *own*, or the others."""
    parts: tuple[list[str], ...] = [], [], [], []
    for name in names:
        if (name in own) is wanted:
            namespace, _, rest = name.rpartition("::")
            parts[2 * (namespace != "aten") + rest.startswith("_")].append(name)
    return parts
