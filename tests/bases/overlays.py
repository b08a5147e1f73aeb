"""Overlays compared with what torchgen itself registers.

usage: python -m tests.bases.overlays PYTHON...
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import yaml

from dispatch_cli import bases
from dispatch_cli.bases import overlay

SCRIPT = Path(__file__).with_name("torchgen_registrations.py")


class Compared(NamedTuple):
    """An overlay and torchgen. both: registrations that both have. lacking, added: those of one alone, with the key."""

    name: str
    both: int
    lacking: list[tuple[str, str]]
    added: list[tuple[str, str]]


def compare(python: str, backend: str = "MPS") -> Compared:
    """Compare the overlay for the PyTorch of *python*."""
    ask = [python, "-c", "import torch.version as version; print(version.__version__)"]
    version = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip()
    name = f"torch-{'.'.join(version.split('.')[:2])}-{backend.lower()}"
    laid = overlay.load(name)
    keys = laid.incomplete
    with TemporaryDirectory() as folder:
        # torchgen needs PyYAML, which PyTorch's Python may lack; nothing else of ours is lent
        Path(folder, "yaml").symlink_to(Path(yaml.__file__).parent)
        environment = {**os.environ, "PYTHONPATH": folder}
        command = [python, str(SCRIPT), *keys]
        answer = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    theirs = {(key, operator) for key, operators in json.loads(answer.stdout).items() for operator in operators}
    names = bases.load(laid.over).names
    ours = {(key, operator) for operator in names for key in laid.kernels(operator)}
    return Compared(name, len(ours & theirs), sorted(theirs - ours), sorted(ours - theirs))


if __name__ == "__main__":
    for found in map(compare, sys.argv[1:]):
        print(f"{found.name}: {found.both} equal; only torchgen {found.lacking}; only the overlay {found.added}")
