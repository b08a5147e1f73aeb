"""The answer to a pasted error text as blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from dispatch_cli.answers.errors.report import ErrorReport
from dispatch_cli.answers.explain import document as explain
from dispatch_cli.answers.explain.advice_document import advice_texts
from dispatch_cli.answers.explain.advice_report import Manual
from dispatch_cli.answers.explain.report import SlotExplanation
from dispatch_cli.model.names import some_of
from dispatch_cli.render.document import Block, Fact, Facts, Gap, Paragraph, ParagraphKind, Run, Tone
from dispatch_cli.render.words import undecided_lines

DETAILS = {"replaced": "replaced kernel", "previous": "registered before", "new": "registered now"}
"""The labels of the details that are shown on their own."""
FOR_USERS = (Manual.PASS_TENSOR, Manual.CORRECT_NAME)
"""Advice that is none for the author of an operator: that a tensor is missing, or a name is mistyped in a file."""


def document(report: ErrorReport) -> Iterator[Block]:
    """The kind of the text, facts, advice for the user and for the author, the compared state, and the slot."""
    source = "standard input" if report.file == "-" else report.file
    yield Paragraph(Run(f"{source}, line {report.line}: {report.says}", Tone.HEAD), is_verdict=True)
    meaning = " ".join((*(fact.text for fact in report.facts), *([report.means] if report.means else [])))
    if meaning:
        yield Paragraph(meaning)
    yield from undecided_lines(report.undecided_kernels)
    labelled = [
        Fact(DETAILS[name], value.removeprefix("registered ")) for name, value in report.details if name in DETAILS
    ]
    if labelled:
        yield Gap()
        yield Facts(labelled)
    yield from _list("What you can do", report.user)
    yield from _list("What the author of the operator can do", _author(report))
    compared = [*_comparison(report), *_others(report)]
    if compared:
        yield Gap()
        yield from map(Paragraph, compared)
    if report.explained is not None and not report.over_assumed:
        yield Gap()
        yield from explain.document(replace(report.explained, undecided_kernels=()), advice=False)


def _list(title: str, sentences: Iterable[str]) -> Iterator[Block]:
    """Sentences below a title; nothing where there are none."""
    items = [Paragraph(sentence, kind=ParagraphKind.ITEM) for sentence in sentences]
    if items:
        yield Gap()
        yield Paragraph(Run(f"{title}:", Tone.HEAD))
        yield from items


def _author(report: ErrorReport) -> Sequence[str]:
    """Changes of registrations that help; where registrations are not known, advice that helps always.

    None where a build lacks the kernels that the operator has, or the tensors the data that it reads.
    """
    what = None if report.explained is None or report.key is None else report.explained.what
    if not report.author or not isinstance(what, SlotExplanation):
        return report.author
    helps = [item for item in what.advice if item.changes or item.manual not in (None, *FOR_USERS)]
    return [*advice_texts(helps)] or report.author


def _comparison(report: ErrorReport) -> Iterator[str]:
    """The state that the text is compared with, and how the text fits it."""
    yield from _version(report)
    if report.over_assumed:
        return
    if report.key is None and report.explained is not None:
        slot = report.explained.what
        yield f"The text names no key; this explains {slot.key if isinstance(slot, SlotExplanation) else ''}."
    if report.reproduced is False:
        yield (
            f"In {', '.join(report.over) or 'these files'} {report.key} of {report.operator} is filled in another way: "
            "the text is from another build or version, or other registrations were loaded there."
        )


def _version(report: ErrorReport) -> Iterator[str]:
    """The PyTorch that the text is from, where it is another one than the compared one."""
    version, here = report.version, report.universe
    if version.older_than_all:
        yield "The text is from a PyTorch that is older than the embedded states."
    elif version.nearest not in (None, here):
        clue = f"names PyTorch {version.release}" if version.release else f"has a key of {version.nearest}"
        yield f"The text {clue}, not of {here}; `--base {version.nearest}` compares with it."


def _others(report: ErrorReport) -> Iterator[str]:
    """Further errors of a text, where there are some."""
    says = tuple(f"line {other.line}: {other.says}" for other in report.others)
    if says:
        head = "The text has other errors too"
        yield f"{head} ({some_of(says)})." if len(says) > 1 else f"{head}, {says[0]}."
