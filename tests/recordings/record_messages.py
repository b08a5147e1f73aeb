"""Record the errors and warnings of a live PyTorch about operators and dispatch, beyond empty slots.

usage: python record_messages.py OUT.json.xz   (run with the Python that has torch)

Each function in the modules `messages_*` beside this file makes PyTorch print one text. What a version of PyTorch does not
print is left out, and listed in ``silent``.
"""

import json
import lzma
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import messages_of_calls
import messages_of_checks
import messages_of_definitions
import messages_of_fakes
import messages_of_registrations
import messages_of_transforms
import torch
from record_errors import called

MODULES = (
    messages_of_calls,
    messages_of_fakes,
    messages_of_transforms,
    messages_of_checks,
    messages_of_definitions,
    # the last one gives the out-of-tree backend a name, which other texts then have
    messages_of_registrations,
)


def cases():
    """(name, function), in the order in which they are written."""
    for module in MODULES:
        for name, function in tuple(vars(module).items()):
            if hasattr(function, "expects") and function.__module__ == module.__name__:
                yield name, function


def main(out):
    messages, silent = [], []
    for name, function in cases():
        text = called(function).replace(HERE + "/", "")
        expected = function.expects
        if any(word in text for word in expected.words):
            row = {"case": name, "kind": expected.kind, "operator": expected.operator, "text": text}
            messages.append(row)
        else:
            silent.append({"case": name, "text": text[-300:]})
    data = {"torch": torch.__version__, "messages": messages, "silent": silent}
    with lzma.open(out, "wt") if out.endswith(".xz") else open(out, "w") as file:
        json.dump(data, file)
    sys.stdout.flush()
    # PyTorch's own teardown of Python kernels is no part of this
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
