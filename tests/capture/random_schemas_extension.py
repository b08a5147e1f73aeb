"""An extension that defines operators with random schemas: those of a recording of PyTorch, as far as it takes them.

It is imported by the Python that has PyTorch.
"""

import importlib
import json
import lzma
import re
from pathlib import Path
from typing import Any

torch: Any = importlib.import_module("torch")
core = torch._C

NAMESPACE = "random_schemas"
NOT_UNDERSTOOD = re.compile(r"[\n\"'#\\]|\b(Union|Future|Await|RRef|complex)\b|\[-|[\d.]j")
"""A dump has a line for the schema: one with a line break cannot be captured. The other forms no operator has."""
library = torch.library.Library(NAMESPACE, "DEF")
with lzma.open(Path(__file__).parents[1] / "recordings" / "torch-2.13.0.schemas.json.xz", "rt") as file:
    recorded = json.load(file)["schemas"]
for number, (text, _) in enumerate(recorded[:1500]):
    rest = text.partition("(")[2]
    try:
        printed = str(core.parse_schema(f"op{number}({rest}", allow_typevars=False))
        if NOT_UNDERSTOOD.search(text + printed) is None:
            library.define(f"op{number}({rest}")
    except (RuntimeError, ValueError, LookupError, MemoryError):
        continue
