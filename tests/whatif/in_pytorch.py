"""Runs histories of registrations in a live PyTorch, each by itself, and says what its dispatcher holds after it.

usage: PYTHON in_pytorch.py HISTORIES.json

A history is a list of steps: ["def"], ["impl", KEY, DEBUG], ["fallback", KEY].
"""

import json
import sys
from pathlib import Path

import torch  # noqa: F401  (it registers everything)
import torch._C as C


def run(number, history):
    """The table of the operator, and whether its live table agrees with it."""
    namespace = f"whatif{number}"
    libraries = []
    for step in history:
        kind = step[0]
        library = C._dispatch_library("IMPL" if kind == "fallback" else "FRAGMENT", *_of(step, namespace))
        libraries.append(library)
        if kind == "def":
            library.def_("foo(Tensor x) -> Tensor", "")
        elif kind == "impl":
            library.impl_t_t("foo", dispatch=step[1], debug=step[2])
        else:
            library.fallback_fallthrough()
    name = f"{namespace}::foo"
    try:
        C._dispatch_check_invariants(name)
        in_order = True
    except RuntimeError:
        in_order = False
    dumps = [C._dispatch_dump_table(name), in_order]
    while libraries:
        libraries.pop()
    return dumps


def _of(step, namespace):
    return ("_", step[1]) if step[0] == "fallback" else (namespace, "")


if __name__ == "__main__":
    histories = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    print(json.dumps([run(number, history) for number, history in enumerate(histories)]))
