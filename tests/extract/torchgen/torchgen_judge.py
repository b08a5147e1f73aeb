"""Asks torchgen itself what it takes and what it registers; run as a process, for torchgen is imported from PyTorch.

usage: python -m tests.extract.torchgen.torchgen_judge DIRECTORY-OF-TORCHGEN-S-PARENT < JSON list of texts
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

_REGISTRATION = re.compile(r'm\.impl\("([^"]+)"')


def main(parent: str) -> None:
    """For each text on standard input, None where torchgen refuses it, else the pairs of operator and key."""
    sys.path.append(parent)
    from torchgen.gen import get_grouped_native_functions, parse_native_yaml

    packaged = Path(parent, "torchgen", "packaged", "ATen", "native")
    parsed = parse_native_yaml(str(packaged / "native_functions.yaml"), str(packaged / "tags.yaml"))
    grouped = get_grouped_native_functions(parsed.native_functions)
    answers = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "backend.yaml")
        for text in json.load(sys.stdin):
            path.write_text(text, encoding="utf-8")
            answers.append(_answer(str(path), grouped, dict(parsed.backend_indices)))
    json.dump(answers, sys.stdout)


def _answer(path: str, grouped: Any, indices: Any) -> list[tuple[str, str]] | None:
    from torchgen import dest
    from torchgen.gen_backend_stubs import parse_backend_yaml
    from torchgen.selective_build.selector import SelectiveBuilder
    from torchgen.utils import Target, concatMap

    try:
        backend = parse_backend_yaml(path, grouped, indices)
    except Exception:  # torchgen has no error of its own
        return None
    pairs = []
    for key in (backend.backend_key, backend.autograd_key):
        if key is not None:
            register = dest.RegisterDispatchKey(
                backend.backend_indices[key],
                Target.REGISTRATION,
                SelectiveBuilder.get_nop_selector(),
                rocm=False,
                symint=True,
                class_method_name="Kernels",
                skip_dispatcher_op_registration=False,
            )
            index = backend.backend_indices[key].index
            for line in concatMap(register, [group for group in grouped if _names(group) & index.keys()]):
                match = _REGISTRATION.match(line)
                assert match is not None
                pairs.append((f"aten::{match[1]}", str(key)))
    return pairs


def _names(one: Any) -> set[Any]:
    """The operators of a function or a group: torchgen goes through all of PyTorch's for each file otherwise."""
    functions = [one] if hasattr(one, "func") else one.functions()
    return {function.func.name for function in functions}


if __name__ == "__main__":
    main(sys.argv[1])
