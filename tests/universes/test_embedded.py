"""The embedded universes, which captures made, against what recordings of the same PyTorch versions say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli import universes
from dispatch_cli.bases.regenerate import universe_text
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.model.schema.parser import parse_schema
from dispatch_cli.model.universe import Universe
from tests.capture.support import universe_data
from tests.support import UNIVERSE_OF, load_recording

OPTIONAL = {
    *("mask_by_arguments", "grad_ends_inference", "python_needs_snapshot", "fake_overrides", "fake_without_device"),
    *("fake_device_error", "fake_fallbacks", "higher_order_calls"),
}
"""Fields that a PyTorch may not say."""


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
def test_a_universe_is_written_as_it_is_embedded(name: str) -> None:
    embedded = Path(universes.__file__).with_name(f"{name}.json").read_text(encoding="utf-8")
    assert universe_text(json.loads(embedded)) == embedded


def test_a_universe_that_lacks_a_field() -> None:
    for field in universe_data("torch-2.15").keys() - OPTIONAL:
        data = {name: value for name, value in universe_data("torch-2.15").items() if name != field}
        with pytest.raises(universes.UniverseError, match=f"'{field}"):
            universes.from_data(data)
