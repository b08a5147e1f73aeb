"""Registration blocks on a live PyTorch, of which some throw: the state after each.

usage: PYTHON live_blocks.py < ASKED.json   (run with the Python that has PyTorch)

ASKED: histories, each a list of blocks, each a list of steps: ["def", SCHEMA] or ["impl", KEY, DEBUG]. A block that
throws is destroyed on the spot, as a static initialiser's ``Library`` is. Prints, for every history and block, the
error or null, both dumps of its operator ``foo``, and whether PyTorch's invariants hold.
"""

import importlib
import json
import sys
from typing import Any, Dict, List  # noqa: UP035

core: Any = importlib.import_module("torch")._C


def run(namespace: str, history: List[Any]) -> List[Dict[str, Any]]:  # noqa: UP006
    held, after = [], []
    for block in history:
        library, error = core._dispatch_library("FRAGMENT", namespace, ""), None
        try:
            for step in block:
                if step[0] == "def":
                    library.def_(step[1])
                else:
                    library.impl_t_t("foo", dispatch=step[1], debug=step[2])
        except RuntimeError as refused:
            error = str(refused)
        else:
            held.append(library)
        del library
        after.append({"error": error, **state(f"{namespace}::foo")})
    return after


def state(name: str) -> Dict[str, Any]:  # noqa: UP006
    try:
        core._dispatch_check_invariants(name)
        holds = True
    except RuntimeError:
        holds = False
    return {"dump": core._dispatch_dump(name), "table": core._dispatch_dump_table(name), "holds": holds}


histories = json.load(sys.stdin)
print(json.dumps([run(f"blocks{number}", history) for number, history in enumerate(histories)]))
