"""Registrations of live PyTorch when it imports modules: their dumps, and those of operators of others.

usage: PYTHON live_script.py FOLDER MODULE… (printed as JSON)
"""

import importlib
import json
import sys
import warnings

import torch

warnings.simplefilter("ignore")


def dumps():
    return {name: torch._C._dispatch_dump(name) for name in torch._C._dispatch_get_all_op_names()}


sys.path.insert(0, sys.argv[1])
before = dumps()
for module in sys.argv[2:]:
    importlib.import_module(module)
print(json.dumps({name: dump for name, dump in dumps().items() if before.get(name) != dump}))
