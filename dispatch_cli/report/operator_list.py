"""The operators of a state in the order of a list to choose from."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.engine.history.state import State


class ListedOperator(NamedTuple):
    """An operator of the list. higher_order: it is a higher-order one."""

    name: str
    higher_order: bool = False


def own_names(state: State) -> frozenset[str]:
    """The operators of both kinds that the files register something for; none where there is nothing but the files."""
    if state.base is None and state.source is None:
        return frozenset()
    return frozenset([*map(str, state.own_operators()), *(one.name for one in state.own_higher_order_operators())])


def listed_operators(state: State) -> tuple[ListedOperator, ...]:
    """All operators: first those of the files, then PyTorch's own (aten), the other namespaces, and higher-order ones.

    In each of these parts, the operators whose names begin with an underscore come last.
    """
    own = own_names(state)

    def place(one: ListedOperator) -> tuple[bool, bool, bool, bool, str]:
        namespace, _, rest = one.name.rpartition("::")
        private = rest.startswith("_")
        return one.name not in own, one.higher_order, not one.higher_order and namespace != "aten", private, one.name

    ordinary = (ListedOperator(name) for name in state.dispatcher.names())
    others = (ListedOperator(one.name, True) for one in state.higher_order_operators)
    return tuple(sorted([*ordinary, *others], key=place))
