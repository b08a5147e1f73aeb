"""Changes on trial: what is registered, the differences that they cause, and the document of the view."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from dispatch_cli.answers.diff.document import WAYS
from dispatch_cli.answers.diff.report import DiffArguments, DiffReport, diff_report
from dispatch_cli.answers.diff.rows import DiffChoice, DiffSlots
from dispatch_cli.answers.diff.sections_document import Fold
from dispatch_cli.answers.diff.sections_document import slots as changed_slots
from dispatch_cli.answers.findings.document import finding_blocks
from dispatch_cli.answers.findings.report import grouped
from dispatch_cli.answers.table.registrations.document import fallbacks_document, order_document
from dispatch_cli.answers.table.registrations.report import (
    BackendFallback,
    BackendFallbacksReport,
    OrderedRegistration,
    backend_fallbacks_report,
    order_report,
)
from dispatch_cli.engine.state import State
from dispatch_cli.explore.answers.differences import Old, sides_of
from dispatch_cli.explore.answers.table import exact, operator_glob, whole
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.explore.switch import change_text
from dispatch_cli.model.changes.change import Change
from dispatch_cli.model.changes.registration_names import NamedRegistration
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import (
    Block,
    Column,
    Gap,
    Paragraph,
    ParagraphKind,
    Run,
    TableBlock,
    Tone,
)
from dispatch_cli.render.words import plural, short_kernel
from dispatch_cli.whatif.findings import FindingsEffect

MOST_NAMED = 50
"""Operators that a command line names; where changes can concern more, everything is compared."""
MOST = 50
"""Groups of findings that are shown; the view of findings has all."""
_CHANGES: tuple[Column[MadeChange], ...] = (
    Column("", lambda row, _: str(row.number), right=True),
    Column("change", lambda row, _: change_text(row.change)),
)


class WantedDiff(NamedTuple):
    """Input of ``diff`` for the changes. operators: those that the changes can concern; none for all."""

    sides: DiffArguments
    operators: tuple[OperatorName, ...]

    def answer(self, before: State, after: State) -> PaneAnswer:
        """The slots that hold something else in the state with the changes."""
        chosen = DiffChoice(parts=("slots",))
        if self.operators:
            chosen = chosen._replace(operators=frozenset(map(str, self.operators)), higher_order=frozenset())
        report = diff_report(before, after, (self.sides.old, self.sides.new), chosen)
        ops = [text for name in self.operators for text in ("--op", exact(name))]
        return PaneAnswer(report, ("diff", *self.sides.arguments, "--only", "slots", *ops))


def registrations_answer(
    session: Session, owner: OperatorName | None, there: Sequence[NamedRegistration]
) -> PaneAnswer | None:
    """Report of the backend fallbacks (owner: None), or of *there*, an operator's registrations in their order.

    None for an operator that the state does not have.
    """
    if owner is not None and owner not in session.state.dispatcher:
        return None
    if owner is None:
        return PaneAnswer(backend_fallbacks_report(session.state), session.command("register", "--view", "fallbacks"))
    report = whole(order_report(session.state, [(owner, there)]))
    command = session.command("register", "--op", operator_glob(session, Spot(owner)), "--view", "order")
    return PaneAnswer(report, command)


def possible_keys(state: State, aliases: bool) -> list[str]:
    """The keys at which something can be registered. aliases: whether alias keys are among them."""
    universe = state.dispatcher.universe
    return [key for key in (*universe.slots, *(universe.aliases if aliases else ())) if key in universe.parseable]


def wanted_diff(session: Session) -> WantedDiff | None:
    """Input of ``diff`` for the changes; None if no arguments of it can name both states.

    It is about the operators that the changes can concern; about all if these are many, or a fallback is among them.
    """
    sides = sides_of(session, Old(None))
    if sides is None:
        return None
    touched = session.whatif.touched
    is_of_all = len(touched.operators) > MOST_NAMED or bool(touched.keys)
    return WantedDiff(sides, () if is_of_all else tuple(sorted(touched.operators, key=str)))


class MadeChange(NamedTuple):
    """A change. number: its position, from 1."""

    number: int
    change: Change


def opened_by(item: Any, there: Sequence[NamedRegistration]) -> Any:
    """Target of a part: a change, one of the registrations *there*, a slot, findings, or a place in a file."""
    if isinstance(item, MadeChange):
        return item
    if isinstance(item, DiffSlots):
        return Spot(OperatorName.parse(item.operators[0].operator), item.keys[0])
    if isinstance(item, tuple) and isinstance(item[-1], OrderedRegistration):
        return there[item[0] - 1]
    if isinstance(item, BackendFallback):
        return next((registration for registration in reversed(there) if registration.name.key == item.key), None)
    link = getattr(item, "link", None)
    return link[0] if isinstance(link, tuple) and not isinstance(link, Span) else link  # the first of some findings


def changes_document(
    session: Session,
    registered: PaneAnswer | None,
    diff: DiffReport | None,
    effect: FindingsEffect | None,
) -> Iterator[Block]:
    """The whole view.

    registered: what is registered, of which `opened_by` finds the registrations. diff, effect: the differences and the
    findings that the changes bring about; None while they are looked for.
    """
    tried = session.whatif
    changes = [MadeChange(number, change) for number, change in enumerate(tried.changes, start=1)]
    if changes:
        yield _section("Changes")
        yield TableBlock(_CHANGES, changes)
        yield Paragraph(Run(_effect(diff, effect), Tone.WARN))
    else:
        yield Paragraph("Nothing is changed. x switches the registration under the cursor off, a adds one.")
    yield Gap()
    if registered is None:
        yield Paragraph("There are no registrations.")
    elif isinstance(registered.report, BackendFallbacksReport):
        yield from fallbacks_document(registered.report)
    else:
        yield from order_document(registered.report)
    if not changes:
        return
    if diff is None:
        yield Gap()
        yield Paragraph("Slots that change are being looked for…")
    elif diff.slots:
        fold = Fold(each=False)
        yield from changed_slots(diff, fold, (session.original.dispatcher.universe, tried.state.dispatcher.universe))
        if fold.left_out:
            yield Paragraph(Run(f"Not all is listed: {WAYS}", Tone.DIM))
    else:
        yield Gap()
        yield _section("No slot changed")
    yield Gap()
    yield from _findings(effect)


def _effect(diff: DiffReport | None, effect: FindingsEffect | None) -> str:
    """Effect of the changes in a sentence, which stands before all that it is about."""
    slots = "slots are compared…" if diff is None else f"{plural(diff.counts.slots, 'slot')} with another answer"
    findings = "…" if effect is None else f"{len(effect.new):,} new, {len(effect.gone):,} gone"
    return f"Effect: {slots}; findings: {findings}"


def _findings(effect: FindingsEffect | None) -> Iterator[Block]:
    if effect is None:
        yield Paragraph("Findings are being looked for…")
        return
    for findings, word in ((effect.new, "new"), (effect.gone, "gone")):
        yield _section(f"{plural(len(findings), 'finding')} {word}" if findings else f"No finding is {word}")
        for group in grouped(findings)[:MOST]:
            yield from finding_blocks(group)


def _section(text: str) -> Paragraph:
    return Paragraph(Run(text, Tone.HEAD), kind=ParagraphKind.SECTION)


class KernelChoice(NamedTuple):
    """Kernel that can be registered. words: its name in the list."""

    words: str
    kernel: Kernel


def kernel_choices(owner: OperatorName | None, key: str, there: Sequence[NamedRegistration]) -> list[KernelChoice]:
    """Kernels that can be registered at a key: one of its own, a fallthrough, and those registered at other keys."""
    short = "fallback" if owner is None else owner.name.rpartition("::")[2]
    name = f"{short}_{key}".lower()
    choices = [
        _new_kernel(name),
        KernelChoice("a fallthrough", Kernel("fallthrough", "fallthrough", fallthrough=True)),
    ]
    seen = set()
    for registration in there:
        if not registration.fallthrough and registration.kernel not in seen:
            seen.add(registration.kernel)
            words = f"the same as at {registration.name.key}: {short_kernel(registration.kernel)}"
            choices.append(KernelChoice(words, Kernel(registration.kernel, registration.function)))
    return choices


def _new_kernel(name: str) -> KernelChoice:
    return KernelChoice(f"a new kernel, {name}", Kernel(name, name))
