"""Shell completion of the names that a command takes: dispatch keys, and operators of embedded states."""

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


_WORD = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
