"""The slot of an operator, an alias key, a functionality, or a place in a higher-order operator."""

from __future__ import annotations

from dataclasses import replace

from dispatch_cli.answers.explain.advice.adviser import Steps
from dispatch_cli.answers.explain.advice.slot import slot_advice_steps
from dispatch_cli.answers.explain.report import ExplainReport, SlotExplanation, explain_report, explain_slot, report_on
from dispatch_cli.explore.session import PaneAnswer, Session, Spot


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
    elif key in universe.slot or key in universe.aliases or key in universe.per_backend:
        report = explain_report(state, name, key)
    else:
        return None
    return PaneAnswer(report, session.command("explain", before=(str(name), key)))


def lacks_advice(answer: PaneAnswer) -> bool:
    """True if an answer that was made without advice is incomplete."""
    return isinstance(answer.report, ExplainReport) and isinstance(answer.report.what, SlotExplanation)


def advice_steps(session: Session, spot: Spot, answer: PaneAnswer) -> Steps[PaneAnswer]:
    """The complete answer for one that lacks advice, in steps, after each of which the state is as it was."""
    report = answer.report
    assert spot.operator is not None and spot.key is not None, "they have been explained"
    advice = yield from slot_advice_steps(session.state, spot.operator, spot.key)
    return answer._replace(report=replace(report, what=report.what._replace(advice=advice)))


def _of_higher_order(session: Session, name: str, key: str) -> PaneAnswer | None:
    state = session.state
    operator = state.higher_order_operator(name)
    if operator is None:
        return None
    from dispatch_cli.answers.explain.higher_order.report import NoPlace, explain_higher_order, place_named

    try:
        place = place_named(state, operator, key)
    except NoPlace:
        return None
    report = explain_higher_order(state, operator, place)
    return PaneAnswer(report, session.command("explain", before=(f"higher_order::{name}", key)))
