"""One scenario inside PyTorch: how its slots are filled, and what its call does.

usage: PYTHON scenarios_in_pytorch.py   (a scenario as JSON on standard input; run with the Python that has PyTorch)

The scenario: operators and fallbacks as in its file; slots [operator, key]; call [operator, arguments as Python code,
is it in inference mode] or null. The answer: the rules of the slots, the kernels that ran, the error or the warning.
"""

import json
import os
import sys
import warnings

import torch

libraries = {"aten": torch.library.Library("aten", "IMPL")}
ran = []


def kernel_named(name):
    """A kernel that notes its name."""

    def kernel(*_args, **_kwargs):
        ran.append(name)
        return torch.ones(2)

    return torch.library.fallthrough_kernel if name == "fallthrough" else kernel


def register(operators, fallbacks):
    """Operators of PyTorch have a name alone, others a schema."""
    for operator in operators:
        namespace, _, rest = operator.get("func", operator.get("name")).partition("::")
        if namespace not in libraries:
            libraries[namespace] = torch.library.Library(namespace, "DEF")
        if "func" in operator:
            libraries[namespace].define(rest)
        for key, name in operator["dispatch"].items():
            libraries[namespace].impl(rest.partition("(")[0], kernel_named(name), key)
    for key in fallbacks:
        libraries[key] = torch._C._dispatch_library("IMPL", "_", key)
        libraries[key].fallback_fallthrough()


def rule(operator, key):
    """The rule by which PyTorch fills a slot; None for an empty one."""
    lines = torch._C._dispatch_dump_table(operator).splitlines()
    return next((line.rpartition(" [")[2].rstrip("]") for line in lines if line.startswith(f"{key}: ")), None)


def message(operator, arguments, is_inference):
    """The text of the error, or of the warning about a missing kernel."""
    namespace, name = operator.split("::")
    with warnings.catch_warnings(record=True) as caught, torch.inference_mode(is_inference):
        warnings.simplefilter("always")
        try:
            result = eval(f"torch.ops.{namespace}.{name}({arguments})")
            if result.requires_grad:
                result.sum().backward()
        except Exception as error:
            return str(error)
    return next((str(warning.message) for warning in caught if "autograd kernel" in str(warning.message)), None)


asked = json.load(sys.stdin)
register(asked["operators"], asked["fallbacks"])
rules = [rule(*slot) for slot in asked["slots"]]
text = message(*asked["call"]) if asked["call"] else None
print(json.dumps({"rules": rules, "ran": ran, "message": text}))
sys.stdout.flush()
os._exit(0)  # PyTorch's own teardown of Python kernels is no part of this
