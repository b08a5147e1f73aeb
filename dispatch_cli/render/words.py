"""Wording of keys, rules, kernels and places. Reasons are enums elsewhere; their wording is here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.span import OWN, Origin, Span
from dispatch_cli.render.document import Block, Gap, Paragraph, Run, Tone

if TYPE_CHECKING:
    from dispatch_cli.answers.shared.report_parts import StartsFrom, UndecidedKernel
    from dispatch_cli.answers.shared.slot_row import KeyRuns


def listed(names: Iterable[str], nothing: str = "nothing") -> str:
    """Names one after the other. nothing: the word for none."""
    return ", ".join(names) or nothing


def keys_label(keys: tuple[str, ...], short: bool = False) -> str:
    """One key, two keys, or a run: ``CUDA … Meta (14 keys)``; short, the count alone in the brackets."""
    if len(keys) <= 2:
        return ", ".join(keys)
    return f"{keys[0]} … {keys[-1]} ({len(keys)}{'' if short else ' keys'})"


def runs_label(runs: Iterable[tuple[str, ...]]) -> str:
    """Keys in runs of neighbours; long runs by their ends."""
    return ", ".join(keys_label(run, short=True) if len(run) > 3 else ", ".join(run) for run in runs)


def aside_lines(asides: Iterable[tuple[str, KeyRuns | None]]) -> Iterator[Block]:
    """The slots that are not worth a row of a table, below a gap: a title and the keys."""
    shown = [(title, runs) for title, runs in asides if runs]
    if shown:
        yield Gap()
    for title, runs in shown:
        head = Run(f"{title[0].upper()}{title[1:]}, {len(runs.keys)}: ", Tone.HEAD)
        yield Paragraph((head, Run(runs_label(runs), Tone.DIM)))


def plural(number: int, noun: str, nouns: str | None = None) -> str:
    """A number and its noun: ``1 slot``, ``1,024 slots``. nouns: the plural, where it is not the noun with an s."""
    return f"{number:,} {noun if number == 1 else nouns or f'{noun}s'}"


def count_cell(number: int, tone: Tone = Tone.PLAIN) -> Run:
    """A number in a table, where 0 says little."""
    return Run(f"{number:,}", tone) if number else Run("·", Tone.DIM)


OF_PYTORCH = (
    r"(?:^|[/(])(?:__w/pytorch|pytorch/(?:torch|build|aten|c10)|aten/src/ATen|torch/csrc|c10"
    r"|(?:site|dist)-packages/torch)/"
)
"""A regular expression for places in PyTorch's own sources; compiled, as the next one, when an answer needs it."""
REGISTERED = r"^registered at (?P<place>(?:.*[/\\])?(?P<file>[^/\\]+:\d+))(?= \[|$)"
"""Pattern of a kernel's text that names a place."""


def is_of_pytorch(place: str) -> bool:
    """True if a place is in PyTorch's own sources, which are rarely there to be opened."""
    return re.search(OF_PYTORCH, place.replace("\\", "/")) is not None


def short_kernel(debug: str) -> str:
    """A kernel's text for a narrow place: of ``registered at FILE:LINE`` the place; of PyTorch's own, only the file."""
    match = re.match(REGISTERED, debug)
    if match is None:
        return debug
    return (match["file"] if is_of_pytorch(match["place"]) else match["place"]) + debug[match.end() :]


def fallthrough_text(kernel: str, span: Span | None, short: bool = False) -> str:
    """Further words about a fallthrough, beside that it is one and where it is declared, with a blank before them.

    Where it is declared in a file, a dump has the place of the operator's entry or block there; one place is enough.
    """
    if span is not None and kernel.rpartition(":")[0] == f"registered at {span.file}":
        return ""
    return f" {short_kernel(kernel) if short else kernel}"


def kernel_runs(
    kernel: str, falls: bool, span: Span | None, short: bool = False, tone: Tone = Tone.PLAIN
) -> tuple[Run, ...]:
    """A registered kernel; of one that falls through, that it does. span: where it is declared."""
    if falls:
        return Run("fallthrough", Tone.WARN), Run(fallthrough_text(kernel, span, short))
    return (Run(short_kernel(kernel) if short else kernel, tone),)


def short_function(name: str) -> str:
    """A Python function for a narrow place: without its module; a function inside one keeps the outer one's name."""
    parts = name.split(".")
    start = parts.index("<locals>") - 1 if "<locals>" in parts[1:] else len(parts) - 1
    return ".".join(parts[start:])


LONGEST_WHEN = 120
"""Characters of conditions in a table; JSON has them whole."""
_UNKNOWN = "(...) -> ..."


def schema_label(operator: str, schema: str | None) -> str:
    """The schema of an operator in a heading; other words where there is none, or where it is not known."""
    if schema is None:
        return f"{operator} (no schema: dangling)"
    return f"{schema} (the schema is not known)" if schema.endswith(_UNKNOWN) else schema


def when_label(when: str | None) -> str:
    """The conditions of a registration in a table; of long ones the beginning."""
    if when is None or len(when) <= LONGEST_WHEN:
        return when or ""
    return f"{when[:LONGEST_WHEN].rpartition(' ')[0]} …"


def place_cell(span: Span | None, origin: Origin = OWN) -> Run:
    """A place in a table, whole, so that a terminal can open it; of what has none, the embedded state it is from."""
    return Run((origin.state or "") if span is None else str(span), Tone.PLACE)


def rule_tone(rule: Rule) -> Tone:
    """The tone of a rule, and of what it decides."""
    return _RULE_TONES.get(rule, Tone.ALIAS)


_RULE_TONES = {
    Rule.KERNEL: Tone.KERNEL,
    Rule.FALLBACK: Tone.FALLBACK,
    Rule.AMBIGUOUS: Tone.BAD,
    Rule.MISSING: Tone.DIM,
    Rule.NOT_KNOWN: Tone.WARN,
}
"""Words for the rules that do not belong to alias keys."""


def origins_of(*declared: Any) -> Iterator[tuple[Span | None, Origin]]:
    """The declarations, each with a span and an origin, that came through others; one for each file."""
    for entry in declared:
        if entry.origin.through:
            yield (None if entry.span is None else entry.span._replace(line=1, column=1)), entry.origin


def inherited(origins: Iterable[tuple[Span | None, Origin]]) -> list[Paragraph]:
    """Origins, in words, of files that the user did not name, and of states that no file of the user itself extends."""
    names: dict[str, Origin] = {}
    for span, origin in origins:
        if span is not None and origin.through:
            names[span.file] = origin
        elif origin.state is not None and len(origin.through) > 1:
            names[origin.state] = origin
    ways = {name: ", ".join(f"extends of {span}" for span in reversed(names[name].through)) for name in names}
    return [Paragraph(Run(f"{name}: through {way}", Tone.DIM)) for name, way in ways.items()]


MOST_FILES_NAMED = 3


def over_label(report: StartsFrom) -> str:
    """Label for the state that an answer starts from."""
    names = below_names(report.over, report.over_files)
    if report.over_assumed:
        return assumed_label(report.over)
    return f"over {names}" if names else f"universe {report.universe}"


def undecided_lines(kernels: Sequence[UndecidedKernel]) -> Iterator[Block]:
    """Kernels that an answer leaves out, the first one with what is not known of it."""
    for kernel in kernels[:1]:
        field, text = kernel.unknown[0]
        others = f", and {plural(len(kernels) - 1, 'more kernel')}" if len(kernels) > 1 else ""
        known = f"of which not all is known ({kernel.span}: the {field.replace('_', ' ')} is {text})"
        hint = "what seems to be missing may be there: `dispatch-cli extract` lists what decides it"
        text = f"Left out: a kernel for {kernel.operator}, {known}{others}; {hint}"
        yield Paragraph(Run(text, Tone.WARN), link=kernel.span)


def assumed_label(over: tuple[str, ...]) -> str:
    """The state that an answer starts from, where no option or file named it."""
    return f"over {', '.join(over)} (assumed; `dispatch-cli bases` lists others)"


def not_built_sentence(key: str, overlay: str) -> str:
    """Sentence on a backend that the embedded build lacks. overlay: has kernels of the backend."""
    base = overlay.rpartition("-")[0]
    return (
        f"The build of {base} has no kernels at {key}, so a PyTorch for that device can differ from this. With "
        f"`--base {base} --base {overlay}`, commands know the kernels that torchgen generates."
    )


def below_names(over: tuple[str, ...], over_files: tuple[str, ...]) -> str:
    """The states and files below those that the user named; nothing where there are none."""
    shown = over_files[:MOST_FILES_NAMED]
    more = len(over_files) - len(shown)
    parts = ", ".join(over), ", ".join((*shown, *([plural(more, "more file")] if more else [])))
    return " with ".join(filter(None, parts))
