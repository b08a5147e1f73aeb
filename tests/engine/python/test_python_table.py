"""``torch._ops.resolve_key``: every answer of two PyTorch versions, and the reasons why it differs from C++."""

from __future__ import annotations

import pytest

from dispatch_cli import bases, universes
from dispatch_cli.crossref.compare import resolve_answer
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.python import table as python_table
from dispatch_cli.engine.python.table import Reason
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.parser import parse_schema
from tests.support import UNIVERSE_OF, load_recording

OPERATORS = {"2.4.1": 3563, "2.15.0": 3624}
NAME = OperatorName("a::b")


@pytest.mark.parametrize("version", OPERATORS)
def test_every_answer_is_as_recorded(version: str) -> None:
    """Half of the operators of the embedded state, with their Python kernels, at every key."""
    recording = load_recording(f"{version}.resolve_key")
    base = bases.load(UNIVERSE_OF[version])
    dispatcher = Dispatcher(base.universe, base=base)
    assert tuple(recording["slots"]) == dispatcher.universe.slots
    assert sorted(recording["row_of"]) == dispatcher.names()
    assert len(dispatcher.names()) == OPERATORS[version]
    different = []
    for text, row in [*recording["row_of"].items()][::2]:
        python_keys = [key for key, _ in base.operator(text).python_kernels]
        decisions = python_table.decisions(dispatcher, OperatorName.parse(text), python_keys)
        ours = list(map(resolve_answer, dispatcher.universe.slots, decisions))
        if ours != recording["rows"][row]:
            different.append(text)
    assert different == []


@pytest.mark.parametrize("version", OPERATORS)
def test_divergences_are_where_the_answers_differ(version: str) -> None:
    """Both algorithms' answers, compared here: the divergences are those slots, no more and no fewer."""
    recording = load_recording(f"{version}.resolve_key")
    base = bases.load(UNIVERSE_OF[version])
    dispatcher = Dispatcher(base.universe, base=base)
    slots = dispatcher.universe.slots
    reasons = set()
    for text, row in [*recording["row_of"].items()][::3]:
        name = OperatorName.parse(text)
        python_keys = [key for key, _ in base.operator(text).python_kernels]
        entries = dispatcher.table(name).values()
        cpp = [resolve_answer(entry.key, entry.decision) for entry in entries]
        expected = [key for key, ours, theirs in zip(slots, cpp, recording["rows"][row], strict=True) if ours != theirs]
        divergences = python_table.divergences(dispatcher, dispatcher.shape(name)[0], python_keys)
        # A fallback is at the slot's own key, and so is a kernel of its own: C++ and Python can differ in that.
        own = [
            divergence.key
            for divergence in divergences
            if resolve_answer(divergence.key, divergence.cpp) == resolve_answer(divergence.key, divergence.python)
        ]
        assert [divergence.key for divergence in divergences if divergence.key not in own] == expected
        assert all(python_keys for divergence in divergences if divergence.reason is Reason.PYTHON_KERNEL)
        reasons |= {divergence.reason for divergence in divergences}
    assert reasons == set(Reason)


def dispatcher_with(*keys: str) -> Dispatcher:
    dispatcher = Dispatcher(universes.load("torch-2.15"))
    dispatcher.define(parse_schema(f"{NAME}(Tensor x) -> Tensor"), "defined here")
    for key in keys:
        dispatcher.implement(NAME, key, Kernel(debug=key))
    return dispatcher


def test_python_kernels_that_stand_in_for_one_another() -> None:
    """Without any one of them the math kernel would still be taken away: both are named."""
    dispatcher = dispatcher_with("CompositeImplicitAutograd")
    divergences = python_table.divergences(dispatcher, dispatcher.shape(NAME)[0], ["SparseCPU", "SparseCUDA"])
    other = next(divergence for divergence in divergences if divergence.key == "AutogradOther")
    assert other.because == ("SparseCPU", "SparseCUDA")
