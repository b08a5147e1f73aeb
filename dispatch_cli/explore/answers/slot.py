"""The report on a slot, its blocks, and the targets of their parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from dispatch_cli.answers.explain import document as explain
from dispatch_cli.answers.explain.advice.adviser import Steps
from dispatch_cli.answers.explain.advice.document import advice_lines, further_step, new_changes
from dispatch_cli.answers.explain.advice.report import Advice, Change
from dispatch_cli.answers.explain.advice.slot import slot_advice_steps
from dispatch_cli.answers.explain.higher_order import document as explain_higher_order
from dispatch_cli.answers.explain.higher_order.report import ExplainHigherOrderReport
from dispatch_cli.answers.explain.report import ExplainReport, SlotExplanation, explain_report, explain_slot, report_on
from dispatch_cli.answers.explain.rule_steps import Concerned, Role, RuleLine, RuleState
from dispatch_cli.answers.explain.wording import before_phrase, slot_sentences
from dispatch_cli.answers.shared.folding import Folded
from dispatch_cli.answers.shared.slot_row import Before, TableRow
from dispatch_cli.answers.table.report import became_stale
from dispatch_cli.explore.answers.table import said_once
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.explore.switch import name_text
from dispatch_cli.model.change import RegistrationName, Removal
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import Block, Gap, Paragraph, Run, Tone
from dispatch_cli.render.snippets import snippet

WORKING = "Looking for what would help …"


class ToSlot(NamedTuple):
    """Leads to another slot, an alias key or a functionality. by_rule: from the rule that fired, which can be about
    nothing but the slot itself.
    """

    key: str
    by_rule: bool = False


class ToRegistration(NamedTuple):
    """Leads to the place of a registration, which can be switched off. by_rule: from the rule that fired."""

    concerned: Concerned
    by_rule: bool = False


class ToPlace(NamedTuple):
    """Leads to a place in a file."""

    span: Span


class ToAdvice(NamedTuple):
    """A piece of advice. change: the one that enter tries; None where there is none."""

    advice: Advice
    change: Change | None


class ToSwitchedOff(NamedTuple):
    """Leads to a registration that is switched off: a change on trial, by its position from 1."""

    number: int
    which: RegistrationName


Target = ToSlot | ToRegistration | ToPlace | ToAdvice | ToSwitchedOff


class SlotBlocks:
    """The blocks of an answer.

    report: of an ordinary operator or of a higher-order one. before: what the slot held before the changes on trial.
    off: the registrations that are switched off, with the positions of these changes. working: the advice is still
    looked for.
    """

    def __init__(
        self,
        report: ExplainReport | ExplainHigherOrderReport,
        before: Before | None = None,
        off: Sequence[tuple[int, Removal]] = (),
        working: bool = False,
    ) -> None:
        self.report = report
        self.off = off
        self.before = before
        self.working = working

    def __call__(self, width: int) -> Iterator[Block]:
        """The blocks for a width."""
        report = self.report
        if isinstance(report, ExplainHigherOrderReport):
            return explain_higher_order.document(report, width)
        if isinstance(report.what, SlotExplanation):
            return self._slot(report, report.what)
        return chain(explain.document(report, width), (Gap(),) if self.off else (), self._switched_off())

    def leads_to(self, item: Any) -> Target | None:
        """Target of a row or a paragraph."""
        if isinstance(item, Concerned):
            return ToRegistration(item)
        if isinstance(item, RuleLine):
            fired = item.outcome is RuleState.FIRED
            if item.looks_at and item.looks_at[0] != _key_of(self.report):
                return ToSlot(item.looks_at[0], fired)
            return (self._filling() or ToSlot(_key_of(self.report), True)) if fired else None
        if isinstance(item, Folded):
            return ToSlot(item.keys[0])
        if isinstance(item, list) and item and getattr(item[0], "span", None) is not None:  # implementations
            return ToPlace(item[0].span)
        link = item.link if isinstance(item, Paragraph) else None
        if isinstance(link, Span):
            return ToPlace(link)
        return ToSlot(link.key) if isinstance(link, TableRow) else link  # type: ignore[return-value]

    def is_first(self, target: Target) -> bool:
        """True for the part where the cursor begins in another slot: the rule that fired."""
        return isinstance(target, ToSlot | ToRegistration) and target.by_rule

    def is_off(self, target: Target) -> bool:
        """True for that where it begins after a change: what is switched off, else as in another slot."""
        return isinstance(target, ToSwitchedOff) if self.off else self.is_first(target)

    def _filling(self) -> Target | None:
        """The registration at the slot's own key that fills it, by the rule that fired."""
        what = self.report.what if isinstance(self.report, ExplainReport) else None
        registrations = what.registrations if isinstance(what, SlotExplanation) else ()
        return next((ToRegistration(row, True) for row in registrations if row.role is Role.FILLS), None)

    def _slot(self, report: ExplainReport, what: SlotExplanation) -> Iterator[Block]:
        """Blocks about a slot: those of ``explain``, and what concerns the changes on trial."""
        yield from explain.heading(report)
        answer = said_once(what.answer, self.before)
        once = what._replace(answer=answer, in_base=what.in_base and answer is what.answer)
        yield from explain.headed(slot_sentences(report, once), what.cause)
        if self.before is not None:
            stale = became_stale(what.answer, self.before)
            was = "was not stale" if stale else f"held {before_phrase(self.before)}"
            yield Paragraph(Run(f"~ Before the changes on trial, {what.key} {was}.", Tone.WARN))
        yield from self._switched_off()
        span = what.answer.span
        if span is not None and (excerpt := snippet(span, None, Tone.WARN, 2)) is not None:
            yield excerpt
        yield from explain.reasons(report, what)
        yield from explain.around(what)
        yield from self._advice(what.advice)

    def _switched_off(self) -> Iterator[Block]:
        """The registrations that are switched off."""
        for number, removal in self.off:
            text = f"~ Switched off on trial: {name_text(removal.which)} (x switches it on again)"
            yield Paragraph(Run(text, Tone.WARN), link=ToSwitchedOff(number, removal.which))

    def _advice(self, advice: tuple[Advice, ...]) -> Iterator[Block]:
        for piece, new, text in zip(advice, new_changes(advice), advice_lines(advice), strict=True):
            yield Gap()
            change = next(iter(new or piece.changes), None)
            tries = () if change is None else (Run(f" ({_tries(change, len(new))})", Tone.DIM),)
            yield Paragraph((*text, *tries), link=ToAdvice(piece, change))
        if self.working:
            yield Gap()
            yield Paragraph(Run(WORKING, Tone.DIM))


def _tries(change: Change, ways: int) -> str:
    """Effect of enter on a change, the first one of several ways."""
    text = f"enter tries {'the first way' if ways > 1 else 'it'}"
    further = further_step(change)
    return text if further is None else f"{text}, without its second step: to {further} is yours"


def _key_of(report: ExplainReport | ExplainHigherOrderReport) -> str:
    return report.name if isinstance(report, ExplainHigherOrderReport) else report.what.key


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
