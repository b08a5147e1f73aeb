"""Kinds of torchgen's YAML files, by the first lines of a text that are not indented.

It costs little and does not parse: a file that is broken further down is still what its author meant it to be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

_TOP = re.compile(r"^[^\s#%][^\n]*", re.MULTILINE)
"""A line that is not indented, a comment or a directive."""
_KEY = re.compile(r"""["']?([A-Za-z_][A-Za-z0-9_]*)["']?[ \t]*:(?=\s|\Z)""")
_FUNC = re.compile(r"""^-?[ \t]+(?:\{[ \t]*)?["']?func["']?[ \t]*:(?=\s|\Z)""", re.MULTILINE)
_ALIAS = re.compile(r"""^[ \t]+["']?aten["']?[ \t]*:""", re.MULTILINE)
_DERIVATIVE = re.compile(r"""-[ \t]+["']?name["']?[ \t]*:[ \t]*["']?[A-Za-z_][\w.]*\([^\n]*->""")
_ENTRIES, _LINES, _CHARACTERS = 5, 2000, 20_000
"""Numbers of entries of a list, lines of a mapping, and characters of an entry that are looked at."""

BACKEND_KEYS = frozenset(
    {
        "backend",
        "class_name",
        "cpp_namespace",
        "extra_headers",
        "supported",
        "autograd",
        "full_codegen",
        "non_native",
        "ir_gen",
        "symint",
        "use_out_as_primary",
        "device_guard",
    }
)
"""The keys that torchgen knows (``parse_backend_yaml``)."""
_FUNCTIONS = re.compile(r"""[ \t]*(?:\#[^\n]*)?(?:\n[ \t]*(?:\#[^\n]*)?)*\n[ \t]*-[ \t]+["']?func["']?[ \t]*:\s""")
_OURS = frozenset({"dispatch", "libraries", "operators"})
"""Keys of declaration files, which have ``func:``, too."""
_TELLING = frozenset({"backend", "cpp_namespace", "supported", "full_codegen"})


def is_native_functions(text: str) -> bool:
    """True if it is a list whose entries have ``func:``, as ``native_functions.yaml``."""
    return any(_FUNC.search(entry) is not None for entry in _entries(text))


def is_derivatives(text: str) -> bool:
    """True if it is a list whose entries have ``name:`` with a schema, as ``derivatives.yaml``.

    ``deprecated.yaml`` has such names, too, but says of each which function it calls (``aten:``).
    """
    return any(_DERIVATIVE.match(entry) is not None and _ALIAS.search(entry) is None for entry in _entries(text))


def is_backend_yaml(text: str) -> bool:
    """True if it is a mapping with two or more of the keys of an out-of-tree backend's YAML.

    So is one of a dialect of it, in which other keys have lists of entries with ``func:``.
    """
    matches = [key for line in islice(_top_lines(text), _LINES) if (key := _KEY.match(text, line.start())) is not None]
    keys = {key[1] for key in matches}
    known = keys & BACKEND_KEYS
    if keys & _OURS:
        return False
    return (len(known) > 1 and bool(known & _TELLING)) or any(_FUNCTIONS.match(text, key.end()) for key in matches)


def _entries(text: str) -> Iterator[str]:
    """The first entries of the list that the file is, each from its ``-`` to the next; nothing of another file."""
    starts = [line.start() for line in islice(_top_lines(text), _ENTRIES + 1)]
    if starts and text.startswith("-", starts[0]):
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
            yield text[start : min(end, start + _CHARACTERS)]


def _top_lines(text: str) -> Iterator[re.Match[str]]:
    start = 1 if text.startswith("\ufeff") else 0
    return (line for line in _TOP.finditer(text, start) if line[0].rstrip() != "---")
