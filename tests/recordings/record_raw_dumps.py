"""Record the raw dumps of some operators in several PyTorch versions.

usage: python -m tests.recordings.record_raw_dumps OUT.json.xz PYTHON...   (each PYTHON has another PyTorch)
"""

from __future__ import annotations

import json
import lzma
import re
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

OPERATORS = (
    "aten::_flash_attention_backward",
    "aten::_scaled_mm",
    "aten::align_as",
    "aten::kthvalue",
    "aten::squeeze.dim",
    "aten::tril",
)
"""Few enough for a small file: schemas, registrations and slots changed in them, and one of them has gone."""
SCRIPT = """
import json, sys, torch
C = torch._C
names = json.loads(sys.argv[1]) or C._dispatch_get_all_op_names()
known = set(C._dispatch_get_all_op_names())
dumps = {name: [C._dispatch_dump(name), C._dispatch_dump_table(name)] for name in names if name in known}
keys = {C._dispatch_key_name(C.DispatchKey(number)) for number in range(200)}  # Python's enum lacks some
print(json.dumps({"torch": torch.__version__, "keys": sorted(keys), "dumps": dumps}))
"""
_FOLDERS = re.compile(r"registered at /(?:[^\\s:]*/)?(?=site-packages/|pytorch/(?:aten|torch|build|c10)/)")


def ask(python: str, names: Iterable[str] = ()) -> dict[str, Any]:
    """The keys and the raw dumps of operators, of all without names: of each its registrations and its table."""
    command = [python, "-c", SCRIPT, json.dumps([*names])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(_FOLDERS.sub("registered at ", done.stdout))
    return found


def main(out: str, *pythons: str) -> None:
    """Ask, and write the file."""
    with lzma.open(out, "wt") as file:
        json.dump([ask(python, OPERATORS) for python in pythons], file, indent=0)


if __name__ == "__main__":
    main(*sys.argv[1:])
