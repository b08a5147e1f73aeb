"""Make an overlay from torchgen's YAML in a PyTorch's Python.

usage: python -m dispatch_cli.bases.build_overlay BACKEND PYTHON... [--to DIRECTORY]

Each PYTHON has a PyTorch whose version has an embedded state; the overlay has what torchgen generates for a build with
BACKEND, such as MPS, from the native_functions.yaml of that PyTorch (``dispatch-cli extract``). The file is
torch-X.Y-BACKEND.overlay, by default next to the embedded states.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

from dispatch_cli import bases
from dispatch_cli.bases.overlay import MAGIC
from dispatch_cli.model.universe import Universe

_ASK = "import torchgen, torch.version as version; print(list(torchgen.__path__)[0]); print(version.__version__)"
_AUTOGRAD = "AutogradFunctionality"


def keys_of(universe: Universe, backend: str) -> tuple[str, ...]:
    """The runtime keys of a backend's kernels: all of its per-backend functionalities but autograd.

    Kernels at the keys for autograd and autocast are in the files that every build has.
    """
    parts = universe.runtime_parts.items()
    return tuple(key for key, (functionality, of) in parts if of == backend and functionality != _AUTOGRAD)


def build(python: str, backend: str) -> tuple[str, bytes]:
    """The name of the overlay for the PyTorch of *python*, and the bytes of the file."""
    answer = subprocess.run([python, "-c", _ASK], capture_output=True, text=True, check=True)
    folder, version = answer.stdout.splitlines()[-2:]
    over = f"torch-{'.'.join(version.split('.')[:2])}"
    base = bases.load(over)
    incomplete = keys_of(base.universe, backend)
    kernels: dict[str, dict[str, str]] = {}
    known = set(base.names)
    for block in _extracted(Path(folder) / "packaged", backend)["libraries"]:
        key = block.get("dispatch_key")
        if block["kind"] == "IMPL" and key in incomplete:
            for operator, (kernel,) in block["impl"].items():
                if operator not in known:
                    sys.exit(f"{over} has no operator {operator}")
                kernels.setdefault(key, {})[operator] = kernel["kernel"]
    head: dict[str, Any] = {
        "name": f"{over}-{backend.lower()}",
        "over": over,
        "backend": backend,
        "torch": version.partition("+")[0],
        "incomplete": incomplete,
        "kernels": {key: dict(sorted(names.items())) for key, names in sorted(kernels.items())},
    }
    return head["name"], MAGIC + zlib.compress(json.dumps(head, separators=(",", ":")).encode(), 9)


def _extracted(folder: Path, backend: str) -> dict[str, Any]:
    """Document of what torchgen generates for a build with that backend, as ``dispatch-cli extract`` writes it."""
    files = (folder / "ATen/native/native_functions.yaml", folder / "autograd/derivatives.yaml")
    command = [sys.executable, "-m", "dispatch_cli", "extract", *map(str, files), "--format", "json", "--strict"]
    with tempfile.TemporaryDirectory() as temporary:
        config = Path(temporary) / "pyproject.toml"
        config.write_text(
            f"[tool.dispatch-cli.extract]\ncodegen-backends = [{json.dumps(backend)}]\n", encoding="utf-8"
        )
        command += ["--config", str(config)]
        done = subprocess.run(command, capture_output=True, check=True)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def main() -> None:
    """Write the overlay of each Python."""
    parser = argparse.ArgumentParser(prog="python -m dispatch_cli.bases.build_overlay")
    parser.add_argument("backend")
    parser.add_argument("python", nargs="+")
    parser.add_argument("--to", type=Path, default=Path(bases.__file__).parent)
    asked = parser.parse_args()
    for python in asked.python:
        name, data = build(python, asked.backend)
        (asked.to / f"{name}{bases.OVERLAY_SUFFIX}").write_bytes(data)


if __name__ == "__main__":
    main()
