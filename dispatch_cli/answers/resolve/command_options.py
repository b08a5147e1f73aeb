"""The options that describe the tensors and the contexts of a call; `report.call_request` reads them."""

from __future__ import annotations

import click

from dispatch_cli.cli.completion import complete_contexts, complete_tensors

tensor_option = click.option(
    "--tensor",
    "tensors",
    multiple=True,
    metavar="SPEC",
    shell_complete=complete_tensors,
    help="A tensor argument, such as 'cpu', 'cuda sparse requires_grad' or 'meta inference'. Repeatable.",
)
context_option = click.option(
    "--context",
    "contexts",
    multiple=True,
    metavar="TEXT",
    shell_complete=complete_contexts,
    help="A context of the call, outermost first: inference_mode, 'autocast cpu', vmap, mode=NAME, … Repeatable.",
)
