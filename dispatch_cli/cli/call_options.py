"""What the command line says of a call, read: everything that is wrong with it is found at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import click

from dispatch_cli.cli.completion import complete_contexts, complete_tensors
from dispatch_cli.cli.names import higher_order_named, operator_named, similar_operators

if TYPE_CHECKING:
    from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
    from dispatch_cli.engine.history.state import State
    from dispatch_cli.engine.keys.keyset import DispatchKeySet
    from dispatch_cli.model.call import CallError, Context, TensorSpec
    from dispatch_cli.model.higher_order import HigherOrderOperator
    from dispatch_cli.model.names import OperatorName
    from dispatch_cli.model.options import Options
    from dispatch_cli.model.problem import InputError, Problem
    from dispatch_cli.model.universe import Universe

_Spec = TypeVar("_Spec")
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


class CallOptions(NamedTuple):
    """What the command line says of the call."""

    operator: str
    tensors: tuple[str, ...]
    options: Options
    keyset: str | None
    contexts: tuple[str, ...]


class CallGiven(NamedTuple):
    """The same, read. name: of an ordinary operator; higher_order: the operator otherwise. keys: of the key set."""

    name: OperatorName | None
    higher_order: HigherOrderOperator | None
    tensors: list[TensorSpec]
    contexts: list[Context]
    keys: DispatchKeySet | None


def read_call(state: State, asked: CallOptions) -> CallGiven:
    """Read what is said of a call. Errors: InputError, with everything that is wrong."""
    from dispatch_cli.model.problem import InputError

    problems: list[Problem] = []
    name = operator_named(state.dispatcher, asked.operator)
    higher_order = higher_order_named(state, asked.operator) if name is None else None
    if name is None and higher_order is None:
        problems.append(_unknown_operator(state, asked.operator))
    tensors, contexts = read_thread(state.dispatcher.universe, asked.tensors, asked.contexts, problems)
    keys = _key_set(state.dispatcher, asked.keyset, problems)
    _check_options(state.dispatcher, name, asked, problems)
    if higher_order is not None:
        problems += _not_of_higher_order(asked)
    if problems:
        raise InputError(tuple(problems))
    return CallGiven(name, higher_order, tensors, contexts, keys)


def read_thread(
    universe: Universe, tensors: Iterable[str], contexts: Iterable[str], problems: list[Problem]
) -> tuple[list[TensorSpec], list[Context]]:
    """What is said of tensors and contexts; what is wrong with each of them is noted, all at once."""
    from dispatch_cli.model.call import Context, TensorSpec

    specs = _read(tensors, TensorSpec.parse, "--tensor", problems)
    entered = [
        context._replace(keys=tuple(map(universe.key_named, context.keys)))
        for context in _read(contexts, Context.parse, "--context", problems)
    ]
    _check(universe, specs, entered, problems)
    return specs, entered


def refused_call(error: CallError, tensors: Iterable[str], contexts: Iterable[Context]) -> InputError:
    """What is wrong with tensors and contexts together."""
    from dispatch_cli.model.problem import InputError

    of_context = not tensors or error.text in map(str, contexts)
    return InputError((problem_of(error, "--context" if of_context else "--tensor"),))


def _not_of_higher_order(asked: CallOptions) -> Iterator[Problem]:
    """The options that say nothing of a call of a higher-order operator."""
    from dispatch_cli.model.problem import Problem

    if asked.keyset is not None:
        yield Problem("keyset", "--keyset: a higher-order operator has no C++ kernels; use --tensor")
    for option, _ in asked.options.given:
        message = f"--{option}: a higher-order operator has no schema, so it has no such argument"
        yield Problem(option, message)


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


def _check(universe: Universe, specs: list[TensorSpec], contexts: list[Context], problems: list[Problem]) -> None:
    """Note what the universe does not have: every device, key and kind of tensor at once."""
    from dispatch_cli.engine.call.tensors import TensorMaker
    from dispatch_cli.engine.call.thread import Contexts

    maker = TensorMaker(universe)
    thread = Contexts(maker)
    fresh = thread.fresh()
    for spec in specs:
        _tried(partial(maker.make, spec), "--tensor", problems)
    for context in contexts:
        _tried(partial(thread.enter, fresh, context), "--context", problems)


def _check_options(
    dispatcher: Dispatcher, name: OperatorName | None, asked: CallOptions, problems: list[Problem]
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
    schema = None if definition is None else definition.known_schema
    for option, text in asked.options.given:
        if name is None:
            _tried(partial(check_option, maker, option, text), f"--{option}", problems)
        else:
            only = Options(**{option: text})
            _tried(partial(check_options, maker, name, schema, only), f"--{option}", problems)
    if asked.keyset is not None and asked.options.generator is not None:
        message = "--generator adds no key when --keyset gives the whole key set; give one of the two"
        problems.append(Problem("generator", message))


def _tried(action: Callable[[], _Spec], option: str, problems: list[Problem]) -> _Spec | None:
    from dispatch_cli.model.call import CallError

    try:
        return action()
    except CallError as error:
        problems.append(problem_of(error, option))
    return None


def problem_of(error: CallError, option: str) -> Problem:
    """What is wrong with the text of an option, as a problem."""
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
