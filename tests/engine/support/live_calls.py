"""Call PyTorch's composite operators with the samples of OpInfo, and write which operators each of them calls.

usage: PYTHON live_calls.py < NAMES.json   (with the Python that has PyTorch and NumPy)

The names of the operators; the answer has, for each that samples fit, the operators that it comes to.
"""

import itertools
import json
import sys
import warnings
from pathlib import Path

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

sys.path.insert(0, str(Path(__file__).parents[1] / "call" / "judge"))
from live_opinfo import import_op_db

MOST_SAMPLES = 60


class Calls(TorchDispatchMode):
    """The operators that come to Python: those that are not taken apart."""

    def __init__(self):
        super().__init__()
        self.called = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.called.add(func.name())
        return func(*args, **(kwargs or {}))


def copied(values):
    return pytree.tree_map(lambda value: value.clone() if isinstance(value, torch.Tensor) else value, values)


def calls_of(overload, samples):
    """The operators that any of the samples comes to; None where none fits."""
    called = None
    for sample in samples:
        calls = Calls()
        try:
            args, kwargs = copied((sample.input, *sample.args)), copied(sample.kwargs)
            with calls:
                overload(*args, **kwargs)
        except Exception:
            continue
        called = (called or set()) | calls.called
    return called


def main():
    warnings.simplefilter("ignore")
    names = set(json.load(sys.stdin))
    answer = {}
    for info in import_op_db():
        dtype = next((dtype for dtype in (torch.float32, torch.int64, torch.bool) if dtype in info.dtypes), None)
        base = (info.aten_name or info.name).rpartition(".")[2]
        overloads = [
            getattr(packet, overload)
            for name in (base, base + "_", *(alias.name for alias in info.aliases))
            if (packet := getattr(torch.ops.aten, name, None)) is not None
            for overload in packet.overloads()
        ]
        wanted = [overload for overload in overloads if overload.name() in names]
        if dtype is None or not wanted:
            continue
        try:
            samples = list(itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=False), MOST_SAMPLES))
        except Exception:
            continue
        for overload in wanted:
            called = calls_of(overload, samples)
            if called is not None:
                called |= set(answer.get(overload.name(), ()))
                answer[overload.name()] = sorted(called - {overload.name()})
    json.dump(answer, sys.stdout)


main()
