"""``dispatch-cli resolve``"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from dispatch_cli.cli.completion import complete_devices, complete_dtypes, complete_layouts, complete_operators
from dispatch_cli.cli.options import (
    SourceOptions,
    operator_named,
    similar_operators,
    source_options,
    state_or_newest,
    warn_of_overrides,
)
from dispatch_cli.cli.output import Output, output_options, refuse, show

if TYPE_CHECKING:
    from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
    from dispatch_cli.engine.history.state import State
    from dispatch_cli.engine.keys.keyset import DispatchKeySet
    from dispatch_cli.model.call import CallError, Context, TensorSpec
    from dispatch_cli.model.names import OperatorName
    from dispatch_cli.model.options import Options
    from dispatch_cli.model.problem import Problem
    from dispatch_cli.report.resolve import ResolveReport
    from dispatch_cli.report.resolve_higher_order import ResolveHigherOrderReport

EXIT_CALL_FAILS = 1
OPTIONS = {
    "device": (
        *("DEVICE", complete_devices),
        "The device argument of a factory, such as cuda; else its default, or the universe's first device.",
    ),
    "layout": (
        *("LAYOUT", complete_layouts),
        "Its layout argument, such as sparse or torch.sparse_csr; else its default, or strided.",
    ),
    "dtype": (
        *("DTYPE", complete_dtypes),
        "Its dtype argument, such as qint8; else its default, or float32. Only whether it is quantized matters.",
    ),
    "generator": (
        *("DEVICE", complete_devices),
        "The device of a torch.Generator, such as cpu; its key counts, but not of 'cpu boxed'.",
    ),
}
"""What a call is given beside tensors: each option's value, completion and help."""
_Spec = TypeVar("_Spec")
_Command = TypeVar("_Command", bound=Callable[..., Any])


def _call_options(command: _Command) -> _Command:
    for name, (metavar, complete, text) in reversed(OPTIONS.items()):
        command = click.option(f"--{name}", metavar=metavar, shell_complete=complete, help=text)(command)
    return command


@click.command("resolve")
@click.argument("operator", metavar="OP", shell_complete=complete_operators)
@source_options
@click.option(
    "--tensor",
    "tensors",
    multiple=True,
    metavar="SPEC",
    help="A tensor argument, such as 'cpu', 'cuda sparse requires_grad' or 'meta inference'; give it several times.",
)
@_call_options
@click.option(
    "--keyset",
    metavar="EXPR",
    help="A key set to call with, as a redispatch does: without thread state and mask. EXPR as `keys` reads it.",
)
@click.option(
    "--context",
    "contexts",
    multiple=True,
    metavar="TEXT",
    help="What the call happens in, the outermost first: inference_mode, 'autocast cpu', vmap, mode=NAME and others",
)
@click.option(
    "--stop-after", type=click.IntRange(min=1), metavar="N", help="Show the first N steps only; 1 is the first kernel."
)
@output_options("text", "json", "markdown", "html")
def command(
    source: SourceOptions,
    operator: str,
    tensors: tuple[str, ...],
    keyset: str | None,
    contexts: tuple[str, ...],
    stop_after: int | None,
    out: Output,
    **options: str | None,
) -> None:
    """Simulate a call: which kernels run for these tensors in these contexts, why, and how it ends.

    A SPEC is a device of the universe, such as cuda:0, and words in any order: strided, sparse, sparse_csr,
    sparse_csc, sparse_bsr, sparse_bsc, mkldnn, jagged, quantized, nested, requires_grad, inference, conj, neg,
    zerotensor, fake or fake=NAME of its mode, subclass=NAME, and the wrappers batched, grad-wrapped and functional,
    the innermost first. Or it is one of two words alone: undefined, an undefined tensor, which PyTorch makes of None
    where a schema has Tensor; none, which is None where it has Tensor?.

    Without --tensor the operator gets no tensors, as a factory. A kernel at BackendSelect goes on with the key of a
    tensor of this --device, --layout and --dtype; the answer says which of them are assumed. A --generator adds its
    key in unboxed calls: those of torch.rand and the like, and of C++. torch.ops makes boxed calls, where it adds
    none: write 'cpu boxed'.

    A context is autocast DEVICE, inference_mode, no_grad, below_autograd, below_ADInplaceOrView,
    enable_functionalization, suspend_functionalization, python_dispatcher, no_python_dispatcher, pre_dispatch,
    mode=NAME, pre_dispatch_mode=NAME, include=KEY, exclude=KEY, or one of functorch's transforms: vmap, grad, jvp,
    functionalize.

    OP may be a higher-order operator. Without files, --base and -k it is looked up in the newest embedded PyTorch
    state.

    The exit code is 1 when the call fails: when PyTorch would raise an error.
    """
    from dispatch_cli.model.options import Options
    from dispatch_cli.model.problem import InputError

    state, assumed = state_or_newest(source, out.color)
    asked = _CallOptions(operator, tensors, Options(**options), keyset, contexts, stop_after)
    try:
        report = _report(state, asked, assumed)
    except InputError as error:
        raise refuse(error, out.color) from None
    warn_of_overrides(state, out.color)
    show(report, out)
    if report.fails:
        raise click.exceptions.Exit(EXIT_CALL_FAILS)


class _CallOptions(NamedTuple):
    """What the command line says of the call."""

    operator: str
    tensors: tuple[str, ...]
    options: Options
    keyset: str | None
    contexts: tuple[str, ...]
    stop_after: int | None


def _report(state: State, asked: _CallOptions, over_assumed: bool) -> ResolveReport | ResolveHigherOrderReport:
    """The call, simulated. Errors: InputError, with everything that is wrong with what was asked."""
    from dispatch_cli.model.call import CallError, Context, TensorSpec
    from dispatch_cli.model.problem import InputError, Problem

    problems: list[Problem] = []
    higher_order = state.higher_order_operator(asked.operator)
    name = None if higher_order is not None else operator_named(state.dispatcher, asked.operator)
    if name is None and higher_order is None:
        problems.append(_unknown_operator(state, asked.operator))
    specs = _read(asked.tensors, TensorSpec.parse, "--tensor", problems)
    contexts = _read(asked.contexts, Context.parse, "--context", problems)
    _check(state.dispatcher, specs, contexts, problems)
    keys = _key_set(state.dispatcher, asked.keyset, problems)
    _check_options(state.dispatcher, name, asked, problems)
    if higher_order is not None and asked.keyset is not None:
        message = "--keyset: a higher-order operator has no C++ kernels; give it tensors"
        problems.append(Problem("keyset", message))
    if higher_order is not None:
        for option, _ in asked.options.given:
            message = f"--{option}: a higher-order operator has no schema, and so no argument that is known to take it"
            problems.append(Problem(option, message))
    if problems:
        raise InputError(tuple(problems))
    try:
        if higher_order is not None:
            from dispatch_cli.engine.call.higher_order.simulate import simulate_higher_order
            from dispatch_cli.report.resolve_higher_order import resolve_higher_order_report

            followed = simulate_higher_order(state, higher_order, specs, contexts)
            return resolve_higher_order_report(state, higher_order, followed, over_assumed, asked.stop_after)
        assert name is not None, "an unknown operator is a problem"
        from dispatch_cli.engine.call.simulate import simulate
        from dispatch_cli.report.resolve import resolve_report

        call = simulate(state, name, specs, contexts, keys, asked.options)
        return resolve_report(state, call, over_assumed, asked.keyset, asked.stop_after)
    except CallError as error:
        of_context = not asked.tensors or error.text in map(str, contexts)
        raise InputError((_problem(error, "--context" if of_context else "--tensor"),)) from None


def _unknown_operator(state: State, text: str) -> Problem:
    from dispatch_cli.model.problem import Problem

    hint = similar_operators(state.dispatcher, text)
    if hint is None:
        from dispatch_cli.model.suggest import suggestion

        hint = suggestion(text, [one.name for one in state.higher_order_operators], 3)
    return Problem("unknown-operator", f"there is no operator {text[:200]!r}", hint=hint)


def _read(texts: Iterable[str], parse: Callable[[str], _Spec], option: str, problems: list[Problem]) -> list[_Spec]:
    """What each text says; for those that say nothing, problems."""
    return [spec for text in texts if (spec := _tried(partial(parse, text), option, problems)) is not None]


def _check(dispatcher: Dispatcher, specs: list[TensorSpec], contexts: list[Context], problems: list[Problem]) -> None:
    """Note what the universe does not have: every device, key and kind of tensor at once."""
    from dispatch_cli.engine.call.tensors import TensorMaker
    from dispatch_cli.engine.call.thread import Contexts

    maker = TensorMaker(dispatcher.universe)
    thread = Contexts(maker)
    fresh = thread.fresh()
    for spec in specs:
        _tried(partial(maker.make, spec), "--tensor", problems)
    for context in contexts:
        _tried(partial(thread.enter, fresh, context), "--context", problems)


def _check_options(
    dispatcher: Dispatcher, name: OperatorName | None, asked: _CallOptions, problems: list[Problem]
) -> None:
    """Note what is wrong with each option; name: of the operator, if it is an ordinary one."""
    if not asked.options.given:
        return
    from dispatch_cli.engine.call.options import check_option, check_options
    from dispatch_cli.engine.call.tensors import TensorMaker
    from dispatch_cli.model.options import Options
    from dispatch_cli.model.problem import Problem

    maker = TensorMaker(dispatcher.universe)
    definition = None if name is None else dispatcher.operator(name).definition
    schema = None if definition is None else definition.schema
    for option, text in asked.options.given:
        if name is None:
            _tried(partial(check_option, maker, option, text), f"--{option}", problems)
        else:
            only = Options(**{option: text})
            _tried(partial(check_options, maker, name, schema, only), f"--{option}", problems)
    if asked.keyset is not None and asked.options.generator is not None:
        message = "--generator: its key does not count where --keyset gives the whole set; leave one of them out"
        problems.append(Problem("generator", message))


def _tried(action: Callable[[], _Spec], option: str, problems: list[Problem]) -> _Spec | None:
    from dispatch_cli.model.call import CallError

    try:
        return action()
    except CallError as error:
        problems.append(_problem(error, option))
    return None


def _problem(error: CallError, option: str) -> Problem:
    from dispatch_cli.model.problem import Problem

    return Problem(option.removeprefix("--"), f"{option} {error.text[:200]!r}: {error.message[:600]}", hint=error.hint)


def _key_set(dispatcher: Dispatcher, keyset: str | None, problems: list[Problem]) -> DispatchKeySet | None:
    if keyset is None:
        return None
    from dispatch_cli.engine.keys.expression import evaluate
    from dispatch_cli.model.problem import InputError

    try:
        return evaluate(dispatcher.universe, keyset, "--keyset").keys
    except InputError as error:
        problems += error.problems
    return None
