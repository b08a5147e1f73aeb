"""Run by live PyTorch: prints where its torchgen is, its version, and the dump of every operator."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import torch


def main() -> None:
    """One JSON document on standard output."""
    spec = importlib.util.find_spec("torchgen")
    assert spec is not None and spec.origin is not None
    names = torch._C._dispatch_get_all_op_names()
    json.dump(
        {
            "torchgen": str(Path(spec.origin).parent),
            "torch": torch.__version__,
            "cuda": torch.version.cuda is not None,
            "tags": {name: _tags(name) for name in names if name.startswith("aten::")},
            "dumps": {name: torch._C._dispatch_dump(name) for name in names},
        },
        sys.stdout,
    )


def _tags(name: str) -> list[str] | None:
    """The tags of an operator; None where Python has no access to it."""
    base, _, overload = name.partition(".")
    try:
        overload_parts = torch._C._get_operation_overload(base, overload)
    except RuntimeError:
        return None
    return None if overload_parts is None else sorted(str(tag).rpartition(".")[2] for tag in overload_parts[2])


if __name__ == "__main__":
    main()
