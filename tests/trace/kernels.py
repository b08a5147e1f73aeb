"""The logging kernels, built once in a run of the tests."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

import pytest

from dispatch_cli.trace.verify import library_for
from tests.once import once


def cache_with_kernels(python: str) -> Path:
    """A cache folder in which `library_for` finds the kernels for the PyTorch of a Python; for XDG_CACHE_HOME."""

    def build(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_CACHE_HOME", str(folder))
            library_for(python)

    return once(f"logging-kernels-{blake2b(python.encode(), digest_size=8).hexdigest()}", build)


def logging_kernels(python: str) -> str:
    """The path of the kernels for the PyTorch of a Python."""
    (library,) = cache_with_kernels(python).rglob("*.so")
    return str(library)
