"""Universe files of before: what they do not say is worked out from what they do."""

from __future__ import annotations

from dispatch_cli import universes
from tests.capture.support import universe_data

ADDED = (
    "higher_order_fallthrough",
    "higher_order_calls",
    "wrapped",
    "plain_devices",
    "mask_by_arguments",
    "grad_ends_inference",
    "python_needs_snapshot",
    "fake_overrides",
    "fake_without_device",
    "fake_numbered",
    "fake_device_error",
    "guards_remove",
    "keysets_without_pickle",
    "override_warning",
)


def test_a_file_without_the_newer_fields() -> None:
    data = {field: value for field, value in universe_data("torch-2.4").items() if field not in ADDED}
    older, embedded = universes.from_data(data), universes.load("torch-2.4")
    assert older.wrapped == embedded.wrapped
    assert older.plain_devices == ("fpga", "maia", "vulkan") == embedded.plain_devices
    assert (older.mask_by_arguments, older.grad_ends_inference, older.python_needs_snapshot) == (False, False, False)
    assert not older.fake_overrides
    assert not older.fake_without_device
    assert (older.fake_numbered, older.fake_device_error, older.override_warning) == ((), None, None)
    assert not older.guards_remove
    assert not older.keysets_without_pickle
