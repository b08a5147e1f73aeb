"""Summary on standard error of sources that were read: how much was found, and what was not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dispatch_cli.answers.shared.conditions import shell_word
from dispatch_cli.extract.left_out import LeftOut, WhyLeftOut
from dispatch_cli.extract.run import SourceRun
from dispatch_cli.model.sources.extracted import SourceKind
from dispatch_cli.render.document import Block, Paragraph, Run, Tone
from dispatch_cli.render.words import plural

MAX_STATEMENTS = 20
"""Statements that are listed; the others are counted."""
MAX_FOLDERS = 8
"""Folders of one reason that are named; the others are counted."""
MAX_EXPRESSIONS = 8
"""Expressions that decide something, of which the value is not known, that are listed."""
MAX_TEXT = 120
"""Characters of a statement that are shown."""
NOTHING_FOUND = "no registration with the dispatcher was found there (functions of pybind11 are no operators)"
_FILES = {
    SourceKind.CPP: "C++ file",
    SourceKind.PYTHON: "Python file",
    SourceKind.DECLARATIONS: "declaration file",
    SourceKind.NATIVE_FUNCTIONS: "native_functions.yaml",
    SourceKind.DERIVATIVES: "derivatives.yaml",
    SourceKind.BACKEND_YAML: "backend's YAML",
}
_BY_DEFAULT = (
    WhyLeftOut.IGNORED,
    WhyLeftOut.VENDORED,
    WhyLeftOut.BUILT,
    WhyLeftOut.TESTS,
    WhyLeftOut.VENV,
    WhyLeftOut.REPOSITORY,
    WhyLeftOut.TOOL,
    WhyLeftOut.EXCLUDED,
)
"""Reasons to leave out something that could be read."""


def summary(run: SourceRun) -> Iterator[Block]:
    """The whole summary, for those who extract."""
    yield _line("read", files_read(run))
    conditional = f" ({run.conditional:,} conditional)" if run.conditional else ""
    yield _line("found", f"{plural(run.blocks, 'block')}, {what_was_found(run)}{conditional}")
    if run.backend_names:
        yield _line("the backend", backend_named(run))
    count = len(run.not_understood)
    yield _line("not understood", plural(count, "statement"), Tone.WARN if count else Tone.PLAIN)
    for at, text, reason in run.not_understood[:MAX_STATEMENTS]:
        yield Paragraph((Run(f"{at}: ", Tone.PLACE), Run(_short(text))), indent=2, hang=4)
        yield Paragraph(Run(reason, Tone.DIM), indent=6)
    yield from _more(count - MAX_STATEMENTS)
    yield from _undecided(run)
    words = [f"--set {shell_word(name)}=VALUE" for name, _ in run.missing if len(name) <= MAX_TEXT]
    if words:
        yield _line("would decide more", ", ".join(words[:MAX_EXPRESSIONS]))
    if run.stand_ins:
        yield _line("stand-in", _stand_ins(run.stand_ins))
    for text in left_out(run.left_out):
        yield _line("left out", text)
    if run.declarations:
        yield _line("not written", f"{', '.join(run.declarations[:MAX_FOLDERS])}: load them beside what is extracted")


def notes(run: SourceRun, whole: str) -> Iterator[str]:
    """The summary for the other commands, in short lines. whole: the command line that prints all of it."""
    something = run.blocks or run.definitions or run.registrations or run.not_understood or run.declarations
    nothing = NOTHING_FOUND if run.files else "nothing to read there"
    yield f"{files_read(run)}: {what_was_found(run) if something else nothing}"
    if run.backend_names:
        yield backend_named(run)
    if run.stand_ins:
        yield _stand_ins(run.stand_ins)
    unknown, undecided = len(run.not_understood), len(undecided_in(run))
    counts = [f"{plural(unknown, 'statement')} not understood"] if unknown else []
    counts += [f"{undecided:,} undecided"] if undecided else []
    named = [*left_out([part for part in run.left_out if part.reason is not WhyLeftOut.TOOL], in_short=True)]
    counts += [f"left out: {', '.join(named)}"] if named else []
    if counts:
        yield f"{'; '.join(counts)}: `{whole}` lists all"


def unreadable(run: SourceRun) -> Iterator[str]:
    """The files and folders below the given paths that cannot be read, each with the reason."""
    for part in run.left_out:
        if part.reason is WhyLeftOut.UNREADABLE:
            yield f"{part.path} {part.reason.value}{f': {part.detail}' if part.detail else ''}"


def backend_named(run: SourceRun) -> str:
    """The name that sources give to the backend at PrivateUse1, and where; several are not taken."""
    names = " and ".join(f"{name} ({place})" for name, place in run.backend_names)
    if len(run.backend_names) == 1:
        return f"PrivateUse1 is {names}"
    return f"PrivateUse1 has several names, {names}: choose with --privateuse1"


def undecided_in(run: SourceRun) -> list[Mapping[str, Any]]:
    """The definitions and registrations of which something is not known, as the document has them.

    Statements that are not understood, and may define an operator, are listed as such.
    """
    not_understood = {at for at, _, _ in run.not_understood}
    undecided = (entry for entry in run.document.get("undecided", ()) if entry["registers"] != "block")
    return [entry for entry in undecided if entry["registers"] != "definition" or entry["at"] not in not_understood]


def _undecided(run: SourceRun) -> Iterator[Block]:
    undecided = undecided_in(run)
    if not undecided:
        return
    yield _line(
        "undecided", plural(len(undecided), "definition or registration", "definitions and registrations"), Tone.WARN
    )
    expressions = Counter((field, text) for entry in undecided for field, text in entry["unknown"].items())
    for (field, text), count in expressions.most_common(MAX_EXPRESSIONS):
        first = next(entry["at"] for entry in undecided if entry["unknown"].get(field) == text)
        often = f" ({count:,} times)" if count > 1 else ""
        words = f"the {field.replace('_', ' ')} is {_short(text)}{often}"
        yield Paragraph((Run(f"{first}: ", Tone.PLACE), Run(words)), indent=2, hang=4)
    yield from _more(len(expressions) - MAX_EXPRESSIONS)


def _stand_ins(names: Sequence[str]) -> str:
    """The names that stand for the macro by which a build names its extension, and the option that sets it."""
    more = len(names) - MAX_FOLDERS
    listed = f"{', '.join(names[:MAX_FOLDERS])}{f' and {more:,} more' if more > 0 else ''}"
    verb = "stands" if len(names) == 1 else "stand"
    return f"{listed} {verb} for TORCH_EXTENSION_NAME; -D TORCH_EXTENSION_NAME=NAME sets it"


def files_read(run: SourceRun) -> str:
    """Number of files of each kind, in words."""
    named = (
        plural(number, _FILES[kind], None if _FILES[kind].endswith("file") else _FILES[kind])
        for kind, number in run.files
    )
    return ", ".join(named) or "no sources"


def what_was_found(run: SourceRun) -> str:
    """Numbers of definitions and registrations, in words."""
    return f"{plural(run.definitions, 'definition')}, {plural(run.registrations, 'registration')}"


def left_out(entries: Sequence[LeftOut], in_short: bool = False) -> Iterator[str]:
    """Files and folders that are not read, by the reason. in_short: the first of each reason, and their number."""
    by_reason: dict[WhyLeftOut, list[LeftOut]] = {}
    for entry in entries:
        by_reason.setdefault(entry.reason, []).append(entry)
    most = 1 if in_short else MAX_FOLDERS
    for reason in sorted(by_reason, key=lambda reason: (reason not in _BY_DEFAULT, list(WhyLeftOut).index(reason))):
        them = sorted(by_reason[reason], key=lambda entry: (not entry.is_folder, entry.path))
        named = ", ".join(f"{entry.path}{'/' if entry.is_folder else ''}" for entry in them[:most])
        more = len(them) - most
        details = Counter(entry.detail for entry in them if entry.detail)
        text = reason.value.partition("; ")[0] if in_short else reason.value
        why = f"{text}: {next(iter(details))}" if len(details) == 1 else text
        yield f"{named}{f' and {more:,} more' if more > 0 else ''} ({why})"


def _line(label: str, text: str, tone: Tone = Tone.PLAIN) -> Block:
    return Paragraph((Run(f"{label}: ", Tone.HEAD), Run(text, tone)), hang=4)


def _short(text: str) -> str:
    shown = " ".join(text.split())
    return shown if len(shown) <= MAX_TEXT else f"{shown[:MAX_TEXT]}…"


def _more(count: int) -> Iterator[Block]:
    if count > 0:
        yield Paragraph(f"and {count:,} more", indent=2)
