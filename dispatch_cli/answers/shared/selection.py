"""Names of operators and keys: globs over them, suggestions where a glob finds nothing, and a few of many in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from dispatch_cli.model.names import DEFAULT_OVERLOAD, HIGHER_ORDER_NAMESPACE, OperatorName, usualness, without_overload
from dispatch_cli.model.universe import PRIVATE_USE1, Universe

if TYPE_CHECKING:
    from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
    from dispatch_cli.engine.state import State
    from dispatch_cli.model.higher_order import HigherOrderOperator


MOST_LETTERS, LEAST_LETTERS = 80, 2
"""Letters that are looked at; letters behind the namespace from which a name can be misspelt."""
ALIKE = 0.6
"""Least similarity of names, from 0 to 1: the share of their letters that may not differ."""
LEAST_TOGETHER = 5
"""Letters of two names together from which one may differ, however alike they have to be."""
MOST_NEAR = 8
"""Names that are found, without their overloads."""
_MOST = 3
"""Names that a suggestion has."""


class NearNames(NamedTuple):
    """The operators of one name.

    name: without the overload, in lower case. names: those that are meant; all, unless an overload is asked for that
    one of them has, or is close to. cost: the letters that differ, of the name and of the overload; of the name, those
    that are not left out or added.
    """

    name: str
    names: Sequence[str]
    cost: tuple[int, int, int]
    has_overload: bool


def nearest_names(names: Iterable[str], asked: str, alike: float = ALIKE) -> list[NearNames]:
    """The operators with the nearest names, best first; of equals PyTorch's own, then in the order of *names*.

    asked: a name as C++ writes it, with or without namespace and overload. Without a namespace, those of the operators
    do not count. Where an overload is asked for that some of them have, they are all that is found. Upper and lower
    case are one. alike: how alike names are at least, from 0 to 1.
    """
    asked = asked[:MOST_LETTERS].lower()
    wanted = without_overload(asked)
    overload = asked[len(wanted) + 1 :]
    letters = len(wanted) - name_start(wanted)
    if letters < LEAST_LETTERS:
        return []
    by_name: dict[str, list[str]] = {}
    for name in names:
        by_name.setdefault(without_overload(name.lower()), []).append(name)
    candidates = []
    for name, members in by_name.items():
        start = name_start(name)
        known = name if "::" in wanted else name[start:]
        cost = misspelt_by(wanted, known, _most(alike, letters + len(name) - start))
        if cost is not None:
            chosen, other = _of_overload(members, len(name) + 1, overload, alike)
            costs = cost, other, cost - abs(len(wanted) - len(known))
            candidates.append(NearNames(name, chosen or members, costs, chosen is not None))
    candidates.sort(key=lambda near: (near.cost, not near.name.startswith("aten::")))
    with_overload = [candidate for candidate in candidates if candidate.has_overload]
    return (with_overload or candidates)[:MOST_NEAR]


def _of_overload(members: Sequence[str], at: int, overload: str, alike: float) -> tuple[Sequence[str] | None, int]:
    """The operators with the overload, or with those nearest to it, and by how many letters these differ; None for
    none. at: where overloads begin.
    """
    if not overload:
        return None, 0
    others = [(member, member[at:].lower()) for member in members]
    costs = [(misspelt_by(overload, other, _most(alike, len(overload) + len(other))), name) for name, other in others]
    best = min((cost for cost, _ in costs if cost is not None), default=None)
    if best is None:
        return None, len(overload)
    return [name for cost, name in costs if cost == best], best


def _most(alike: float, letters: int) -> int:
    """The letters of two names that may differ. letters: of both together."""
    return max(int((1 - alike) * letters / 2), int(letters >= LEAST_TOGETHER))


def misspelt_by(word: str, other: str, most: int) -> int | None:
    """Number of letters left out, added, changed, or exchanged with the next one; None for more than *most*."""
    if abs(len(word) - len(other)) > most:
        return None
    if word == other:
        return 0
    # each difference changes how often at most two letters occur, by one
    if max(_letters_beyond(word, other), _letters_beyond(other, word)) > most:
        return None
    earlier: list[int] = []
    last = [*range(len(other) + 1)]
    for at, letter in enumerate(word):
        row = [at + 1]
        for to, known in enumerate(other):
            cost = last[to] + (letter != known)
            if row[to] < cost:
                cost = row[to] + 1
            if last[to + 1] < cost:
                cost = last[to + 1] + 1
            if at and to and letter == other[to - 1] and known == word[at - 1] and earlier[to - 1] < cost:
                cost = earlier[to - 1] + 1
            row.append(cost)
        if min(row) > most:
            return None
        earlier, last = last, row
    return last[-1] if last[-1] <= most else None


def _letters_beyond(word: str, other: str) -> int:
    """Number of letters of a word that another one does not have."""
    for letter in other:
        word = word.replace(letter, "", 1)
    return len(word)


def name_start(name: str) -> int:
    """Start of a name, behind its namespace."""
    return name.rfind("::") + 2 if "::" in name else 0


def select_names(names: Sequence[str], glob: str) -> list[str]:
    """The operator names that match a glob, in their order.

    Case matters. A glob may leave the overload out: ``aten::add`` finds ``aten::add.Tensor`` too; ``aten::bmm.default``
    finds only the operator without one, as PyTorch calls it. What matches nothing is read as PyTorch's Python writes
    names: ``aten.add.Tensor``, ``torch.ops.aten.add``.
    """
    bare = glob.removesuffix(DEFAULT_OVERLOAD)
    matches = _matching(names, bare)
    if not matches and "." in bare:
        matches = _matching(names, as_cpp(bare))
    return matches if bare == glob else [name for name in matches if name == without_overload(name)]


def has_words(text: str, words: str) -> bool:
    """True if a text has each of some words, which blanks separate; case does not matter."""
    lower = text.lower()
    return all(part in lower for part in words.lower().split())


def as_cpp(name: str) -> str:
    """A name or glob as C++ writes it: ``aten::add.Tensor`` of ``torch.ops.aten.add.Tensor``."""
    return str(OperatorName.parse_printed(name))


def may_be_higher_order(glob: str) -> bool:
    """True if a glob could match a higher-order operator; one with another namespace than theirs cannot."""
    return "::" not in _bare(glob)


def select_higher_order(names: Iterable[str], glob: str) -> list[str]:
    """The names of higher-order operators that match a glob, with or without their namespace, in their order.

    ``cond``, ``higher_order.cond`` and ``higher_order::cond`` are one operator, as is ``torch.ops.higher_order.cond``.
    """
    return _matching(names, _bare(glob))


def _bare(glob: str) -> str:
    """A glob over higher-order operators without their namespace."""
    glob = glob.removeprefix("torch.ops.")
    for separator in ("::", "."):
        glob = glob.removeprefix(f"{HIGHER_ORDER_NAMESPACE}{separator}")
    return glob


def _matching(names: Iterable[str], glob: str) -> list[str]:
    if not any(sign in glob for sign in "*?["):
        with_overload = f"{glob}."
        return [name for name in names if name == glob or name.startswith(with_overload)]
    from dispatch_cli.model.text.glob import glob_pattern

    match = glob_pattern(glob).match
    return [name for name in names if match(name) or match(without_overload(name))]


def not_found(names: Sequence[str], glob: str) -> str | None:
    """Suggestion for a glob that finds no operator name: the same in another case, or names that look like it."""
    from dispatch_cli.model.text.glob import is_glob
    from dispatch_cli.model.text.suggest import did_you_mean

    if is_glob(glob) and (matches := select_in_any_case(names, glob)):
        more = f" and {len(matches) - 1:,} more" if len(matches) > 1 else ""
        return f"upper and lower case are not the same here; in another case, it matches {matches[0]}{more}"
    return did_you_mean(similar_names(names, glob))


def select_in_any_case(names: Sequence[str], glob: str) -> list[str]:
    """The names that a glob matches where upper and lower case are one, in their order."""
    by_lower: dict[str, list[str]] = {}
    for name in names:
        by_lower.setdefault(name.lower(), []).append(name)
    lower, known = glob.lower(), [*by_lower]
    matches = select_names(known, lower) or (select_higher_order(known, lower) if may_be_higher_order(lower) else [])
    return [name for match in matches for name in by_lower[match]]


def similar_names(names: Sequence[str], glob: str) -> list[str]:
    """Up to three operator names that look like *glob*, which may lack the namespace.

    Name and overload are compared each for itself. Where the name is right and no overload looks like the wanted one,
    they are the first overloads. A function of Python, such as ``torch.add``, has the name of its operator.
    """
    if glob.startswith("torch.") and not glob.startswith("torch.ops."):
        glob = glob.rpartition(".")[2]
    # an overload's name is after a dot, a namespace may have one too
    own = (name.partition("::")[2] for name in names)
    bare = [name for name, part in zip(names, own, strict=True) if glob and glob in (part, part.partition(".")[0])]
    if bare:
        return sorted(bare, key=_commonness)[:_MOST]
    wanted = as_cpp(glob)
    namespace = wanted.partition("::")[0]
    if "::" not in glob and not any(name.startswith(f"{namespace}::") for name in names):
        wanted = glob  # a dot is before an overload, rather than behind a namespace
    suggestions: list[str] = []
    for near in nearest_names(names, wanted):
        asked = "." in wanted[wanted.rfind("::") + 1 :]
        if near.has_overload or len(near.names) == 1:
            suggestions += near.names
        else:
            suggestions += near.names[:_MOST] if asked and near.cost[0] == 0 else [without_overload(near.names[0])]
    return suggestions[:_MOST]


def _commonness(name: str) -> tuple[bool, bool, bool]:
    """Order of names that are alike: PyTorch's own first, then the usual overloads first."""
    return (not name.startswith("aten::"), *usualness(OperatorName.parse(name).overload))


def select_keys(universe: Universe, globs: Sequence[str], keys: Iterable[str] | None = None) -> frozenset[str]:
    """The keys whose name matches any of the globs; case does not matter.

    keys: among these; by default the slots, Undefined included.
    """
    from fnmatch import fnmatchcase

    lower, known = [glob.lower() for glob in globs], universe.slots if keys is None else keys
    named = {key: (key.lower(), key.replace(PRIVATE_USE1, universe.backend_name).lower()) for key in known}
    return frozenset(key for key in named if any(fnmatchcase(name, glob) for name in named[key] for glob in lower))


def operator_named(dispatcher: Dispatcher, text: str) -> OperatorName | None:
    """The operator of that name, as C++ or Python writes it; None when there is none."""
    for name in (OperatorName.parse(text), OperatorName.parse_printed(text)):
        if name in dispatcher:
            return name
    return None


def higher_order_named(state: State, text: str) -> HigherOrderOperator | None:
    """The higher-order operator of that name, with or without the namespace; None when there is none."""
    if any(sign in text for sign in "*?["):
        return None
    matches = select_higher_order([operator.name for operator in state.higher_order_operators], text)
    return state.higher_order_operator(matches[0]) if matches else None


def similar_operators(dispatcher: Dispatcher, text: str) -> str | None:
    """Suggestion for a name of no operator: an overload, or a name that looks like it."""
    from dispatch_cli.model.text.suggest import did_you_mean

    names, bare = dispatcher.names(), text.removesuffix(DEFAULT_OVERLOAD)
    matches = [] if any(sign in text for sign in "*?[") else select_names(names, bare)
    matches.sort(key=_commonness)
    if len(matches) > 4:
        listed = ", ".join(matches[:4])
        return f"name an overload: {listed} or one of {len(matches) - 4} more"
    return did_you_mean(matches or similar_names(names, text[:200]))


def any_operator(state: State, text: str) -> OperatorName | HigherOrderOperator:
    """The operator of either kind with that name. Errors: InputError, with a name that looks like it."""
    operator = operator_named(state.dispatcher, text) or higher_order_named(state, text)
    if operator is not None:
        return operator
    from dispatch_cli.model.problem import InputError, Problem
    from dispatch_cli.model.text.suggest import suggestion

    hint = similar_operators(state.dispatcher, text)
    hint = hint or suggestion(text, [operator.name for operator in state.higher_order_operators], 3)
    raise InputError((Problem("unknown-operator", f"there is no operator {text[:200]!r}", hint=hint),))
