"""All of OpInfo in all contexts, judged: ``python -m tests.engine.call.judge PYTHON [SAMPLES]``.

PYTHON has PyTorch and NumPy; a C++ compiler is needed. SAMPLES: per operator and context, 1 by default.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.engine.call.judge.compare import table
from tests.engine.call.judge.run import CONTEXTS, judged, run


def main() -> None:
    samples = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with tempfile.TemporaryDirectory() as directory:
        run(sys.argv[1], Path(directory), CONTEXTS, samples)
        print(table(judged(Path(directory)).tallies))


if __name__ == "__main__":
    main()
