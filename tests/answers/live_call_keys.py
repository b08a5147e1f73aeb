"""The key sets of tensors on a live PyTorch, in contexts: each tensor's, the thread's, and what a call comes to.

usage: PYTHON live_call_keys.py ASKED.json SAID.json   (run with the Python that has PyTorch)

ASKED: calls, each with tensors and contexts, as the command line writes them. SAID: null for what PyTorch cannot make.
"""

import contextlib
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "engine" / "call"))
import live_calls as live  # type: ignore[import-not-found]

core = live.core


def keys_of(call: Any) -> Any:
    tensors = [live.make_tensor(text) for text in call["tensors"]]
    with contextlib.ExitStack() as stack:
        stack.enter_context(core._ForceDispatchKeyGuard(*live.fresh))
        for position, text in enumerate(call["contexts"]):
            level = stack.enter_context(live.context(text, position))
            for pair in tensors:
                if text in ("vmap", "grad", "jvp", "functionalize") and level in pair[1]:
                    pair[0] = live.wrap(pair[1][level], pair[0], level)
        included, excluded = core._dispatch_tls_local_include_set(), core._dispatch_tls_local_exclude_set()
        own = [core._dispatch_keys(tensor) for tensor, _ in tensors]
    keys = core.DispatchKeySet(core.DispatchKey.Undefined)
    for tensor in own:
        keys = keys | tensor
    keys = (keys | included) - excluded
    return {
        "tensors": [sorted(printed(tensor)) for tensor in own],
        "included": functionalities(included),
        "excluded": functionalities(excluded),
        "printed": str(keys),
        "highest": core._dispatch_key_name(keys.highestPriorityTypeId()),
    }


def asked_keys(call: Any) -> Any:
    try:
        return keys_of(call)
    except Exception:
        return None


def printed(keys: Any) -> Any:
    return [key for key in str(keys).partition("(")[2].rstrip(")").split(", ") if key]


def functionalities(keys: Any) -> Any:
    return sorted(key for key in live.functionalities if keys.has(live.key_of(key)))


def main() -> None:
    asked = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    live.ids.update(asked["ids"])
    live.functionalities.extend(asked["functionalities"])
    answers = [asked_keys(call) for call in asked["calls"]]
    Path(sys.argv[2]).write_text(json.dumps(answers), encoding="utf-8")


if __name__ == "__main__":
    main()
