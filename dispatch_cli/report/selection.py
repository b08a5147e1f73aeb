"""Which operators and keys a command is about: globs over names, and suggestions where a glob finds nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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


def similar_names(names: Sequence[str], glob: str) -> list[str]:
    """Up to three operator names that look like *glob*, which may lack the namespace.

    Name and overload are compared each for itself. Where the name is right and no overload looks like the wanted one,
    they are the first overloads.
    """
    from dispatch_cli.model.suggest import similar

    # an overload's name is after a dot, a namespace may have one too
    own = (name.partition("::")[2] for name in names)
    bare = [name for name, part in zip(names, own, strict=True) if glob and glob in (part, part.partition(".")[0])]
    if bare:
        return bare[:3]
    wanted = OperatorName.parse(as_cpp(glob))
    overloads: dict[str, list[str]] = {}
    for one in map(OperatorName.parse, names):
        overloads.setdefault(one.name, []).append(one.overload)
    found = []
    for name in similar(wanted.name, overloads, 3):
        known = overloads[name]
        if wanted.overload:
            meant = [wanted.overload] if wanted.overload in known else similar(wanted.overload, known)
        else:
            meant = known if len(known) == 1 else [""]
        found += [str(OperatorName(name, overload)) for overload in meant]
    return found or [str(OperatorName(wanted.name, one)) for one in overloads.get(wanted.name, ())[:3]]


def select_keys(universe: Universe, globs: Sequence[str], keys: Iterable[str] | None = None) -> frozenset[str]:
    """The keys whose name matches any of the globs; case does not matter.

    keys: among these; by default the slots, Undefined included.
    """
    from fnmatch import fnmatchcase

    lower, known = [glob.lower() for glob in globs], universe.slots if keys is None else keys
    named = {key: (key.lower(), key.replace(PRIVATE_USE1, universe.backend_name).lower()) for key in known}
    return frozenset(key for key in named if any(fnmatchcase(name, glob) for name in named[key] for glob in lower))
