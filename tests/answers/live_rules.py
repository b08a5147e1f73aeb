"""Put the examples of the rules into a live PyTorch, and say what its table has.

usage: PYTHON live_rules.py   (run with the Python that has PyTorch)

It reads cases from standard input: the slot that is asked about, the key of each kernel → its name, and the key of each
backend fallback → its name. It writes, for each, the kernel in the slot and PyTorch's name of the rule; null for both
where the slot is empty.
"""

import json
import sys

import torch

NAMESPACE = "live_rules"
library = torch._C._dispatch_library("FRAGMENT", NAMESPACE, "", "live_rules.py", 1)
fallbacks = []


def answer(number, key, kernels, own_fallbacks):
    """Entry of PyTorch's table in the slot of an operator with these kernels."""
    name = f"op{number}"
    library.def_(f"{name}(Tensor x) -> Tensor")
    for where, kernel in kernels.items():
        library.impl_t_t(name, where, kernel)
    for where in own_fallbacks:
        fallbacks.append(torch.library.Library("_", "IMPL", where))
        fallbacks[-1].fallback(lambda *_: None, where)
    lines = torch._C._dispatch_dump_table(f"{NAMESPACE}::{name}").splitlines()
    text = next((line.removeprefix(f"{key}: ") for line in lines if line.startswith(f"{key}: ")), None)
    return (None, None) if text is None else (text.rpartition(" [")[0], text.rpartition(" [")[2].rstrip("]"))


print(json.dumps([answer(number, *case) for number, case in enumerate(json.load(sys.stdin))]))
