"""What is different between two builds, as their own dumps show it."""

from __future__ import annotations

from functools import cache

from dispatch_cli import api
from dispatch_cli.engine.comparison.states import StatesChange, compare_states
from dispatch_cli.engine.history.difference import ChangeKind
from tests.engine.comparison.dumps import RawDifferences, raw_differences
from tests.support import load_recording


@cache
def ours() -> StatesChange:
    return compare_states(api.load_state((), bases=["torch-2.4"]), api.load_state((), bases=["torch-2.15"]))


@cache
def theirs() -> RawDifferences:
    recorded = (load_recording(f"{version}.state") for version in ("2.4.1", "2.15.0"))
    return raw_differences(*({**one, "runtime": one["universe"]["runtime"]} for one in recorded))


def test_operators_that_came_and_went() -> None:
    assert {one.name for one in ours().operators if one.change is ChangeKind.ADDED} == theirs().added
    assert {one.name for one in ours().operators if one.change is ChangeKind.REMOVED} == theirs().removed


def test_schemas_and_alias_analysis() -> None:
    schemas = {one.name: one.schema for one in ours().operators if one.schema is not None}
    found = {name: (one.old, one.new) for name, one in schemas.items() if one.schema_differs}
    assert found == theirs().schemas
    assert {name for name, one in schemas.items() if one.alias_analysis is not None} == theirs().alias_analysis


def test_registrations() -> None:
    """A kernel that moved has gone from some keys and come to others."""
    found = {}
    for operator in ours().operators:
        found |= {(operator.name, one.key): one.change.value for one in operator.registrations}
        for move in operator.moves:
            found |= dict.fromkeys(((operator.name, key) for key in move.old_keys), "removed")
            found |= dict.fromkeys(((operator.name, key) for key in move.new_keys), "added")
    assert found == theirs().registrations
    assert len(found) > 1000


def test_slots() -> None:
    found = {(one.name, key) for one in ours().operators for slots in one.slots for key in slots.keys}
    assert found == theirs().slots
    assert len(found) > 3000
