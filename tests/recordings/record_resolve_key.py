"""Record what ``torch._ops.resolve_key`` answers for every operator and runtime key of a live PyTorch.

usage: python -m tests.recordings.record_resolve_key PYTHON OUT.json.xz   (PYTHON is one that has PyTorch)
"""

from __future__ import annotations

import json
import lzma
import sys

from dispatch_cli.crossref.live import ask


def main(python: str, out: str) -> None:
    """Ask, and write the file."""
    probed = ask(python)
    resolved = probed.answers.resolved
    assert resolved is not None, "a live PyTorch is asked for it"
    document = {
        "torch": probed.universe["torch"],
        "git": probed.universe["git"],
        "slots": resolved.slots,
        "rows": resolved.rows,
        "row_of": resolved.row_of,
    }
    with lzma.open(out, "wt") as file:
        json.dump(document, file, indent=0)


if __name__ == "__main__":
    main(*sys.argv[1:])
