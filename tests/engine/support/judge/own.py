"""Call PyTorch's own operators in every context of the support matrix, with the samples of OpInfo.

usage: PYTHON own.py < ASKED   (with the Python that has PyTorch and NumPy)

ASKED: count and seed of operators chosen at random, in JSON. The lines are those of `live.py`. An operator's samples
are spread over all that OpInfo has; a cell in which they differ is not judged.
"""

import itertools
import json
import random
import sys
from pathlib import Path

import torch
from torch.utils import _pytree as pytree

sys.path.insert(0, str(Path(__file__).parents[2] / "call" / "judge"))
import live
from live_opinfo import import_op_db

SAMPLES = 4
MOST_ELEMENTS = 20_000


class Own(live.Subject):
    """It is its own reference. One with floating results is to have derivatives."""

    def expected(self, how):
        results = super().expected(how)
        if results is not None or how not in live.DERIVATIVES:
            return results
        results = super().expected(live.plain)
        if results is None or not any(map(live.is_float, results)):
            return None
        return (results, []) if how is live.trained else []


def writes_of(overload):
    """The places of the arguments that it writes to."""
    infos = [argument.alias_info for argument in overload._schema.arguments]
    return [place for place, alias in enumerate(infos) if alias is not None and alias.is_write]


def overload_of(base, sample):
    """The overload of that name that takes a sample as it is; None if none does."""
    packet = getattr(torch.ops.aten, base, None)
    for name in packet.overloads() if packet is not None else ():
        overload = getattr(packet, name)
        copies = pytree.tree_map_only(torch.Tensor, torch.clone, (sample.input, sample.args, sample.kwargs))
        try:
            if writes_of(overload) in ([], [0]) and live.tensors_in(overload(copies[0], *copies[1], **copies[2])):
                return overload
        except Exception:  # it takes other arguments
            continue
    return None


def subject_of(overload, sample):
    leaves, spec = pytree.tree_flatten(((sample.input, *sample.args), sample.kwargs))
    tensors = [leaf.detach() for leaf in leaves if isinstance(leaf, torch.Tensor)]
    devices = ["cpu"]

    def fill(given):
        left, device = iter(given), torch.device(devices[0])
        filled = [next(left) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        return pytree.tree_unflatten([device if isinstance(leaf, torch.device) else leaf for leaf in filled], spec)

    calls = [live.Call(overload, fill, writes_of(overload)) for _ in range(2)]
    return Own(*calls, tensors, lambda name: devices.__setitem__(0, name), as_bfloat16=True)


def subjects(info):
    """By overload, subjects of samples that are spread over all."""
    dtype = next((dtype for dtype in (torch.float32, torch.int64, torch.bool) if dtype in info.dtypes), None)
    if dtype is None:
        return {}
    torch.manual_seed(0)
    samples = list(itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=False), 60))
    samples = [row for row in samples if isinstance(row.input, torch.Tensor) and row.input.numel() <= MOST_ELEMENTS]
    base = (info.aten_name or info.name).rpartition(".")[2]
    several = {}
    for sample, name in itertools.product(samples[:: 1 + len(samples) // (3 * SAMPLES)], (base, base + "_")):
        overload = overload_of(name, sample)
        if overload is not None and len(several.setdefault(overload, [])) < SAMPLES:
            several[overload].append(subject_of(overload, sample))
    return several


def cell(several, device, context):
    """That of all samples."""
    outcomes = [one_cell(subject, device, context) for subject in several]
    random_numbers = torch.Tag.nondeterministic_seeded in several[0].call.called.tags
    if random_numbers and any("other values" in seen for _, seen in outcomes):
        return "not judged", "it draws random numbers"
    outcomes = [outcome for outcome in outcomes if outcome[0] != "none"] or outcomes
    kinds = sorted({outcome for outcome, _ in outcomes})
    return outcomes[0] if len(kinds) == 1 else ("not judged", "samples differ: " + " ".join(kinds))


one_cell, live.cell = live.cell, cell


def main():
    live.prepare()
    live.SECONDS = 20
    asked = json.load(sys.stdin)
    infos = list(import_op_db())
    random.Random(asked["seed"]).shuffle(infos)
    seen = set()
    for info in infos:
        if len(seen) >= asked["count"]:
            break
        try:
            several = subjects(info)
        except Exception:  # it has no samples here
            continue
        for overload in [overload for overload in several if overload not in seen][: asked["count"] - len(seen)]:
            seen.add(overload)
            cells = live.in_fork(lambda rows=several[overload]: rows, live.CELLS)
            print(json.dumps({"name": overload.name(), "cells": cells}), flush=True)


if __name__ == "__main__":
    main()
