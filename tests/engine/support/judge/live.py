"""Call operators in every context of the support matrix, each in a process of its own, and say what came of it.

usage: PYTHON live.py < LIST   (with the Python that has PyTorch)

LIST: operators in JSON. name; source and cpp: its library in Python and C++; body: a Python function that does what its
kernels do; values: its arguments, "t" for a tensor and "tt" for two; keywords: the arguments that are given by name;
writes: those that the body writes to. Each gives a line: what refused it, or its cells. A cell is the device, the
context, the outcome and what was seen: ``works``, ``raises``, ``gradient`` (it returns, and the gradient is missing,
wrong, or raises), ``wrong``, ``none`` (the context means nothing here), or ``not judged``.
"""

import contextlib
import functools
import json
import os
import signal
import sys
import tempfile
import warnings
from pathlib import Path

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils import cpp_extension

SECONDS = 30
"""The longest time of a cell, of the processor."""


class Call:
    """A call of tensors alone. fill: from tensors to arguments and keywords. writes: which are written to."""

    def __init__(self, called, fill, writes):
        self.called, self.fill, self.writes, self.returned = called, fill, writes, False

    def result(self, *tensors):
        arguments, keywords = self.fill(tensors)
        return self.called(*arguments, **keywords)

    def all_of(self, result, tensors):
        """The tensors of the result, and after them those that were written to."""
        self.returned = True
        return [*tensors_in(result), *(tensors[place] for place in self.writes)]

    def plain(self, tensors):
        return self.all_of(self.result(*tensors), tensors)

    def on_copies(self, tensors):
        """The same where no tensor is a leaf, and none that was given is written to."""
        return self.plain([tensor.clone() for tensor in tensors])


class Subject:
    """An operator with arguments. call: it; reference: what it is to do; tensors: on the CPU.

    on_device: has `fill` name a device. as_bfloat16: whether it may cast its tensors under autocast.
    """

    def __init__(self, call, reference, tensors, on_device, as_bfloat16=False):
        self.call, self.reference, self.tensors = call, reference, tensors
        self.on_device, self.as_bfloat16 = on_device, as_bfloat16

    def expected(self, how):
        """Result of the reference, on the CPU; None where the context means nothing for it."""
        self.on_device("cpu")
        torch.manual_seed(0)
        try:
            return how(self.reference, [tensor.clone() for tensor in self.tensors])
        except Exception:
            return None


def tensors_in(result):
    if isinstance(result, (tuple, list)):
        return [tensor for part in result for tensor in tensors_in(part)]
    return [result] if isinstance(result, torch.Tensor) else []


def is_float(tensor):
    return tensor.is_floating_point() or tensor.is_complex()


def total(results):
    """One number of all results that can have a derivative; None where none has."""
    parts = [(tensor.abs() if tensor.is_complex() else tensor).sum() for tensor in results if is_float(tensor)]
    return sum(parts) if parts else None


def difference(actual, expected, device, loose=False):
    """Difference of results from the expected ones, in words; None where there is none. loose: they may be bfloat16."""
    if len(actual) != len(expected):
        return f"{len(actual)} results for {len(expected)}"
    for place, (tensor, other) in enumerate(zip(actual, expected, strict=True)):
        if tensor is None:
            return f"result {place} is missing"
        dtypes = {other.dtype, torch.bfloat16} if loose else {other.dtype}
        if tensor.shape != other.shape or tensor.dtype not in dtypes or tensor.device.type != device:
            return f"result {place} is {tensor.dtype} {tuple(tensor.shape)} on {tensor.device.type}"
        if device == "meta" or isinstance(tensor, FakeTensor):
            continue
        tensor, other = (some.detach().to_dense().to(other.dtype) for some in (tensor, other))
        near = 0.05 if loose else 1e-4
        largest = max(1, other.abs().nan_to_num().max().item()) if other.numel() and is_float(other) and loose else 1
        if not torch.allclose(tensor, other, near, near * largest, equal_nan=True):
            return f"result {place} has other values"
    return None


def inside(manager):
    def how(call, tensors):
        with manager():
            return call.plain(tensors)

    return how


def faked(call, tensors):
    with FakeTensorMode() as mode:
        return call.plain([mode.from_tensor(tensor) for tensor in tensors])


def compiled(call, tensors):
    torch._dynamo.reset()
    return call.all_of(torch.compile(call.result, backend="aot_eager", fullgraph=True)(*tensors), tensors)


def vmapped(call, tensors):
    batch = [torch.stack([tensor, tensor + 1 if is_float(tensor) else tensor]) for tensor in tensors]
    return torch.func.vmap(lambda *given: tuple(call.on_copies(given)), randomness="different")(*batch)


def one_by_one(call, tensors):
    """The reference of `vmapped`; None without tensors."""
    parts = [call.on_copies([tensor + n if is_float(tensor) else tensor for tensor in tensors]) for n in range(2)]
    return [torch.stack(several) for several in zip(*parts, strict=True)] if tensors and parts[0] else None


def trained(call, tensors):
    """The results, and the gradient of each floating tensor after a backward pass; None where no result has one."""
    leaves = [tensor.requires_grad_() if is_float(tensor) else tensor for tensor in tensors]
    results = call.on_copies(leaves)
    loss = total([tensor for tensor in results if tensor.requires_grad])
    if loss is None:
        return results, None
    loss.backward()
    return results, [tensor.grad for tensor in leaves if is_float(tensor)]


def differentiable(call, tensors):
    """A function of the floating tensors alone, and those."""

    def run(*some):
        left = iter(some)
        results = call.on_copies([next(left) if is_float(tensor) else tensor for tensor in tensors])
        return [tensor for tensor in results if is_float(tensor)]

    return run, tuple(filter(is_float, tensors))


def graded(call, tensors):
    run, some = differentiable(call, tensors)
    return torch.func.grad(lambda *given: total(run(*given)), argnums=tuple(range(len(some))))(*some)


def jvped(call, tensors):
    run, some = differentiable(call, tensors)
    return torch.func.jvp(run, some, tuple(map(torch.ones_like, some)))[1]


plain = inside(contextlib.nullcontext)
autocasted = inside(functools.partial(torch.autocast, "cpu", torch.bfloat16))
CONTEXTS = {
    "eager": (plain, plain),
    "train": (trained, trained),
    "fake": (faked, plain),
    "compile": (compiled, plain),
    "vmap": (vmapped, one_by_one),
    "grad": (graded, graded),
    "jvp": (jvped, jvped),
    "autocast": (autocasted, plain),
    "inference": (inside(torch.inference_mode), plain),
}
"""Calls of a context, and of its reference."""
DERIVATIVES = (trained, graded, jvped)
CELLS = [(device, context) for device in ("cpu", "meta") for context in CONTEXTS]
CELLS.remove(("meta", "autocast"))  # PyTorch has none


def cell(subject, device, context):
    """The outcome, and what was seen."""
    how, reference = CONTEXTS[context]
    call, expected, derives = subject.call, subject.expected(reference), how in DERIVATIVES
    subject.on_device(device)
    given = [tensor.clone() if device == "cpu" else tensor.to(device) for tensor in subject.tensors]
    if expected is None or (how is trained and expected[1] is None) or (derives and not any(map(is_float, given))):
        return "none", ""
    call.returned = False
    torch.manual_seed(0)
    try:
        actual = how(call, given)
    except Exception as error:
        return "gradient" if derives and call.returned else "raises", f"{type(error).__name__}: {error}"[:600]
    if not derives:
        differs = difference(actual, expected, device, how is autocasted and subject.as_bfloat16)
        return ("works", "") if differs is None else ("wrong", differs)
    if how is trained:
        differs = difference(actual[0], expected[0], device)
        if differs is not None:
            return "wrong", differs
        actual, expected = actual[1], expected[1]
        if actual is None:
            return "gradient", "no result requires a gradient"
    # a tensor that does not contribute has no gradient, or one of zeros
    pairs = [
        (tensor, other) for tensor, other in zip(actual, expected, strict=True) if other is not None and other.any()
    ]
    differs = difference([tensor for tensor, _ in pairs], [other for _, other in pairs], device)
    return ("works", "") if differs is None else ("gradient", differs)


def subject_of(operator, folder):
    """The subject of a random operator; its library is run from a file, as a user's is."""
    path = Path(folder, "library.py")
    path.write_text(operator["source"], encoding="utf-8")
    library = {"__name__": "library", "__file__": str(path), "torch": torch}
    exec(compile(operator["source"], path, "exec"), library)
    exec(operator["body"], library)
    torch.manual_seed(0)
    values, device, places, tensors = operator["values"], ["cpu"], [], []
    for name, kind in values.items():
        if name in operator["writes"]:
            places.append(len(tensors))
        tensors += [torch.rand(3, 3) for _ in kind] if kind in ("t", "tt") else []

    def fill(given):
        left, filled = iter(given), {}
        for name, kind in values.items():
            several = [next(left) for _ in kind] if kind in ("t", "tt") else [kind]
            filled[name] = torch.device(device[0]) if kind == "device" else several if kind == "tt" else several[0]
        keywords = {name: filled.pop(name) for name in operator["keywords"]}
        return list(filled.values()), keywords

    called = torch.ops.judge
    for part in operator["name"].partition("::")[2].split("."):
        called = getattr(called, part)
    calls = Call(called, fill, places), Call(library["body"], fill, places)
    casts = "autocast" in (operator["source"] + operator["cpp"]).lower()
    return Subject(*calls, tensors, lambda name: device.__setitem__(0, name), casts)


def run(make, cells, out):
    """Be the process of an operator. A cell that takes too long ends it."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        subject = make()
    except Exception as error:
        print(json.dumps(["refused", f"{type(error).__name__}: {error}"[:600]]), file=out, flush=True)
        return
    for device, context in cells:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            outcome = cell(subject, device, context)
        except Exception as error:
            outcome = ("not judged", f"the judge fails: {error}"[:200])
        print(json.dumps([device, context, *outcome]), file=out, flush=True)


def in_fork(make, cells):
    """Output of `run` in a process of its own. A cell in which that ends is not judged, and it goes on behind it."""
    left, written = list(cells), []
    while left:
        read, write = os.pipe()
        child = os.fork()
        if not child:
            for stream in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
            run(make, left, os.fdopen(write, "w"))
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as lines:
            rows = [json.loads(line) for line in lines]
        os.waitpid(child, 0)
        written += rows
        left = left[len(rows) :] if not rows or rows[0][0] != "refused" else []
        if left:
            written.append([*left.pop(0), "not judged", "the process ends, or takes too long"])
    return written


def prepare():
    """Do what each process would do again."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch._C._functorch._set_vmap_fallback_warning_enabled(False)
    for how, _ in CONTEXTS.values():
        how(Call(torch.sin, lambda tensors: (tensors, {}), []), [torch.ones(2)])


def load_cpp(sources, folder):
    """Build the libraries in C++ as one, which takes as long as one of them, and load it."""
    path = Path(folder, "library.cpp")
    path.write_text("\n".join(sources), encoding="utf-8")
    cpp_extension.load("judged", [str(path)], extra_cflags=["-O0"], build_directory=folder, is_python_module=False)


def main():
    prepare()
    with tempfile.TemporaryDirectory() as folder:
        operators = json.load(sys.stdin)
        if any(operator["cpp"] for operator in operators):
            load_cpp([operator["cpp"] for operator in operators], folder)
        for operator in operators:
            cells = in_fork(lambda operator=operator: subject_of(operator, folder), CELLS)
            print(json.dumps({"name": operator["name"], "cells": cells}), flush=True)


if __name__ == "__main__":
    main()
