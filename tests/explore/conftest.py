"""Settings and fixtures for the tests of the explorer."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _tidied() -> Iterator[None]:
    """Garbage is looked for after each test; what is there then stays, and is not looked through again.

    An application is many objects that stay while it runs, and Python would look through all of them often.
    """
    gc.disable()
    yield
    gc.enable()
    gc.collect()
    gc.freeze()
