"""``dispatch-cli resolve``"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from dispatch_cli.answers.resolve.command_options import context_option, tensor_option
from dispatch_cli.cli.completion import (
    complete_devices,
    complete_dtypes,
    complete_keys,
    complete_layouts,
    complete_operators,
)
from dispatch_cli.cli.options import SourceOptions, note_conditions, source_options, state_or_newest, warn_of_overrides
from dispatch_cli.cli.output import BadInput, Output, output_options, show

EXIT_CALL_FAILS = 1
OPTIONS = {
    "device": (
        *("DEVICE", complete_devices),
        "Device argument of a factory, such as cuda. Default: that of the schema, or the universe's first device.",
    ),
    "layout": (
        *("LAYOUT", complete_layouts),
        "Layout argument, such as sparse or torch.sparse_csr. Default: that of the schema, or strided.",
    ),
    "dtype": (
        *("DTYPE", complete_dtypes),
        "Dtype argument, such as qint8; only whether it is quantized matters. Default: that of the schema, or float32.",
    ),
    "generator": (
        *("DEVICE", complete_devices),
        "Device of a torch.Generator argument, such as cpu; 'cpu boxed' for a boxed call, in which it adds no key.",
    ),
}
"""What a call is given beside tensors: each option's value, completion and help."""
_Command = TypeVar("_Command", bound=Callable[..., Any])


def _call_options(command: _Command) -> _Command:
    for name, (metavar, complete, text) in reversed(OPTIONS.items()):
        command = click.option(f"--{name}", metavar=metavar, shell_complete=complete, help=text)(command)
    return command


@click.command("resolve")
@click.argument("operator", metavar="OP", shell_complete=complete_operators)
@source_options
@tensor_option
@_call_options
@click.option(
    "--keyset",
    metavar="EXPR",
    shell_complete=complete_keys,
    help="Call with this key set, as a redispatch does: without the thread's state and the mask of fallthroughs. "
    "`keys --help` describes EXPR.",
)
@context_option
@click.option(
    "--stop-after",
    type=click.IntRange(min=1),
    metavar="N",
    help="Show only the first N steps; step 1 is the first kernel.",
)
@click.option("--full", is_flag=True, help="Show PyTorch's error texts in full.")
@output_options(csv=False)
def command(
    source: SourceOptions,
    operator: str,
    tensors: tuple[str, ...],
    keyset: str | None,
    contexts: tuple[str, ...],
    stop_after: int | None,
    full: bool,
    out: Output,
    **options: str | None,
) -> None:
    """Simulate a call: which kernels run for these tensors in these contexts, why, and how it ends.

    A SPEC is a device, such as cuda:0, and any of these words: strided, sparse, sparse_csr, sparse_csc, sparse_bsr,
    sparse_bsc, mkldnn, jagged, quantized, nested, requires_grad, inference, conj, neg, zerotensor, fake (fake=NAME
    names its mode), subclass=NAME, and the wrappers batched, grad-wrapped and functional, innermost first. Two SPECs
    are a single word: `undefined` is an undefined tensor, which PyTorch makes of None where the schema has Tensor;
    `none` is None where the schema has Tensor?.

    Without --tensor, the operator is called without tensors, like a factory function. A kernel at BackendSelect
    redispatches to the key of a tensor with the given --device, --layout and --dtype; the answer says which of them are
    assumed. A --generator adds its key in unboxed calls, such as those of torch.rand and of C++. torch.ops makes boxed
    calls, in which it adds none: write 'cpu boxed'.

    A context is autocast DEVICE, autocast DEVICE off, inference_mode, inference_mode(False), no_grad, enable_grad,
    below_autograd, below_ADInplaceOrView, enable_functionalization, suspend_functionalization, python_dispatcher,
    no_python_dispatcher, pre_dispatch, mode=NAME, pre_dispatch_mode=NAME, include=KEY, exclude=KEY, or a functorch
    transform: vmap, grad, jvp, functionalize.

    OP may be a higher-order operator. Without FILE, --base and -k, the newest embedded PyTorch state is used.

    The exit code is 1 when PyTorch would raise an error.
    """
    from dispatch_cli.answers.resolve.call_request import CallRequest, call_report, read_call
    from dispatch_cli.model.options import Options
    from dispatch_cli.model.problem import InputError

    state, assumed = state_or_newest(source, out.color, operator)
    asked = CallRequest(operator, tensors, Options(**options), keyset, contexts)
    try:
        given = read_call(state, asked)
        if given.name is not None:
            note_conditions(state, [given.name])
        report = call_report(state, asked, given, assumed, stop_after)
    except InputError as error:
        raise BadInput(error, out.color) from None
    warn_of_overrides(state, out.color)
    show(report, out, full=full)
    if report.fails:
        raise click.exceptions.Exit(EXIT_CALL_FAILS)
