"""A second look at sources, for registrations that ``extract`` did not see.

It works on text alone, line by line, and shares no code with ``dispatch_cli.extract``: what one of them misses, the
other one can find.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dispatch_cli.audit import cpp_text, python_text
from dispatch_cli.audit.python_text import Unaccounted
from dispatch_cli.declarations.source import SourceError

__all__ = ["Unaccounted", "audit"]


def audit(files: Sequence[str], read: Callable[[str], str], accounted: frozenset[tuple[str, int]]) -> list[Unaccounted]:
    """The places that look like registrations and are not in *accounted*, in the order of *files* and lines.

    Args:
        files: C++ and Python sources, also those from which nothing was extracted.
        read: gives the text of one. A file that it refuses with SourceError is left out.
        accounted: file and line of what is known.
    """
    places: list[tuple[str, Unaccounted]] = []
    for file in files:
        text = _text(file, read)
        if _is_python(file):
            places += (("", place) for place in python_text.places(file, text, accounted))
        elif cpp_text.may_register(text):
            places += cpp_text.places(file, text)
    # of several definitions of a macro, one is read: the others have the same registrations, or are replaced
    known = {macro for macro, place in places if macro and (place.at.file, place.at.line) in accounted}
    macros = {macro for macro, _ in places if macro} - known
    used = {""}
    for file in files if macros else ():
        used |= cpp_text.used_macros(_text(file, read), macros - used)
    looked_at = (place for macro, place in places if macro in used)
    missed = [place for place in looked_at if (place.at.file, place.at.line) not in accounted]
    order = {file: number for number, file in enumerate(files)}
    return sorted(missed, key=lambda place: (order[place.at.file], place.at.line))


def _text(file: str, read: Callable[[str], str]) -> str:
    """The text of a file; nothing of one that is refused."""
    try:
        text = read(file).replace("\r\n", "\n").replace("\r", "\n")
    except SourceError:
        return ""
    return text if _is_python(file) else cpp_text.continued(text)


def _is_python(file: str) -> bool:
    return file.lower().endswith((".py", ".pyw"))
