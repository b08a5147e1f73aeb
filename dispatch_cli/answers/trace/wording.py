"""The wording of a trace: kernels in turn, lines of Python, what is missing."""

from __future__ import annotations

from dispatch_cli.answers.trace.report import KernelsSeen, PathTotal, TraceReport, TraceRow
from dispatch_cli.answers.trace.view import TracePath
from dispatch_cli.engine.call.trace import Does, EndKind
from dispatch_cli.model.calls.call import CallEnd
from dispatch_cli.render.document import Run, Tone
from dispatch_cli.render.words import plural
from dispatch_cli.trace.recording import PythonPlace

ARROW = " → "
TIMES = "\N{MULTIPLICATION SIGN}"


def path_runs(path: TracePath, predicted: tuple[str, ...] = (), returned: bool = True) -> tuple[Run, ...]:
    """The keys of the kernels in turn, up to one that calls the operator again, which is a call of its own.

    Then how the call ends, where it is not in a kernel that computes. predicted: the keys of the kernels that are
    predicted, where others were observed. returned: the call did; another one has an end that is said beside the path.
    """
    if path.problem is not None:
        return (Run(f"not known: {path.problem}", Tone.WARN),)
    runs: list[Run] = []
    kernels = path.kernels
    calls_again = bool(kernels) and kernels[-1].does is Does.CALLS_ANEW
    for kernel in kernels:
        if runs:
            runs.append(Run(ARROW, Tone.DIM))
        last = kernel is kernels[-1] and not calls_again
        tone = Tone.FALLBACK if kernel.fallback else Tone.KERNEL if last else Tone.PLAIN
        runs.append(Run(kernel.key, tone))
        if kernel.fallback:
            runs.append(Run(" (fallback)", Tone.FALLBACK))
    if calls_again:
        runs.append(Run(" (calls again)", Tone.DIM))
    elif not returned and kernels and kernels[-1].does is Does.REDISPATCHES:
        runs.append(Run(f"{ARROW}…", Tone.DIM))
    if predicted:
        return (*runs, Run(f" (predicted: {path_text(predicted)})", Tone.BAD))
    if calls_again:
        return tuple(runs)
    end = path.end if returned or not kernels else _ENDS_OF.get(kernels[-1].does)
    ending = f" ({path.handler or 'Python'})" if end is EndKind.HANDLER else _ENDINGS.get(end)
    if ending is not None:
        runs.append(Run(ending, Tone.BAD if end is EndKind.ERROR else Tone.DIM))
    return tuple(runs)


_ENDS_OF = {Does.DECOMPOSES: EndKind.DECOMPOSITION, Does.HANDS_OVER: EndKind.HANDLER}
"""End of the kernels of a call that does not return."""


_ENDINGS: dict[EndKind | None, str] = {
    EndKind.DECOMPOSITION: " (decomposes)",
    EndKind.ERROR: " (raises)",
    EndKind.NOT_KNOWN: " (not known)",
}


def row_path(row: TraceRow) -> tuple[Run, ...]:
    """The kernels of a row in turn. What a kernel calls again is a row of its own."""
    return path_runs(row.path, row.predicted, not row.raised and not row.unfinished)


def row_end(row: TraceRow) -> tuple[Run, ...]:
    """Words for calls of a row that raised, or whose end is not recorded; nothing where they returned."""
    if row.raised:
        return (Run(" raised", Tone.BAD),)
    return (Run(" unfinished", Tone.WARN),) if row.unfinished else ()


def duration(microseconds: int) -> str:
    """A time for people."""
    if microseconds < 1_000_000:
        return f"{microseconds / 1000:,.1f} ms"
    return f"{microseconds / 1_000_000:,.1f} s"


def path_text(keys: tuple[str, ...]) -> str:
    """Kernels in turn, by key."""
    return ARROW.join(keys) or "no kernel"


def path_total(path: PathTotal) -> str:
    """The kernels of several calls in turn, and that the calls did not return."""
    ended = f" {path.ended.value}" if path.ended is not CallEnd.RETURNED else ""
    return f"{path_text(path.keys)}{ended}"


def place_label(place: PythonPlace, directory: str | None) -> str:
    """A line of Python: its file as it is called in the directory of the program; of a long path the end."""
    folder = f"{directory.rstrip('/')}/" if directory else "/"
    file = place.file.removeprefix(folder) if folder != "/" else place.file
    if len(file) > _LONG_PATH:
        file = f"…/{'/'.join(file.split('/')[-_KEPT:])}"
    return f"{file}:{place.line}"


_LONG_PATH, _KEPT = 40, 3
"""Characters of a path that is shown whole; so many parts are left of a longer one."""


def place_text(place: PythonPlace, directory: str | None) -> str:
    """A line of Python, and the function that it is in."""
    of = f" in {place.function}" if place.function not in ("", "<module>") else ""
    return f"{place_label(place, directory)}{of}"


def headings_of(row: TraceRow, directory: str | None) -> tuple[str, str]:
    """The line of Python of a row, and the forward call whose backward it is; empty where there is none."""
    place = "" if row.place is None else place_text(row.place, directory)
    if row.forward is None:
        return place, ""
    line = f", {place_label(row.forward_place, directory)}" if row.forward_place is not None else ""
    return place, f"backward of {forward_calls(row)}{line}"


def forward_calls(row: TraceRow) -> str:
    """The forward calls that a row belongs to."""
    return f"call {row.forward:,}" if row.forwards <= 1 else f"{row.forwards:,} calls, first {row.forward:,}"


def short_heading(text: str) -> str:
    """A heading for where there is little room: the name of the file alone, and no function."""
    words, comma, place = text.rpartition(", ")
    return f"{words}{comma}{place.split(' in ')[0].rpartition('/')[2]}"


def seen_sentence(report: TraceReport) -> str:
    """Sentence on the kernels that are observed, and those that are predicted."""
    if report.seen is KernelsSeen.ALL:
        different = report.counts.different
        known = "as predicted in all calls" if not different else f"not as predicted in {plural(different, 'call')}"
        early = ", up to the one that raised" if report.counts.raised and not different else ""
        return f"all are observed; {known}{early}"
    early = ", and not known where the call did not return" if report.counts.raised or report.counts.unfinished else ""
    return f"the key of the first of each call is observed, those after it are predicted{early}"


def state_sentence(report: TraceReport) -> str:
    """Sentence on the registrations that explain the calls."""
    if report.embedded is None:
        return "of the program itself, recorded at its end"
    return f"the embedded {report.embedded}: the program's own are not in the recording"


_ENDS_EARLY = ("limit", "disk", "internal")
"""Reasons after which nothing more is recorded."""
_NOT_RECORDED = {
    "fork": "calls of child processes, such as workers",
    "inductor": "what kernels do that Inductor compiled: they make no calls",
}


def missing_sentences(report: TraceReport) -> tuple[str, ...]:
    """Parts that are missing from the recording, each once."""
    counts, reasons = report.counts, {missing.reason for missing in report.not_recorded}
    sentences = []
    for missing in report.not_recorded:
        sentences.append(_NOT_RECORDED.get(missing.reason, missing.text or missing.reason))
        if missing.reason in _ENDS_EARLY and "no-end" not in reasons:  # which says it, too
            sentences.append("what came after the last of these calls")
    if counts.dropped:
        sentences.append(f"{plural(counts.dropped, 'call')} not recorded")
    return tuple(dict.fromkeys(sentences))
