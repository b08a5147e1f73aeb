"""Wording of differences between two states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dispatch_cli.answers.diff.report import DiffReport
from dispatch_cli.answers.diff.rows import DiffCounts, DiffKernel, DiffSide, DiffSlots
from dispatch_cli.answers.history.wording import cause_words
from dispatch_cli.engine.comparison.sides import ChangeKind
from dispatch_cli.engine.comparison.slots import Answer, CauseKind, SlotCause
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.text.debug_text import is_placed, source_file
from dispatch_cli.render.words import fallthrough_text, plural

NOTHING = "nothing"
CHANGES = {
    ChangeKind.ADDED: "added",
    ChangeKind.REMOVED: "removed",
    ChangeKind.REPLACED: "another kernel",
    ChangeKind.BENEATH: "other overridden kernels",
}


def side_label(side: DiffSide) -> str:
    """A side as it was named, with the state that it continues."""
    named = ", ".join(side.named)
    over = [name for name in side.over if name not in side.named]
    return f"{named} (over {', '.join(over)})" if over else named


def sides_label(old: DiffSide, new: DiffSide) -> str:
    """Both sides; the state that both continue is named once."""
    if not old.over or old.over != new.over or {*old.named, *new.named} & {*old.over}:
        return f"{side_label(old)} → {side_label(new)}"
    return f"{', '.join(old.named)} → {', '.join(new.named)} (over {', '.join(old.over)})"


def outcome(report: DiffReport) -> str:
    """The whole result as one line."""
    return ", ".join(_counted(report.counts)) or "no difference"


def _counted(counts: DiffCounts) -> Iterator[str]:
    yield from _listed([(counts.operators_added, "added"), (counts.operators_removed, "removed")], "operator")
    if counts.schemas:
        yield f"{plural(counts.schemas, 'schema')} changed"
    if counts.tags:
        yield f"tags of {plural(counts.tags, 'operator')}"
    if counts.alias_analysis:
        yield f"alias analysis of {plural(counts.alias_analysis, 'operator')}"
    registrations = [
        (counts.registrations_added, "added"),
        (counts.registrations_removed, "removed"),
        (counts.registrations_replaced, "replaced"),
    ]
    yield from _listed(registrations, "registration")
    if counts.slots:
        slots = f"{plural(counts.slots, 'slot')} of {plural(counts.slot_operators, 'operator')}"
        yield f"{slots} {'gives' if counts.slots == 1 else 'give'} another answer"
    if counts.cells:
        yield f"{plural(counts.cells, 'support cell')} changed"
    others = {
        "Python kernel": counts.python_kernels,
        "higher-order operator": counts.higher_order_operators,
        "backend fallback": counts.fallbacks,
    }
    yield from (f"{plural(number, noun)} changed" for noun, number in others.items() if number)
    if counts.keys:
        yield f"{plural(counts.keys, 'dispatch key')} that only one side has"
    refused = [(counts.refused_added, "added"), (counts.refused_removed, "removed")]
    yield from _listed(refused, "refused registration")


def _listed(counts: Iterable[tuple[int, str]], noun: str) -> Iterator[str]:
    """The counts that are not 0; the noun with the first one."""
    first = True
    for number, what in counts:
        if number:
            yield f"{plural(number, noun)} {what}" if first else f"{number:,} {what}"
            first = False


def answer_words(answer: Answer) -> str:
    """Content of a slot, in words."""
    if answer.rule is Rule.MISSING:
        return NOTHING
    if answer.rule is Rule.DEFAULT and answer.source is not None:
        return f"{answer.rule.dump_text} ({answer.source})"
    return answer.rule.dump_text


def kernel_words(kernel: DiffKernel | None) -> str:
    """A kernel by its name or its source file."""
    if kernel is None:
        return NOTHING
    name = source_file(kernel.kernel) or ("Python" if is_placed(kernel.kernel) else kernel.kernel)
    if not kernel.fallthrough:
        return name
    return f"fallthrough {name}" if fallthrough_text(kernel.kernel, kernel.span) else "fallthrough"


def kernels_words(before: DiffKernel | None, after: DiffKernel | None) -> str:
    """The kernels of both sides; only the one there is, where a side has none."""
    if before is None or after is None:
        return kernel_words(before or after)
    return f"{kernel_words(before)} → {kernel_words(after)}"


def group_cause_words(group: DiffSlots, position: int, universe: str) -> str:
    """Reason why the slots of a group give another answer: one of its causes, with the registrations."""
    cause = group.causes[position]
    words = _cause(cause, group, universe)
    sources = dict.fromkeys(
        _source(operator.because[position]) for operator in group.operators if operator.because[position] is not None
    )
    if not sources:
        return words
    if cause.kind is CauseKind.REPLACED:
        was = dict.fromkeys(_source(operator.before) for operator in group.operators)
        return f"{words}: {_some(was)} → {_some(sources)}"
    return f"{words} ({_some(sources)})"


def _some(texts: Iterable[str]) -> str:
    first, *others = texts
    return f"{first} and {len(others)} more" if others else first


def _source(kernel: DiffKernel | None) -> str:
    """Name of a kernel and the place of its declaration, if it has one."""
    if kernel is None:
        return NOTHING
    return kernel_words(kernel) if kernel.span is None else f"{kernel_words(kernel)}, {kernel.span}"


def _cause(cause: SlotCause, group: DiffSlots, new: str) -> str:
    if cause.kind is not CauseKind.UNIVERSE:
        return cause_words(cause.kind, cause.key)
    if Rule.NOT_KNOWN in (group.before.rule, group.after.rule):
        return "one of the states does not have all kernels there"
    if not cause.key:
        return f"the keys of {new} are related in another way"
    covers = "covers" if group.after.source == cause.key else "does not cover"
    return f"{cause.key} {covers} {'it' if len(group.keys) == 1 else 'them'} in {new}"
