"""Calls: what a user describes, simulated as ``resolve`` does it, and its keys as ``keys`` shows them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dispatch_cli.answers.keys.key import key_answer
from dispatch_cli.answers.resolve.call_request import CallRequest, call_report, keys_of_call, read_call
from dispatch_cli.answers.resolve.call_words import ABSENT_WORDS
from dispatch_cli.answers.resolve.higher_order import ResolveHigherOrderReport
from dispatch_cli.answers.resolve.report import ResolveReport, StepReport
from dispatch_cli.engine.call.kernels.own_kernels import called_by
from dispatch_cli.engine.call.trace import Does
from dispatch_cli.engine.history.state import State
from dispatch_cli.explore.answers.keys import answer_of_keys
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.options import NO_OPTIONS, Options
from dispatch_cli.model.schema import FunctionSchema
from dispatch_cli.model.schema.arguments import is_tensor, is_tensor_list
from dispatch_cli.model.schema.types import TypeKind

CallAnswered = ResolveReport | ResolveHigherOrderReport
OPTIONS = Options._fields


class Draft(NamedTuple):
    """A call that is being described: the texts of its tensors, contexts and options, and a key set instead."""

    tensors: tuple[str, ...] = ()
    contexts: tuple[str, ...] = ()
    options: Options = NO_OPTIONS
    keyset: str | None = None


def schema_of(state: State, spot: Spot) -> FunctionSchema | None:
    """The schema of the operator at a place; None where it is not known, or there is none."""
    if spot.operator is None or spot.operator not in state.dispatcher:
        return None
    definition = state.dispatcher.operator(spot.operator).definition
    return None if definition is None else definition.known_schema


def first_draft(state: State, spot: Spot, like: Draft | None = None) -> Draft:
    """A call to begin with: a tensor for each argument that takes one, None where that may be left out.

    like: a draft of another operator, whose first tensor and contexts are taken over.
    """
    first = next((text for text in (like.tensors if like else ()) if text not in ABSENT_WORDS), None)
    tensor = first or next(iter(state.dispatcher.universe.devices))
    contexts = like.contexts if like else ()
    schema = schema_of(state, spot)
    if schema is None:
        return Draft((tensor,), contexts)
    taking = [arg.type for arg in schema.arguments if is_tensor(arg.type) or is_tensor_list(arg.type)]
    optional = [kind.kind is TypeKind.OPTIONAL for kind in taking]
    if all(optional):  # with None alone, no tensor would be asked for
        optional = [False] * len(taking)
    return Draft(tuple("none" if absent else tensor for absent in optional), contexts)


def most_tensors(state: State, spot: Spot) -> int | None:
    """Number of tensors that an operator takes; None for any number, and where that is not known."""
    schema = schema_of(state, spot)
    if schema is None or any(is_tensor_list(argument.type) for argument in schema.arguments):
        return None
    return sum(is_tensor(argument.type) for argument in schema.arguments)


def call_answer(session: Session, spot: Spot, draft: Draft) -> PaneAnswer:
    """The call, simulated in the session's state. Errors: InputError, with everything that is wrong."""
    asked = _request(spot, draft)
    report = _resolved(session.state, asked)
    return PaneAnswer(report, session.command("resolve", *call_arguments(draft), before=(asked.operator,)))


def call_arguments(draft: Draft) -> tuple[str, ...]:
    """A draft as arguments."""
    options = (word for option, text in draft.options.given for word in ("--argument", f"{option}={text}"))
    return (*_thread_arguments(draft), *options, *(() if draft.keyset is None else ("--keyset", draft.keyset)))


def keys_answer(session: Session, draft: Draft) -> PaneAnswer | None:
    """Keys of a draft: of its key set expression, else of its tensors and contexts; None if it has none of these.

    Errors: InputError.
    """
    universe = session.state.dispatcher.universe
    if draft.keyset is not None:
        return answer_of_keys(session, key_answer(universe, draft.keyset), (draft.keyset,))
    if not draft.tensors and not draft.contexts:
        return None
    keys = keys_of_call(universe, draft.tensors, draft.contexts)
    return answer_of_keys(session, keys, after=tuple(_thread_arguments(draft)))


def _thread_arguments(draft: Draft) -> Iterator[str]:
    """The tensors and the contexts of a draft as arguments."""
    yield from (word for text in draft.tensors for word in ("--tensor", text))
    yield from (word for text in draft.contexts for word in ("--context", text))


def called_operator(state: State, name: OperatorName, step: StepReport) -> OperatorName | None:
    """The operator that a composite kernel is known to call."""
    kernel = step.hop.live.kernel
    if step.hop.does not in (Does.ENDS, Does.DECOMPOSES) or kernel is None:
        return None
    definition = state.dispatcher.operator(name).definition
    return called_by(state.dispatcher, name, () if definition is None else definition.tags, kernel.debug)


def _request(spot: Spot, draft: Draft) -> CallRequest:
    operator = spot.higher_order or str(spot.operator)
    return CallRequest(operator, draft.tensors, draft.options, draft.keyset, draft.contexts)


def _resolved(state: State, asked: CallRequest) -> CallAnswered:
    """Errors: InputError."""
    return call_report(state, asked, read_call(state, asked))
