"""Differences between two builds, as their own dumps show them."""

from __future__ import annotations

import json

import pytest

from tests.cli.support import call
from tests.engine.comparison.dumps import of_report, raw_differences
from tests.support import load_recording

pytestmark = pytest.mark.slow


def test_differences_are_those_of_the_dumps() -> None:
    recorded = [load_recording(f"{version}.state") for version in ("2.4.1", "2.15.0")]
    theirs = raw_differences(*({**recording, "runtime": recording["universe"]["runtime"]} for recording in recorded))
    ours = of_report(json.loads(call("diff", "torch-2.4", "torch-2.15", "--format", "json").out))
    assert (ours.added, ours.removed) == (theirs.added, theirs.removed)
    assert (ours.schemas, ours.alias_analysis) == (theirs.schemas, theirs.alias_analysis)
    assert ours.registrations == theirs.registrations
    assert ours.slots == theirs.slots
    assert min(map(len, (ours.added, ours.removed))) > 100
    assert (len(ours.schemas) > 50, len(ours.registrations) > 1_000, len(ours.slots) > 3_000) == (True, True, True)
