"""Register on a live PyTorch, and say which kernel each slot of the live table runs afterwards.

usage: PYTHON live_histories.py < ASKED.json   (run with the Python that has PyTorch)

ASKED: ids (key -> number), slots, and histories, each a list of keys at which a kernel of a new operator is registered.
Prints, for every history and slot, the key whose kernel the slot runs, or null when it is none of the operator's.
"""

import contextlib
import importlib
import json
import sys
from typing import Any, Dict, List  # noqa: UP035

core: Any = importlib.import_module("torch")._C


def run(name: str, slots: Dict[str, Any], keys: Dict[str, Any], history: List[str]) -> List[Any]:  # noqa: UP006
    ran = []
    library = core._dispatch_library("FRAGMENT", "live_histories", "")
    library.def_(name + "(int x) -> int")
    for key in history:

        def kernel(keyset: Any, x: int, key: str = key) -> int:
            ran.append((key, str(keyset)))
            return x

        library.impl(name, keys[key], kernel, True)
    handle = core._dispatch_find_schema_or_throw("live_histories::" + name, "")
    answers = []
    for keyset in slots.values():
        ran.clear()
        with contextlib.suppress(RuntimeError):
            handle.redispatch_boxed(keyset, 0)
        answers.append(ran[0][0] if ran and ran[0][1] == str(keyset) else None)
    return answers


asked = json.load(sys.stdin)
keys = {key: core.DispatchKey(number) for key, number in asked["ids"].items()}
slots = {slot: core.DispatchKeySet(keys[slot]) for slot in asked["slots"]}
print(json.dumps([run("op" + str(number), slots, keys, each) for number, each in enumerate(asked["histories"])]))
