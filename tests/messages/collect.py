"""Collect the errors and warnings of installed PyTorch builds that are about operators and dispatch.

usage: python -m tests.messages.collect PYTHON…

Reads the package ``torch`` of each Python, without importing it: Python's ``raise`` and warnings, the macros of C++
headers, the strings of the libraries. Writes what it finds into ``messages.tsv``. What is said of a text stays; a new
one is ``?`` until someone has judged it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.messages import cpp_source, library_strings, python_source, scope
from tests.messages.table import UNJUDGED, Row, read, write

_FIND = "import importlib.util; print(importlib.util.find_spec('torch').submodule_search_locations[0])"
_FORWARD = re.compile(r"(Trying to use forward AD with )\w+( that does not support it)")
MAX_SOURCES = 3


class Message(NamedTuple):
    """text: a template, or a piece from a library. error: the exception; ``""`` where C++ chooses it."""

    text: str
    error: str
    source: str


def package_of(python: str) -> Path:
    """Folder of the package that a Python would import."""
    return Path(subprocess.run([python, "-c", _FIND], check=True, capture_output=True, text=True).stdout.strip())


def version_of(package: Path) -> str:
    """The version, such as 2.13.0."""
    return build_of(package).partition("+")[0]


def build_of(package: Path) -> str:
    """The version with the build, such as 2.13.0+cpu."""
    match = re.search(r"__version__ = '([^']+)", (package / "version.py").read_text(encoding="utf-8"))
    assert match is not None, package
    return match[1]


def messages_of(package: Path) -> Iterator[Message]:
    """Every message of a build, in no order, some more than once."""
    yield from _python(package)
    headers = list(_headers(package))
    yield from headers
    # what a header says is in the libraries too, in pieces
    output = "\n".join(message.text for message in headers)
    for name in scope.LIBRARIES:
        path = package / name
        for text in library_strings.strings(path) if path.exists() else ():
            template = _FORWARD.sub(r"\1{op}\2", text)
            if _is_message(text) and template not in output:
                yield Message(template, "", name)


def _is_message(text: str) -> bool:
    """True if a string of a library is a text, or a piece of one, that is about operators or dispatch."""
    return (
        len(text.split()) > 2
        and bool(scope.TERMS.search(text))
        and ("TORCH_LIBRARY" in text or not scope.NOT_MESSAGES.search(text))
    )


def _python(package: Path) -> Iterator[Message]:
    whole = {path for name in scope.PYTHON for path in _files(package / name, "*.py")}
    by_term = {path for name in scope.PYTHON_BY_TERM for path in _files(package / name, "*.py")} - whole
    for path in sorted(whole | by_term):
        for message in python_source.messages(path.read_text(encoding="utf-8")):
            is_kept = message.text or message.error.endswith("Exception")
            if is_kept and (path in whole or scope.TERMS.search(message.text)):
                yield Message(message.text, message.error, str(path.relative_to(package)))


def _headers(package: Path) -> Iterator[Message]:
    include = package / "include"
    whole = {path for name in scope.HEADERS for path in _files(include / name, "*.h")}
    by_term = {path for name in scope.HEADERS_BY_TERM for path in _files(include / name, "*.h")} - whole
    for path in sorted(whole | by_term):
        if "/ops/" not in str(path):  # generated, one per operator, without texts of their own
            for text in cpp_source.messages(path.read_text(encoding="utf-8", errors="replace")):
                if path in whole or scope.TERMS.search(text):
                    yield Message(text, "", str(path.relative_to(package)))


def _files(path: Path, pattern: str) -> Iterator[Path]:
    if path.is_file():
        yield path
    elif path.is_dir():
        yield from path.rglob(pattern)


def main(pythons: list[str]) -> None:
    """Add the messages of these builds to the table."""
    sources: dict[tuple[str, str], set[str]] = defaultdict(set)
    versions: dict[tuple[str, str], set[str]] = defaultdict(set)
    for python in pythons:
        package = package_of(python)
        for message in messages_of(package):
            sources[message[:2]].add(message.source)
            versions[message[:2]].add(version_of(package))
    judged = {(row.text, row.error): row.judgement for row in read()}
    rows = [
        Row(judged.get(key, UNJUDGED), *key, tuple(sorted(where)[:MAX_SOURCES]), tuple(sorted(versions[key])))
        for key, where in sources.items()
    ]
    write(rows)
    print(f"{len(rows)} messages, {sum(row.judgement == UNJUDGED for row in rows)} not judged")


if __name__ == "__main__":
    main(sys.argv[1:])
