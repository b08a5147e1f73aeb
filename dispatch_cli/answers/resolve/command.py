"""``dispatch-cli resolve``, and the options that describe a call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dispatch_cli.cli.help import Command
from dispatch_cli.cli.modules import completion
from dispatch_cli.cli.options import SourceOptions, note_conditions, source_options, state_or_newest, warn_of_overrides
from dispatch_cli.cli.output import Output, output_options, show

if TYPE_CHECKING:
    from dispatch_cli.model.calls.options import Options


tensor_option = click.option(
    "--tensor",
    "tensors",
    multiple=True,
    metavar="SPEC",
    shell_complete=completion("tensors"),
    help="A tensor argument, such as 'cpu', 'cuda sparse requires_grad' or 'meta inference'. Repeatable.",
)
context_option = click.option(
    "--context",
    "contexts",
    multiple=True,
    metavar="TEXT",
    shell_complete=completion("contexts"),
    help="A context of the call, outermost first: inference_mode, 'autocast cpu', vmap, mode=NAME, … Repeatable.",
)


EXIT_CALL_FAILS = 1


def _arguments(_context: click.Context, _parameter: click.Parameter, texts: tuple[str, ...]) -> Options:
    """The values of --argument. Errors: BadParameter for a name that is none of these arguments, or comes twice."""
    from dispatch_cli.model.calls.options import NO_OPTIONS

    values = NO_OPTIONS
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip()
        if name not in NO_OPTIONS._fields or not equals:
            names = ", ".join(NO_OPTIONS._fields)
            raise click.BadParameter(f"{text[:200]!r} must be NAME=VALUE; NAME is one of {names}.")
        if getattr(values, name) is not None:
            raise click.BadParameter(f"{name} is given twice.")
        values = values._replace(**{name: value.strip()})
    return values


@click.command("resolve", cls=Command)
@click.argument("operator", metavar="OP", shell_complete=completion("operators"))
@source_options
@tensor_option
@click.option(
    "--argument",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    callback=_arguments,
    shell_complete=completion("arguments"),
    help="An argument beside tensors: device=cuda, layout=sparse, dtype=qint8 (only whether it is quantized matters) "
    "or generator=cpu. Default: that of the schema, or the universe's first device, strided, float32. Repeatable.",
)
@click.option(
    "--keyset",
    metavar="EXPR",
    shell_complete=completion("keys"),
    help="Call with this key set, as a redispatch does: without the thread's state and the mask of fallthroughs. "
    "`keys --help` describes EXPR.",
)
@context_option
@click.option("--full", is_flag=True, help="Show PyTorch's error texts in full.")
@output_options("svg", csv=False)
def command(
    source: SourceOptions,
    operator: str,
    tensors: tuple[str, ...],
    keyset: str | None,
    contexts: tuple[str, ...],
    full: bool,
    options: Options,
    out: Output,
) -> None:
    """Simulate a call: which kernels run for these tensors in these contexts, why, and how it ends.

    A SPEC is a device, such as cuda:0, and any of these words: strided, sparse, sparse_csr, sparse_csc, sparse_bsr,
    sparse_bsc, mkldnn, jagged, quantized, nested, requires_grad, inference, conj, neg, zerotensor, fake (fake=NAME
    names its mode), subclass=NAME, and the wrappers batched, grad-wrapped and functional, innermost first. Two SPECs
    are a single word: `undefined` is an undefined tensor, which PyTorch makes of None where the schema has Tensor;
    `none` is None where the schema has Tensor?.

    Without --tensor, the operator is called without tensors, like a factory function. A kernel at BackendSelect
    redispatches to the key of a tensor with the device, layout and dtype of --argument; the answer says which of them
    are assumed. A generator adds its key in unboxed calls, such as those of torch.rand and of C++. torch.ops makes
    boxed calls, in which it adds none: write 'generator=cpu boxed'.

    A context is autocast DEVICE, autocast DEVICE off, inference_mode, inference_mode(False), no_grad, enable_grad,
    below_autograd, below_ADInplaceOrView, enable_functionalization, suspend_functionalization, python_dispatcher,
    no_python_dispatcher, pre_dispatch, mode=NAME, pre_dispatch_mode=NAME, include=KEY, exclude=KEY, or a functorch
    transform: vmap, grad, jvp, functionalize.

    OP may be a higher-order operator. Without FILE, --base and -k, the newest embedded PyTorch state is used.

    The exit code is 1 when PyTorch would raise an error.
    """
    from dispatch_cli.answers.resolve.call_request import CallRequest, call_report
    from dispatch_cli.answers.resolve.report import ResolveReport
    from dispatch_cli.model.names import OperatorName

    devices = [text.partition(" ")[0].partition(":")[0] for text in tensors]
    state = state_or_newest(source, devices if options.device is None else [*devices, options.device])
    report = call_report(state, CallRequest(operator, tensors, options, keyset, contexts))
    if isinstance(report, ResolveReport):
        name = OperatorName.parse(report.operator)
        note_conditions(state, [name], out)
        warn_of_overrides(state, out.color, {name})
    show(report, out, full=full)
    if report.fails:
        raise click.exceptions.Exit(EXIT_CALL_FAILS)
