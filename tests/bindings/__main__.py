"""Random calls of all functions of the bindings against those of a live PyTorch.

usage: python -m tests.bindings PYTHON [PROGRAMS [SEED]]; PYTHON has PyTorch. Prints functions with their inputs, how
many are answered equally, and what differs, with the reason where it is meant. Exits with 1 for other differences.
"""

from __future__ import annotations

import os
import random
import sys
from collections import Counter

from dispatch_cli.api import load_state
from tests import in_pytorch
from tests.bindings.compared import ON_PURPOSE, Own, all_programs, differences, live_answers, reason_of, table
from tests.capture.support import TORCH_PYTHON, captured

SHOWN = 40


def main(python: str, count: str = "2000", seed: str = "") -> int:
    """Compare; the exit code."""
    os.environ[TORCH_PYTHON] = python
    chosen = int(seed or random.randrange(1 << 31))
    dispatcher = load_state([str(captured(vmap=False))]).dispatcher
    programs = all_programs(python, chosen, int(count))
    programs += [list(entry.example) for entry in ON_PURPOSE]
    live = live_answers(python, programs)
    problems = differences(programs, live, Own(dispatcher.universe, dispatcher).answers(programs))
    in_pytorch.stop()
    print(table(programs, problems))
    reasons = Counter(map(reason_of, problems))
    print(f"\nseed {chosen}: {len(programs)} programs")
    for reason, times in reasons.most_common():
        print(f"{times:>7} differ: {reason or 'not meant'}")
    rest = [difference for difference in problems if reason_of(difference) is None]
    for difference in rest[:SHOWN]:
        print(f"\n{difference}")
    return 1 if rest else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
