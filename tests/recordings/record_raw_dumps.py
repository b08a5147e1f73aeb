"""Record the raw dumps of some operators in several PyTorch versions.

usage: python -m tests.recordings.record_raw_dumps OUT.json.xz PYTHON...   (each PYTHON has another PyTorch)
"""

from __future__ import annotations

import json
import lzma
import re
import sys

from tests.answers.raw_history import ask

OPERATORS = (
    *("aten::_cdist_backward", "aten::_flash_attention_backward", "aten::_scaled_mm"),
    *("aten::_upsample_bilinear2d_aa_backward", "aten::align_as", "aten::kthvalue", "aten::tril"),
)
"""Few enough for a small file: schemas, registrations and slots changed in them, and one of them has gone."""
_FOLDERS = re.compile(r"registered at /(?:[^\s:\"]*/)?(?=site-packages/|pytorch/(?:aten|torch|build|c10)/)")


def main(out: str, *pythons: str) -> None:
    """Ask, and write the file."""
    results = []
    for python in pythons:
        version = ask(python)
        results.append({**version, "ops": {name: one for name, one in version["ops"].items() if name in OPERATORS}})
    with lzma.open(out, "wt") as file:
        file.write(_FOLDERS.sub("registered at ", json.dumps(results, indent=0)))


if __name__ == "__main__":
    main(*sys.argv[1:])
