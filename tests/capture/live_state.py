"""Print both dumps of every operator of a live PyTorch, as JSON.

usage: PYTHON live_state.py [MODULE...]   (run with the Python that has PyTorch; MODULEs are imported first)
"""

import importlib
import json
import sys
from typing import Any

torch: Any = importlib.import_module("torch")
torch.vmap(torch.neg)(torch.ones(1))  # the first one registers kernels; a capture has them too
core = torch._C
for module in sys.argv[1:]:
    importlib.import_module(module)
names = sorted(core._dispatch_get_all_op_names())
print(json.dumps({name: [core._dispatch_dump(name), core._dispatch_dump_table(name)] for name in names}))
