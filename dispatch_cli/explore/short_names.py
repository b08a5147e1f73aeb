"""Names of operators that have no room, without a part of them, so that names that stand together still differ."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import chain, groupby

from dispatch_cli.render.text_safety import safe

CUT = "…"
"""Sign for the letters that are left out."""
_LEAST = 2
"""Letters that stay before a part that is left out."""

Letters = Sequence["int | None"]
"""The positions of the letters that are shown; None for those that are left out."""


def short_name(name: str, room: int, beside: Iterable[str] = ()) -> Letters:
    """The letters of a name for which there is room; first its namespace goes, then a part before its end.

    beside: the names that stand near it, of which it differs: what is shown can be none of them. Where no short form is
    so, it differs from what is shown of them in the same form; where none does, it looks like others.
    """
    first = next(_forms(name, room))
    if None not in first:
        return first
    others = [other for other in beside if other != name]
    alike = [other for other in others if _is_alike(other, _text(name, first))]
    if not alike:
        return first
    for form in chain(_forms(name, room), _windows(name, room, alike)):
        shown = _text(name, form)
        if not any(_is_alike(other, shown) for other in chain(alike, others)):
            return form
    forms = zip(_forms(name, room), *(_forms(other, room) for other in alike), strict=True)
    texts = (
        (form, [_text(other, cut) for other, cut in zip((name, *alike), (form, *shown), strict=True)])
        for form, *shown in forms
    )
    return next((form for form, (own, *those) in texts if own not in those), first)


def short_text(name: str, room: int, beside: Iterable[str]) -> str:
    """The short form of a name as text."""
    return _text(name, short_name(name, room, beside))


def short_pieces(name: str, room: int, beside: Iterable[str], hits: Container[int]) -> Iterator[tuple[str, bool]]:
    """The short form of a name in pieces, safe to print; of each, whether its letters are among those at *hits*."""
    shown = short_name(name, room, beside)
    letters = ((CUT, False) if at is None else (safe(name[at]), at in hits) for at in shown)
    for is_hit, piece in groupby(letters, key=lambda letter: letter[1]):
        yield "".join(text for text, _ in piece), is_hit


def _forms(name: str, room: int) -> Iterator[Letters]:
    """Ways to show a name, the best one first; the same number of them for every name."""
    count, start = len(name), _start(name)
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


def _windows(name: str, room: int, alike: Sequence[str]) -> Iterator[Letters]:
    """Ways to show a part around the letters in which a name differs from others, with its end and its beginning."""
    count, start = len(name), _start(name)
    bare = {_differ_at(name[start:], other[_start(other) :]) + start for other in alike}
    wanted = sorted({*bare, *(_differ_at(name, other) for other in alike)})
    yield [None, *range(count - room + 1, count)]
    for head, end in ((2, 3), (2, 2), (0, 4), (0, 7), (0, 2), (0, 0)):
        heads, ends = head * room // 10, end * room // 10
        width = room - heads - ends - 2 - (heads > 0)
        least = start + heads if heads else 1
        if width < _LEAST or least + width + ends > count:
            continue
        for at in wanted:
            for before in (_LEAST, width // 2, width - 1, 0):
                begin = max(least, min(at - before, count - ends - width))
                beginning = [None, *range(start, start + heads)] if heads else []
                yield [*beginning, None, *range(begin, begin + width), None, *range(count - ends, count)]


def _differ_at(name: str, other: str) -> int:
    """Index at which two names begin to differ."""
    both = zip(name, other, strict=False)
    return next((at for at, (left, right) in enumerate(both) if left != right), min(len(name), len(other)))


def _start(name: str) -> int:
    """Index at which a name begins behind its namespace."""
    return name.rfind("::") + 2 if "::" in name else 1


def _is_alike(other: str, shown: str) -> bool:
    """True if the shown text fits another name, too."""
    parts, at = shown.split(CUT), 0
    for part in parts[:-1]:
        start = other.find(part, at)
        if start < 0:
            return False
        at = start + len(part)
    return other.endswith(parts[-1])


def _text(name: str, letters: Letters) -> str:
    return "".join(CUT if at is None else name[at] for at in letters)
