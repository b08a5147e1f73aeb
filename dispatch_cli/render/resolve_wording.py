"""How a simulated call is put into words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from dispatch_cli.engine.call.trace import (
    Does,
    End,
    EndKind,
    ErrorKind,
    Handler,
    HandlerKind,
    MaskKind,
    OptionOrigin,
    Why,
)
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.keys.named_sets import functionalities_of
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.options import BOXED
from dispatch_cli.render.words import short_kernel, source_label
from dispatch_cli.report.key_outcomes import KeyOutcome, KeyStatus
from dispatch_cli.report.resolve import ResolveReport, Stage, StepReport, ThreadKeys
from dispatch_cli.report.table import TableRow

DOES = {
    Does.ENDS: "ends",
    Does.DECOMPOSES: "decomposes",
    Does.REDISPATCHES: "redispatches",
    Does.CALLS_ANEW: "calls anew",
    Does.HANDS_OVER: "hands over",
    Does.RAISES: "raises",
}
STATUSES = {
    KeyStatus.RUNS: "runs",
    KeyStatus.EXCLUDED: "excluded",
    KeyStatus.FALLS_THROUGH: "falls through",
    KeyStatus.OTHER_BACKEND: "other backend",
    KeyStatus.LEFT_OUT: "left out",
    KeyStatus.NOT_REACHED: "not reached",
}
_REASONS = {
    Why.CONVENTION: ", as wrappers do by convention",
    Why.CORE_KERNEL: ", as PyTorch's own kernel there does",
    Why.PYTHON: ", as the Python dispatcher chose",
}
"""What is added where the kernel's place alone does not tell what it does."""
_BY_OPTIONS = ", as kernels there that get a device or a layout do by convention"
_BATCHING = ", as batching rules do by convention"
MANY = 6
"""More keys than this are counted where there is little room."""


def status_label(outcome: KeyOutcome, steps: Mapping[int, StepReport]) -> str:
    """What became of a key: ``1 redispatches``, ``falls through``."""
    if outcome.status is not KeyStatus.RUNS:
        return STATUSES[outcome.status]
    by_act: dict[str, list[str]] = {}
    for number in outcome.steps:
        by_act.setdefault(DOES[steps[number].does], []).append(str(number))
    return ", ".join(f"{', '.join(numbers)} {act}" for act, numbers in by_act.items())


def from_label(tensors: tuple[int, ...], included: bool, count: int, generator: bool = False) -> str:
    """Where a key comes from: the tensors, by number where not all of several have it, a generator, the thread.

    ``all`` is several tensors and the thread, ``both`` one and the thread.
    tensors: their positions; count: how many there are.
    """
    if generator:
        others = from_label(tensors, False, count)
        return ", ".join(filter(None, (others, "generator", "thread" if included else "")))
    if not tensors or not count:
        return "thread" if included else ""
    if len(tensors) == count == 1:
        return "both" if included else "tensor"
    if len(tensors) == count:
        return "all" if included else "tensors"
    named = f"tensor {', '.join(map(str, tensors))}"
    return f"{named}, thread" if included else named


def tensor_count(stage: Stage) -> int:
    """How many tensors a selection's keys come from; none where a key set was given in their place."""
    return 0 if stage.mask_kind is MaskKind.NONE else len(stage.arguments)


def kernel_label(row: TableRow, short: bool) -> str:
    """A kernel with what matters of it; a dash where nothing is."""
    if row.kernel is None:
        return "-"
    if row.core_fallback:
        return "PyTorch's own" if short or row.fallthrough else f"PyTorch's own, {short_kernel(row.kernel)}"
    kernel = short_kernel(row.kernel) if short else row.kernel
    return f"fallthrough {kernel}" if row.fallthrough else kernel


def outcome_kernel_label(outcome: KeyOutcome, steps: Mapping[int, StepReport], short: bool) -> str:
    """What ran at a key, or what is there: of the Python dispatcher, its own kernel or the one that it chose."""
    last = steps[outcome.steps[-1]] if outcome.steps else None
    if last is None or last.python is None:
        return kernel_label(outcome.row, short)
    return f"{last.python.kernel} (Python)" if last.python.kernel is not None else kernel_label(last.row, short)


def outcome_rule(outcome: KeyOutcome, steps: Mapping[int, StepReport]) -> tuple[Rule, str]:
    """The rule by which it is there, and the alias key that it comes from."""
    last = steps[outcome.steps[-1]] if outcome.steps else None
    if last is None or last.python is None:
        return outcome.row.rule, source_label(outcome.row)
    key = last.python.key
    return last.python.decision.rule, "" if key in (None, outcome.key) else str(key)


def thread_label(verb: str, keys: ThreadKeys) -> str | None:
    """How the thread differs from a fresh one; None when it does not."""
    parts = []
    if keys.more:
        parts.append(f"{verb} {', '.join(keys.more)}")
    if keys.less:
        parts.append(f"no longer {verb} {', '.join(keys.less)}")
    return "; ".join(parts) or None


def mask_label(stage: Stage) -> str:
    """Which mask, and what it took away."""
    if stage.mask_kind is MaskKind.NONE:
        return "none: a key set was given"
    taken = [outcome.key for outcome in stage.outcomes if outcome.status is KeyStatus.FALLS_THROUGH]
    takes = f"takes away {', '.join(taken)}" if taken else "takes nothing away"
    match stage.mask_kind:
        case MaskKind.BACKEND:
            return f"of {stage.backend}, the highest backend: {takes}"
        case MaskKind.FIRST_BACKEND:
            return f"of {stage.backend}, the first backend, as no tensor has one: {takes}"
        case _:
            return takes


def step_sentence(step: StepReport, short: bool) -> str:
    """What a step does, and how that is known."""
    if step.row.kernel is None and step.python is None:
        return f"{step.slot}: there is no kernel"
    kernel = kernel_phrase(step, short)
    match step.does:
        case Does.ENDS:
            text = f"{kernel} computes the result"
        case Does.DECOMPOSES:
            text = f"{kernel} calls other operators"
        case Does.REDISPATCHES:
            text = f"{kernel} redispatches with {_set_label(step.passes, short)}{_by_options(step)}"
        case Does.CALLS_ANEW:
            text = f"{kernel} calls the operator anew{_changes(step, short)}"
        case Does.HANDS_OVER:
            text = f"{kernel} hands over to a __torch_dispatch__"
        case Does.RAISES:
            text = f"{kernel} raises"
    return f"{step.slot}: {text}{_reason(step)}"


def _reason(step: StepReport) -> str:
    """How it is known what a step does, where its kernel's place alone does not tell."""
    if step.declared is not None:
        place = "" if step.declared.span is None else f" at {step.declared.span}"
        return f", as declared{place}"
    if step.why is Why.CONVENTION and step.chosen_by is not None:
        return _BY_OPTIONS
    if step.why is Why.CONVENTION and step.does is Does.CALLS_ANEW:
        return _BATCHING
    return _REASONS.get(step.why, "")


def assumption(report: ResolveReport, short: bool) -> str | None:
    """What is assumed of kernels whose declarations do not say how they go on, and how to say it; None for nothing."""
    kernels = list(dict.fromkeys(kernel_phrase(step, short) for step in report.assumed_steps))
    if not kernels:
        return None
    goes, one = ("goes on", "it computes") if len(kernels) == 1 else ("go on", "one computes")
    return (
        f"Assumed: {some_keys(kernels, short)} {goes} by convention. If {one} the result, declare it with "
        "redispatches: false."
    )


def option_labels(report: ResolveReport) -> Iterator[tuple[str, str]]:
    """What counts beside tensors, each by its name: as it was given, or what is assumed in its place."""
    chosen_by = next((step.chosen_by for step in report.steps if step.chosen_by is not None), None)
    used = {} if chosen_by is None else chosen_by._asdict()
    for name, text in report.options._asdict().items():
        if name == "generator":
            if text is not None:
                yield name, f"{text}, {_BOXED if text.endswith(BOXED) else _UNBOXED}"
        elif text is not None:
            yield name, text if used.get(name) is not None or report.stopped else f"{text}, {_UNUSED}"
        elif (option := used.get(name)) is not None:
            origin = _DEFAULT_OF[option.origin]
            yield name, f"{option.value}, {origin}; --{name} names another"


_UNBOXED = "whose key counts, as in an unboxed call (torch.rand, C++); torch.ops makes boxed ones, as with 'cpu boxed'"
_BOXED = "whose key does not count, as in a call of torch.ops"
_UNUSED = "by which no kernel on the way chooses"
_DEFAULT_OF = {OptionOrigin.SCHEMA: "the default of the schema", OptionOrigin.ASSUMED: "PyTorch's default"}


def alternative_sentences(report: ResolveReport) -> Iterator[str]:
    """Options to give instead of those that were assumed, each with the kernel that the call comes to."""
    for one in report.alternatives:
        yield f"The {one.option} was not given: with --{one.option} {one.value} the call comes to a kernel at {one.key}"


def _by_options(step: StepReport) -> str:
    """By which options a key set was chosen."""
    if step.chosen_by is None:
        return ""
    words = [f"{name} {option.value}" for name, option in step.chosen_by._asdict().items() if option is not None]
    return f", chosen by {', '.join(words)}"


def stage_title(report: ResolveReport, stage: Stage) -> str:
    """What stands above a selection that is not the first."""
    before = report.steps[stage.steps[0].number - 2]
    arguments = "; ".join(one.text for one in stage.arguments) or "no tensors"
    return f"Called anew by {before.slot}, with {arguments}"


def excluded_sentences(report: ResolveReport, short: bool) -> list[str]:
    """The kernels of the operator that do not run because of the contexts; one that runs at another key does."""
    ran = {step.row.kernel for step in report.steps}
    found = []
    for outcome in report.stages[0].outcomes:
        row = outcome.row
        if outcome.by_context and row.kernel not in (None, *ran) and not row.core_fallback and not row.fallthrough:
            found.append(f"{outcome.key} is excluded by the contexts, and so {kernel_label(row, short)} does not run")
    return found


def path_label(report: ResolveReport) -> str:
    """The slots of all steps."""
    return " > ".join(step.slot for step in report.steps)


def kernel_phrase(step: StepReport, short: bool) -> str:
    """The kernel of a step inside a sentence."""
    if step.python is not None and step.python.kernel is not None:
        return f"the Python kernel {step.python.kernel}"
    row = step.row
    if row.kernel is None:
        return "no kernel"
    kernel = kernel_label(row, short)
    if row.core_fallback:
        return f"PyTorch's own fallback ({short_kernel(row.kernel)})"
    return f"the kernel {kernel}" if kernel == row.kernel and " " in kernel else kernel


def _set_label(keys: DispatchKeySet | None, short: bool) -> str:
    """The keys of a set, highest first."""
    names = [] if keys is None else [*reversed([*keys])]
    return some_keys(names, short) or "no key"


def _changes(step: StepReport, short: bool) -> str:
    changes = [
        f" with {some_keys([*reversed(functionalities_of(keys))], short)} {what}"
        for keys, what in ((step.excludes, "excluded"), (step.includes, "included"))
        if keys is not None
    ]
    return " and".join(changes)


def some_keys(names: list[str], short: bool) -> str:
    """Names; short, of many the first ones."""
    if not short or len(names) <= MANY:
        return ", ".join(names)
    return f"{', '.join(names[: MANY - 2])} and {len(names) - MANY + 2} more"


def end_sentence(report: ResolveReport, short: bool) -> str:
    """The end of a call in one sentence; an error's text comes after it."""
    last = report.steps[-1]
    if report.end is None:
        return f"Stopped after step {report.stopped} at {last.slot}: the call goes on."
    where = f"{kernel_phrase(last, short)} at {last.slot}{_rule(last)}"
    match report.end.kind:
        case EndKind.KERNEL:
            return f"The call ends in {where}."
        case EndKind.DECOMPOSITION:
            return f"The call ends in {where}, which decomposes into other operators."
        case EndKind.HANDLER:
            return handed_over(report.end)
        case EndKind.ERROR:
            return f"The call fails at {last.slot}: {raised_label(report.end)}"


def _rule(step: StepReport) -> str:
    """The rule behind a kernel: as the Python dispatcher has it, where that chose."""
    if step.python is not None:
        source = f", from {step.python.key}" if step.python.key not in (None, step.slot) else ""
        return f" (Python dispatcher, {step.python.decision.rule.dump_text}{source})"
    row = step.row
    source = f", from {row.source}" if row.source not in (None, step.slot) else ""
    return f" (rule {row.rule_number}, {row.rule.dump_text}{source})"


def handed_over(end: End) -> str:
    """Who gets a call that is handed over, and who has passed it on before."""
    assert end.handler is not None, "a handler is named"
    passed = " and ".join(map(_handler_label, end.passed))
    after = f" after {passed} returned NotImplemented" if passed else ""
    return f"The call is handed over to {_handler_label(end.handler)}{after}."


def _handler_label(handler: Handler) -> str:
    if not handler.name:
        return "the __torch_dispatch__ of a tensor with these keys"
    what = "context" if handler.kind is HandlerKind.MODE else "tensor"
    return f"{handler.name}.__torch_dispatch__ ({what} {handler.position + 1})"


def raised_label(end: End) -> str:
    """What PyTorch raises."""
    error = end.error
    assert error is not None, "an error is named"
    if error.kind is ErrorKind.KERNEL:
        return "the kernel raises an error of its own"
    if not error.type:
        return f"PyTorch raises nothing that could be caught{_ENDS if error.kind is ErrorKind.ENDLESS else ''}"
    if error.kind is ErrorKind.ENDLESS:
        return f"the kernels call one another without end, and Python raises {error.type}"
    who = "PyTorch" if end.handler is None else _handler_label(end.handler)
    about = "" if error.argument is None else f" because of tensor {error.argument + 1}"
    return f"{who} raises {error.type}{about}"


_ENDS = ": the kernels call one another without end, and the process ends"


def error_lines(end: End | None, short: bool) -> list[str]:
    """An error's text as PyTorch words it, up to the dumps that it may end with; short, its first sentence."""
    if end is None or end.error is None or not end.error.text:
        return []
    lines = end.error.text.partition("\n\n")[0].rstrip().split("\n")
    if short:
        first, *rest = _SENTENCE.split(lines[0], maxsplit=1)
        return [f"{first} …" if rest else first]
    return lines if end.error.whole else [*lines, "…"]


_SENTENCE = re.compile(r"(?<=\.)\s+(?=[A-Z])")
"""Between two sentences."""
