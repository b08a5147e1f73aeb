"""The wording of a trace: kernels in turn, findings, what is missing."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.engine.call.trace import EndKind
from dispatch_cli.render.document import Run, Tone
from dispatch_cli.render.words import plural, short_kernel
from dispatch_cli.report.trace import KernelsSeen, TraceReport, TraceRow
from dispatch_cli.report.trace_findings import TraceFinding, TraceFindingKind
from dispatch_cli.report.trace_view import TracePath
from dispatch_cli.trace.recording import PythonPlace

ARROW = " → "
TIMES = "\N{MULTIPLICATION SIGN}"


def path_runs(path: TracePath, ran: str | None = None) -> tuple[Run, ...]:
    """The keys of the kernels in turn, and how the call ends, where it is not in a kernel that computes.

    ran: what was seen to run in the place of the kernel that is predicted next.
    """
    if path.problem is not None:
        return (Run(f"not known: {path.problem}", Tone.WARN),)
    found: list[Run] = []
    for kernel in path.kernels:
        if found:
            found.append(Run(ARROW, Tone.DIM))
        last = kernel is path.kernels[-1]
        tone = Tone.FALLBACK if kernel.fallback else Tone.KERNEL if last else Tone.PLAIN
        found.append(Run(kernel.key, tone))
        if kernel.fallback:
            found.append(Run(" (fallback)", Tone.FALLBACK))
    if ran is not None:
        return (*found, Run(ARROW, Tone.DIM), Run(f"{ran} (not as predicted)", Tone.BAD))
    ending = _ENDINGS.get(path.end) if path.end is not None else None
    if path.end is EndKind.HANDLER:
        ending = f" ({path.handler or 'Python'})"
    if ending is not None:
        found.append(Run(ending, Tone.BAD if path.end is EndKind.ERROR else Tone.DIM))
    return tuple(found)


_ENDINGS = {
    EndKind.DECOMPOSITION: " (decomposes)",
    EndKind.ERROR: " (raises)",
    EndKind.NOT_KNOWN: " (not known)",
}


def path_text(keys: tuple[str, ...]) -> str:
    """Kernels in turn, by key."""
    return ARROW.join(keys) or "no kernel"


def place_label(place: PythonPlace, directory: str | None) -> str:
    """A line of Python, with its file as it is called in the directory of the program."""
    folder = f"{directory.rstrip('/')}/" if directory else ""
    file = place.file.removeprefix(folder) if folder != "/" else place.file
    return f"{file}:{place.line}"


def headings_of(row: TraceRow, directory: str | None) -> tuple[str, str]:
    """The line of Python of a row, and the forward call whose backward it is; empty where there is none."""
    place = "" if row.place is None else place_label(row.place, directory)
    if place and row.place is not None and row.place.function not in ("", "<module>"):
        place = f"{place} in {row.place.function}"
    if row.forward is None:
        return place, ""
    line = f", {place_label(row.forward_place, directory)}" if row.forward_place is not None else ""
    return place, f"backward of call {row.forward}{line}"


def row_operator(row: TraceRow) -> str:
    """What a row is about."""
    return f"{row.times} times:" if row.operator is None else row.operator


def seen_sentence(report: TraceReport) -> str:
    """What is observed, and what is predicted."""
    if report.seen is KernelsSeen.ALL:
        different = report.counts.different
        known = "as predicted in all calls" if not different else f"not as predicted in {plural(different, 'call')}"
        return f"all are observed; {known}"
    return "the first of each call is observed, those after it are predicted"


def state_sentence(report: TraceReport) -> str:
    """Which registrations the calls are explained by."""
    if report.embedded is None:
        return "of the program itself, recorded at its end"
    return f"the embedded {report.embedded}: the program's own are not in the recording"


def finding_text(finding: TraceFinding) -> str:
    """A finding as a sentence, without its operator."""
    calls = plural(finding.calls, "call")
    at = f" ({short_kernel(finding.kernel)})" if finding.kernel is not None else ""
    match finding.kind:
        case TraceFindingKind.FALLBACK:
            return f"{calls} ran the backend fallback at {finding.key}{at}: the operator has no kernel there."
        case TraceFindingKind.NO_GRADIENT if finding.excluded:
            return f"{calls} with tensors that require gradients ran while the thread excludes {finding.key}."
        case TraceFindingKind.NO_GRADIENT:
            return (
                f"{calls} with tensors that require gradients ran no autograd kernel: there is none at {finding.key}."
            )
        case TraceFindingKind.DECOMPOSITION:
            return (
                f"{calls} decomposed into other operators at {finding.key}; the operator has a kernel at "
                f"{', '.join(finding.keys)}."
            )
        case TraceFindingKind.AUTOCAST:
            return f"autocast made {plural(finding.casts, 'cast')} in {calls} at {finding.key}."
        case TraceFindingKind.STALE:
            ran = "a kernel" if finding.kernel is None else short_kernel(finding.kernel)
            return f"{calls} ran {ran} at {finding.key}, which is not what the registrations determine."
        case TraceFindingKind.DIFFERENT:
            said = finding.keys[0] or "no further kernel"
            return f"{calls} ran {finding.key or 'no further kernel'} where {said} is predicted."


def finding_help(finding: TraceFinding) -> str:
    """What to do."""
    match finding.kind:
        case TraceFindingKind.FALLBACK:
            return f"Register a kernel of {finding.operator} at {finding.key}."
        case TraceFindingKind.NO_GRADIENT if finding.excluded:
            return "Call it outside of the guard that excludes autograd, such as AutoDispatchBelowAutograd."
        case TraceFindingKind.NO_GRADIENT:
            return (
                "Its results have no gradient. Register a formula with torch.library.register_autograd, or a kernel at "
                "Autograd."
            )
        case TraceFindingKind.DECOMPOSITION:
            return "If that is slow, register a kernel for this backend."
        case TraceFindingKind.AUTOCAST:
            return "To save the casts, give it tensors that have the dtype already, or keep their cast copies."
        case TraceFindingKind.STALE:
            return f"`dispatch-cli explain {finding.operator} {finding.key}` says which registration came too late."
        case TraceFindingKind.DIFFERENT:
            return "This is a mistake of dispatch-cli: please report it."


def finding_places(finding: TraceFinding, directory: str | None) -> str:
    """The lines of Python that a finding comes from."""
    places = [place_label(place, directory) for place in finding.places]
    if finding.more_places:
        places.append(plural(finding.more_places, "more line"))
    return ", ".join(places)


def missing_sentences(report: TraceReport) -> Iterator[str]:
    """What is not in the recording."""
    counts = report.counts
    for one in report.not_recorded:
        yield one.text or one.reason
    if counts.dropped:
        yield f"{plural(counts.dropped, 'call')} not recorded"
    if not report.lines:
        yield "lines of Python"
