"""The parts of a call that is being described, and what changing one of them does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dispatch_cli.explore.answers.call import Draft, Takes
from dispatch_cli.explore.call_choices import CallPart
from dispatch_cli.render.document import Column, Inline, Run, TableBlock, Tone


class PartLine(NamedTuple):
    """A part of a call. number: of several of its kind, from 0. label: what it is; text: empty where it is not given.

    is_new: it stands for one that can be added.
    """

    part: CallPart
    number: int
    label: str
    text: str
    is_new: bool = False


def part_lines(draft: Draft, takes: Takes) -> tuple[PartLine, ...]:
    """The parts of a draft, and those that can be added."""
    return tuple(_lines(draft, takes))


def _lines(draft: Draft, takes: Takes) -> Iterator[PartLine]:
    for number, text in enumerate(draft.tensors):
        name = takes.tensors[number]
        yield PartLine(CallPart.TENSOR, number, f"Tensor {number + 1}{f' {name}' if name else ''}", text)
    if takes.most is None or len(draft.tensors) < takes.most:
        yield PartLine(CallPart.TENSOR, len(draft.tensors), "+ tensor", "", True)
    for number, text in enumerate(draft.contexts):
        yield PartLine(CallPart.CONTEXT, number, "Context" if number == 0 else "  inside", text)
    yield PartLine(CallPart.CONTEXT, len(draft.contexts), "+ context", "", True)
    for option in takes.options:
        yield PartLine(CallPart(option), 0, option.capitalize(), getattr(draft.options, option) or "")
    yield PartLine(CallPart.KEYSET, 0, "Key set", draft.keyset or "")


def with_part(draft: Draft, line: PartLine, text: str) -> Draft:
    """The draft with another text of a part; an empty one takes it away."""
    text = text.strip()
    if line.part is CallPart.TENSOR:
        text = " ".join(dict.fromkeys(text.split()))  # it begins with a device, which may be typed once more
        return draft._replace(tensors=_with(draft.tensors, line.number, text))
    if line.part is CallPart.CONTEXT:
        return draft._replace(contexts=_with(draft.contexts, line.number, text))
    if line.part is CallPart.KEYSET:
        return draft._replace(keyset=text or None)
    return draft._replace(options=draft.options._replace(**{line.part.value: text or None}))


def _with(texts: tuple[str, ...], number: int, text: str) -> tuple[str, ...]:
    return (*texts[:number], *((text,) if text else ()), *texts[number + 1 :])


def parts_table(lines: tuple[PartLine, ...]) -> TableBlock[PartLine]:
    """The parts as a list."""

    def label(line: PartLine, _: bool) -> Inline:
        return Run(line.label, Tone.DIM if line.is_new else Tone.HEAD)

    def text(line: PartLine, _: bool) -> Inline:
        default = "" if line.is_new else "from the tensors" if line.part is CallPart.KEYSET else "default"
        return Run(line.text) if line.text else Run(default, Tone.DIM)

    return TableBlock([Column("Call", label, wraps=False), Column("", text)], lines)
