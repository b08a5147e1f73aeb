"""Call PyTorch's operators with tensors for which what their kernels call has nothing, and say how each call ends.

usage: PYTHON live_callees.py < ASKED   (run with the Python that has PyTorch)

ASKED: operators, each with the tensors of a call. SAID: the first line of each error; null where there is none.
"""

import importlib
import json
import sys
from typing import Any

own: Any = importlib.import_module("live_own_kernels")  # it lies beside this file
torch = own.torch
WITHOUT_OPTIONS = {"device": None, "layout": None, "dtype": None}


def ended(operator: str, texts: Any) -> Any:
    tensors = [own.calls.make_tensor(text)[0] for text in texts]
    called = own.operator_of(operator)
    positional, named = own.arguments_for(called._schema, tensors, WITHOUT_OPTIONS)
    try:
        with torch.no_grad():
            called(*positional, **named)
    except Exception as error:
        return str(error).split("\n", 1)[0]
    return None


def main() -> None:
    asked = json.load(sys.stdin)
    print(json.dumps([ended(*call) for call in asked]))


if __name__ == "__main__":
    main()
