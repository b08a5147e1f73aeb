"""The wording of an error text's meaning, and of how its table differs from the one that is explained."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dispatch_cli.answers.explain.report import ExplainReport
from dispatch_cli.render.document import Block, Column, Gap, Paragraph, ParagraphKind, Run, Tone
from dispatch_cli.render.error_answer import fact_text
from dispatch_cli.render.words import keys_label, plural, short_kernel, some_of
from dispatch_cli.report.error_chain import ChainLink
from dispatch_cli.report.error_lines import DumpLine
from dispatch_cli.report.error_text import ErrorText
from dispatch_cli.report.explain_error import ErrorReport
from dispatch_cli.report.messages.kinds import TextKind
from dispatch_cli.report.messages.table import MESSAGES, filled
from dispatch_cli.report.other_errors import OtherError
from dispatch_cli.report.printed_table import Shown
from dispatch_cli.report.printed_version import Fit, VersionFit
from dispatch_cli.report.text_differences import DifferenceKind, TextDifference


def unknown_operator_text(error: ErrorText, over: tuple[str, ...]) -> str:
    """Why an error cannot be explained: its operator is not here, and the text does not show its registrations."""
    says = filled(MESSAGES[error.kind].says, error.operator, error.key, ())
    return f"the text says: {says}. But {error.operator} is not in {', '.join(over) or 'the files'}."


def error_sentences(report: ExplainReport, error: ErrorReport) -> Iterator[str]:
    """What the text says, with its place, then the facts."""
    source = "standard input" if error.file == "-" else error.file
    key = report.what.key if error.backend_name is None else f"{error.printed_key} ({report.what.key})"
    yield f"{source}, line {error.line}: {filled(MESSAGES[error.kind].says, error.operator, key, ())}"
    yield " ".join((*map(fact_text, error.facts), *([error.means] if error.means else [])))


def comparison_sentences(report: ExplainReport, error: ErrorReport) -> Iterator[str]:
    """How the text fits what is explained."""
    key, here = report.what.key, ", ".join(report.over) or "these files"
    if error.operator_from_text:
        shown = "what the text itself shows" if error.shows_registrations else "what the error means"
        yield f"{error.operator} is not in {here}, so this explains only {shown}. For more, give files that declare it."
    if error.key is None:
        yield f"The text names no key; this explains {key}."
    yield from _version(error.versions, report.universe)
    if not error.reproduced:
        python = error.kind is TextKind.NO_PYTHON_KERNEL
        found = "Python's resolve_key chooses something else" if python else "the slot holds something else"
        yield (
            f"In {here} {found} at {key}: the text is from another build of PyTorch, or other registrations were "
            "loaded there."
        )
    yield from _compared(error, report.universe)
    yield from other_sentences(error.others)


def _version(versions: tuple[VersionFit, ...], compared: str) -> Iterator[str]:
    """Which PyTorch the text is from, where it is not the one that is compared."""
    here = next(one for one in versions if one.version == compared)
    fits = [one.version for one in versions if one.fit is Fit.FITS]
    if here.fit in (Fit.FITS, Fit.UNKNOWN):
        return
    if fits:
        yield f"The keys in the text are those of {fits[0]}, not of {compared}; `--base {fits[0]}` compares with it."
        return
    older = [one for one in versions if one.fit is Fit.OLDER]
    newer = [one.version for one in versions if one.fit is Fit.NEWER]
    between = f"older than {older[-1].version}" if older else ""
    between += (" and " if older and newer else "") + (f"newer than {newer[0]}" if newer else "")
    last = older[-1] if older else here
    names = f"names {', '.join(last.because)}" if last.because else ""
    lacks = f"lacks {', '.join(last.lacks)}" if last.lacks else ""
    why = " and ".join(part for part in (names, lacks) if part)
    yield f"The text is from another PyTorch, {between}: it {why}."


def _compared(error: ErrorReport, compared: str) -> Iterator[str]:
    """How the table or the list of the text differs, and how much the text shows of it."""
    lines = plural(error.table_lines, "line")
    if error.table is Shown.PART:
        yield f"The table in the text is incomplete: it has only {lines}."
    elif error.keys is Shown.PART:
        yield "The list of keys in the text is incomplete."
    if error.differences is None:
        return
    whole = error.table is Shown.WHOLE or (error.table is Shown.NOTHING and error.keys is Shown.WHOLE)
    printed = f"The table in the text ({lines})" if error.table is Shown.WHOLE else "The list of keys in the text"
    printed = (
        printed
        if whole
        else "The part that is there"
        if error.table_lines
        else "The part of the table that the text shows"
    )
    there, here = some_of(error.devices_there), some_of(error.devices_here)
    builds = ((there, "the build that printed the text"), (here, compared))
    only = [f"only {has} has {devices}" for devices, has in builds if devices]
    if only:
        yield f"The builds are for different devices: {', and '.join(only)}."
    if not error.differences:
        yield f"{printed} agrees with the table here."
    else:
        count = sum(len(one.keys) for one in error.differences)
        yield f"{printed} differs from the one here at {plural(count, 'key')}:"


def other_sentences(others: tuple[OtherError, ...]) -> Iterator[str]:
    """Further errors of a text: what each has to do with the explained one, if anything."""
    for link, head in _LINKS.items():
        says = tuple(f"line {one.line}: {one.says}" for one in others if one.link is link)
        if says:
            yield f"{head} ({some_of(says)})." if len(says) > 1 else f"{head}, {says[0]}."


_LINKS = {
    ChainLink.HANDLED: "It was raised while another error was being handled",
    ChainLink.RESULT: "It caused another error",
    None: "The text has other errors too",
}


def sentence_list(title: str, sentences: Iterable[str]) -> Iterator[Block]:
    """Sentences below a title; nothing where there are none."""
    found = [*sentences]
    if found:
        yield Gap()
        yield Paragraph(Run(f"{title}:", Tone.HEAD))
        yield from (Paragraph(one, kind=ParagraphKind.ITEM) for one in found)


def _cells(difference: TextDifference, short: bool) -> tuple[str, str, str]:
    """Keys, what the text says, what is here."""
    keys = keys_label(difference.keys, short)
    named = len(difference.keys) == 1 or difference.kind is DifferenceKind.KERNEL
    there, here = _line(difference.there, named), _line(difference.here, named)
    match difference.kind:
        case DifferenceKind.ONLY_THERE:
            return keys, there or "something", "nothing"
        case DifferenceKind.ONLY_HERE:
            return keys, "nothing", here or "something"
        case DifferenceKind.NO_KEY:
            return keys, there or "something", "no such key"
        case DifferenceKind.RULE | DifferenceKind.KERNEL:
            return keys, there, here


def _line(line: DumpLine | None, named: bool) -> str:
    if line is None:
        return ""
    kernel = f"{short_kernel(line.kernel)} " if named else ""
    return f"{'fallthrough ' if line.fallthrough else ''}{kernel}[{line.rule.dump_text}]"


DIFFERENCES: list[Column[TextDifference]] = [
    Column("Key", lambda one, short: _cells(one, short)[0]),
    Column("In the text", lambda one, short: _cells(one, short)[1]),
    Column("Here", lambda one, short: _cells(one, short)[2]),
]
