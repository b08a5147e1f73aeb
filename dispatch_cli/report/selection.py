"""Which operators and keys a command is about: globs over names, and suggestions where a glob finds nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dispatch_cli.model.names import DEFAULT_OVERLOAD, HIGHER_ORDER_NAMESPACE, OperatorName
from dispatch_cli.model.universe import PRIVATE_USE1, Universe


def select_names(names: Sequence[str], glob: str) -> list[str]:
    """The operator names that match a glob, in their order.

    Case matters. A glob may leave the overload out: ``aten::add`` finds ``aten::add.Tensor`` too; ``aten::bmm.default``
    finds only the operator without one, as PyTorch calls it. What matches nothing is read as PyTorch's Python writes
    names: ``aten.add.Tensor``, ``torch.ops.aten.add``.
    """
    bare = glob.removesuffix(DEFAULT_OVERLOAD)
    found = _matching(names, bare)
    if not found and "." in bare:
        found = _matching(names, as_cpp(bare))
    return found if bare == glob else [name for name in found if name == _without_overload(name)]


def has_words(text: str, words: str) -> bool:
    """Whether a text has each of some words, which blanks separate; case does not matter."""
    lower = text.lower()
    return all(one in lower for one in words.lower().split())


def as_cpp(name: str) -> str:
    """A name or glob as C++ writes it: ``aten::add.Tensor`` of ``torch.ops.aten.add.Tensor``."""
    return str(OperatorName.parse_printed(name))


def may_be_higher_order(glob: str) -> bool:
    """Whether a glob could match a higher-order operator; one with another namespace than theirs cannot."""
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
        return [name for name in names if name == glob or name.startswith(f"{glob}.")]
    from dispatch_cli.model.glob import glob_pattern

    match = glob_pattern(glob).match
    return [name for name in names if match(name) or match(_without_overload(name))]


def _without_overload(name: str) -> str:
    dot = name.find(".", name.rfind("::") + 1)
    return name if dot < 0 else name[:dot]


def not_found(names: Sequence[str], glob: str) -> str | None:
    """What may be meant by a glob that finds no operator name: the same in another case, or names that look like it."""
    from dispatch_cli.model.glob import is_glob
    from dispatch_cli.model.suggest import did_you_mean

    if is_glob(glob) and (found := select_in_any_case(names, glob)):
        more = f" and {len(found) - 1:,} more" if len(found) > 1 else ""
        return f"upper and lower case are not the same here; in another case, it matches {found[0]}{more}"
    return did_you_mean(similar_names(names, glob))


def select_in_any_case(names: Sequence[str], glob: str) -> list[str]:
    """The names that a glob matches where upper and lower case are one, in their order."""
    by_lower: dict[str, list[str]] = {}
    for name in names:
        by_lower.setdefault(name.lower(), []).append(name)
    lower, known = glob.lower(), [*by_lower]
    found = select_names(known, lower) or (select_higher_order(known, lower) if may_be_higher_order(lower) else [])
    return [name for one in found for name in by_lower[one]]


def similar_names(names: Sequence[str], glob: str, count: int = 3, cutoff: float = 0.7) -> list[str]:
    """Up to three operator names that look like *glob*, which may lack the namespace.

    Name and overload are compared each for itself. Where the name is right and no overload looks like the wanted one,
    they are the first overloads.

    count, cutoff: how many names without their overloads, and how alike they are at least (`similar`).
    """
    # an overload's name is after a dot, a namespace may have one too
    own = (name.partition("::")[2] for name in names)
    bare = [name for name, part in zip(names, own, strict=True) if glob and glob in (part, part.partition(".")[0])]
    if bare:
        return bare[:count]
    overloads: dict[str, list[str]] = {}
    for one in map(OperatorName.parse, names):
        overloads.setdefault(one.name, []).append(one.overload)
    wanted = OperatorName.parse(as_cpp(glob))
    is_known = any(name.startswith(f"{wanted.namespace}::") for name in overloads)
    if "::" not in glob and not is_known:  # a dot is before an overload, rather than behind a namespace
        found = _similar_without_namespace(overloads, OperatorName.parse(glob), count, cutoff)
        if found:
            return found
    found = _similar(overloads, wanted, count, cutoff)
    return found or [str(OperatorName(wanted.name, one)) for one in overloads.get(wanted.name, ())[:3]]


def _similar_without_namespace(
    overloads: Mapping[str, Sequence[str]], wanted: OperatorName, count: int, cutoff: float
) -> list[str]:
    """Those whose names look so behind their namespaces; of equals, PyTorch's own come first."""
    full: dict[str, list[str]] = {}
    for name in sorted(overloads, key=lambda one: not one.startswith("aten::")):
        full.setdefault(name.rpartition("::")[2], []).append(name)
    from dispatch_cli.model.suggest import similar

    near = [name for part in similar(wanted.name, full, count, cutoff) for name in full[part]]
    return [str(OperatorName(name, one)) for name in near[:count] for one in _meant(overloads[name], wanted.overload)]


def _similar(overloads: Mapping[str, Sequence[str]], wanted: OperatorName, count: int, cutoff: float) -> list[str]:
    """Those whose names look so; of each, the overloads that look so."""
    from dispatch_cli.model.suggest import similar

    near = similar(wanted.name, overloads, count, cutoff)
    return [str(OperatorName(name, one)) for name in near for one in _meant(overloads[name], wanted.overload)]


def _meant(known: Sequence[str], overload: str) -> Sequence[str]:
    """The overloads of a name that may be meant by one; the name alone, where none was asked for."""
    from dispatch_cli.model.suggest import similar

    if overload:
        return [overload] if overload in known else similar(overload, known)
    return known if len(known) == 1 else [""]


def select_keys(universe: Universe, globs: Sequence[str], keys: Iterable[str] | None = None) -> frozenset[str]:
    """The keys whose name matches any of the globs; case does not matter.

    keys: among these; by default the slots, Undefined included.
    """
    from fnmatch import fnmatchcase

    lower, known = [glob.lower() for glob in globs], universe.slots if keys is None else keys
    named = {key: (key.lower(), key.replace(PRIVATE_USE1, universe.backend_name).lower()) for key in known}
    return frozenset(key for key in named if any(fnmatchcase(name, glob) for name in named[key] for glob in lower))
