"""A simulated call of a higher-order operator: the answer, the keys of its selections, the steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dispatch_cli.answers.keys.outcomes import KeyOutcome, KeyStatus
from dispatch_cli.answers.resolve.document import answer, heading, key_columns, path, tone
from dispatch_cli.answers.resolve.higher_order import HigherOrderStep, ResolveHigherOrderReport
from dispatch_cli.answers.resolve.step_wording import handed_over, raised_label, some_keys
from dispatch_cli.answers.resolve.wording import thread_lines
from dispatch_cli.answers.shared.slot_row import HigherOrderRow
from dispatch_cli.answers.table.higher_order_document import SLOTS, title
from dispatch_cli.engine.call.higher_order.trace import AskedHandler, Asker, HandlerAnswer, HigherOrderHop
from dispatch_cli.engine.call.trace import Does, End, EndKind, ErrorKind, Why
from dispatch_cli.engine.keys.keyset import functionalities_of
from dispatch_cli.engine.python.higher_order import Slot
from dispatch_cli.model.higher_order import HigherOrderImpl, ImplKind, is_autograd_not_implemented
from dispatch_cli.render.document import (
    Block,
    Column,
    DrawnPath,
    Fact,
    Facts,
    Gap,
    Inline,
    Narrow,
    Paragraph,
    ParagraphKind,
    Run,
    TableBlock,
    Tone,
    Under,
    lines,
)
from dispatch_cli.render.words import place_cell, short_function

_ASKERS = {
    Asker.MODE: "the mode {name}{place}",
    Asker.MODE_ITSELF: "the mode {name}{place} itself",
    Asker.PRE_DISPATCH_MODE: "the PreDispatch mode {name}{place}",
    Asker.FAKE_TENSOR: "the fake tensor{place}, by the implementation for FakeTensorMode,",
    Asker.SUBCLASS: "the tensor subclass {name}{place}",
    Asker.TRANSFORM: "the transform {name}",
}
_ANSWERS = {
    HandlerAnswer.HANDLES: "handles it",
    HandlerAnswer.NOT_IMPLEMENTED: "returns NotImplemented",
    HandlerAnswer.NO_IMPL: "has no implementation",
}


def holds_label(outcome: KeyOutcome[HigherOrderRow], short: bool) -> str:
    """The implementation in a slot, or how the slot is decided."""
    entry = outcome.entry
    if entry.kernel is not None:
        return short_function(entry.kernel) if short else entry.kernel
    falls = outcome.status is KeyStatus.FALLS_THROUGH or entry.slot is Slot.FALLTHROUGH
    return "-" if falls else SLOTS[entry.slot]


def step_lines(step: HigherOrderStep) -> Iterator[str]:
    """Lines on the modes and subclasses that are asked, on the implementation that runs, and on its effect."""
    hop = step.hop
    for asked in hop.asked:
        yield f"{hop.key}: {_asked(asked)}"
    what = "nothing" if hop.impl is None else hop.impl.kernel
    match hop.does:
        case Does.RAISES:
            yield f"{hop.key}: {'PyTorch' if hop.impl is None else what} raises the error"
        case Does.HANDS_OVER:
            yield f"{hop.key}: a __torch_dispatch__ gets the call"
        case Does.CALLS_ANEW:
            who = f"PyTorch, instead of {what}," if _steps_aside(hop) else what
            yield f"{hop.key}: {who} calls the operator again{_without(hop)}{_gradient(hop)}"
        case _:
            known = "; it is not known whether it redispatches" if hop.why is Why.UNKNOWN else ""
            yield f"{hop.key}: {what} runs{known}{_gradient(hop)}"


def _asked(asked: AskedHandler) -> str:
    of_context = asked.kind in (Asker.MODE, Asker.MODE_ITSELF, Asker.PRE_DISPATCH_MODE)
    place = "" if asked.position is None else f" ({'context' if of_context else 'tensor'} {asked.position})"
    return f"{_ASKERS[asked.kind].format(name=asked.name, place=place)} {_ANSWERS[asked.answer]}"


def _without(hop: HigherOrderHop) -> str:
    parts = []
    if hop.takes_off is not None:
        parts.append(f"{hop.takes_off} disabled")
    if hop.excludes is not None:
        parts.append(f"{some_keys([*reversed(functionalities_of(hop.excludes))])} excluded")
    return f", with {' and '.join(parts)}" if parts else ""


def _steps_aside(hop: HigherOrderHop) -> bool:
    """True if an autograd implementation is not called: nothing needs a gradient (``py_autograd_impl``)."""
    return hop.impl is not None and hop.impl.kind is ImplKind.AUTOGRAD and hop.needs_gradient is False


def _gradient(hop: HigherOrderHop) -> str:
    """Reason why an autograd implementation runs or not; none is given for autograd_not_implemented."""
    if _steps_aside(hop):
        return ", because no gradient is needed"
    stands_in = hop.impl is not None and is_autograd_not_implemented(hop.impl.kernel)
    return ", because a gradient is needed" if hop.needs_gradient and not stands_in else ""


def end_sentence(report: ResolveHigherOrderReport) -> str:
    """The end of a call in one sentence; an error's text comes after it."""
    last = report.steps[-1].hop
    match report.end.kind:
        case EndKind.HANDLER:
            return handed_over(report.end)
        case EndKind.ERROR:
            return f"The call fails at {last.key}: {_raised(report.end, last)}"
        case _:
            assert last.impl is not None, "a call without an error ends in an implementation"
            return f"The call ends in {last.impl.kernel} at {last.key} ({_for(last, last.impl)})."


def _raised(end: End, last: HigherOrderHop) -> str:
    """Words for the error; an implementation of which it is declared that it raises is named."""
    if end.error is None or end.error.kind is not ErrorKind.IMPL or last.impl is None:
        return raised_label(end)
    what = end.error.type or ("an error" if end.error.text else "an error whose text is not declared")
    return f"{last.impl.kernel} raises {what}"


def _for(hop: HigherOrderHop, impl: HigherOrderImpl) -> str:
    """Words for the place that the implementation that ran is registered for."""
    if hop.entry is not None and hop.entry.decision.source is not None:
        return f"registered for {hop.entry.decision.source}"
    return f"registered for {impl.name}" if impl.name else "its implementation for functionalization"


def document(
    report: ResolveHigherOrderReport, full: bool = False, drawn: Sequence[DrawnPath] = ()
) -> Iterator[Block | DrawnPath]:
    """The answer, the keys of the first selection and of the last, the steps. Arguments: as of a resolved call."""
    yield from heading(report, title(report.operator, report.side_effect), place="declared")
    yield from summary(report, full)
    yield from drawn
    yield from stages(report)


def summary(report: ResolveHigherOrderReport, full: bool = False) -> Iterator[Block]:
    """Verdict on the call, and the sentences after it."""
    yield from answer(report, end_sentence(report), full)
    if report.backward_error is not None:
        call = "" if report.backward_error_is_certain else "call or its "
        yield Paragraph(Run(f"The {call}backward pass raises: {report.backward_error}", Tone.WARN))
    yield from path(step.hop.key for step in report.steps)


def stages(report: ResolveHigherOrderReport) -> Iterator[Block]:
    """The keys of the first selection, and of the last one without what the thread excludes by then; the steps."""
    first, last = report.steps[0], report.steps[-1]
    yield Gap()
    yield _table(first, first.keys if last is first else _keys_but(KeyStatus.NOT_REACHED, first))
    if last is not first:
        yield Gap()
        yield Paragraph(f"Step {last.number}", kind=ParagraphKind.SECTION)
        yield _table(last, _keys_but(KeyStatus.EXCLUDED, last))
    yield Gap()
    thread = Fact("Thread", lines(*thread_lines(first.included, first.excluded)))
    steps = (Fact(f"Step {step.number}", lines(*step_lines(step)), step) for step in report.steps)
    yield Facts([thread, *steps])


def _keys_but(status: KeyStatus, step: HigherOrderStep) -> list[KeyOutcome[HigherOrderRow]]:
    return [outcome for outcome in step.keys if outcome.status is not status]


def _table(
    step: HigherOrderStep, outcomes: Iterable[KeyOutcome[HigherOrderRow]]
) -> TableBlock[KeyOutcome[HigherOrderRow]]:
    columns = key_columns(len(step.hop.selection.arguments), {step.number: step.hop.does})
    return TableBlock([*columns, *COLUMNS], [*outcomes])


def _registered_for(outcome: KeyOutcome[HigherOrderRow], short: bool) -> Inline:
    label = "" if outcome.entry.kernel is None else outcome.entry.source or ""
    return Run(f"for {label}" if short and label else label, tone(outcome, Tone.PLAIN if short else Tone.ALIAS))


COLUMNS: list[Column[KeyOutcome[HigherOrderRow]]] = [
    Column("Holds", lambda outcome, short: Run(holds_label(outcome, short), tone(outcome))),
    Column("Registered for", _registered_for, Under("Holds"), wraps=False),
    Column("Declared at", lambda outcome, _: place_cell(outcome.entry.span), Narrow.BELOW, optional=True),
]
