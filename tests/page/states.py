"""The states that pages are made from, loaded as the command loads them."""

from __future__ import annotations

from collections.abc import Sequence

import click

from dispatch_cli.cli.options import SourceOptions, load_state
from dispatch_cli.cli.page import command
from dispatch_cli.cli.source_options import ReadingOptions
from dispatch_cli.engine.history.state import State


def state_of(arguments: Sequence[str]) -> State:
    """The state that ``page`` makes a page of."""
    with click.Context(command) as context:
        command.parse_args(context, [*arguments])
        params = context.params
        reading = ReadingOptions(
            **{name: params[f"source_{name}"] for name in ReadingOptions._fields if name != "tests"}
        )
        source = SourceOptions(
            *(params["files"], params["keys"], params["universe"], params["bases"]),
            *(params["allow_outside"], params["privateuse1"]),
            reading=reading,
            when=params["when"],
        )
        return load_state(source)
