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
            "dumps": {name: torch._C._dispatch_dump(name) for name in names},
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
