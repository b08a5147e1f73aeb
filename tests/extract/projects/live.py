"""Registrations of the projects' builds in a live PyTorch."""

from __future__ import annotations

import json
import lzma
import re
from pathlib import Path
from typing import NamedTuple

from tests.extract.projects.project import Project

_PLACE = re.compile(r"registered at (/\S+):(\d+)$")
_PYTHON = re.compile(r"registered at /dev/null:\d+$")
PYTORCHS_OWN = frozenset(
    {
        *("prims", "debugprims", "rngprims", "_c10d_functional", "c10d_functional", "fsdp", "symm_mem", "_dtensor"),
        *("flex_lib", "_inductor_test", "quantized_decomposed"),
    }
)
"""Namespaces in which PyTorch's own Python modules register what importing a project pulls in."""


class LiveRow(NamedTuple):
    """A live registration. place: of its C++ block, as (path, line); None where the debug text has none.

    python: it is made by ``torch.library``. boxed: it has no signature, as fallthroughs have none.
    """

    operator: str
    key: str
    place: tuple[str, int] | None
    python: bool
    boxed: bool


class Live(NamedTuple):
    """pytorchs: how many registrations of PyTorch's own Python modules were set aside."""

    torch: str
    rows: tuple[LiveRow, ...]
    schemas: dict[str, str]
    pytorchs: int


def load_live(folder: Path, project: Project) -> Live:
    """The recording of a project, without what PyTorch's Python modules registered."""
    with lzma.open(folder / f"{project.name}.live.json.xz", "rt") as opened:
        data = json.load(opened)
    rows = []
    for operator, key, _, debug, signature in data["registrations"]:
        place = _PLACE.match(debug)
        python = _PYTHON.match(debug) is not None
        position = None if place is None or python else (place[1], int(place[2]))
        rows.append(LiveRow(operator, key, position, python, signature == "(none)"))
    kept = tuple(row for row in rows if not (row.python and is_pytorchs(row.operator)))
    definitions = data["definitions"]
    schemas = {
        operator: one["schema"]
        for operator, one in definitions.items()
        if not (_PYTHON.match(one["debug"]) and is_pytorchs(operator))
    }
    return Live(data["torch"], kept, schemas, len(rows) - len(kept))


def is_pytorchs(operator: str) -> bool:
    """True if PyTorch's own Python modules define it."""
    return operator.partition("::")[0] in PYTORCHS_OWN
