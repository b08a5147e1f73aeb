"""Register fake implementations in a live PyTorch; print, as JSON, what is refused and which one is active in the end.

usage: python live_fakes.py   (sequences as JSON on standard input; run with the Python that has torch)

A sequence is a list of steps: ["fake", NAME, ALLOW_OVERRIDE or null], ["kernel", NAME, KEY], ["drop", NAME]. The answer
is per sequence: the error of each step or "", the active fake implementation, and the number of kernels at Meta.
"""

import json
import os
import re
import sys

import torch

NAMESPACE = "fakes"


def function(name):
    def fake(x):
        return x

    fake.__name__ = name
    return fake


def register(operator, kind, *rest):
    library = torch.library.Library(NAMESPACE, "FRAGMENT")
    if kind == "kernel":
        library.m.impl(operator, rest[1], function(rest[0]), False)
    else:
        options = {} if rest[1] is None else {"allow_override": rest[1]}
        torch.library.register_fake(f"{NAMESPACE}::{operator}", function(rest[0]), lib=library, **options)
    return library


def take(libraries, operator, kind, name, *rest):
    """Take one step; its error or nothing."""
    try:
        if kind != "drop":
            libraries[name] = register(operator, kind, name, *rest)
        elif name in libraries:
            libraries.pop(name)._destroy()
    except RuntimeError as error:
        return re.sub(r"at \S+:\d+\.$", "at SOURCE.", str(error))
    return ""


def said(number, steps):
    operator = f"op{number}"
    definition = torch._C._dispatch_library("FRAGMENT", NAMESPACE, "")
    definition.def_(f"{operator}(Tensor x) -> Tensor")
    libraries = {}
    errors = [take(libraries, operator, *step) for step in steps]
    entry = torch._library.simple_registry.singleton.find(f"{NAMESPACE}::{operator}")
    kernel = (getattr(entry, "fake_impl", None) or entry.abstract_impl).kernel
    active = None if kernel is None else kernel.func
    while hasattr(active, "__closure__") and active.__name__ == "inner":
        active = next(cell.cell_contents for cell in active.__closure__ if callable(cell.cell_contents))
    dump = torch._C._dispatch_dump(f"{NAMESPACE}::{operator}")
    metas = len(re.findall(r"^Meta(?: \(inactive\))?: ", dump, re.MULTILINE))
    return errors, None if active is None else active.__name__, metas


json.dump([said(number, steps) for number, steps in enumerate(json.load(sys.stdin))], sys.stdout)
sys.stdout.flush()
os._exit(0)
