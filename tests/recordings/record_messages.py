"""Record the errors and warnings of a live PyTorch about operators and dispatch, beyond empty slots.

usage: python record_messages.py OUT.json.xz   (run with the Python that has torch)

Each program in ``messages.txt`` makes PyTorch print one text. What a version of PyTorch does not print is left out, and
listed in ``silent``.
"""

import json
import lzma
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import torch
from record_errors import called


def programs():
    """(name, kind, operator, words, function), in the order of the file."""
    with open(os.path.join(HERE, "messages.txt"), encoding="utf-8") as file:
        subjects = re.split(r"^## .*\n", file.read(), flags=re.M)[1:]
    for subject in subjects:
        setup, *cases = re.split(r"^#: ", subject, flags=re.M)
        scope = {"__name__": "messages"}
        exec(compile(setup, "messages.txt", "exec"), scope)
        for case in cases:
            head, _, code = case.partition("\n")
            name, kind, operator, *words = head.split(" | ")

            def run(code=compile(code, f"<{name}>", "exec"), scope=scope):
                exec(code, {**scope})

            yield name, kind, None if operator == "-" else operator, words, run


def main(out):
    messages, silent = [], []
    for name, kind, operator, words, run in programs():
        text = called(run).replace(HERE + "/", "")
        if any(word in text for word in words):
            messages.append({"case": name, "kind": kind, "operator": operator, "text": text})
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
