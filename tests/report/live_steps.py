"""Run by a Python with PyTorch: calls that fail, and the same calls as the answer to their error advises.

Writes a list: name, the step that is tried, what PyTorch printed, and what it printed with the step; empty: nothing.
"""

import json
import sys
import warnings
from pathlib import Path

import torch

lib = torch.library.Library("steps", "FRAGMENT")
for schema in ("joined(Tensor[] parts) -> Tensor", "above(Tensor x) -> Tensor", "mix(Tensor x) -> Tensor"):
    lib.define(schema)
lib.define("plain(Tensor x) -> Tensor")
lib.define("real(Tensor x) -> Tensor")
lib.define("view(Tensor(a) x) -> Tensor(a)")
lib.impl("view", lambda x: x.view(-1), "CPU")
lib.impl("joined", lambda parts: torch.cat(parts), "CPU")
lib.impl("above", lambda x: x.clone(), "Autograd")
lib.impl("mix", lambda x: x.clone(), "CompositeImplicitAutograd")
lib.impl("mix", lambda x: x.clone(), "MkldnnCPU")
lib.impl("plain", lambda x: torch.empty_like(x).requires_grad_(x.requires_grad), "CPU")
lib.impl("real", lambda x: x.clone(), "CPU")
ops = torch.ops.steps


def backward(x):
    """What warns, where the operator has no derivative."""
    y = ops.plain(x)
    if y.requires_grad:
        (y * 1).sum().backward()
    return y


def without_gradient(x):
    with torch.no_grad():
        y = ops.real(x)
    return (y * x).sum().backward()


def in_inference_mode(call, x):
    with torch.inference_mode():
        return call(x)


one = torch.ones(2, 2)
quantized = torch.quantize_per_tensor(one, 1.0, 0, torch.quint8)
nested = torch.nested.nested_tensor([one, one])
mkldnn = one.to_mkldnn()
sparse = one.to_sparse()
meta = one.to("meta")
CASES = [
    ("to-dense", "to-dense", lambda: sparse.cumsum(0), lambda: sparse.to_dense().cumsum(0)),
    ("mkldnn", "to-dense", lambda: mkldnn.cumsum(0), lambda: mkldnn.to_dense().cumsum(0)),
    ("dequantize", "dequantize", lambda: quantized.cumsum(0), lambda: quantized.dequantize().cumsum(0)),
    (
        "quantize",
        "quantize",
        lambda: torch.ops.quantized.add(one, one, 1.0, 0),
        lambda: torch.ops.quantized.add(quantized, quantized, 1.0, 0),
    ),
    ("pad", "pad", lambda: nested.cumsum(0), lambda: torch.nested.to_padded_tensor(nested, 0).cumsum(0)),
    ("unpack", "unpack", lambda: nested.cumsum(0), lambda: [part.cumsum(0) for part in nested.unbind()]),
    ("give-data", "give-data", lambda: ops.real(meta), lambda: ops.real(torch.ones_like(meta, device="cpu"))),
    ("not-empty", "not-empty", lambda: ops.joined([]), lambda: ops.joined([one])),
    ("inference-mode", "inference-mode", lambda: ops.mix(mkldnn), lambda: in_inference_mode(ops.mix, mkldnn)),
    ("with-autograd", "with-autograd", lambda: in_inference_mode(ops.above, one), lambda: ops.above(one)),
    (
        "no-grad",
        "no-grad",
        lambda: backward(torch.ones(2, requires_grad=True)),
        lambda: without_gradient(torch.ones(2, requires_grad=True)),
    ),
    ("no-vmap", "no-vmap", lambda: torch.vmap(ops.view)(one.clone()), lambda: ops.view(one.clone())),
]


def printed(call):
    """The error or the warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return "\n".join(str(one.message) for one in caught)


if __name__ == "__main__":
    found = [(name, step, printed(call), printed(helped)) for name, step, call, helped in CASES]
    Path(sys.argv[1]).write_text(json.dumps(found), encoding="utf-8")
