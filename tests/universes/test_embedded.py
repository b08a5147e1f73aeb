"""The embedded universes, which captures made, against what recordings of the same PyTorch versions say."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli import universes
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.model.schema import parse_schema
from dispatch_cli.model.universe import Universe
from dispatch_cli.universes.build import main
from tests.capture.support import universe_data
from tests.support import UNIVERSE_OF, load_recording


def as_recorded(universe: Universe) -> dict[str, Any]:
    """A universe in the words of ``tests/recordings/record.py``."""

    def full_after(key: str) -> list[str]:
        return list(DispatchKeySet.full_after(universe, key))

    return {
        "functionality": list(universe.functionalities),
        "per_backend": {key: list(keys) for key, keys in universe.per_backend.items()},
        "runtime": list(universe.runtime),
        "alias": {key: list(keys) for key, keys in universe.aliases.items()},
        "autograd_backends": {key: list(universe.autograd_backends.get(key, ())) for key in universe.runtime},
        "autogradother_backends": list(universe.autogradother_backends),
        "after_autograd": full_after(universe.after_autograd),
        "after_ADInplaceOrView": full_after(universe.after_ADInplaceOrView),
        "full_after": {key: full_after(key) for key in universe.functionalities},
        "parseable": [key for key in universe.ids if key in universe.parseable],
        "default_included": list(universe.default_included),
        "default_excluded": list(universe.default_excluded),
        "num_backends": len(universe.backends),
        "ids": dict(universe.ids),
        "device_key": dict(universe.devices),
    }


@pytest.mark.parametrize("version", UNIVERSE_OF)
def test_every_field_is_as_recorded(version: str) -> None:
    recording = load_recording(f"{version}.state")
    universe = universes.load(UNIVERSE_OF[version])
    assert as_recorded(universe) == recording["universe"]
    assert universe.git == recording["git"]
    assert universe.torch.partition("+")[0] == version
    # The order of the keys is the order of the enum, of tables and of rules: equal mappings are not enough.
    for field in ("per_backend", "alias", "ids"):
        assert list(as_recorded(universe)[field]) == list(recording["universe"][field])


@pytest.mark.parametrize("version", UNIVERSE_OF)
def test_core_fallbacks_are_as_recorded(version: str) -> None:
    dispatcher = Dispatcher(universes.load(UNIVERSE_OF[version]))
    schema = parse_schema("empty::nothing(Tensor x) -> Tensor")
    dispatcher.define(schema, "nowhere")
    assert dispatcher.dump_table(schema.name) == load_recording(f"{version}.state")["empty_table"]


@pytest.mark.parametrize("name", universes.names())
@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_a_capture_makes_the_file_that_is_embedded(name: str, suffix: str, tmp_path: Path) -> None:
    embedded = Path(universes.__file__).with_name(f"{name}.json").read_text(encoding="utf-8")
    text = json.dumps({"dispatch": 1, "snapshot": True, "universe": json.loads(embedded), "operators": []}).encode()
    capture, out = tmp_path / f"capture{suffix}", tmp_path / "out.json"
    capture.write_bytes(gzip.compress(text) if suffix.endswith(".gz") else text)
    main(str(capture), str(out))
    assert out.read_text(encoding="utf-8") == embedded


def test_a_capture_with_a_universe_that_is_none(tmp_path: Path) -> None:
    capture = tmp_path / "capture.json"
    capture.write_text('{"universe": {"format": 1, "name": "torch-9"}}', encoding="utf-8")
    with pytest.raises(universes.UniverseError, match="'torch'"):
        main(str(capture), str(tmp_path / "out.json"))
    assert not (tmp_path / "out.json").exists()


# Universe files of before: what they do not say is worked out from what they do.


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
