"""Differences of two universes: the recorded ones, and each kind of change made by hand."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from dispatch_cli import universes
from dispatch_cli.engine.keys.universe_differences import Aspect, universe_differences
from dispatch_cli.model.universe import Universe
from tests.support import UNIVERSE_OF, load_recording

UNIVERSE = universes.load("torch-2.15")


def test_a_universe_does_not_differ_from_itself() -> None:
    assert universe_differences(UNIVERSE, UNIVERSE) == ()
    build = replace(UNIVERSE, name="mine", torch="3.0", git="0")
    moved_lines = replace(build, fallbacks=tuple(fallback._replace(debug="elsewhere") for fallback in build.fallbacks))
    assert universe_differences(UNIVERSE, moved_lines) == ()


def test_the_recorded_universes() -> None:
    """Numbers and coverage of keys, compared in another way."""
    one, other = (load_recording(f"{version}.state")["universe"] for version in UNIVERSE_OF)
    differences = universe_differences(*map(universes.load, UNIVERSE_OF.values()))
    ids = {row.subject: (int(row.one[0]), int(row.other[0])) for row in differences if row.aspect is Aspect.ID}
    assert ids == {
        key: (number, other["ids"][key])
        for key, number in one["ids"].items()
        if other["ids"].get(key, number) != number
    }
    covered = {}
    for alias in {**one["alias"], **other["alias"]}:
        first, second = one["alias"].get(alias, []), other["alias"].get(alias, [])
        sides = ([key for key in first if key not in second], [key for key in second if key not in first])
        if any(sides):
            covered[alias] = sides
    ours = {row.subject: ([*row.one], [*row.other]) for row in differences if row.aspect is Aspect.COVERAGE}
    assert ours == covered


def test_every_field_counts() -> None:
    """But for the build's names; the order of runtime keys and the per-backend keys follow from the other fields."""
    follow = {"name", "torch", "git", "runtime", "per_backend"}
    for field in fields(Universe):
        value: Any = getattr(UNIVERSE, field.name)
        if field.name in follow:
            continue
        if isinstance(value, bool):
            other: Any = not value
        elif isinstance(value, str):
            other = "Python"
        elif field.name == "torch_library":
            other = None
        elif field.name == "higher_order_calls":
            other = value._replace(modes_handle=not value.modes_handle)
        elif field.name == "ids":
            other = {**value, "CPU": 900}
        elif field.name in ("functionalities", "backends"):
            other = value[::-1]
        else:
            other = type(value)([*(value.items() if isinstance(value, dict) else value)][1:])
        assert universe_differences(UNIVERSE, replace(UNIVERSE, **{field.name: other})), field.name
