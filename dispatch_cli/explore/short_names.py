"""Names of operators that have no room, without a part of them, so that names that stand together still differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

CUT = "…"
"""What stands for the letters that are left out."""
_LEAST = 2
"""Letters that stay before a part that is left out."""

Letters = Sequence["int | None"]
"""The positions of the letters that are shown; None for those that are left out."""


def short_name(name: str, room: int, beside: Iterable[str] = ()) -> Letters:
    """The letters of a name for which there is room; first its namespace goes, then a part before its end.

    beside: the names that stand near it, of which it should differ. Where no short form does, it looks like others.
    """
    first = next(_forms(name, room))
    if None not in first:
        return first
    shown = _text(name, first)
    alike = [other for other in beside if other != name and _is_alike(other, shown)]
    if not alike:
        return first
    forms = zip(_forms(name, room), *(_forms(other, room) for other in alike), strict=True)
    texts = (
        (form, [_text(other, one) for other, one in zip((name, *alike), (form, *others), strict=True)])
        for form, *others in forms
    )
    return next((form for form, (own, *others) in texts if own not in others), first)


def _forms(name: str, room: int) -> Iterator[Letters]:
    """Ways to show a name, the best one first; the same number of them for every name."""
    count, start = len(name), name.rfind("::") + 2 if "::" in name else 1
    whole: Letters = range(count)
    ends = [tenths * room // 10 for tenths in (6, 7, 8, 5, 4, 3, 2)]
    bare: Letters = whole if count <= room else [None, *range(start, count)]
    for end in ends:  # names that begin alike stand together: they differ at their ends
        head = room - 2 - end
        fits = len(bare) <= room or head < _LEAST
        yield bare[:room] if fits else [None, *range(start, start + head), None, *range(count - end, count)]
    for end in ends:  # names of other namespaces
        head = room - 1 - end
        yield whole if count <= room else [*range(head), None, *range(count - end, count)]


def _is_alike(other: str, shown: str) -> bool:
    """Whether another name can be what is shown."""
    parts, at = shown.split(CUT), 0
    for part in parts[:-1]:
        found = other.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return other.endswith(parts[-1])


def _text(name: str, letters: Letters) -> str:
    return "".join(CUT if at is None else name[at] for at in letters)
