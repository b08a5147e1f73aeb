"""Modules with every way to register, against what live PyTorch registers when it imports them."""

from __future__ import annotations

import pytest

from tests.capture.support import torch_python
from tests.extract.python.dumps import live, ours, recorded


def test_the_modules_register_what_was_recorded() -> None:
    expected = recorded()
    assert ours(list(expected)) == expected


@pytest.mark.live
def test_the_modules_register_what_live_pytorch_does() -> None:
    expected = live(torch_python())
    assert ours(list(expected)) == expected
