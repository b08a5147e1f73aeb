"""Kinds of source files, by their names where these say enough, else by their content."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice

from dispatch_cli.model.sources.extracted import SourceKind

_TOP = re.compile(r"^[^\s#%][^\n]*", re.MULTILINE)
"""A line that is not indented, a comment or a directive."""
_KEY = re.compile(r"""["']?([A-Za-z_][A-Za-z0-9_]*)["']?[ \t]*:(?=\s|\Z)""")
_FUNC = re.compile(r"""^-?[ \t]+(?:\{[ \t]*)?["']?func["']?[ \t]*:(?=\s|\Z)""", re.MULTILINE)
_ALIAS = re.compile(r"""^[ \t]+["']?aten["']?[ \t]*:""", re.MULTILINE)
_DERIVATIVE = re.compile(r"""-[ \t]+["']?name["']?[ \t]*:[ \t]*["']?[A-Za-z_][\w.]*\([^\n]*->""")
_ENTRIES, _LINES, _CHARACTERS = 5, 2000, 20_000
"""Numbers of entries of a list, lines of a mapping, and characters of an entry that are looked at."""

BACKEND_KEYS = frozenset(
    {"backend", "class_name", "cpp_namespace", "extra_headers", "supported", "autograd", "full_codegen", "non_native"}
    | {"ir_gen", "symint", "use_out_as_primary", "device_guard"}
)
"""The keys that torchgen knows (``parse_backend_yaml``)."""
_FUNCTIONS = re.compile(r"""[ \t]*(?:\#[^\n]*)?(?:\n[ \t]*(?:\#[^\n]*)?)*\n[ \t]*-[ \t]+["']?func["']?[ \t]*:\s""")
_OUR_KEYS = frozenset({"dispatch", "libraries", "operators"})
"""Keys of declaration files, which have ``func:``, too."""
_TELLING = frozenset({"backend", "cpp_namespace", "supported", "full_codegen"})
HEAD_BYTES = 1 << 16
"""Bytes by which a file of YAML or JSON is recognised."""
_HEADERS = frozenset(
    {".h", ".hh", ".hp", ".hpp", ".hxx", ".h++", ".cuh", ".muh", ".mluh"}
    | {".inc", ".inl", ".ipp", ".tcc", ".tpp", ".txx", ".def", ".ii"}
)
_COMPILED = frozenset(
    {".c", ".cc", ".cp", ".cpp", ".cxx", ".c++", ".cppm", ".ixx", ".cu", ".hip", ".mm", ".mu", ".mlu", ".sycl"}
)
_CODE = {**dict.fromkeys(_HEADERS | _COMPILED, SourceKind.CPP), **dict.fromkeys((".py", ".pyw"), SourceKind.PYTHON)}
_TEMPLATES = frozenset({".in", ".j2", ".jinja", ".jinja2", ".tmpl", ".tpl", ".template", ".mako", ".pyx", ".cog"})
_DATA = frozenset({".yaml", ".yml", ".json"})
_OURS = re.compile(
    r"""(?:\A\s*\{\s*|^)["']?dispatch["']?[ \t]*:[ \t]*["']?\d|\A\s*\{[^{}\[\]]*"dispatch"\s*:\s*\d""", re.MULTILINE
)
_EXTRACTED = re.compile(r"""(?:^|[{,]\s*)["']?extracted["']?[ \t]*:[ \t]*true\b""", re.MULTILINE)
_PLACEHOLDER = re.compile(
    r"^[ \t]*\$\{\w+\}|\{%[-+]?\s*(?:if|for|set|macro|import|include|block|raw|call|filter|from|extends)\b"
    r"|\{\{[^{}\n]{1,200}\}\}\w|\b(?:def|impl)\(\s*\"(?:\{\{|\$\{\w)",
    re.MULTILINE,
)
"""A line of torchgen's, a statement of Jinja, or a place for a part of a name: two braces stand directly before no word
of C++, and begin no name of an operator."""
GTEST = "gtest/gtest.h"
"""A header that C++ tests include, wherever they are."""


def is_backend_yaml(text: str) -> bool:
    """True if it is a mapping with two or more of the keys of an out-of-tree backend's YAML.

    So is one of a dialect of it, in which other keys have lists of entries with ``func:``.
    """
    matches = [key for line in islice(_top_lines(text), _LINES) if (key := _KEY.match(text, line.start())) is not None]
    keys = {key[1] for key in matches}
    known = keys & BACKEND_KEYS
    if keys & _OUR_KEYS:
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


def suffix_of(name: str) -> str:
    """The end of a name by which kinds are told apart."""
    return os.path.splitext(name)[1].lower()  # noqa: PTH122 (of each file of a tree)


def is_template(name: str) -> bool:
    """True if sources are made of a file, as its name says; such files are not read."""
    return suffix_of(name) in _TEMPLATES


def is_filled_in(text: str) -> bool:
    """True if a C++ text is a template of torchgen or of Jinja: it has places that a build fills in."""
    return any(mark in text for mark in ("${", "{%", "}}")) and _PLACEHOLDER.search(text) is not None


def is_header(name: str) -> bool:
    """True if a C++ file is there to be included."""
    return suffix_of(name) in _HEADERS


def is_data(name: str) -> bool:
    """True if a file is YAML or JSON."""
    return suffix_of(name) in _DATA


def is_code(name: str) -> bool:
    """True if its name says that a file is C++ or Python."""
    return suffix_of(name) in _CODE


def kind_in_directory(name: str, text: str) -> SourceKind | None:
    """Kind of a file in a directory; None for one that is of no concern. text: its beginning, for YAML and JSON."""
    return _CODE.get(suffix_of(name)) or (data_kind(text) if is_data(name) else None)


def kind_of_named(name: str, text: str) -> SourceKind | None:
    """Kind of a file that was named by itself; None where neither its name nor its content says it."""
    return kind_in_directory(name, text) or data_kind(text)


def is_extracted(text: str) -> bool:
    """True if a declaration file says, at its beginning, that ``extract`` wrote it."""
    return _EXTRACTED.search(text) is not None


def data_kind(text: str) -> SourceKind | None:
    """Kind of a text of YAML or JSON; None if it is not about dispatch. It may still be broken."""
    if _OURS.search(text) is not None:
        return SourceKind.DECLARATIONS
    entries = list(_entries(text))
    if any(_FUNC.search(entry) is not None for entry in entries):
        return SourceKind.NATIVE_FUNCTIONS
    # ``deprecated.yaml`` has such names, too, but says of each which function it calls (``aten:``)
    if any(_DERIVATIVE.match(entry) is not None and _ALIAS.search(entry) is None for entry in entries):
        return SourceKind.DERIVATIVES
    return SourceKind.BACKEND_YAML if is_backend_yaml(text) else None
