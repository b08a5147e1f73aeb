"""Print both dumps of every operator of a live PyTorch, as JSON.

usage: PYTHON live_state.py [MODULE...]   (run with the Python that has PyTorch; MODULEs are imported first)
"""

import importlib
import json
import sys
from typing import Any

core: Any = importlib.import_module("torch")._C
for module in sys.argv[1:]:
    importlib.import_module(module)
names = sorted(core._dispatch_get_all_op_names())
print(json.dumps({name: [core._dispatch_dump(name), core._dispatch_dump_table(name)] for name in names}))
