"""A script for a Python that has PyTorch: the outcome of each case of `test_compiled_cases`.

It reads [module, namespace, body, how] of each case and the modules that `infer_schema` may refuse, and writes JSON.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import torch

warnings.simplefilter("ignore")


def as_written(source: str) -> Any:
    """The module, in which annotations are no texts."""
    return compile(source, "case", "exec", dont_inherit=True)


def outcome(source: str, namespace: str, body: str, how: str) -> str:
    torch._dynamo.reset()
    names: dict[str, Any] = {}
    try:
        exec(as_written(source), names)
        exec(f"def function(op, x):\n    {body}", names)
        function, op = names["function"], getattr(torch.ops, namespace).op
        if how == "train":
            x = torch.ones(2, 3, requires_grad=True)
            function(op, x).sum().backward()
            return "same" if x.grad is not None and x.grad.tolist() == [[2.0] * 3] * 2 else "differs"
        if how == "vmap":
            x = torch.ones(2, 3)
            return "same" if torch.equal(torch.vmap(lambda row: function(op, row))(x), function(op, x)) else "differs"
        with torch.no_grad():
            eager = function(op, torch.zeros(2, 3))
            compiled = torch.compile(lambda x: function(op, x), backend="aot_eager", fullgraph=True)
            return "same" if torch.equal(eager, compiled(torch.zeros(2, 3))) else "differs"
    except Exception:
        return "raises"


def refusal(source: str) -> str | None:
    try:
        exec(as_written(source), {})
    except Exception as error:
        return str(error)
    return None


given = json.load(sys.stdin)
print(json.dumps([[outcome(*case) for case in given["cases"]], [refusal(module) for module in given["modules"]]]))
