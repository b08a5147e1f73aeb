"""The keys that are offered for a registration: those that are likely to be meant come first."""

from __future__ import annotations

import pytest

from dispatch_cli import bases
from dispatch_cli.api import load_state
from dispatch_cli.explore.likely_keys import likely_keys
from tests.explore.support import newest


def names(state_keys: tuple[tuple[str, int], ...], count: int | None = None) -> list[str]:
    return [key for key, _ in state_keys[:count]]


def test_backends_and_alias_keys_with_kernels_come_first_then_their_autograd_keys() -> None:
    keys = likely_keys(newest(), True)
    first = names(keys, 16)
    assert {"CPU", "CUDA", "Meta", "PrivateUse1", "AutogradCPU", "AutogradCUDA"} < {*first}
    assert {*newest().dispatcher.universe.aliases} < {*first}
    assert first.index("CPU") < first.index("AutogradCPU")
    assert not {"FPGA", "MAIA", "Vulkan", "Tracer", "Functionalize"} & {*first}


def test_keys_of_the_files_come_before_all_others() -> None:
    """The file registers at PrivateUse1, so that the other keys of that backend's tensors follow."""
    state = load_state(["examples/scenarios/01_composite_override.yaml"])
    assert names(likely_keys(state, True), 3) == ["PrivateUse1", "AutocastPrivateUse1", "AutogradPrivateUse1"]


@pytest.mark.parametrize("base", bases.names()[::8])
def test_every_key_is_there_once_with_its_operators(base: str) -> None:
    state = load_state((), bases=(base,))
    dispatcher = state.dispatcher
    keys = dict(likely_keys(state, True))
    universe = dispatcher.universe
    assert {*keys} == {key for key in universe.parseable if key in universe.slot or key in universe.aliases}
    for key in ("CPU", "Autograd", "CompositeImplicitAutograd", "FPGA"):
        there = [*dispatcher.registered_at((key,))]
        assert keys[key] == len(there)


def test_fallbacks_have_no_alias_keys() -> None:
    assert not {*newest().dispatcher.universe.aliases} & {*names(likely_keys(newest(), False))}
