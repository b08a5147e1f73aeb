"""C++ names in symbols, as far as they can be read without a table of types.

Source: the name mangling of the Itanium C++ ABI, which GCC and Clang follow.
"""

from __future__ import annotations

import re

_HEAD = re.compile(r"_?_Z(?:T[VTISCh])?(?P<nested>N[rVK]{0,3}[RO]?)?")
_PART = re.compile(r"(?P<length>[1-9]\d{0,2})|(?P<std>St)|(?P<same>[CD]\d)")


def demangled(symbol: str) -> str:
    """The qualified name in a symbol, without arguments; *symbol* itself where it has none that can be read.

    ``_ZN3c104cuda9SetDeviceEi`` is ``c10::cuda::SetDevice``. A name ends where template arguments begin. On macOS all
    symbols begin with one more underscore.
    """
    head = _HEAD.match(symbol)
    at = 0 if head is None else head.end()
    names: list[str] = []
    while at and (part := _PART.match(symbol, at)) is not None:
        at = part.end()
        if part["same"] is not None:  # a constructor has the name of its class
            names.append(f"{'~' if part['same'][0] == 'D' else ''}{names[-1]}" if names else "")
        elif part["std"] is not None:
            names.append("std")
        else:
            end = at + int(part["length"])
            names.append(symbol[at:end] if end <= len(symbol) else "")
            at = end
        if head is None or head["nested"] is None:
            break
    return "::".join(names) if names and all(name.lstrip("~").isidentifier() for name in names) else symbol
