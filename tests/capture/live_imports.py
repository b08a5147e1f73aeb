"""Say what the modules that a capture imports have registered, and nothing of the rest, which takes longer.

usage: PYTHON live_imports.py OUT.json [--import MODULE]...   (run with the Python that has PyTorch)
"""

import importlib.util
import pathlib
from typing import Any

PROBE = pathlib.Path(__file__).parents[2] / "dispatch_cli" / "capture" / "probe.py"
spec: Any = importlib.util.spec_from_file_location("probe", PROBE)
probe = importlib.util.module_from_spec(spec)
spec.loader.exec_module(probe)


def answer(asked: Any) -> Any:
    names = [name for name in sorted(asked.now.dumps) if asked.now.registered_since(asked.before, name)]
    return {"known": asked.known, "imported": names}


probe.run(answer)
