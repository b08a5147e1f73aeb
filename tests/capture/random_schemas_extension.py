"""An extension that defines operators with random schemas: those of a recording of PyTorch, as far as it takes them.

It is imported by the Python that has PyTorch.
"""

import importlib
import json
import lzma
from pathlib import Path
from typing import Any

torch: Any = importlib.import_module("torch")
core = torch._C

NAMESPACE = "random_schemas"
library = torch.library.Library(NAMESPACE, "DEF")
with lzma.open(Path(__file__).parents[1] / "recordings" / "torch-2.13.0.schemas.json.xz", "rt") as file:
    recorded = json.load(file)["schemas"]
for number, (text, _) in enumerate(recorded[:1500]):
    rest = text.partition("(")[2]
    try:
        printed = str(core.parse_schema(f"op{number}({rest}", allow_typevars=False))
        # a dump has a line for the schema: one with a line break in it cannot be captured; unions are not read
        if "\n" not in printed and "Union(" not in printed:
            library.define(f"op{number}({rest}")
    except (RuntimeError, ValueError, LookupError, MemoryError):
        continue
