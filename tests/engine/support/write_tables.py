"""Writes the tables of facts about PyTorch's own operators.

    python -m tests.engine.support.write_tables PYTHON FOLDER…

PYTHON has PyTorch and NumPy: composite operators are called there with the samples of OpInfo. Each folder has a PyTorch
(``site-packages``), whose wheel carries ``derivatives.yaml`` and the code that reads it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from dispatch_cli.api import load_state
from dispatch_cli.bases import load, names
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.support.gradients import CALLS, DERIVATIVES, FOLDER
from dispatch_cli.model.names import OperatorName

_OUT = re.compile(r"\*, .*!\)")
_READ = """
import json, os, re, sys, torchgen
from torchgen.api.autograd import match_differentiability_info
from torchgen.gen import parse_native_yaml
from torchgen.packaged.autograd.load_derivatives import load_derivatives

folder = os.path.join(os.path.dirname(torchgen.__file__), "packaged")
native, tags = (os.path.join(folder, "ATen/native", name) for name in ("native_functions.yaml", "tags.yaml"))
with open(os.path.join(folder, "../../torch/_decomp/decompositions_for_jvp.py")) as file:  # forward mode runs them
    decomposed = re.findall("_decomposition_for_jvp.torch.ops.aten.([a-z_0-9]+)", file.read())
infos, _ = load_derivatives(os.path.join(folder, "autograd", "derivatives.yaml"), native, tags)
kinds = {}
for function in match_differentiability_info(parse_native_yaml(native, tags).native_functions, infos):
    name, entry = str(function.func.func.name), function.info.get("Default") if function.info else None
    with_formula = {argument for formula in entry.derivatives for argument in formula.var_names} if entry else set()
    if entry is None:
        kinds[name] = "none"
    elif entry.output_differentiability and not any(entry.output_differentiability):
        kinds[name] = "never"
    elif not entry.has_derivatives or any("not_implemented" in formula.formula for formula in entry.derivatives) or any(
        argument.name not in {*with_formula, *entry.non_differentiable_arg_names}
        for argument in function.func.func.arguments.flat_non_out
        if argument.type.is_tensor_like() and not argument.type.is_list_like()
    ):
        kinds[name] = "some"
    elif not (function.fw_derivatives or {}).get("Default") and name not in decomposed:
        kinds[name] = "backward"
    else:
        kinds[name] = "both"
json.dump(kinds, sys.stdout)
"""


def main(python: str, *folders: str) -> None:
    """Write all tables."""
    write_calls(python)
    write_derivatives(folders)


def write_calls(python: str) -> None:
    """Ask PyTorch which operators composite kernels come to."""
    state = load_state([], bases=[names()[-1]])
    asked = [name for name in state.dispatcher.names() if _is_composite(state.dispatcher, OperatorName.parse(name))]
    script = Path(__file__).with_name("live_calls.py")
    text = subprocess.check_output([python, script], input=json.dumps(asked).encode())
    pairs = sorted(json.loads(text).items())
    _write(CALLS, {name.removeprefix("aten::"): called for name, called in pairs if called})


def _is_composite(dispatcher: Dispatcher, name: OperatorName) -> bool:
    return dispatcher.operator(name).live["CPU"].rule in (Rule.MATH, Rule.DEFAULT)


def write_derivatives(folders: Sequence[str]) -> None:
    """Read each folder, and write what holds in all of them; what differs counts as partly there."""
    read = [_read(folder) for folder in folders]
    generated = _with_generated_kernels()
    kinds: dict[str, list[str]] = {"none": [], "never": [], "some": [], "backward": [], "some-forward": []}
    for name in sorted(set().union(*read) & generated):
        values = {version[name] for version in read if name in version}
        if len(values) == 1 and values <= kinds.keys():
            kinds[values.pop()].append(name)
        elif values != {"both"}:
            kinds["some-forward" if values == {"both", "backward"} else "some"].append(name)
    _write(DERIVATIVES, kinds)


def _write(file: str, table: Mapping[str, Sequence[str]]) -> None:
    texts = (" ".join([f"{key}:", *(word.removeprefix("aten::") for word in words)]) for key, words in table.items())
    lines = [textwrap.fill(text, 120, break_on_hyphens=False, break_long_words=False) for text in texts]
    (FOLDER / file).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _read(folder: str) -> dict[str, str]:
    environment = {**os.environ, "PYTHONPATH": folder}
    text = subprocess.check_output([sys.executable, "-c", _READ], env=environment)
    kinds: dict[str, str] = json.loads(text)
    return kinds


def _with_generated_kernels() -> set[str]:
    """The operators with a generated autograd kernel that is not for ``out=``, in any embedded state."""
    named = set()
    for base in map(load, names()):
        for name in base.names:
            header = base.header(name)
            is_generated = any("VariableType" in debug for debug, _ in header.kernels.values())
            if is_generated and not _OUT.search(header.schema or ""):
                named.add(name.removeprefix("aten::"))
    return named


if __name__ == "__main__":
    main(*sys.argv[1:])
