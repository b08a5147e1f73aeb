"""The report on a slot, its blocks, and the targets of their parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from dispatch_cli.answers.explain import document as explain
from dispatch_cli.answers.explain import higher_order_document as explain_higher_order
from dispatch_cli.answers.explain.advice_report import Change
from dispatch_cli.answers.explain.adviser import slot_advice
from dispatch_cli.answers.explain.higher_order_report import ExplainHigherOrderReport
from dispatch_cli.answers.explain.report import ExplainReport, SlotExplanation, explain_report, explain_slot, report_on
from dispatch_cli.answers.explain.rule_steps import Concerned, RuleLine, RuleState
from dispatch_cli.answers.shared.slot_row import Folded, TableRow
from dispatch_cli.engine.state import State
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.explore.switch import name_text
from dispatch_cli.model.changes.change import RegistrationName, Removal
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import Block, Gap, Paragraph, Run, Tone

WORKING = "Looking for what would help …"


class ToSlot(NamedTuple):
    """Leads to another slot, an alias key or a functionality. by_rule: from the rule that fired, which can be about
    nothing but the slot itself.
    """

    key: str
    by_rule: bool = False


class ToSwitchedOff(NamedTuple):
    """Leads to a registration that is switched off: a change on trial, by its position from 1."""

    number: int
    which: RegistrationName


Target = ToSlot | Concerned | Span | Change | ToSwitchedOff


def slot_blocks(
    report: ExplainReport | ExplainHigherOrderReport, off: Sequence[tuple[int, Removal]], working: bool
) -> Iterator[Block]:
    """The document of ``explain``, below the registrations that are switched off, with the positions of these changes.

    working: the advice is still looked for.
    """
    for number, removal in off:
        text = f"~ Switched off on trial: {name_text(removal.which)} (x switches it on again)"
        yield Paragraph(Run(text, Tone.WARN), link=ToSwitchedOff(number, removal.which))
    if off:
        yield Gap()
    if isinstance(report, ExplainHigherOrderReport):
        yield from explain_higher_order.document(report)
    else:
        yield from explain.document(report)
    if working:
        yield Gap()
        yield Paragraph(Run(WORKING, Tone.DIM))


def leads_to(report: ExplainReport | ExplainHigherOrderReport, item: Any) -> Target | None:
    """Target of a row or a paragraph."""
    if isinstance(item, Concerned):
        return item
    if isinstance(item, RuleLine) and isinstance(report, ExplainReport):
        fired = item.outcome is RuleState.FIRED
        key = next(iter(item.looks_at), report.what.key)
        return ToSlot(key, fired) if fired or key != report.what.key else None
    if isinstance(item, Folded):
        return ToSlot(item.keys[0])
    if isinstance(item, list) and item:  # implementations
        return getattr(item[0], "span", None)
    link = item.link if isinstance(item, Paragraph) else None
    return ToSlot(link.key) if isinstance(link, TableRow) else link  # type: ignore[return-value]


def is_by_rule(target: Target) -> bool:
    """True for the part where the cursor begins in another slot: the rule that fired."""
    return isinstance(target, ToSlot) and target.by_rule


def slot_answer(session: Session, spot: Spot, advice: bool = True) -> PaneAnswer | None:
    """Report of ``explain`` on the slot at a spot; None if there is no such operator or key.

    advice: with notes and changes that would help, which can take a while; without it, the report is incomplete.
    """
    if spot.key is None:
        return None
    if spot.higher_order is not None:
        return _of_higher_order(session, spot.higher_order, spot.key)
    state, name, key = session.state, spot.operator, spot.key
    universe = state.dispatcher.universe
    if name is None or name not in state.dispatcher:
        return None
    if key in universe.slot and not advice:
        report = report_on(state, name, explain_slot(state, name, key))
    elif universe.has_key(key):
        report = explain_report(state, name, key)
    else:
        return None
    return PaneAnswer(report, session.command("explain", before=(str(name), key)))


def lacks_advice(answer: PaneAnswer) -> bool:
    """True if an answer that was made without advice is incomplete."""
    return isinstance(answer.report, ExplainReport) and isinstance(answer.report.what, SlotExplanation)


def with_advice(state: State, spot: Spot, answer: PaneAnswer) -> PaneAnswer:
    """The complete answer for one that lacks advice. state: a snapshot, on which changes are tried."""
    assert spot.operator is not None and spot.key is not None, "they have been explained"
    advice = slot_advice(state, spot.operator, spot.key)
    return answer._replace(report=replace(answer.report, what=answer.report.what._replace(advice=advice)))


def _of_higher_order(session: Session, name: str, key: str) -> PaneAnswer | None:
    state = session.state
    operator = state.higher_order_operator(name)
    if operator is None:
        return None
    from dispatch_cli.answers.explain.higher_order_report import explain_higher_order, place_named
    from dispatch_cli.model.problem import InputError

    try:
        place = place_named(state, operator, key)
    except InputError:
        return None
    report = explain_higher_order(state, operator, place)
    return PaneAnswer(report, session.command("explain", before=(f"higher_order::{name}", key)))
