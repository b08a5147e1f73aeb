"""Overlays: what a build for another backend registers besides an embedded state, as far as it can be derived.

The embedded states are of builds that lack some backends. torchgen's YAML says what a build with such a backend
generates for it; ``python -m dispatch_cli.bases.build_overlay`` writes that to a file. Kernels that are registered by
hand, and backend fallbacks, are not in that YAML, so an overlay is incomplete at the keys of its backend: where it has
no kernel, it is not known whether the build has one.

Layout of a file: `MAGIC`, then compressed JSON.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from dispatch_cli import bases
from dispatch_cli.bases import Base

MAGIC = b"dispatch-cli overlay 1\n"


class OverlayDescription(NamedTuple):
    """Description of an overlay.

    over: the embedded state that it belongs to. incomplete: the keys at which it may lack kernels and fallbacks.
    kernels: those that it has. operators: those that it has kernels of. bytes: size of the file.
    """

    name: str
    over: str
    backend: str
    torch: str
    incomplete: tuple[str, ...]
    operators: int
    kernels: int
    bytes: int


class Overlay:
    """An overlay, read as a whole: it is small.

    name: such as ``torch-2.15-mps``. over: the state it belongs to. kernels: their names, by operator and key.
    """

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:  # noqa: PTH123
            data = file.read()
        assert data.startswith(MAGIC), f"{path} is not an overlay"
        head: dict[str, Any] = json.loads(zlib.decompress(data[len(MAGIC) :]))
        self.incomplete: tuple[str, ...] = tuple(head["incomplete"])
        self.kernels: dict[str, dict[str, str]] = {}
        for key, kernels in head["kernels"].items():
            for operator, kernel in kernels.items():
                self.kernels.setdefault(operator, {})[key] = kernel
        self.name, self.over = head["name"], head["over"]
        self.description = OverlayDescription(
            **{field: head[field] for field in ("name", "over", "backend", "torch")},
            incomplete=self.incomplete,
            operators=len(self.kernels),
            kernels=sum(map(len, self.kernels.values())),
            bytes=len(data),
        )


class Conflict(NamedTuple):
    """Conflict between states and overlays that do not go together. name: the overlay, or the second state."""

    name: str
    message: str
    hint: str | None = None


@cache
def load(name: str) -> Overlay:
    """The overlay of that name. Errors: KeyError when there is none."""
    if name not in bases.overlay_names():
        raise KeyError(name)
    return Overlay(bases.path_of(name, bases.OVERLAY_SUFFIX))


def conflict(names: Sequence[str]) -> Conflict | None:
    """Conflict between embedded states and overlays of these names, each there once; None where they go together."""
    known = bases.overlay_names()
    states = [name for name in names if name not in known]
    if len(states) > 1:
        return Conflict(states[1], f"only one embedded state can be loaded, not {' and '.join(states)}")
    for name in names:
        over = load(name).over if name in known else None
        if over is None or over in states:
            continue
        if not states:
            message = f"{name} is an overlay, which adds to the embedded state {over}, and that is not loaded"
            return Conflict(name, message, f"load both: --base {over} --base {name}, or extends: [{over}, {name}]")
        fits = name.replace(over, states[0])
        message = f"{name} is an overlay for {over}, not for {states[0]}"
        hint = f"the overlay for {states[0]} is {fits}" if fits in known else f"its state is {over}"
        return Conflict(name, message, hint)
    return None


@cache
def combined(names: tuple[str, ...]) -> Base:
    """An embedded state with the overlays that are named. Errors: KeyError; ValueError where `conflict` finds one."""
    problem = conflict(names)
    if problem is not None:
        raise ValueError(problem.message)
    known = bases.overlay_names()
    state = next(name for name in names if name not in known)
    overlays = [load(name) for name in names if name in known]
    if not overlays:
        return bases.load(state)
    incomplete = dict.fromkeys(key for overlay in overlays for key in overlay.incomplete)
    return Base(bases.path_of(state), {overlay.name: overlay.kernels for overlay in overlays}, tuple(incomplete))
