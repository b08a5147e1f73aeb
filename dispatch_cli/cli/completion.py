"""Shell completion of the names that a command takes: keys, operators of embedded states, options of factories."""

from __future__ import annotations

import click

MAX_OFFERED = 500
"""Names offered at once; a shell shows no more in a useful way."""


def complete_keys(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """The keys of the chosen universe whose name goes on like this; of an expression, its last word."""
    from dispatch_cli import api
    from dispatch_cli.model.problem import InputError

    start = len(incomplete.rstrip(_WORD))
    before, word = incomplete[:start], incomplete[start:]
    try:
        (universe,) = api.load_universes([ctx.params.get("universe")])
    except InputError:
        return []
    return [f"{before}{key}" for key in universe.keys_by_id if key.startswith(word)]


def complete_operators(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """The operators of the chosen embedded states whose name goes on like this."""
    from dispatch_cli import bases

    known = bases.names()
    found = {
        name
        for base in ctx.params.get("bases") or ()
        if base in known
        for name in bases.load(base).names
        if name.startswith(incomplete)
    }
    return sorted(found)[:MAX_OFFERED]


def complete_devices(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """The devices of the chosen universe."""
    from dispatch_cli import api
    from dispatch_cli.model.problem import InputError

    try:
        (universe,) = api.load_universes([ctx.params.get("universe")])
    except InputError:
        return []
    return [device for device in universe.devices if device.startswith(incomplete)]


def complete_layouts(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """The layouts of tensors."""
    from dispatch_cli.model.call import Layout

    return [layout.value for layout in Layout if layout.value.startswith(incomplete)]


def complete_dtypes(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """The dtypes."""
    from dispatch_cli.model.options import DTYPES

    return [dtype for dtype in DTYPES if dtype.startswith(incomplete)]


_WORD = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
