"""All classes on a live backend, judged: ``python -m tests.engine.coverage PYTHON [OPERATORS [SEED]]``.

PYTHON has a PyTorch that can have a backend in Python (2.10 or newer). OPERATORS: of each class, 60 by default.
"""

from __future__ import annotations

import random
import sys

from tests.capture.support import live_state
from tests.engine.coverage.backend import FALLBACKS, answers, judged, live_dispatcher, plan, table


def main() -> None:
    python = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
    state = live_state(python)
    for fallback in FALLBACKS:
        asked, ours = plan(live_dispatcher(state), fallback, count, seed)
        print(f"PyTorch {state['torch']}, fallback at PrivateUse1: {fallback}, seed {seed}")
        print(table(judged(ours, answers(python, asked), fallback)), flush=True)


if __name__ == "__main__":
    main()
