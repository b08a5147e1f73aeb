"""Differences between two builds, as their own dumps show them."""

from __future__ import annotations

import json
from functools import cache

import pytest

from tests.cli.support import call
from tests.engine.comparison.dumps import RawDifferences, of_report, raw_differences
from tests.support import load_recording

pytestmark = pytest.mark.slow


@cache
def differences() -> tuple[RawDifferences, RawDifferences]:
    """Those of the command's JSON, and those of the dumps."""
    recorded = [load_recording(f"{version}.state") for version in ("2.4.1", "2.15.0")]
    theirs = raw_differences(*({**recording, "runtime": recording["universe"]["runtime"]} for recording in recorded))
    return of_report(json.loads(call("diff", "torch-2.4", "torch-2.15", "--format", "json").out)), theirs


def test_operators_that_came_and_went() -> None:
    ours, theirs = differences()
    assert (ours.added, ours.removed) == (theirs.added, theirs.removed)
    assert min(map(len, (ours.added, ours.removed))) > 100


def test_schemas_and_alias_analysis() -> None:
    ours, theirs = differences()
    assert ours.schemas == theirs.schemas
    assert ours.alias_analysis == theirs.alias_analysis
    assert len(ours.schemas) > 50


def test_registrations() -> None:
    ours, theirs = differences()
    assert ours.registrations == theirs.registrations
    assert len(ours.registrations) > 1_000


def test_slots() -> None:
    ours, theirs = differences()
    assert ours.slots == theirs.slots
    assert len(ours.slots) > 3_000
