"""Every operator's table dump to a file, whole process, as a ratio to PyTorch doing the same; and in process.

usage: python -m tests.benchmarks.every_table TORCH_PYTHON [RUNS]

TORCH_PYTHON is a Python that has PyTorch 2.15, whose embedded state is dumped as a whole process. In process, its own
captured state is, so that both dump the same operators.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.measure import installed, report, side_by_side

THEIRS = """
import sys, torch
dump = torch._C._dispatch_dump_table
with open(sys.argv[1], "w") as file:
    for name in sorted(torch._C._dispatch_get_all_op_names()):
        file.write(dump(name) + "\\n")
"""
THEIR_LOOP = """
import json, sys, time, torch
dump = torch._C._dispatch_dump_table
names = sorted(torch._C._dispatch_get_all_op_names())
seconds = []
for _ in range(int(sys.argv[1])):
    start = time.process_time()
    for name in names:
        dump(name)
    seconds.append(time.process_time() - start)
print(json.dumps([len(names), seconds]))
"""


def main(torch_python: str, runs: int) -> None:
    """Capture and measure."""
    with tempfile.TemporaryDirectory() as folder:
        capture, out = Path(folder, "capture.json"), Path(folder, "out")
        command = [installed(), "capture", "--python", torch_python, "-o", str(capture)]
        subprocess.run(command, check=True)
        _whole_process(torch_python, out, runs)
        _in_process(torch_python, capture, runs)


def _whole_process(torch_python: str, out: Path, runs: int) -> None:
    ours = ["table", "--base", "torch-2.15", "--format", "raw", "-o", str(out)]
    measured = side_by_side([installed(), *ours], [torch_python, "-c", THEIRS, str(out)], runs)
    report("raw dump of every table to a file against PyTorch's", *measured, runs)


def _in_process(torch_python: str, capture: Path, runs: int) -> None:
    from dispatch_cli.api import load_state
    from dispatch_cli.engine.dispatcher.dump import dump_table

    dispatcher = load_state([str(capture)]).dispatcher
    names = sorted(dispatcher, key=str)
    ours = []
    for _ in range(runs):
        start = time.process_time()
        for name in names:
            dump_table(dispatcher, name)
        ours.append(time.process_time() - start)
    command = [torch_python, "-c", THEIR_LOOP, str(runs)]
    count, theirs = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert count == len(names), "both sides must dump the same operators"
    own, peer = statistics.median(ours), statistics.median(theirs)
    print(f"all {count} tables in process against torch._C._dispatch_dump_table")
    print(f"  ours {own:.3f} s, the first time {ours[0]:.3f} s   peer {peer:.3f} s   median of {runs}")
    print(f"  ratio {own / peer:.2f}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5)
