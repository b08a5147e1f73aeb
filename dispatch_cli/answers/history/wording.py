"""Words for versions, answers of slots and their causes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dispatch_cli.answers.history.changes import CauseRow, VersionAnswer, VersionKernel
from dispatch_cli.answers.history.report import HeldAtKey, HeldKind, HistoryReport, OperatorHistory, VersionRun
from dispatch_cli.engine.comparison.slots import CauseKind
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.names import some_of
from dispatch_cli.model.text.debug_text import is_python_without_place
from dispatch_cli.render.words import short_kernel

PYTHON_FUNCTION = "a Python function"


def short(version: str) -> str:
    """A version without its prefix: ``2.15`` of ``torch-2.15``."""
    return version.removeprefix("torch-")


def version_runs(runs: Iterable[VersionRun | HeldAtKey]) -> str:
    """Versions in runs: ``2.4 to 2.9, 2.11``."""
    ends = ((short(run.first), short(run.last)) for run in runs)
    return ", ".join(first if first == last else f"{first} to {last}" for first, last in ends)


def there(report: HistoryReport, operator: OperatorHistory) -> str:
    """Sentence or two on the versions in which an operator exists."""
    runs, oldest, newest = operator.versions, report.versions[0].name, report.versions[-1].name
    number = len(report.versions)
    if len(runs) == 1 and (runs[0].first, runs[0].last) == (oldest, newest):
        which = f"all {number} embedded versions" if number > 1 else "the embedded version"
        return f"In {which}, {version_runs(runs)}. Defined in {short(oldest)} or earlier."
    parts = [f"In {version_runs(runs)} of the embedded versions {short(oldest)} to {short(newest)}."]
    since = f"{short(oldest)} or earlier" if operator.or_earlier else short(runs[0].first)
    parts.append(f"Defined in {since}.")
    if runs[-1].last != newest:
        names = [version.name for version in report.versions]
        gone = names[names.index(runs[-1].last) + 1]
        parts.append(f"Gone since {short(gone)}; {short(runs[-1].last)} is the last version that has it.")
    if operator.overloads:
        others = some_of(operator.overloads)
        parts.append(f"{short(newest)} has other overloads of its name: {others}.")
    return " ".join(parts)


def kernel_text(kernel: VersionKernel | None) -> str:
    """A kernel by its file, or by what a dump says of it."""
    if kernel is None:
        return ""
    text = kernel.file or (PYTHON_FUNCTION if is_python_without_place(kernel.debug) else short_kernel(kernel.debug))
    return f"fallthrough {text}" if kernel.fallthrough else text


def kernels_text(kernels: Sequence[VersionKernel]) -> str:
    """The active kernel, and how many it overrides."""
    if not kernels:
        return ""
    more = f" (overrides {', '.join(map(kernel_text, kernels[1:]))})" if len(kernels) > 1 else ""
    return kernel_text(kernels[0]) + more


def answer_text(answer: VersionAnswer) -> str:
    """Content of a slot: the kernel and the rule."""
    if answer.rule is Rule.MISSING:
        return "nothing"
    return f"{kernel_text(answer.kernel)} [{answer.rule.dump_text}]".strip()


def held_text(held: HeldAtKey) -> str:
    """Words for the content of an operator's key."""
    if held.kind is HeldKind.NO_OPERATOR:
        return "the operator does not exist"
    if held.kind is HeldKind.NO_KEY:
        return "the key does not exist"
    if held.kind is HeldKind.REGISTRATION:
        return kernel_text(held.kernel) or "nothing is registered"
    assert held.rule is not None
    return answer_text(VersionAnswer(held.rule, held.source, held.kernel))


_CAUSES = {
    CauseKind.ADDED: "kernel at {key} added",
    CauseKind.REMOVED: "kernel at {key} removed",
    CauseKind.REPLACED: "another kernel at {key}",
    CauseKind.LEFT_STALE: "order of registrations: left stale by the kernel at {key}",
    CauseKind.WAS_STALE: "order of registrations: no longer left stale by the kernel at {key}",
    CauseKind.FALLBACK_ADDED: "backend fallback added",
    CauseKind.FALLBACK_REMOVED: "backend fallback removed",
    CauseKind.FALLBACK_REPLACED: "another backend fallback",
}


def causes_text(causes: Iterable[CauseRow], source: str | None, slots: int = 1) -> str:
    """Causes for which so many slots give another answer. source: the key whose kernel fills them now."""
    return ", ".join(_cause_text(cause, source, slots) for cause in causes)


def _cause_text(cause: CauseRow, source: str | None, slots: int) -> str:
    if cause.kind is CauseKind.UNIVERSE:
        if not cause.key:
            return "the keys themselves changed"
        covers = "now covers" if cause.key == source else "no longer covers"
        return f"{cause.key} {covers} {'this key' if slots == 1 else 'these keys'}"
    return cause_words(cause.kind, cause.key)


def cause_words(kind: CauseKind, key: str) -> str:
    """Words for a cause that is a registration, a fallback or their order. key: where the kernel is registered."""
    return _CAUSES[kind].format(key=key)


def held_causes(held: HeldAtKey) -> str:
    """Causes for which a run of versions begins."""
    return causes_text(held.causes, held.source)
