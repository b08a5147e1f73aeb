"""The rules of the computed table: a list, or each with its examples and every rule in turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dispatch_cli.answers.explain.document import RULES
from dispatch_cli.answers.explain.rules_report import RuleEntry, RulesReport
from dispatch_cli.answers.explain.wording import QUESTION
from dispatch_cli.answers.table.wording import answer_text, kernel_phrase
from dispatch_cli.engine.rules import PRECEDENCE, Rule
from dispatch_cli.render.document import (
    Block,
    Column,
    Fact,
    Facts,
    Gap,
    Narrow,
    Paragraph,
    ParagraphKind,
    Run,
    TableBlock,
    Tone,
    Under,
    lines,
)
from dispatch_cli.render.words import rule_tone

UNDEFINED_TOO = frozenset(row.alias for row in PRECEDENCE if row.fills_undefined)
"""The alias keys that fill the Undefined slot as well."""
INTRODUCTION = (
    "For each runtime key, the first of these rules that yields a kernel fills the slot in an operator's table."
)


class RuleWords(NamedTuple):
    """A rule in words: where it looks for a kernel, and when it fires."""

    where: str
    fires: str


def words_of(entry: RuleEntry) -> RuleWords:
    """A rule in words."""
    if entry.alias is not None:
        undefined = " or the key is Undefined" if entry.alias in UNDEFINED_TOO else ""
        fires = f"it has a kernel, and it covers the key{undefined}"
        if entry.rule is Rule.MATH:
            fires += (
                ", unless the answer to rule 4 is yes; at AutogradOther a kernel at one of the backends makes the slot "
                "ambiguous instead, and a call raises"
            )
        return RuleWords(entry.alias, fires)
    match entry.rule:
        case Rule.KERNEL:
            return RuleWords("the key itself", "it has a kernel")
        case Rule.FALLBACK:
            return RuleWords("the backend fallbacks", "the key has one, PyTorch's own or a registered one")
        case Rule.MISSING:
            return RuleWords("nothing", "no other rule has fired: the slot is empty, and a call raises")
        case _:
            return RuleWords(
                "the backends of an autograd key, and CompositeExplicitAutograd",
                "never: it is a question that rule 6 asks, whether one of these has a kernel",
            )


def name_of(entry: RuleEntry) -> str:
    """A rule's name: what PyTorch's dump prints in brackets; rule 4 is a question."""
    return QUESTION if entry.rule is None else entry.rule.dump_text


def document(report: RulesReport, *, whole: bool) -> Iterator[Block]:
    """whole: the examples with their declarations and every rule in turn, not the list."""
    if whole:
        for position, entry in enumerate(report.rules):
            if position:
                yield Gap()
            yield from _entry(entry)
    else:
        yield Paragraph(INTRODUCTION)
        yield Gap()
        yield TableBlock(COLUMNS, report.rules)
        yield Gap()
        more = "`dispatch-cli rules N` shows rule N with its examples as declarations, and every rule in turn."
        yield Paragraph(Run(f"Universe {report.universe}. {more}", Tone.DIM))


def _number(entry: RuleEntry, _: bool) -> Run:
    return Run(str(entry.rule_number), Tone.HEAD)


def _name(entry: RuleEntry, _: bool) -> Run:
    return Run(name_of(entry), Tone.WARN if entry.rule is None else rule_tone(entry.rule))


def _fires(entry: RuleEntry, short: bool) -> str:
    words = words_of(entry)
    return f"{words.where}: {words.fires}" if short else words.fires


def _example(entry: RuleEntry, _: bool) -> Run:
    example = entry.examples[0]
    slot = example.slot
    kernels = f"kernels at {', '.join(example.registered)}"
    return Run(f"{kernels}: {slot.key} holds {kernel_phrase(slot)} (rule {slot.rule_number})", Tone.DIM)


COLUMNS: list[Column[RuleEntry]] = [
    Column("#", _number, right=True),
    Column("Rule", _name, wraps=False),
    Column("Looks at", lambda entry, _: words_of(entry).where, Narrow.DROP),
    Column("Fires when", _fires),
    Column("Example", _example, Under("Fires when")),
]


def _entry(entry: RuleEntry) -> Iterator[Block]:
    yield Paragraph((Run(f"Rule {entry.rule_number}: "), Run(name_of(entry))), kind=ParagraphKind.TITLE)
    words = words_of(entry)
    yield Facts([Fact("looks at", words.where), Fact("fires when", words.fires)])
    for example in entry.examples:
        yield Gap()
        code = lines(*example.declarations.split("\n"), tone=Tone.ALIAS)
        yield Paragraph(code, indent=4, kind=ParagraphKind.CODE)
        yield Gap()
        yield Paragraph(Run(answer_text(example.slot), Tone.HEAD))
        yield Gap()
        yield TableBlock(RULES, example.rules)
