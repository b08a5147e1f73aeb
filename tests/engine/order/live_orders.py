"""Registers sets of kernels in given orders on a live PyTorch, and says whether its invariants hold after each order.

usage: PYTHON live_orders.py < ASKED.json   (run with the Python that has PyTorch)

ASKED: ids (key -> number), and sets, each with its calls [KEY or null, KIND] and orders, lists of positions. The kinds
are kernels of different functions, as PyTorch compares them: "impl", "def" (which defines the operator as well),
"python" and "fallthrough". Prints a list of booleans for each set.
"""

import importlib
import json
import sys
from typing import Any, Dict, List  # noqa: UP035

torch: Any = importlib.import_module("torch")
core: Any = torch._C
count = 0


def holds(calls: List[Any], order: List[int], keys: Dict[str, Any]) -> bool:  # noqa: UP006
    global count
    count += 1
    namespace = f"orders{count}"
    library = core._dispatch_library("FRAGMENT", namespace, "")
    for position in order:
        key, kind = calls[position]
        if kind == "impl":
            library.impl_t_t("foo", dispatch=key or "")
        elif kind == "def":
            library.def_name_t_t("foo", dispatch=key or "")
        else:
            kernel = torch.library.fallthrough_kernel if kind == "fallthrough" else (lambda x: x)
            library.impl("foo", keys[key], kernel)
    try:
        core._dispatch_check_invariants(f"{namespace}::foo")
    except RuntimeError:
        return False
    return True


asked = json.load(sys.stdin)
keys = {key: core.DispatchKey(number) for key, number in asked["ids"].items()}
print(json.dumps([[holds(each["calls"], order, keys) for order in each["orders"]] for each in asked["sets"]]))
