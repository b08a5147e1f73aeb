"""The registrations in a terminal of 80 columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli import universes
from dispatch_cli.answers.table.registrations.document import document
from dispatch_cli.answers.table.registrations.report import registrations_report
from dispatch_cli.api import load_state, what_if_state
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.names import OperatorName
from dispatch_cli.render.text import text
from dispatch_cli.render.text_lines import Style
from tests.cli.support import ROOT

FILES = [
    str(path.relative_to(ROOT))
    for path in sorted(Path(ROOT, "examples").glob("*.yaml"))
    if path.name not in ("broken.yaml", "npu_native_functions.yaml")
]


def names_in(state: State) -> list[OperatorName]:
    """The operators of the files, also of one that is a capture."""
    return state.own_operators() or [OperatorName.parse(name) for name in state.dispatcher.names()]


def words_at(width: int, state: State) -> list[str]:
    report = registrations_report(state, names_in(state))
    shown = "".join(text(document(report, width), Style(width, False)))
    assert max(map(len, shown.splitlines())) <= width
    return shown.split()


@pytest.mark.parametrize("file", FILES)
def test_no_name_is_broken(file: str) -> None:
    state = load_state([file])
    words = words_at(80, state)
    assert names_in(state) or state.higher_order_operators
    for name in names_in(state):
        for key, registrations in state.dispatcher.operator(name).kernels.items():
            assert key in words
            for registration in registrations:
                if registration.kernel.debug.isidentifier():
                    assert registration.kernel.debug in words, (name, key)


@pytest.mark.parametrize("conflicting", ["CompositeImplicitAutograd", "CompositeExplicitAutograd"])
def test_no_key_is_broken(conflicting: str) -> None:
    keys = sorted(universes.load("torch-2.15").parseable - {conflicting, "CatchAll", "Undefined"})
    assert len(keys) > 100
    assert set(keys) <= set(words_at(80, what_if_state(keys)))
