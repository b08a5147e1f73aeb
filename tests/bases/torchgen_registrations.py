"""Registrations that torchgen itself generates for a backend; runs in a PyTorch's Python.

usage: PYTHON tests/bases/torchgen_registrations.py KEY... writes JSON: dispatch key -> names of operators.
"""

import json
import re
import sys
from pathlib import Path

import torchgen
from torchgen.dest import RegisterDispatchKey
from torchgen.gen import get_grouped_native_functions, parse_native_yaml
from torchgen.model import DispatchKey
from torchgen.selective_build.selector import SelectiveBuilder
from torchgen.utils import Target

REGISTERED = re.compile(r'm\.impl\("([^"]+)"')


def main(names: list[str]) -> None:
    """Print what is registered at each key."""
    folder = Path(next(iter(torchgen.__path__))) / "packaged/ATen/native"
    functions, indices = parse_native_yaml(folder / "native_functions.yaml", folder / "tags.yaml")
    groups = get_grouped_native_functions(functions)
    registrations = {}
    for name in names:
        key = DispatchKey.__members__.get(name)
        if key is None or key not in indices:
            continue
        generator = RegisterDispatchKey(
            indices[key],
            Target.REGISTRATION,
            SelectiveBuilder.get_nop_selector(),
            rocm=False,
            symint=True,
            class_method_name=None,
            skip_dispatcher_op_registration=False,
        )
        registrations[name] = sorted(
            f"{getattr(group, 'functional', group).namespace}::{operator}"
            for group in groups
            for text in generator(group)
            for operator in REGISTERED.findall(text)
        )
    json.dump(registrations, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
