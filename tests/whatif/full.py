"""Many random changes: what is written against what was tried, and what is said to be different against all of it.

usage: python -m tests.whatif.full [COUNT] [SEED]
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from dispatch_cli.api import load_state
from dispatch_cli.model.names import OperatorName
from dispatch_cli.whatif.whatif import WhatIf
from tests.whatif.random_changes import make_random_changes
from tests.whatif.test_effect import check_effect
from tests.whatif.test_written import EXAMPLES, calls, seen


def main(count: int, seed: int) -> None:
    """Errors: AssertionError for the first that is not equal."""
    base = load_state([], bases=["torch-2.15"])
    total = written = 0
    for number in range(seed, seed + count):
        dice = Random(number)
        path = None if dice.random() < 0.5 else dice.choice(EXAMPLES)
        state = base if path is None else load_state([str(path)])
        tried = WhatIf(state)
        operators = state.own_operators() or [OperatorName.parse(name) for name in state.dispatcher.names()]
        operators = dice.sample(operators, min(4, len(operators))) or [OperatorName("x::y")]
        make_random_changes(dice, tried, operators, 8)
        if not tried.changes:
            continue
        total += len(tried.changes)
        written += 1
        with TemporaryDirectory() as folder:
            file = tried.write(str(Path(folder) / "changes.yaml"))
            loaded = load_state([file] if path is None else [str(path), file], bases=["torch-2.15"] * (path is None))
        assert seen(loaded, operators) == seen(tried.state, operators), number
        assert calls(loaded, operators) == calls(tried.state, operators), number
        if path is not None and not any(touched.keys for touched in tried.touched):
            check_effect(tried, number)
    print(f"{written} files with {total} changes, all equal")


if __name__ == "__main__":
    main(*(int(argument) for argument in (*sys.argv[1:], *("100", "0")[len(sys.argv) - 1 :])))
