"""Files and places in the debug texts of registrations."""

from __future__ import annotations

import re
from functools import lru_cache

_REGISTERED_AT = re.compile(r"(?:registered|lambda) at (?:.*[/\\:])?([^/\\:]+?)(?:_\d+)?(\.\w+):\d+")

_PLACED = re.compile(r"(?:registered|lambda) at (.+?:\d+)(?:$|\s)")

_OF_PYTORCH = re.compile(r"/((?:aten/src|torch/csrc)/.*):")


@lru_cache(maxsize=65536)
def source_file(debug: str) -> str | None:
    """The name of the file of ``registered at PATH:LINE``, or of ``lambda at PATH:LINE``; None for another text.

    Builds differ in folders, lines, and in how many files generated code is divided into: RegisterCPU_0.cpp is
    RegisterCPU.cpp. Where a Python kernel is from, older versions do not say: they print ``/dev/null``, for which the
    answer is None, too.
    """
    match = _REGISTERED_AT.match(debug)
    return None if match is None else match[1] + match[2]


def file_of_pytorch(debug: str) -> str:
    """The path in PyTorch's sources of the file in the debug text of a kernel of PyTorch's own; empty for another one.

    The name alone does not tell: backends call files as PyTorch does.
    """
    match = _OF_PYTORCH.search(debug)
    return "" if match is None else match[1]


@lru_cache(maxsize=65536)
def registered_place(debug: str) -> str | None:
    """``PATH:LINE`` of ``registered at PATH:LINE``; None for another text, and where Python did not say it."""
    if is_python_without_place(debug):
        return None
    match = _PLACED.match(debug)
    return None if match is None else match[1]


def is_placed(debug: str) -> bool:
    """True if the text has the form ``registered at PATH:LINE``, or that of a lambda; otherwise it is a name."""
    return debug.startswith(("registered at ", "lambda at "))


def is_python_without_place(debug: str) -> bool:
    """True if the text is that of a kernel registered in Python, in a version that does not say where."""
    return debug.startswith("registered at /dev/null:")
