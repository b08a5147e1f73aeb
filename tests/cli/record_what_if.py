"""Write the two dumps of PyTorch's PythonDispatcher. Run it with a Python that has PyTorch.

usage: python record_what_if.py FOLDER KEY...
"""

import sys
from pathlib import Path

from torch._python_dispatcher import PythonDispatcher

folder, keys = Path(sys.argv[1]), sys.argv[2:]
dispatcher = PythonDispatcher()
dispatcher.register(keys)
(folder / "what_if.register.raw").write_text(dispatcher.rawRegistrations(), encoding="utf-8")
(folder / "what_if.table.raw").write_text(dispatcher.rawDispatchTable(), encoding="utf-8")
