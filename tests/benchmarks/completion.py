"""How long a shell waits for completions, as a ratio to ``dispatch-cli --version``.

usage: python -m tests.benchmarks.completion [RUNS]
"""

from __future__ import annotations

import sys

from tests.benchmarks.measure import installed, report, side_by_side

LINES = (
    "dispatch-cli explain aten::",
    "dispatch-cli explain aten::add.",
    "dispatch-cli explain aten::add.Tensor Autograd",
    "dispatch-cli table --base torch-2.15 --op aten::so",
    "dispatch-cli resolve aten::mm --tensor 'cuda sp",
    "dispatch-cli resolve aten::mm --context mo",
    "dispatch-cli check-invariants --select no-",
    "dispatch-cli ta",
)
"""Lines that end in what is completed."""


def main(runs: int) -> None:
    """Measure the installed command, as bash calls it."""
    for line in LINES:
        word = line.rpartition(" ")[2]
        asked = ("_DISPATCH_CLI_COMPLETE=bash_complete", f"_DISPATCH_CLI_LINE={line}", f"_DISPATCH_CLI_WORD={word}")
        ours, peer = side_by_side(["env", *asked, installed()], ["env", installed(), "--version"], runs)
        report(f"{line}<Tab> against dispatch-cli --version", ours, peer, runs)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 21)
