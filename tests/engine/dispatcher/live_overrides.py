"""Register kernels in a live PyTorch and print, as JSON, what each of its warnings names as the previous kernel.

usage: python live_overrides.py   (sequences as JSON on standard input; run with the Python that has torch)

A sequence is a list of steps: ["cpp", KEY, NAME], ["python", KEY, NAME], ["drop", NAME].
"""

import json
import os
import re
import sys
import tempfile
import warnings

import torch

PREVIOUS = re.compile(r"^  previous kernel: (.*)$", re.MULTILINE)


def register(name, kind, key, kernel):
    if kind == "cpp":
        library = torch._C._dispatch_library("IMPL", "overrides", "")
        library.impl_t_t(name, key, kernel)
        return library
    library = torch.library.Library("overrides", "IMPL")
    library.impl(name, lambda x: x.clone(), key, allow_override=True)
    return library


def said(number, steps):
    """Names in the warnings of one sequence, in order. They come from C++ and from Python."""
    name = f"op{number}"
    definition = torch._C._dispatch_library("FRAGMENT", "overrides", "")
    definition.def_(f"{name}(Tensor x) -> Tensor")
    registered = {}
    sys.stderr.flush()
    stderr = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        for kind, *rest in steps:
            if kind == "drop":
                dropped = registered.pop(rest[0])
                dropped._destroy() if isinstance(dropped, torch.library.Library) else dropped.reset()
                del dropped
            else:
                registered[rest[1]] = register(name, kind, *rest)
        sys.stderr.flush()
        os.dup2(stderr, 2)
        os.close(stderr)
        file.seek(0)
        return PREVIOUS.findall(file.read().decode())


torch.set_warn_always(True)
warnings.simplefilter("always")
json.dump([said(number, steps) for number, steps in enumerate(json.load(sys.stdin))], sys.stdout)
sys.stdout.flush()
os._exit(0)
