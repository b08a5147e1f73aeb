"""Recorder and engine, judged by what really runs: ``python -m tests.trace.judge PYTHON [PROGRAM…]``.

PYTHON has PyTorch; a C++ compiler is needed. PROGRAM: of ``tests/trace/programs``, all by default.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.trace.judge.run import Failed, judge, names, table


def main() -> None:
    python, *programs = sys.argv[1:]
    results = []
    for program in programs or names():
        with tempfile.TemporaryDirectory() as directory:
            try:
                results.append(judge(python, program, Path(directory)))
            except Failed as failure:
                print(f"{program}: {failure}", file=sys.stderr)
    print(table(results))


if __name__ == "__main__":
    main()
