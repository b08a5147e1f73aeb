"""Blocks of the view of changes: the changes, what can be changed, and what they lead to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from dispatch_cli.answers.diff.document import WAYS
from dispatch_cli.answers.diff.report import DiffReport
from dispatch_cli.answers.diff.rows import DiffSlots
from dispatch_cli.answers.diff.sections_document import Fold
from dispatch_cli.answers.diff.sections_document import slots as changed_slots
from dispatch_cli.checks.check import Finding
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.explore.switch import change_text
from dispatch_cli.model.change import Change
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.registration_names import NamedRegistration
from dispatch_cli.model.severity import Severity
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import (
    Block,
    Column,
    Gap,
    Inline,
    Narrow,
    Paragraph,
    ParagraphKind,
    Run,
    TableBlock,
    Tone,
)
from dispatch_cli.render.words import place_cell, plural, short_kernel
from dispatch_cli.whatif.findings import FindingsEffect

MOST = 300
"""Findings that are listed; the command line has all."""
_TONES = {Severity.ERROR: Tone.BAD, Severity.WARNING: Tone.WARN}


class MadeChange(NamedTuple):
    """A change. number: its position, from 1."""

    number: int
    change: Change


class FindingChange(NamedTuple):
    """A finding that comes, or goes."""

    finding: Finding
    is_new: bool


def slot_spot(item: Any) -> Spot | None:
    """The slot that a part leads to."""
    if isinstance(item, DiffSlots):
        return Spot(OperatorName.parse(item.operators[0].operator), item.keys[0])
    if isinstance(item, FindingChange) and item.finding.operator is not None and "::" in item.finding.operator:
        return Spot(OperatorName.parse(item.finding.operator), item.finding.key)
    return None


def place_of(item: Any) -> Span | None:
    """The place in a file that a part leads to."""
    if isinstance(item, NamedRegistration):
        return item.span
    if isinstance(item, FindingChange):
        return item.finding.span
    if isinstance(item, DiffSlots):
        kernel = item.operators[0].after or item.operators[0].before
        return None if kernel is None else kernel.span
    return None


def is_choice(item: Any) -> Any:
    """The row itself if it can be chosen, else None."""
    kinds = (MadeChange, NamedRegistration, DiffSlots, FindingChange)
    return item if isinstance(item, kinds) else None


def blocks(
    session: Session,
    owner: OperatorName | None,
    there: Sequence[NamedRegistration],
    diff: DiffReport | None,
    effect: FindingsEffect | None,
) -> Iterator[Block]:
    """The whole view.

    owner, there: whose registrations are listed; None for the backend fallbacks. diff, effect: the differences and the
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
    yield _section("Backend fallbacks" if owner is None else f"Registrations of {owner}, in order")
    if there:
        yield TableBlock(_REGISTRATIONS, there)
    else:
        yield Paragraph("There are none.")
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
    for findings, word, is_new in ((effect.new, "new", True), (effect.gone, "gone", False)):
        yield _section(f"{plural(len(findings), 'finding')} {word}" if findings else f"No finding is {word}")
        if findings:
            yield TableBlock(_FINDINGS, [FindingChange(finding, is_new) for finding in findings[:MOST]])


def _section(text: str) -> Paragraph:
    return Paragraph(Run(text, Tone.HEAD), kind=ParagraphKind.SECTION)


def _kernel(row: NamedRegistration, short: bool) -> Inline:  # noqa: ARG001
    if row.fallthrough:
        return Run("fallthrough", Tone.DIM)
    return Run(short_kernel(row.kernel), Tone.KERNEL)


def _severity(row: FindingChange, short: bool) -> Inline:  # noqa: ARG001
    severity = row.finding.severity
    return Run(severity.value, _TONES.get(severity, Tone.PLAIN))


_CHANGES: tuple[Column[MadeChange], ...] = (
    Column("", lambda row, _: str(row.number), right=True),
    Column("change", lambda row, _: change_text(row.change)),
)
_REGISTRATIONS: tuple[Column[NamedRegistration], ...] = (
    Column("key", lambda row, _: f"{row.name.key} (in Python)" if row.name.python else row.name.key),
    Column("kernel", _kernel),
    Column("declared at", lambda row, _: place_cell(row.span), Narrow.DROP, optional=True),
)
_FINDINGS: tuple[Column[FindingChange], ...] = (
    Column("", lambda row, _: "+" if row.is_new else "-"),
    Column("severity", _severity, Narrow.DROP),
    Column("check", lambda row, _: row.finding.check),
    Column("finding", lambda row, _: row.finding.message),
)


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


def named_kernel(name: str) -> KernelChoice | str:
    """A new kernel of a name that is typed, or why it cannot have that name."""
    if any(sign.isspace() or not sign.isprintable() for sign in name):
        return "The name of a new kernel has no blanks: write at::native::my_kernel, or wrap<int,float>"
    return _new_kernel(name)


def _new_kernel(name: str) -> KernelChoice:
    return KernelChoice(f"a new kernel, {name}", Kernel(name, name))
