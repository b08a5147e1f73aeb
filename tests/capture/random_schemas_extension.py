"""An extension that defines operators with random schemas. It is imported by the Python that has PyTorch.

The environment variable ``DISPATCH_CLI_LIVE_SEED`` says which.
"""

import importlib
import os
from typing import Any

from tests.model.schema.random_schemas import Maker

torch: Any = importlib.import_module("torch")
core = torch._C

NAMESPACE = "random_schemas"
library = torch.library.Library(NAMESPACE, "DEF")
maker = Maker(int(os.environ["DISPATCH_CLI_LIVE_SEED"]))
for number in range(1500):
    _, bracket, rest = maker.schema().partition("(")
    try:
        printed = str(core.parse_schema(f"op{number}({rest}", allow_typevars=False))
        # a dump has a line for the schema: one with a line break in it cannot be captured; unions are not read
        if "\n" not in printed and "Union(" not in printed:
            library.define(f"op{number}({rest}")
    except (RuntimeError, ValueError, LookupError, MemoryError):
        continue
