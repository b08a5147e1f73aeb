"""The sentences of an explanation. Reasons are enums in the report; their wording is here."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from dispatch_cli.answers.explain.report import (
    AliasExplanation,
    BlockExplanation,
    Cause,
    ExplainReport,
    Registered,
    SlotExplanation,
)
from dispatch_cli.answers.explain.rule_steps import Role, RuleLine, RuleState
from dispatch_cli.answers.shared.slot_row import Before, PythonRow, TableRow
from dispatch_cli.answers.table.wording import answer_text, before_label, kernel_label, kernel_phrase
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.names import some_of
from dispatch_cli.render.words import below_names, fallthrough_text, short_kernel

ROLES = {
    Role.FILLS: "fills the slot",
    Role.OVERRIDDEN: "overridden",
    Role.IN_CONFLICT: "in conflict",
    Role.IN_THE_WAY: "takes precedence",
    Role.GIVES_WAY: "gives way",
    Role.STANDS_BY: "not reached",
}
QUESTION = "backend kernel?"


def rule_label(line: RuleLine, short: bool) -> str:
    """A rule's name; rule 4 is a question."""
    if line.rule is None:
        return "backend?" if short else QUESTION
    if line.rule is Rule.AMBIGUOUS:
        return "math" if short else Rule.MATH.dump_text
    return line.rule.value if short else line.rule.dump_text


def state_label(line: RuleLine) -> str:
    """The outcome of a rule."""
    blockers = some_of(line.blockers)
    match line.outcome:
        case RuleState.FIRED:
            return f"ambiguous with {blockers}" if line.rule is Rule.AMBIGUOUS else "fired"
        case RuleState.STANDS_BY:
            return "not reached" if line.rule is Rule.MISSING else "has a kernel, not reached"
        case RuleState.GAVE_WAY:
            return f"gives way to {blockers}"
        case RuleState.NOT_COVERED:
            return "does not cover it"
        case RuleState.NOTHING_REGISTERED:
            if line.rule is Rule.MISSING:
                return "not reached"
            return "none" if line.rule is Rule.FALLBACK else "no kernel"
        case RuleState.NOT_KNOWN:
            own = line.blockers == line.looks_at or not line.blockers
            return "not known" if own else f"not known: {blockers} may have one"
        case RuleState.YES:
            return f"yes: {blockers}"
        case RuleState.NO:
            return "no"
        case RuleState.NOT_ASKED:
            return "not asked"


def slot_sentences(row: TableRow) -> Iterator[str]:
    """The answer, and the meaning of a fallthrough."""
    yield answer_text(row)
    if row.fallthrough:
        yield "It falls through: the dispatcher skips this key and goes on to the next one."


def base_sentences(report: ExplainReport, what: SlotExplanation) -> Iterator[str]:
    """Content of the slot in the state below the files."""
    row = what.answer
    if row.before is not None:
        yield f"In {_below(report)}, {row.key} holds {before_phrase(row.before)}."
    elif what.in_base:
        yield f"In {_below(report)}, {row.key} holds the same."


def stale_sentence(key: str, live: TableRow, cause: Cause) -> str:
    """The kernel that a call runs at a stale slot, and the change that left the slot behind."""
    verb = "registering" if cause.change == "registered" else "dropping"
    kind = "backend fallback" if cause.backend_fallback else "kernel"
    place = f" ({cause.span})" if cause.span is not None else ""
    return (
        f"Stale: a call runs {kernel_phrase(live)}, because {verb} the {kind} "
        f"{cause.kernel} at {cause.key}{place} did not recompute {key}."
    )


def _below(report: ExplainReport) -> str:
    """Name of the state below the user's files; for a capture, that is what PyTorch has registered in it."""
    return below_names(report.over, report.over_files) or "PyTorch"


def before_phrase(before: Before) -> str:
    """Former content of a slot, inside a sentence."""
    if before.kernel is None:
        return "nothing"
    label = before_label(before, True)
    if label.startswith("registered at "):
        return f"the kernel {label}"
    return f"the kernel of {label}" if before.kernel.startswith("registered at ") else label


def python_sentence(row: PythonRow) -> str:
    """Sentence on the kernel that Python chooses, or the error that it raises, and why C++ chooses otherwise."""
    source = f" from {row.source}" if row.source not in (None, row.key) else ""
    kernel = row.kernel or "a kernel that is not known"
    if not row.python:
        kernel = short_kernel(kernel)
    does, chosen = "chooses another kernel", f"{kernel}{source}, {row.rule.dump_text}"
    if row.error is not None:
        does, chosen = "raises an error", row.error.rstrip(".")
    because = ""
    if row.differs is not None:
        from dispatch_cli.answers.shared.divergences import because_text

        because = f": {because_text(row.differs)}"
    return f"Here the Python dispatcher (resolve_key) {does}: {chosen}{because}."


def next_sentences(what: SlotExplanation) -> Iterator[str]:
    """The kernel that is next in line for the slot, and the one that Python chooses."""
    row, following = what.answer, what.next
    if following is not None and row.otherwise is None:
        held = kernel_phrase(following)
        if following.rule is not Rule.FALLBACK:
            held += f" [{following.rule.dump_text}]"
        if following.kernel is None:
            held = "nothing"
        elif following.rule is Rule.AMBIGUOUS:
            held = "an ambiguity"
        source = f" from {following.source}" if following.source not in (None, row.key) else ""
        if row.rule is Rule.AMBIGUOUS:
            yield f"Without the composite kernel, it would hold {held}{source}."
        else:
            without = f"Without {kernel_phrase(row)}, {row.key} would hold"
            if what.next_is_overridden:
                yield f"{without} the kernel that it overrides, {kernel_label(following, True)}."
            elif _next_is_known(what, following):
                yield f"{without} {held}{source}."
            else:
                yield f"It is not known what {row.key} would hold without {kernel_phrase(row)}."
    if what.python is not None:
        yield python_sentence(what.python)


def _next_is_known(what: SlotExplanation, following: TableRow) -> bool:
    """True if the outcome of every rule before that of the next kernel is known."""
    before = takewhile(lambda line: line.rule is not following.rule, what.rules)
    return all(line.outcome is not RuleState.NOT_KNOWN for line in before)


def alias_sentences(what: AliasExplanation) -> Iterator[str]:
    """The kernel at an alias key, and how many of the slots that it covers it fills."""
    yield from registered_sentences(what.key, what.registered)
    filled, lost = len(what.fills.keys), sum(len(run.keys) for run in what.lost)
    fills = "fills" if what.registered else "would fill"
    yield f"It covers {filled + lost} slots, and {fills} {filled} of them."


def block_sentences(what: BlockExplanation) -> Iterator[str]:
    """A functionality, and the kernel that is registered at it."""
    count = sum(len(run.keys) for run in what.slots)
    yield f"{what.key} has no slot of its own: it is a functionality, with {count} slots, one per backend."
    if what.registered:
        yield from registered_sentences(what.key, what.registered)
        yield f"A kernel at {what.key} itself fills none of them."


def registered_sentences(key: str, registered: tuple[Registered, ...]) -> Iterator[str]:
    """Sentence on each registration at a key, the active one first."""
    if not registered:
        yield f"Nothing is registered at {key}."
    for row in registered:
        place = f", declared at {row.span}" if row.span is not None else ""
        kernel = f"the kernel {row.kernel}" if row.kernel.startswith("registered at ") else row.kernel
        if row.fallthrough:
            kernel = f"a fallthrough, {kernel}" if fallthrough_text(row.kernel, row.span) else "a fallthrough"
        yield f"{key} {'has' if row.active else 'had'} {kernel}{place}{'.' if row.active else ', overridden now.'}"
