"""Calls and key sets: described by the user, simulated as ``resolve`` does it, and their documents."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from dispatch_cli.answers.keys import key_document as key
from dispatch_cli.answers.keys.key import KeyReport, KeySetReport, key_answer
from dispatch_cli.answers.keys.key_document import key_set_document
from dispatch_cli.answers.keys.outcomes import KeyOutcome
from dispatch_cli.answers.keys.report import universe_argument
from dispatch_cli.answers.resolve import document as resolve
from dispatch_cli.answers.resolve import higher_order_document as resolve_higher_order
from dispatch_cli.answers.resolve.call_request import CallKeysReport, CallRequest, call_report, keys_of_call
from dispatch_cli.answers.resolve.call_words import ABSENT_WORDS
from dispatch_cli.answers.resolve.document import call_keys_document
from dispatch_cli.answers.resolve.higher_order import HigherOrderStep, ResolveHigherOrderReport
from dispatch_cli.answers.resolve.report import ResolveReport, StepReport
from dispatch_cli.answers.shared.slot_row import HigherOrderRow
from dispatch_cli.engine.state import State
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.model.calls.options import NO_OPTIONS, Options
from dispatch_cli.model.problem import Problem
from dispatch_cli.model.schema.model import FunctionSchema, takes_tensors
from dispatch_cli.model.schema.types import TypeKind
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import UNDEFINED, UNNAMED_BACKEND
from dispatch_cli.render.document import (
    Block,
    Fact,
    Gap,
    Paragraph,
    Run,
    Tone,
)

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
    taking = [argument.type for argument in schema.arguments if takes_tensors(argument)]
    optional = [kind.kind is TypeKind.OPTIONAL for kind in taking]
    if all(optional):  # with None alone, no tensor would be asked for
        optional = [False] * len(taking)
    return Draft(tuple("none" if absent else tensor for absent in optional), contexts)


def call_answer(session: Session, spot: Spot, draft: Draft) -> PaneAnswer:
    """The call, simulated in the session's state. Errors: InputError, with everything that is wrong."""
    asked = _request(spot, draft)
    report = call_report(session.state, asked)
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


def answer_of_keys(
    session: Session, report: object, before: tuple[str, ...] = (), after: tuple[str, ...] = ()
) -> PaneAnswer:
    """A report with the ``keys`` that prints it. before, after: its arguments around those of the universe."""
    universe = session.state.dispatcher.universe
    named = universe_argument(session.original, session.source)
    backend = () if universe.backend_name == UNNAMED_BACKEND else ("--privateuse1", universe.backend_name)
    return PaneAnswer(report, ("keys", *before, "--universe", named, *backend, *after))


def _thread_arguments(draft: Draft) -> Iterator[str]:
    """The tensors and the contexts of a draft as arguments."""
    yield from (word for text in draft.tensors for word in ("--tensor", text))
    yield from (word for text in draft.contexts for word in ("--context", text))


def _request(spot: Spot, draft: Draft) -> CallRequest:
    operator = spot.higher_order or str(spot.operator)
    return CallRequest(operator, draft.tensors, draft.options, draft.keyset, draft.contexts)


class CallTarget(NamedTuple):
    """Slot that a line opens. span: the place of the kernel there."""

    key: str
    span: Span | None = None


def target_of(item: object) -> CallTarget | None:
    """Target of a row, a fact or a paragraph; None if it opens nothing."""
    link = item.link if isinstance(item, Fact | Paragraph) else item
    if isinstance(link, StepReport):
        return CallTarget(link.hop.slot, link.entry.span)
    if isinstance(link, HigherOrderStep):
        impl, key = link.hop.impl, link.hop.key
        # a higher-order operator has no such slot
        return None if key == UNDEFINED else CallTarget(key, None if impl is None else impl.span)
    if not isinstance(link, KeyOutcome) or (link.key == UNDEFINED and isinstance(link.entry, HigherOrderRow)):
        return None
    return CallTarget(link.key, link.entry.span)


def refusal(problems: Sequence[Problem], draft: Draft | None) -> Iterator[Block]:
    """The problems of a call that cannot be made. draft: the last one that could, whose answer is shown below."""
    for problem in problems:
        yield Paragraph(Run(f"! {problem.message}", Tone.BAD), hang=2)
        if problem.hint:
            yield Paragraph(Run(problem.hint, Tone.WARN), indent=2)
    if draft is None:
        return
    yield Gap()
    command = shlex.join(call_arguments(draft))
    yield Paragraph(Run(f"The last call that could be made: {command or 'without tensors'}", Tone.WARN))
    yield Gap()


def call_blocks(report: CallAnswered) -> Iterator[Any]:
    """The document of a call."""
    if isinstance(report, ResolveHigherOrderReport):
        return resolve_higher_order.document(report, full=True)
    return resolve.document(report, full=True)


def key_blocks(state: State, report: CallKeysReport | KeyReport | KeySetReport) -> Iterator[Block]:
    """The key set of a call, a key, or a key set that was written."""
    if isinstance(report, CallKeysReport):
        yield from call_keys_document(report)
    elif isinstance(report, KeyReport):
        yield from key.document(report, universe=state.dispatcher.universe)
    else:
        yield from key_set_document(report)


def nothing_asked() -> Iterator[Block]:
    """Advice where there is no call, and no key set."""
    yield Paragraph("No tensor, no context and no key set is given: a adds a tensor, c a context.")
