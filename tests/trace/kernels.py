"""The recorder, built once in a run of the tests."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

import pytest

from dispatch_cli.trace import build
from dispatch_cli.trace.launch import library_for
from tests.once import once


def has_compiler() -> bool:
    """True where there is a C++ compiler."""
    try:
        build._compiler()
    except build.NotBuilt:
        return False
    return True


def cache_with_recorder(python: str) -> Path:
    """A cache folder in which `library_for` finds the recorder for the PyTorch of a Python.

    The test is skipped where there is no compiler, or no headers of Python.
    """
    if not has_compiler():
        pytest.skip("left out: there is no C++ compiler")
    if not (build._python_headers() / "Python.h").is_file():
        pytest.skip("left out: there are no headers of Python")

    def build_there(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DISPATCH_CLI_CACHE_DIR", str(folder))
            with library_for(python):
                pass

    return once(f"recorder-{blake2b(python.encode(), digest_size=8).hexdigest()}", build_there)


def library_of(python: str) -> str:
    """The path of the recorder for the PyTorch of a Python."""
    (library,) = cache_with_recorder(python).rglob("*.so")
    return str(library)
