"""How a simulated call is put into words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dispatch_cli.engine.call.trace import (
    ChosenBy,
    Does,
    End,
    EndKind,
    ErrorKind,
    Handler,
    HandlerKind,
    MaskKind,
    OptionOrigin,
    Selection,
    Why,
)
from dispatch_cli.engine.keys.named_sets import functionalities_of
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.kernel import RedispatchKind
from dispatch_cli.model.options import BOXED
from dispatch_cli.render.words import short_kernel, some_of, source_label
from dispatch_cli.report.key_outcomes import KeyOutcome, KeyStatus, ThreadKeys
from dispatch_cli.report.resolve import Assumed, ResolveReport, Stage, StepReport
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
MANY = 5
"""Of more keys than this the first ones are named where there is little room."""


def status_label(outcome: KeyOutcome[Any], does: Mapping[int, Does]) -> str:
    """What became of a key: ``1 redispatches``, ``falls through``. does: what each step does, by its number."""
    if outcome.status is not KeyStatus.RUNS:
        return STATUSES[outcome.status]
    by_act: dict[str, list[str]] = {}
    for number in outcome.steps:
        by_act.setdefault(DOES[does[number]], []).append(str(number))
    return ", ".join(f"{', '.join(numbers)} {act}" for act, numbers in by_act.items())


def from_label(outcome: KeyOutcome[Any], count: int) -> str:
    """Where a key comes from: the tensors, by number where not all of several have it, a generator, the thread.

    ``all`` is several tensors and the thread, ``both`` one and the thread. count: how many tensors there are.
    """
    tensors, included = outcome.tensors, outcome.included
    everyone = count and len(tensors) == count
    if everyone and included and not outcome.generator:
        return "both" if count == 1 else "all"
    found = []
    if everyone:
        found.append("tensor" if count == 1 else "tensors")
    elif tensors and count:
        found.append(f"tensor {', '.join(map(str, tensors))}")
    found += ["generator"] if outcome.generator else []
    return ", ".join([*found, "thread"] if included else found)


def tensor_count(selection: Selection) -> int:
    """How many tensors a selection's keys come from; none where a key set was given in their place."""
    return 0 if selection.mask.kind is MaskKind.NONE else len(selection.arguments)


def kernel_label(row: TableRow, short: bool) -> str:
    """A kernel with what matters of it; a dash where nothing is."""
    if row.kernel is None:
        return "-"
    if row.core_fallback:
        return "PyTorch's own" if short or row.fallthrough else f"PyTorch's own, {short_kernel(row.kernel)}"
    kernel = short_kernel(row.kernel) if short else row.kernel
    return f"fallthrough {kernel}" if row.fallthrough else kernel


def outcome_kernel_label(outcome: KeyOutcome[TableRow], last: StepReport | None, short: bool) -> str:
    """What ran at a key, or what is there: of the Python dispatcher, its own kernel or the one that it chose.

    last: the last step at the key.
    """
    if last is None or last.hop.python is None:
        return kernel_label(outcome.entry, short)
    kernel = last.hop.python.kernel
    return f"{kernel} (Python)" if kernel is not None else kernel_label(last.entry, short)


def outcome_rule(outcome: KeyOutcome[TableRow], last: StepReport | None) -> tuple[Rule, str]:
    """The rule by which it is there, and the alias key that it comes from. last: the last step at the key."""
    python = None if last is None else last.hop.python
    if python is None:
        return outcome.entry.rule, source_label(outcome.entry)
    return python.rule, "" if python.chosen_key in (None, outcome.key) else str(python.chosen_key)


def thread_lines(included: ThreadKeys, excluded: ThreadKeys) -> list[str]:
    """How the thread differs from a fresh one."""
    found = []
    for verb, keys in (("includes", included), ("excludes", excluded)):
        parts = [f"{verb} {', '.join(keys.added)}"] if keys.added else []
        parts += [f"no longer {verb} {', '.join(keys.removed)}"] if keys.removed else []
        found += ["; ".join(parts)] if parts else []
    return found or ["as by default"]


def mask_label(stage: Stage) -> str:
    """Which mask, and what it took away."""
    mask = stage.selection.mask
    if mask.kind is MaskKind.NONE:
        return "none: a key set was given"
    taken = [outcome.key for outcome in stage.keys if outcome.status is KeyStatus.FALLS_THROUGH]
    takes = f"takes away {', '.join(taken)}" if taken else "takes nothing away"
    match mask.kind:
        case MaskKind.BACKEND:
            return f"of {mask.backend}, the highest backend: {takes}"
        case MaskKind.FIRST_BACKEND:
            return f"of {mask.backend}, the first backend, as no tensor has one: {takes}"
        case _:
            return takes


def step_sentence(step: StepReport, short: bool) -> str:
    """What a step does, and how that is known."""
    hop = step.hop
    if step.entry.kernel is None and hop.python is None:
        return f"{hop.slot}: there is no kernel"
    kernel = kernel_phrase(step, short)
    match hop.does:
        case Does.ENDS:
            text = f"{kernel} computes the result"
        case Does.DECOMPOSES:
            text = f"{kernel} calls other operators"
        case Does.REDISPATCHES:
            passed = [] if hop.passes is None else [*reversed([*hop.passes])]
            text = f"{kernel} redispatches with {some_keys(passed, short) or 'no key'}{_by_options(hop.chosen_by)}"
        case Does.CALLS_ANEW:
            text = f"{kernel} calls the operator anew{_changes(step, short)}"
        case Does.HANDS_OVER:
            text = f"{kernel} hands over to a __torch_dispatch__"
        case Does.RAISES:
            text = f"{kernel} raises"
    return f"{hop.slot}: {text}{_reason(step)}"


def _reason(step: StepReport) -> str:
    """How it is known what a step does, where its kernel's place alone does not tell."""
    hop = step.hop
    if step.redispatches is not None:
        place = step.redispatches_declared_at
        return ", as declared" if place is None else f", as declared at {place}"
    if hop.why is Why.CONVENTION and hop.chosen_by is not None:
        return _BY_OPTIONS
    if hop.why is Why.CONVENTION and hop.does is Does.CALLS_ANEW:
        return _BATCHING
    return _REASONS.get(hop.why, "")


def _by_options(chosen_by: ChosenBy | None) -> str:
    """By which options a key set was chosen."""
    if chosen_by is None:
        return ""
    words = [f"{name} {option.value}" for name, option in chosen_by._asdict().items() if option is not None]
    return f", chosen by {', '.join(words)}"


def _changes(step: StepReport, short: bool) -> str:
    """The keys without which, and with which, the operator is called anew: as they are declared, or all of them."""
    declared, changes = step.redispatches, []
    for keys, what in ((step.hop.excludes, "excluded"), (step.hop.includes, "included")):
        if keys is not None:
            names = [*reversed(functionalities_of(keys))]
            if declared is not None and declared.kind is RedispatchKind.EXCLUDE and what == "excluded":
                names = [*declared.keys]
            changes.append(f" with {some_keys(names, short)} {what}")
    return " and".join(changes)


def assumption(assumed: Assumed, short: bool = False) -> str:
    """What is assumed of kernels whose declarations do not say how they go on, and how to say it."""
    kernels = list(dict.fromkeys(kernel_phrase(step, short) for step in assumed.kernels))
    goes, one = ("goes on", "it computes") if len(kernels) == 1 else ("go on", "one computes")
    return (
        f"Assumed: {some_keys(kernels, short)} {goes} by convention. If {one} the result, declare it with "
        "redispatches: false."
    )


def option_labels(report: ResolveReport) -> Iterator[tuple[str, str]]:
    """What counts beside tensors, each by its name: as it was given, or what is assumed in its place."""
    chosen_by = next((step.hop.chosen_by for step in report.steps if step.hop.chosen_by is not None), None)
    used = {} if chosen_by is None else chosen_by._asdict()
    for name, text in report.options._asdict().items():
        if name == "generator":
            if text is not None:
                yield name, f"{text}, {_BOXED if text.endswith(BOXED) else _UNBOXED}"
        elif text is not None:
            yield name, text if used.get(name) is not None or report.stopped_after else f"{text}, {_UNUSED}"
        elif (option := used.get(name)) is not None:
            origin = _DEFAULT_OF[option.why]
            yield name, f"{option.value}, {origin}; --{name} names another"


_UNBOXED = "whose key counts, as in an unboxed call (torch.rand, C++); torch.ops makes boxed ones, as with 'cpu boxed'"
_BOXED = "whose key does not count, as in a call of torch.ops"
_UNUSED = "by which no kernel on the way chooses"
_DEFAULT_OF = {OptionOrigin.SCHEMA: "the default of the schema", OptionOrigin.ASSUMED: "PyTorch's default"}


def alternative_sentences(report: ResolveReport) -> Iterator[str]:
    """Options to give instead of those that were assumed, each with the kernel that the call comes to."""
    for one in report.alternatives:
        yield f"The {one.option} was not given: with --{one.option} {one.value} the call comes to a kernel at {one.key}"


def stage_title(report: ResolveReport, stage: Stage) -> str:
    """What stands above a selection that is not the first."""
    before = report.steps[stage.steps[0].number - 2]
    arguments = "; ".join(one.tensor for one in stage.selection.arguments) or "no tensors"
    return f"Called anew by {before.hop.slot}, with {arguments}"


def excluded_sentences(report: ResolveReport, short: bool) -> Iterator[str]:
    """The kernels of the operator that do not run because of the contexts; one that runs at another key does."""
    ran = {None, *(step.entry.kernel for step in report.steps)}
    for outcome in report.selections[0].keys:
        row = outcome.entry
        if outcome.excluded_by_context and row.kernel not in ran and not row.core_fallback and not row.fallthrough:
            yield f"{outcome.key} is excluded by the contexts, and so {kernel_label(row, short)} does not run"


def kernel_phrase(step: StepReport, short: bool) -> str:
    """The kernel of a step inside a sentence."""
    python, row = step.hop.python, step.entry
    if python is not None and python.kernel is not None:
        return f"the Python kernel {python.kernel}"
    if row.kernel is None:
        return "no kernel"
    kernel = kernel_label(row, short)
    if row.core_fallback:
        return f"PyTorch's own fallback ({short_kernel(row.kernel)})"
    return f"the kernel {kernel}" if kernel == row.kernel and " " in kernel else kernel


def some_keys(names: Sequence[str], short: bool) -> str:
    """Names; short, of many the first ones."""
    return some_of(names, MANY) if short else ", ".join(names)


def end_sentence(report: ResolveReport, short: bool) -> str:
    """The end of a call in one sentence; an error's text comes after it."""
    last = report.steps[-1]
    if report.end is None:
        return f"Stopped after step {report.stopped_after} at {last.hop.slot}: the call goes on."
    where = f"{kernel_phrase(last, short)} at {last.hop.slot}{_rule(last)}"
    match report.end.kind:
        case EndKind.KERNEL:
            return f"The call ends in {where}."
        case EndKind.DECOMPOSITION:
            return f"The call ends in {where}, which decomposes into other operators."
        case EndKind.HANDLER:
            return handed_over(report.end)
        case EndKind.ERROR:
            return f"The call fails at {last.hop.slot}: {raised_label(report.end)}"


def _rule(step: StepReport) -> str:
    """The rule behind a kernel: as the Python dispatcher has it, where that chose."""
    python, row = step.hop.python, step.entry
    if python is None:
        decided, source = f"rule {row.rule_number}, {row.rule.dump_text}", row.source
    else:
        decided, source = f"Python dispatcher, {python.rule.dump_text}", python.chosen_key
    return f" ({decided}{f', from {source}' if source not in (None, step.hop.slot) else ''})"


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
    return f"{handler.name}.__torch_dispatch__ ({what} {handler.position})"


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
    about = "" if error.tensor is None else f" because of tensor {error.tensor}"
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
