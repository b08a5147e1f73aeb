"""A call as a user describes it, in texts: read, with everything that is wrong found at once; and its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeVar

from dispatch_cli.answers.keys.outcomes import ThreadKeys, thread_keys
from dispatch_cli.answers.shared.selection import any_operator
from dispatch_cli.engine.call.options import check_option, check_options
from dispatch_cli.engine.call.simulate import make_value
from dispatch_cli.engine.call.tensors import TensorMaker
from dispatch_cli.engine.call.thread import Contexts
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.keys.keyset import DispatchKeySet, KeySet, key_set_of
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.layout import layout_of
from dispatch_cli.model.calls.call import CallError, Context, TensorSpec
from dispatch_cli.model.calls.options import NO_OPTIONS, Options
from dispatch_cli.model.higher_order import HigherOrderOperator
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.model.universe import Universe

if TYPE_CHECKING:
    from dispatch_cli.answers.resolve.higher_order import ResolveHigherOrderReport
    from dispatch_cli.answers.resolve.report import ResolveReport


class TensorKeys(NamedTuple):
    """A tensor and its own keys, as ``torch._C._dispatch_keys`` has them."""

    tensor: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallKeysReport:
    """included, excluded: by the thread. key_set: the keys of all tensors and of the thread, without the excluded ones;
    an operator's fallthroughs are not taken away. highest: the first key. printed: as PyTorch prints the set.
    """

    REPORT: ClassVar[str] = "call-keys"

    universe: str
    tensors: tuple[TensorKeys, ...]
    contexts: tuple[str, ...]
    included: ThreadKeys
    excluded: ThreadKeys
    key_set: KeySet
    highest: str
    printed: str


def call_keys_report(universe: Universe, tensors: Sequence[TensorSpec], contexts: Sequence[Context]) -> CallKeysReport:
    """The keys of those tensors in those contexts, the outermost first. Errors: CallError.

    Source: ``DispatchKeyExtractor``, ``computeDispatchKeySet``.
    """
    maker = TensorMaker(universe)
    thread = Contexts(maker).enter_all(tuple(contexts))
    values = [make_value(maker, thread, spec) for spec in tensors]
    keys = DispatchKeySet(layout_of(universe))
    for value in values:
        keys |= value.keyset
    keys = (keys | thread.keys.included) - thread.keys.excluded
    return CallKeysReport(
        universe=universe.name,
        tensors=tuple(TensorKeys(str(spec), tuple(value.keyset)) for spec, value in zip(tensors, values, strict=True)),
        contexts=tuple(map(str, contexts)),
        included=thread_keys(thread.keys.included, universe.default_included),
        excluded=thread_keys(thread.keys.excluded, universe.default_excluded),
        key_set=key_set_of(keys),
        highest=keys.highest_priority(),
        printed=str(keys),
    )


_Spec = TypeVar("_Spec")


class CallRequest(NamedTuple):
    """A call as it is described. keyset: an expression that stands for the keys of the tensors and the thread."""

    operator: str
    tensors: tuple[str, ...] = ()
    options: Options = NO_OPTIONS
    keyset: str | None = None
    contexts: tuple[str, ...] = ()


def call_report(state: State, asked: CallRequest) -> ResolveReport | ResolveHigherOrderReport:
    """The call, simulated. Errors: InputError, with everything that is wrong."""
    problems: list[Problem] = []
    operator: OperatorName | HigherOrderOperator | None = None
    try:
        operator = any_operator(state, asked.operator)
    except InputError as error:
        problems += error.problems
    tensors, contexts = read_thread(state.dispatcher.universe, asked.tensors, asked.contexts, problems)
    keys = _key_set(state.dispatcher, asked.keyset, problems)
    _check_options(state.dispatcher, operator if isinstance(operator, OperatorName) else None, asked, problems)
    if isinstance(operator, HigherOrderOperator):
        problems += _not_of_higher_order(asked)
    if operator is None or problems:
        raise InputError(tuple(problems))
    try:
        if isinstance(operator, HigherOrderOperator):
            from dispatch_cli.answers.resolve.higher_order import resolve_higher_order_report
            from dispatch_cli.engine.call.higher_order.simulate import simulate_higher_order

            followed = simulate_higher_order(state, operator, tensors, contexts)
            return resolve_higher_order_report(state, operator, followed)
        from dispatch_cli.answers.resolve.report import resolve_report
        from dispatch_cli.engine.call.simulate import simulate

        call = simulate(state, operator, tensors, contexts, keys, asked.options)
        return resolve_report(state, call, asked.keyset)
    except CallError as error:
        raise _refused_call(error, asked.tensors, contexts) from None


def keys_of_call(universe: Universe, tensors: Sequence[str], contexts: Sequence[str]) -> CallKeysReport:
    """The keys of a call of any operator. Errors: InputError, with everything that is wrong."""

    problems: list[Problem] = []
    specs, entered = read_thread(universe, tensors, contexts, problems)
    if problems:
        raise InputError(tuple(problems))
    try:
        return call_keys_report(universe, specs, entered)
    except CallError as error:
        raise _refused_call(error, tensors, entered) from None


def read_thread(
    universe: Universe, tensors: Iterable[str], contexts: Iterable[str], problems: list[Problem]
) -> tuple[list[TensorSpec], list[Context]]:
    """Descriptions of tensors and contexts; the faults of each of them are noted, all at once."""
    specs = _read(tensors, TensorSpec.parse, "--tensor", problems)
    entered = [
        context._replace(keys=tuple(map(universe.key_named, context.keys)))
        for context in _read(contexts, Context.parse, "--context", problems)
    ]
    _check(universe, specs, entered, problems)
    return specs, entered


def _refused_call(error: CallError, tensors: Iterable[str], contexts: Iterable[Context]) -> InputError:
    """The error for tensors and contexts that do not go together."""
    of_context = not tensors or error.text in map(str, contexts)
    return InputError((_problem_of(error, "--context" if of_context else "--tensor"),))


def _not_of_higher_order(asked: CallRequest) -> Iterator[Problem]:
    """The options that say nothing of a call of a higher-order operator."""
    if asked.keyset is not None:
        yield Problem("keyset", "--keyset: a higher-order operator has no C++ kernels; use --tensor")
    for option, _ in asked.options.given:
        message = f"--argument {option}: a higher-order operator has no schema, so it has no such argument"
        yield Problem(option, message)


def _read(texts: Iterable[str], parse: Callable[[str], _Spec], option: str, problems: list[Problem]) -> list[_Spec]:
    """Parsed texts; those that cannot be read are noted as problems."""
    return [spec for text in texts if (spec := _tried(partial(parse, text), option, problems)) is not None]


def _check(universe: Universe, specs: list[TensorSpec], contexts: list[Context], problems: list[Problem]) -> None:
    """Note what the universe does not have: every device, key and kind of tensor at once."""
    maker = TensorMaker(universe)
    thread = Contexts(maker)
    fresh = thread.fresh()
    for spec in specs:
        _tried(partial(maker.make, spec), "--tensor", problems)
    for context in contexts:
        _tried(partial(thread.enter, fresh, context), "--context", problems)


def _check_options(
    dispatcher: Dispatcher, name: OperatorName | None, asked: CallRequest, problems: list[Problem]
) -> None:
    """Note what is wrong with each option; name: of the operator, if it is an ordinary one."""
    if not asked.options.given:
        return
    maker = TensorMaker(dispatcher.universe)
    definition = None if name is None else dispatcher.operator(name).definition
    schema = None if definition is None else definition.known_schema
    for option, text in asked.options.given:
        if name is None:
            _tried(partial(check_option, maker, option, text), f"--argument {option}", problems)
        else:
            only = Options(**{option: text})
            _tried(partial(check_options, maker, name, schema, only), f"--argument {option}", problems)
    if asked.keyset is not None and asked.options.generator is not None:
        message = "--argument generator adds no key when --keyset gives the whole key set; give one of the two"
        problems.append(Problem("generator", message))


def _tried(action: Callable[[], _Spec], option: str, problems: list[Problem]) -> _Spec | None:
    try:
        return action()
    except CallError as error:
        problems.append(_problem_of(error, option))
    return None


def _problem_of(error: CallError, option: str) -> Problem:
    """Problem with the text of an option."""
    return Problem(
        option.removeprefix("--").removeprefix("argument "),
        f"{option} {error.text[:200]!r}: {error.message[:600]}",
        hint=error.hint,
    )


def _key_set(dispatcher: Dispatcher, keyset: str | None, problems: list[Problem]) -> DispatchKeySet | None:
    if keyset is None:
        return None
    from dispatch_cli.engine.keys.expression import evaluate

    try:
        return evaluate(dispatcher.universe, keyset, "--keyset").keys
    except InputError as error:
        problems += error.problems
    return None
