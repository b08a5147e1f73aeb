"""Names that a live PyTorch makes of the name of the backend at PrivateUse1.

usage: PYTHON live_backend_name.py NAME KEYS.json   (run with the Python that has PyTorch; prints JSON)
"""

import importlib
import json
import re
import sys
import types
from pathlib import Path
from typing import Any

torch: Any = importlib.import_module("torch")
core = torch._C


def tried(call: Any) -> Any:
    try:
        return call()
    except Exception:
        return None


def backend_in_error(layout: Any) -> Any:
    """The key that the error of a missing kernel names; there is none for empty tensors at PrivateUse1."""
    try:
        torch.ops.aten.empty.memory_format([2], layout=layout, device=torch.device("privateuseone"))
    except NotImplementedError as error:
        return re.findall("arguments from the '(.*?)' backend", str(error))[0]
    return None


def main() -> None:
    name, keys = sys.argv[1], json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    try:
        torch.utils.rename_privateuse1_backend(name)
    except RuntimeError as error:
        print(json.dumps({"refused": str(error).split("\\n")[0]}))
        return
    module = types.ModuleType(name)
    vars(module).update(is_initialized=lambda: True, _lazy_init=lambda: None, current_device=lambda: 0)
    tried(lambda: torch._register_device_module(name, module))  # not for names that no device string can have
    answer = {
        "device": tried(lambda: str(torch.device(name))),
        "unnamed": tried(lambda: str(torch.device("privateuseone"))),
        "read": {key: tried(lambda key=key: core._dispatch_key_name(core._dispatch_key_parse(key))) for key in keys},
        "errors": [backend_in_error(layout) for layout in (torch.strided, torch.sparse_coo, torch.sparse_csr)],
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
