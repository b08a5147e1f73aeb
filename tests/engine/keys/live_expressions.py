"""Evaluate key-set expressions with PyTorch's own key sets; they are Python expressions, so Python's precedence holds.

usage: PYTHON live_expressions.py < EXPRESSIONS   (run with the Python that has PyTorch; a list as JSON)

The answer has null for an expression with a key that PyTorch's enum does not have in Python, or with a number where key
sets cannot be made of numbers.
"""

import importlib
import json
import re
import sys
from typing import Any

core: Any = importlib.import_module("torch")._C


RAW = hasattr(core.DispatchKeySet, "from_raw_repr")
"""PyTorch 2.4 does not have it."""


def evaluated(text: str) -> Any:
    scope: dict[str, Any] = {name: core.DispatchKeySet(key) for name, key in core.DispatchKey.__members__.items()}
    scope["FULL_AFTER"] = lambda name: core._dispatch_keyset_full_after(getattr(core.DispatchKey, name))
    text = re.sub(r"FULL_AFTER\((\w+)\)", r"FULL_AFTER('\1')", text)
    text = re.sub(r"\b(0x[0-9a-f]+)", r"raw(\1)", text)
    scope["raw"] = getattr(core.DispatchKeySet, "from_raw_repr", None)
    try:
        keys = eval(text, {"__builtins__": {}}, scope)
    except (NameError, AttributeError, TypeError):
        return None
    return {"raw": keys.raw_repr() if RAW else None, "text": str(keys), "highest": int(keys.highestPriorityTypeId())}


print(json.dumps([evaluated(text) for text in json.load(sys.stdin)]))
