"""Print both dumps of every operator of a live PyTorch, as JSON.

usage: PYTHON live_state.py   (run with the Python that has PyTorch)
"""

import importlib
import json
from typing import Any

core: Any = importlib.import_module("torch")._C
names = sorted(core._dispatch_get_all_op_names())
print(json.dumps({name: [core._dispatch_dump(name), core._dispatch_dump_table(name)] for name in names}))
