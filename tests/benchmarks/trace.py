"""Cost of recording a call: the same loops alone, recorded, and under PyTorch's own profiler.

    python -m tests.benchmarks.trace [PYTHON]

PYTHON has PyTorch; else ``DISPATCH_CLI_TORCH_PYTHON`` names it. Processor time of one thread, the least of several
rounds, the profiler's work at its end included; each row is one process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from dispatch_cli.trace.launch import variables
from tests.trace.recorded import library_of

PROGRAM = '''
import contextlib, resource, sys, time
import torch

torch.set_num_threads(1)
a, b = torch.ones(2), torch.ones(2)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(4, 8)


def add(n):
    for _ in range(n):
        torch.add(a, b)


def step(n):
    for _ in range(n):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()


def profiled():
    return torch.profiler.profile(record_shapes=True, with_stack=True, activities=[torch.profiler.ProfilerActivity.CPU])


def least(run, n, around):
    run(10)
    found = []
    for _ in range(7):
        start = time.process_time()
        with around():
            run(n)
        found.append((time.process_time() - start) / n * 1e6)
    return min(found)


def calls(run):
    """Of the dispatcher, as the profiler counts events: for the loop that is recorded."""
    with torch.profiler.profile() as one:
        run(1)
    return sum(event.name.startswith("aten::") for event in one.events())


around = profiled if sys.argv[1:] == ["profiler"] else contextlib.nullcontext
for name, run, n in (("add", add, 5000), ("step", step, 200)):
    print(name, least(run, n, around), calls(run))
print("memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 0)
'''


def measure(python: str, folder: Path, way: str) -> dict[str, tuple[float, float]]:
    """Microseconds per round and calls in it, by loop; and the memory in MiB."""
    program = folder / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    words = [python, str(program), *(["profiler"] if way == "profiler" else [])]
    environment = dict(os.environ)
    if way == "recorded":
        environment |= variables(words[1:], library_of(python), str(folder / "recording"), state=False)
    done = subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True, env=environment
    )
    lines = [line.split() for line in done.stdout.splitlines()]
    return {name: (float(cost), float(calls)) for name, cost, calls in lines}


def main() -> None:
    """Print a row for each way of running."""
    python = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("DISPATCH_CLI_TORCH_PYTHON")
    if not python:
        sys.exit("give a Python that has PyTorch, or name it in DISPATCH_CLI_TORCH_PYTHON")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        alone = measure(python, folder, "alone")
        for way in ("alone", "recorded", "profiler"):
            figures = alone if way == "alone" else measure(python, folder, way)
            parts = [f"{way:24} {figures['memory'][0]:5.0f} MiB"]
            for loop in ("add", "step"):
                cost, calls = figures[loop][0], alone[loop][1]
                extra = (cost - alone[loop][0]) / calls
                parts.append(f"{loop} {cost:8.2f} µs ({cost / alone[loop][0]:5.2f} x, {extra:5.2f} µs more a call)")
            print("   ".join(parts), flush=True)
        recording = folder / "recording"
        lines = recording.read_bytes().splitlines()
        count = sum(line.startswith(b'["c"') for line in lines)
        print(f"recording: {recording.stat().st_size / count:.0f} bytes a call, {count} calls")


if __name__ == "__main__":
    main()
