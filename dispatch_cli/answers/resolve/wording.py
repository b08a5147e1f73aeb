"""The wording of a simulated call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dispatch_cli.answers.keys.outcomes import KeyOutcome, KeyStatus, ThreadKeys
from dispatch_cli.answers.resolve.report import RecordedCallReport, ResolveReport, Stage, StepReport
from dispatch_cli.answers.resolve.step_wording import handed_over, raised_label, step_kernel
from dispatch_cli.answers.shared.slot_row import TableRow
from dispatch_cli.answers.table.wording import held_label, kernel_phrase, otherwise_text, source_label
from dispatch_cli.checks.support_words import reason_words
from dispatch_cli.engine.call.simulate import Unwrapped
from dispatch_cli.engine.call.tensors import META
from dispatch_cli.engine.call.trace import Does, EndKind, ErrorKind, MaskKind, OptionOrigin, Selection
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.support.cell import Reason
from dispatch_cli.model.calls.call import CallEnd, ContextKind, TensorSpec
from dispatch_cli.model.calls.options import BOXED
from dispatch_cli.model.kernel import WrapKind
from dispatch_cli.model.names import some_of
from dispatch_cli.model.universe import AUTOGRAD
from dispatch_cli.render.words import short_kernel

CPU = "cpu"
DOES = {
    Does.ENDS: "ends",
    Does.DECOMPOSES: "decomposes",
    Does.REDISPATCHES: "redispatches",
    Does.CALLS_ANEW: "calls again",
    Does.HANDS_OVER: "hands over",
    Does.RAISES: "raises",
    Does.NOT_KNOWN: "not known",
}
STATUSES = {
    KeyStatus.RUNS: "runs",
    KeyStatus.EXCLUDED: "excluded",
    KeyStatus.FALLS_THROUGH: "falls through",
    KeyStatus.OTHER_BACKEND: "other backend",
    KeyStatus.LEFT_OUT: "skipped",
    KeyStatus.NOT_REACHED: "not reached",
}


def status_label(outcome: KeyOutcome[Any], does: Mapping[int, Does]) -> str:
    """Words for the outcome at a key: ``1 redispatches``, ``falls through``. does: act of each step, by number."""
    if outcome.status is not KeyStatus.RUNS:
        return STATUSES[outcome.status]
    by_act: dict[str, list[str]] = {}
    for number in outcome.steps:
        by_act.setdefault(DOES[does[number]], []).append(str(number))
    return ", ".join(f"{', '.join(numbers)} {act}" for act, numbers in by_act.items())


def from_label(outcome: KeyOutcome[Any], count: int) -> str:
    """Origin of a key: the tensors, by number where not all of several have it, a generator, the thread.

    ``all`` is several tensors and the thread, ``both`` one and the thread. count: how many tensors there are.
    """
    tensors, included = outcome.tensors, outcome.included
    everyone = count and len(tensors) == count
    if everyone and included and not outcome.generator:
        return "both" if count == 1 else "all"
    origins = []
    if everyone:
        origins.append("tensor" if count == 1 else "tensors")
    elif tensors and count:
        origins.append(f"tensor {', '.join(map(str, tensors))}")
    origins += ["generator"] if outcome.generator else []
    return ", ".join([*origins, "thread"] if included else origins)


def tensor_count(selection: Selection) -> int:
    """Number of tensors that a selection's keys come from; 0 where a key set was given in their place."""
    return 0 if selection.mask.kind is MaskKind.NONE else len(selection.arguments)


def outcome_kernel_label(outcome: KeyOutcome[TableRow], last: StepReport | None, short: bool) -> str:
    """The kernel that ran at a key, or the one there; of the Python dispatcher its own or the one that it chose.

    last: the last step at the key.
    """
    row, python = outcome.entry, None if last is None else last.hop.python
    if last is not None and python is not None:
        if python.kernel is not None:
            return f"{python.kernel} (Python)"
        row = last.entry
    return held_label(row, short)


def outcome_rule(outcome: KeyOutcome[TableRow], last: StepReport | None) -> tuple[Rule, str]:
    """The rule by which it is there, and the alias key that it comes from. last: the last step at the key."""
    python = None if last is None else last.hop.python
    if python is None:
        return outcome.entry.rule, source_label(outcome.entry)
    return python.rule, "" if python.chosen_key in (None, outcome.key) else str(python.chosen_key)


def thread_lines(included: ThreadKeys, excluded: ThreadKeys) -> list[str]:
    """Differences of the thread from a fresh one."""
    differences = []
    for verb, keys in (("includes", included), ("excludes", excluded)):
        parts = [f"{verb} {', '.join(keys.added)}"] if keys.added else []
        parts += [f"no longer {verb} {', '.join(keys.removed)}"] if keys.removed else []
        differences += ["; ".join(parts)] if parts else []
    return differences or ["default"]


def mask_label(stage: Stage) -> str:
    """The fallthrough mask, and the keys that it removed."""
    mask = stage.selection.mask
    if mask.kind is MaskKind.NONE:
        return "none: a key set was given"
    taken = [outcome.key for outcome in stage.keys if outcome.status is KeyStatus.FALLS_THROUGH]
    takes = f"removes {', '.join(taken)}" if taken else "removes nothing"
    match mask.kind:
        case MaskKind.BACKEND:
            return f"of {mask.backend}, the highest backend: {takes}"
        case MaskKind.FIRST_BACKEND:
            return f"of {mask.backend}, the first backend, as no tensor has one: {takes}"
        case _:
            return takes


def option_labels(report: ResolveReport) -> Iterator[tuple[str, str]]:
    """The options that choose a kernel beside tensors, by name: as they were given, or as they are assumed."""
    chosen_by = next((step.hop.chosen_by for step in report.steps if step.hop.chosen_by is not None), None)
    used = {} if chosen_by is None else chosen_by._asdict()
    for name, text in report.options._asdict().items():
        if name == "generator":
            if text is not None:
                yield name, f"{text}, {_BOXED if text.endswith(BOXED) else _UNBOXED}"
        elif text is not None:
            yield name, text if used.get(name) is not None else f"{text}, {_UNUSED}"
        elif (option := used.get(name)) is not None:
            origin = _DEFAULT_OF[option.why]
            yield name, f"{option.value}, {origin}; --argument {name}=… sets another"


_UNBOXED = "whose key counts, as in an unboxed call (torch.rand, C++); for a boxed call (torch.ops) add 'boxed'"
_BOXED = "whose key does not count, as in a boxed call (torch.ops)"
_UNUSED = "not used: no kernel in this call chooses by it"
_DEFAULT_OF = {OptionOrigin.SCHEMA: "the default of the schema", OptionOrigin.ASSUMED: "PyTorch's default"}


def lacks_all_tensors(report: ResolveReport) -> bool:
    """True if a call that fails was given no tensor, and its schema needs some: its end says so first."""
    return report.fails and bool(report.left_out) and not report.tensors


def left_out_sentence(names: tuple[str, ...]) -> str:
    """Arguments that must be tensors and have none here: whose keys the answer is without."""
    given = "the answer counts only the keys of the tensors that are given"
    return f"No --tensor is given for {some_of(names)}: {given}. Give one for each, such as `--tensor cpu`."


def devices_sentence(report: ResolveReport) -> str | None:
    """Warning for real tensors of several devices, where the call ends in a kernel; None for others."""
    if isinstance(report, RecordedCallReport) or report.end.kind is not EndKind.KERNEL:
        return None
    specs = [spec for spec in map(TensorSpec.parse, report.tensors) if spec.absent is None]
    devices = dict.fromkeys(spec.device or CPU for spec in specs)
    is_plain = all(spec.fake is None and spec.subclass is None and spec.device != META for spec in specs)
    if len(devices) < 2 or not is_plain:
        return None
    message = '"Expected all tensors to be on the same device"'
    unless = ", unless the CPU tensor has no dimensions" if CPU in devices else ""
    if not report.one_device:
        return (
            f"The tensors are on different devices ({', '.join(devices)}), which dispatch does not look at: most "
            "operators refuse that, and this one may take it: FakeTensorMode has a rule of its own for it."
        )
    of_lists = "_foreach_" in report.operator  # these take one tensor after the other
    if report.steps[-1].entry.origin.state is not None and not of_lists:
        return (
            f"That kernel, as PyTorch's own, probably refuses tensors on different devices ({', '.join(devices)}), "
            f"which dispatch does not look at: {message}{unless}."
        )
    return (
        f"The tensors are on different devices ({', '.join(devices)}), which dispatch does not look at: PyTorch's "
        f"kernels mostly refuse that ({message}){unless}."
    )


def unwrapped_sentence(unwrapped: Unwrapped) -> str:
    """Sentence on transforms that wrap no tensor of the call: what was asked, and how to ask for their inputs."""
    kinds = dict.fromkeys(unwrapped.transforms)
    calls = " and ".join(f"{_FUNCTIONS[kind]}(f)(x)" for kind in kinds)
    return (
        f"No tensor is wrapped at the level of {' or '.join(kind.value for kind in kinds)}, so this is a call with "
        f'tensors from outside of the function; for the x of {calls}, write --tensor "{unwrapped.tensor}".'
    )


_FUNCTIONS = {
    ContextKind.VMAP: "torch.vmap",
    ContextKind.GRAD: "torch.func.grad",
    ContextKind.JVP: "torch.func.jvp",
    ContextKind.FUNCTIONALIZE: "torch.func.functionalize",
}


def own_function_sentence(report: ResolveReport) -> str | None:
    """Advice where torch.library's autograd.Function does not support a transform of torch.func."""
    error = None if report.end is None else report.end.error
    if error is None or error.kind is not ErrorKind.TRANSFORM or not report.steps:
        return None
    kernel = report.steps[-1].hop.live.kernel
    if kernel is None or kernel.wraps is None or kernel.wraps.kind is not WrapKind.AUTOGRAD:
        return None
    return (
        "torch.library makes the autograd.Function of this operator, and no transform of torch.func supports it, "
        "whatever is declared. Write an autograd.Function of your own instead, with setup_context and backward, whose "
        "forward calls the operator."
    )


def stage_title(report: ResolveReport, stage: Stage) -> str:
    """The title of a selection that is not the first."""
    before = report.steps[stage.steps[0].number - 2]
    arguments = "; ".join(argument.tensor for argument in stage.selection.arguments) or "no tensors"
    return f"Called again by {before.hop.slot}, with {arguments}"


def excluded_sentences(report: ResolveReport) -> Iterator[str]:
    """The kernels of the operator that do not run because of the contexts; one that runs at another key does."""
    if not report.selections:
        return
    ran = {None, *(step.entry.kernel for step in report.steps)}
    for outcome in report.selections[0].keys:
        row = outcome.entry
        if outcome.excluded_by_context and row.kernel not in ran and not row.core_fallback and not row.fallthrough:
            yield f"{outcome.key} is excluded by the contexts, so {kernel_phrase(row)} does not run."


def end_sentence(report: ResolveReport) -> str:
    """The end of a call in one sentence; an error's text comes after it."""
    if report.refusal is not None:
        cell = report.refusal
        kernel = "" if cell.kernel is None else f" ({short_kernel(cell.kernel)} for {cell.key})"
        is_late = cell.reason is Reason.FUNCTION_ARGUMENTS and cell.key is not None and cell.key.startswith(AUTOGRAD)
        where = " in the call or in its backward pass" if is_late else ""
        return f"PyTorch raises an error{where}: {reason_words(cell)}{kernel}."
    if not report.steps:
        return (
            f"The call fails: nothing that was read defines {report.operator}, and its kernels wait for a definition: "
            f"{raised_label(report.end)}"
        )
    last = report.steps[-1]
    where = f"{step_kernel(last)} at {last.hop.slot}{_rule(last)}"
    match report.end.kind:
        case EndKind.KERNEL:
            return f"The call ends in {where}."
        case EndKind.DECOMPOSITION:
            return f"The call ends in {where}, which decomposes into other operators."
        case EndKind.HANDLER:
            return handed_over(report.end)
        case EndKind.NOT_KNOWN:
            otherwise = last.entry.otherwise
            goes_on = "" if otherwise is None else f" {otherwise_text(last.entry, otherwise)}"
            return f"It is not known what the call runs at {last.hop.slot}.{goes_on}"
        case EndKind.ERROR:
            error = report.end.error
            fails = "The call fails"
            if lacks_all_tensors(report):
                given = (
                    f"No --tensor is given for {some_of(report.left_out)}: give one for each, such as `--tensor cpu`."
                )
                fails = f"{given} Without any, the call fails"
            if error is not None and error.slot is not None:
                return f"{fails} at {error.slot}, after {where} has run: {raised_label(report.end)}"
            if error is not None and error.operator is not None:
                calls = f"{step_kernel(last)}{_rule(last)} calls {error.operator}"
                return f"{fails} at {last.hop.slot}, where {calls}: {raised_label(report.end)}"
            return f"{fails} at {last.hop.slot}: {raised_label(report.end)}"


def recorded_end_sentence(report: ResolveReport) -> str | None:
    """The end of a recorded call of which less is known than of a simulated one; None of other calls."""
    if not isinstance(report, RecordedCallReport) or report.end is None:
        return None
    if report.ended is CallEnd.UNFINISHED:
        return f"The end of the call is not recorded; it came to {report.steps[-1].hop.slot}."
    error, last = report.end.error, report.steps[-1].hop
    if last.does is Does.CALLS_ANEW and error is None:
        where = f"{step_kernel(report.steps[-1])} at {last.slot}{_rule(report.steps[-1])}"
        return f"{where} calls the operator again, which is a call of its own."
    unknown = last.does is Does.REDISPATCHES and error is not None and not error.slot and error.kind is ErrorKind.KERNEL
    after = "; `trace --verify` observes which kernels run"
    return f"The call raised, at {last.slot} or after that{after}." if unknown else None


def _rule(step: StepReport) -> str:
    """The rule that chose a kernel: the Python dispatcher's, where that chose it."""
    python, row = step.hop.python, step.entry
    if python is None:
        decided, source = f"rule {row.rule_number}, {row.rule.dump_text}", row.source
    else:
        decided, source = f"Python dispatcher, {python.rule.dump_text}", python.chosen_key
    return f" ({decided}{f', from {source}' if source not in (None, step.hop.slot) else ''})"
