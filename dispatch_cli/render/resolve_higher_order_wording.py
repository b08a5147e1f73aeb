"""How a simulated call of a higher-order operator is put into words."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.engine.call.higher_order.modes import ACTIVE
from dispatch_cli.engine.call.higher_order.trace import AskedHandler, Asker, FakeModes, HandlerAnswer, Known
from dispatch_cli.engine.call.trace import Does, End, EndKind, ErrorKind
from dispatch_cli.engine.keys.named_sets import functionalities_of
from dispatch_cli.engine.python.higher_order import Slot, is_autograd_not_implemented
from dispatch_cli.model.higher_order import HigherOrderImpl, ImplKind
from dispatch_cli.render.higher_order_wording import slot_label
from dispatch_cli.render.resolve_wording import DOES, STATUSES, handed_over, raised_label, some_keys
from dispatch_cli.render.words import short_function
from dispatch_cli.report.key_outcomes import KeyStatus
from dispatch_cli.report.resolve_higher_order import HigherOrderKeyOutcome, HigherOrderStep, ResolveHigherOrderReport

_ASKERS = {
    Asker.MODE: "the mode {name}{place}",
    Asker.MODE_ITSELF: "the mode {name}{place} itself",
    Asker.PRE_DISPATCH_MODE: "the PreDispatch mode {name}{place}",
    Asker.FAKE_TENSOR: "the fake tensor{place}, by the rule for FakeTensorMode,",
    Asker.SUBCLASS: "the tensor subclass {name}{place}",
    Asker.TRANSFORM: "the transform {name}",
}
_ANSWERS = {
    HandlerAnswer.HANDLES: "handles it",
    HandlerAnswer.NOT_IMPLEMENTED: "returns NotImplemented",
    HandlerAnswer.NO_RULE: "has no rule",
}


def status_label(outcome: HigherOrderKeyOutcome, step: HigherOrderStep) -> str:
    """What became of a key."""
    return f"{step.number} {DOES[step.does]}" if outcome.status is KeyStatus.RUNS else STATUSES[outcome.status]


def holds_label(outcome: HigherOrderKeyOutcome, short: bool) -> str:
    """What a call finds at a slot."""
    entry = outcome.entry
    if outcome.status is KeyStatus.FALLS_THROUGH or entry.slot is Slot.FALLTHROUGH:
        return "-" if entry.rule is None else _function(entry.rule, short)
    return slot_label(entry.slot) if entry.rule is None else _function(entry.rule, short)


def rule_label(outcome: HigherOrderKeyOutcome) -> str:
    """The key that the rule of a slot is registered for."""
    source = outcome.entry.decision.source
    return source if source is not None and outcome.entry.rule is not None else ""


def step_lines(step: HigherOrderStep, short: bool) -> Iterator[str]:
    """Who was asked, what runs, what it does."""
    if step.resumes:
        yield f"{step.key}: goes on, because the call again returned NotImplemented"
    for one in step.asked:
        yield f"{step.key}: {_asked(one)}"
    what = "nothing" if step.rule is None else _function(step.rule, short)
    match step.does:
        case Does.RAISES:
            yield f"{step.key}: {'PyTorch' if step.rule is None else what} raises the error"
        case Does.HANDS_OVER:
            yield f"{step.key}: a __torch_dispatch__ gets the call"
        case Does.CALLS_ANEW:
            who = f"PyTorch, instead of {what}," if _steps_aside(step) else what
            yield f"{step.key}: {who} calls the operator again{_without(step, short)}{_gradient(step)}"
        case _:
            known = "; what it does further is not declared" if step.known is Known.UNKNOWN else ""
            yield f"{step.key}: {what} runs{known}{_gradient(step)}"


def _asked(asked: AskedHandler) -> str:
    place = "" if asked.position is None else f" ({'context' if _of_context(asked) else 'tensor'} {asked.position + 1})"
    return f"{_ASKERS[asked.asker].format(name=asked.name, place=place)} {_ANSWERS[asked.answer]}"


def _of_context(asked: AskedHandler) -> bool:
    return asked.asker in (Asker.MODE, Asker.MODE_ITSELF, Asker.PRE_DISPATCH_MODE)


def _without(step: HigherOrderStep, short: bool) -> str:
    parts = []
    if step.takes_off is not None:
        parts.append(f"{step.takes_off} taken off")
    if step.excludes is not None:
        parts.append(f"{some_keys([*reversed(functionalities_of(step.excludes))], short)} excluded")
    return f", with {' and '.join(parts)}" if parts else ""


def _steps_aside(step: HigherOrderStep) -> bool:
    """Whether an autograd rule is not called, because nothing needs a gradient (``py_autograd_impl``)."""
    return step.rule is not None and step.rule.kind is ImplKind.AUTOGRAD and step.needs_gradient is False


def _gradient(step: HigherOrderStep) -> str:
    """Why an autograd rule runs, or steps aside; PyTorch's stand-in for one needs no reason to run."""
    if _steps_aside(step):
        return ", because no gradient is needed"
    stands_in = step.rule is not None and is_autograd_not_implemented(step.rule.kernel)
    return ", because a gradient is needed" if step.needs_gradient and not stands_in else ""


def end_sentence(report: ResolveHigherOrderReport, short: bool) -> str:
    """The end of a call in one sentence; an error's text comes after it."""
    last = report.steps[-1]
    if report.end is None:
        return f"Stopped after step {report.stopped} at {last.key}: the call goes on."
    match report.end.kind:
        case EndKind.HANDLER:
            return handed_over(report.end)
        case EndKind.ERROR:
            return f"The call fails at {last.key}: {_raised(report.end, last, short)}"
        case _:
            assert last.rule is not None, "a call that ends well ends in a rule"
            return f"The call ends in {_function(last.rule, short)} at {last.key} ({_for(last, last.rule)})."


def _raised(end: End, last: HigherOrderStep, short: bool) -> str:
    """What is raised; a rule of which it is declared that it raises is named."""
    if end.error is None or end.error.kind is not ErrorKind.RULE or last.rule is None:
        return raised_label(end)
    what = end.error.type or ("an error" if end.error.text else "an error, whose text is not declared")
    return f"{_function(last.rule, short)} raises {what}"


def _for(step: HigherOrderStep, rule: HigherOrderImpl) -> str:
    """What the rule that ran is registered for."""
    if step.entry is not None and step.entry.decision.source is not None:
        return f"rule for {step.entry.decision.source}"
    return f"rule for {rule.name}" if rule.name else "its rule for functionalization"


def deferred_sentence(report: ResolveHigherOrderReport) -> str:
    """The error that waits for the backward pass."""
    when = "The backward pass raises" if report.deferred_is_known else "The call or its backward pass raises"
    return f"{when}: {report.deferred}"


def fake_mode_sentences(modes: FakeModes) -> Iterator[str]:
    """What tracing would say of two fake modes, and where they come from."""
    yield (
        "Dispatch does not compare fake modes, but tracing does: torch._guards.detect_fake_mode raises AssertionError "
        f"for them: {modes.text}"
    )
    for origin in (modes.first, modes.other):
        name = f"The fake mode {origin.name}" if origin.name else "The fake mode without a name"
        what = "context" if origin.words == ACTIVE else "tensor"
        yield f"{name} comes from {origin.words} {origin.number}, which is {what} {origin.position + 1}"


def path_label(report: ResolveHigherOrderReport) -> str:
    """The slots of all steps."""
    return " > ".join(step.key for step in report.steps)


def _function(rule: HigherOrderImpl, short: bool) -> str:
    return short_function(rule.kernel) if short else rule.kernel
