"""Universe files of before: what they do not say is worked out from what they do."""

from __future__ import annotations

import pytest

from dispatch_cli import universes
from dispatch_cli.model.universe import Universe
from tests.capture.support import universe_data

ADDED = (
    *("higher_order_fallthrough", "higher_order_calls", "wrapped", "plain_devices", "mask_by_arguments"),
    *("grad_ends_inference", "python_needs_snapshot", "fake_overrides", "fake_without_device", "fake_numbered"),
    *("fake_device_error", "guards_remove", "keysets_without_pickle", "override_warning", "replaceable_fallbacks"),
)


def without_newer_fields(name: str) -> Universe:
    return universes.from_data({field: value for field, value in universe_data(name).items() if field not in ADDED})


@pytest.mark.parametrize("name", ["torch-2.9", "torch-2.10"])
def test_a_fallback_can_be_replaced_where_pytorch_has_one_for_backends_of_others(name: str) -> None:
    assert without_newer_fields(name).replaceable_fallbacks == universes.load(name).replaceable_fallbacks


def test_a_file_without_the_newer_fields() -> None:
    older, embedded = without_newer_fields("torch-2.4"), universes.load("torch-2.4")
    assert older.wrapped == embedded.wrapped
    assert older.plain_devices == ("fpga", "maia", "vulkan") == embedded.plain_devices
    assert (older.mask_by_arguments, older.grad_ends_inference, older.python_needs_snapshot) == (False, False, False)
    assert not older.fake_overrides
    assert not older.fake_without_device
    assert (older.fake_numbered, older.fake_device_error, older.override_warning) == ((), None, None)
    assert not older.guards_remove
    assert not older.keysets_without_pickle
