"""Gradients in calls of operators without a derivative, on a live PyTorch, as JSON."""

import json
import sys
import warnings

import torch

SCHEMA = "(Tensor x) -> Tensor"


def copied(x):
    """A kernel in which nothing records a gradient."""
    return x.detach().clone()


def define(library, operators):
    """The operators of a library, each with its kernels by key."""
    for name, kernels in operators.items():
        library.define(f"{name}{SCHEMA}")
        for key, kind in kernels.items():
            kernel = torch.library.fallthrough_kernel if kind == "fallthrough" else copied
            library.impl(name, kernel, key)


def outcome(function, layout="strided", grad=True):
    """Outcome of a call: that the result has no grad_fn, or what the backward pass does."""
    x = torch.ones(2)
    x = (x.to_sparse() if layout == "sparse" else x).requires_grad_()
    with torch.set_grad_enabled(grad):
        result = function(x)
    if not result.requires_grad:
        return "no grad_fn"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            torch.autograd.backward(result, result.detach().clone())
        except RuntimeError as error:
            if "register_autograd" not in str(error):
                raise
            return "raises"
    lost = any("autograd kernel was not registered" in str(warning.message) for warning in caught)
    return "warns" if lost and x.grad is None else "gives a gradient"


def main():
    """Print what was seen of each call that is asked for."""
    asked = json.load(sys.stdin)
    library = torch.library.Library("lost", "DEF")
    define(library, asked["operators"])

    @torch.library.custom_op("lost::made", mutates_args=())
    def made(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    print(json.dumps([outcome(getattr(torch.ops.lost, name), layout, grad) for name, layout, grad in asked["calls"]]))


if __name__ == "__main__":
    main()
