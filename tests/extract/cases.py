"""Files of cases: texts by name, what is asked of them, and what is expected.

A case begins with ``=== `` and its name. Then come its options, each file below ``--- `` and its name, and the lines
that are expected, below ``-->``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ARROW = "-->\n"


class Case(NamedTuple):
    """A case. options: as they are written, one a line. files: texts by name. expected: the lines below the arrow."""

    name: str
    options: tuple[str, ...]
    files: dict[str, str]
    expected: str

    def text(self, expected: str) -> str:
        """The case as it is written."""
        options = "".join(f"{option}\n" for option in self.options)
        files = "".join(f"--- {name}\n{text}" for name, text in self.files.items())
        return f"=== {self.name}\n{options}{files}{ARROW}{expected}"


def cases(path: Path) -> Iterator[Case]:
    """The cases of a file. Errors: ValueError, for a second case of a name."""
    names = set()
    for text in re.split(r"^=== ", path.read_text(encoding="utf-8"), flags=re.M)[1:]:
        given, _, expected = text.partition(ARROW)
        head, *files = re.split(r"^--- ", given, flags=re.M)
        name, *options = head.splitlines()
        if name in names:
            raise ValueError(f"{path}: two cases are named {name}")
        names.add(name)
        yield Case(name, tuple(options), dict(_named(file) for file in files), expected)


def _named(file: str) -> tuple[str, str]:
    name, _, text = file.partition("\n")
    return name, text


def write(case: Case, folder: Path) -> None:
    """The files of a case, below a folder."""
    for name, text in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
