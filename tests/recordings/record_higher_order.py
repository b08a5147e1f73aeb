"""Record higher-order operators of a live PyTorch: what it answers about its own, and what calls of random ones run.

usage: python -m tests.recordings.record_higher_order PYTHON OUT.json.xz SEED COUNT   (PYTHON is one that has PyTorch)
"""

from __future__ import annotations

import json
import lzma
import subprocess
import sys
from pathlib import Path

from dispatch_cli.crossref.live import ask

CALLS = Path(__file__).parents[1] / "engine" / "call" / "higher_order" / "live_higher_order.py"


def main(python: str, out: str, seed: str, count: str) -> None:
    """Ask, and write the file. count: of random calls; with 0 none are made."""
    probed = ask(python)
    resolved, answers = probed.answers.resolved, probed.answers.higher_order
    assert resolved is not None and answers is not None, "a live PyTorch is asked for both"
    calls = []
    if count != "0":
        command = [python, str(CALLS), seed, count]
        calls = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    document = {
        "torch": probed.universe["torch"],
        "git": probed.universe["git"],
        "slots": resolved.slots,
        "answers": {
            name: {"resolved": resolved.rows[answer.row], "reached": sorted(answer.reached)}
            for name, answer in answers.items()
        },
        "calls": calls,
    }
    with lzma.open(out, "wt") as file:
        json.dump(document, file, indent=0)


if __name__ == "__main__":
    main(*sys.argv[1:])
