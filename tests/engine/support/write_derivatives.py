"""Writes the table of PyTorch's operators whose generated autograd kernels lack a derivative.

    python -m tests.engine.support.write_derivatives FOLDER…

Each folder has a PyTorch (``site-packages``), whose wheel carries ``derivatives.yaml`` and the code that reads it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap

from dispatch_cli.bases import load, names
from dispatch_cli.engine.support import derivatives

_OUT = re.compile(r"\*, .*!\)")
_READ = """
import json, os, sys, torchgen
from torchgen.api.autograd import match_differentiability_info
from torchgen.gen import parse_native_yaml
from torchgen.packaged.autograd.load_derivatives import load_derivatives

folder = os.path.join(os.path.dirname(torchgen.__file__), "packaged")
native, tags = (os.path.join(folder, "ATen/native", name) for name in ("native_functions.yaml", "tags.yaml"))
infos, _ = load_derivatives(os.path.join(folder, "autograd", "derivatives.yaml"), native, tags)
found = {}
for one in match_differentiability_info(parse_native_yaml(native, tags).native_functions, infos):
    entry = one.info.get("Default") if one.info else None
    if entry is None:
        found[str(one.func.func.name)] = "none"
    elif not entry.has_derivatives or any("not_implemented" in one.formula for one in entry.derivatives):
        found[str(one.func.func.name)] = "some"
    elif not (one.fw_derivatives or {}).get("Default"):
        found[str(one.func.func.name)] = "backward"
    else:
        found[str(one.func.func.name)] = "both"
json.dump(found, sys.stdout)
"""


def main(folders: list[str]) -> None:
    """Read each, and write what holds in all of them; what differs counts as partly there."""
    read = [_read(folder) for folder in folders]
    generated = _with_generated_kernels()
    kinds: dict[str, list[str]] = {"none": [], "some": [], "backward": []}
    for name in sorted(set().union(*read) & generated):
        found = {one[name] for one in read if name in one}
        if found != {"both"}:
            kind = "none" if found == {"none"} else "backward" if found <= {"both", "backward"} else "some"
            kinds[kind].append(name)
    lines = [
        textwrap.fill(" ".join([f"{kind}:", *names]), 120, break_on_hyphens=False) for kind, names in kinds.items()
    ]
    derivatives.FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _read(folder: str) -> dict[str, str]:
    environment = {**os.environ, "PYTHONPATH": folder}
    text = subprocess.check_output([sys.executable, "-c", _READ], env=environment)
    found: dict[str, str] = json.loads(text)
    return found


def _with_generated_kernels() -> set[str]:
    """The operators with a generated autograd kernel that is not for ``out=``, in any embedded state."""
    found = set()
    for base in map(load, names()):
        for name in base.names:
            header = base.header(name)
            if any("VariableType" in debug for debug, _ in header.kernels.values()) and not _OUT.search(
                header.schema or ""
            ):
                found.add(name.removeprefix("aten::"))
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
