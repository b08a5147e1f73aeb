"""Every operator that PyTorch 2.4.1 and 2.15.0 register: registrations in, both dumps out, byte for byte."""

from __future__ import annotations

import pytest

from dispatch_cli import universes
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.dispatcher.dump import dump_registrations, dump_table
from tests.support import UNIVERSE_OF, load_recording, replay_dump

OPERATORS = {"2.4.1": 3563, "2.15.0": 3624}


@pytest.mark.parametrize("version", OPERATORS)
def test_every_operator_dumps_as_pytorch_does(version: str) -> None:
    recorded = load_recording(f"{version}.state")["ops"]
    dispatcher = Dispatcher(universes.load(UNIVERSE_OF[version]))
    names = [replay_dump(dispatcher, texts["dump"]) for texts in recorded.values()]
    assert len(names) == OPERATORS[version]
    different = []
    for name in names:
        texts = recorded[str(name)]
        if dump_registrations(dispatcher, name) != texts["dump"] or dump_table(dispatcher, name) != texts["table"]:
            different.append(str(name))
    assert different == []


@pytest.mark.parametrize("version", OPERATORS)
def test_operators_share_plans(version: str) -> None:
    recorded = load_recording(f"{version}.state")["ops"]
    dispatcher = Dispatcher(universes.load(UNIVERSE_OF[version]))
    names = [replay_dump(dispatcher, texts["dump"]) for texts in recorded.values()]
    assert len({id(dispatcher.table(name).plan) for name in names}) < 450
