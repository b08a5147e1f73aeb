"""Differences of two universes: the recorded ones, and each kind of change made by hand."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from dispatch_cli import universes
from dispatch_cli.engine.keys.universe_differences import Aspect, UniverseDifference, universe_differences
from dispatch_cli.model.universe import Universe
from tests.support import UNIVERSE_OF, load_recording

UNIVERSE = universes.load("torch-2.15")


def test_a_universe_does_not_differ_from_itself() -> None:
    assert universe_differences(UNIVERSE, UNIVERSE) == ()
    build = replace(UNIVERSE, name="mine", torch="3.0", git="0")
    moved_lines = replace(build, fallbacks=tuple(fallback._replace(debug="elsewhere") for fallback in build.fallbacks))
    assert universe_differences(UNIVERSE, moved_lines) == ()


def test_the_recorded_universes() -> None:
    """Every recorded field, compared in another way."""
    one, other = (load_recording(f"{version}.state")["universe"] for version in UNIVERSE_OF)
    changes = universe_differences(*map(universes.load, UNIVERSE_OF.values()))
    by_aspect: dict[Aspect, list[UniverseDifference]] = {}
    for difference in changes:
        by_aspect.setdefault(difference.aspect, []).append(difference)
    for aspect, field in ((Aspect.COVERAGE, "alias"), (Aspect.AUTOGRAD_BACKENDS, "autograd_backends")):
        expected = {}
        for key in {**one[field], **other[field]}:
            first, second = one[field].get(key, []), other[field].get(key, [])
            sides = ([k for k in first if k not in second], [k for k in second if k not in first])
            if any(sides):
                expected[key] = sides
        assert {
            difference.subject: (list(difference.one), list(difference.other)) for difference in by_aspect[aspect]
        } == expected
    gone, new = (
        {key for key in first["ids"] if key not in second["ids"]} for first, second in ((one, other), (other, one))
    )
    keys = by_aspect[Aspect.KEY]
    assert {difference.subject for difference in keys if not difference.other} == gone
    assert {difference.subject for difference in keys if not difference.one} == new
    assert [difference.subject for difference in keys if difference.one and difference.other] == ["MAIA"]
    known, known_later = (set(side["parseable"]) - (gone | new) for side in (one, other))
    (parser,) = by_aspect[Aspect.PARSER]
    assert (set(parser.one), set(parser.other)) == (known - known_later, known_later - known)
    ids = {d.subject: (int(d.one[0]), int(d.other[0])) for d in by_aspect[Aspect.ID]}
    assert ids == {
        key: (number, other["ids"][key])
        for key, number in one["ids"].items()
        if other["ids"].get(key, number) != number
    }
    assert Aspect.DEVICE not in by_aspect
    assert one["device_key"] == other["device_key"]


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
