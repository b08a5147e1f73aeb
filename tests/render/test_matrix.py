"""Matrices: every width has every cell, heads are shortened and told apart, and pictures are XML whatever names say."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from dispatch_cli.render.document import (
    Block,
    Mark,
    Matrix,
    MatrixCell,
    MatrixHead,
    MatrixRow,
    Paragraph,
    ParagraphKind,
    Tone,
)
from dispatch_cli.render.html import html
from dispatch_cli.render.markdown import markdown
from dispatch_cli.render.svg import svg
from dispatch_cli.render.text import text
from dispatch_cli.render.text_lines import Style, width_of
from dispatch_cli.render.text_matrix import TextMatrix

GOOD, BAD = Mark("K", Tone.KERNEL, "kernel"), Mark("X", Tone.BAD, "raises")
HOSTILE = "</text><script>alert(1)</script>&\"'\x1b]0;x\x07\u202e\ufffe\ud800::error::"


def matrix(groups: int = 3, label: str = "lib::operator", name: str = "context") -> Matrix:
    heads = [MatrixHead(f"{name}{at}", group=f"Backend{group}") for group in range(groups) for at in range(4)]
    rows = [MatrixRow(f"{label}{at}", [MatrixCell((BAD if at else GOOD,))] * len(heads)) for at in range(2)]
    return Matrix(heads, rows, "Operator")


@pytest.mark.parametrize("width", [30, 40, 41, 60, 80, 200, None])
@pytest.mark.parametrize("label", ["a", "lib::operator", "\N{CJK UNIFIED IDEOGRAPH-65E5}" * 40])
def test_every_width_has_every_cell_at_its_place(width: int | None, label: str) -> None:
    matrix_text = TextMatrix(matrix(label=label), width)
    lines = ["".join(run.text for run in line) for line in matrix_text.lines]
    assert width is None or max(map(width_of, lines)) <= width
    assert len(matrix_text.cells) == 24
    for cell, line, x, room in matrix_text.cells:
        at, signs = 0, []
        for sign in lines[line]:
            signs += [sign] if x <= at < x + room else []
            at += width_of(sign)
        assert "".join(signs).strip() == cell.marks[0].text


def test_a_part_ends_between_groups_where_these_have_room() -> None:
    parts = "".join(text([matrix()], Style(60))).split("\n\n")
    assert [part.split("\n")[0].split() for part in parts[:3]] == [["Backend0"], ["Backend1"], ["Backend2"]]
    assert parts[-1] == "K kernel, X raises\n"


def test_heads_are_shortened_and_those_that_would_be_the_same_stay_whole() -> None:
    shown = "".join(text([matrix(1, name="PrivateUse")], Style(40)))
    assert "\nPU0 PrivateUse0, PU1 PrivateUse1, PU2\nPrivateUse2, PU3 PrivateUse3\n" in shown
    alike = "".join(text([matrix(1)], Style(40)))
    assert "context0 context1" in alike and "cont " not in alike


def test_hostile_names_are_text_in_a_picture() -> None:
    blocks: list[Block] = [Paragraph(HOSTILE, kind=ParagraphKind.TITLE), matrix(label=HOSTILE, name=HOSTILE)]
    root = ElementTree.fromstring("".join(svg(blocks, "title")).encode())
    assert {element.tag.rpartition("}")[2] for element in root.iter()} == {
        "svg",
        "title",
        "style",
        "rect",
        "text",
        "tspan",
        "g",
    }
    assert root[0].text is not None and root[0].text.startswith("</text><script>alert(1)</script>&\"'\\x1b")
    assert "<script" not in "".join(html(blocks, "title"))
    assert re.search(r"(?<!\\)<script", "".join(markdown(blocks))) is None


def test_only_titles_and_pictures_are_drawn() -> None:
    blocks: list[Block] = [
        Paragraph("the title", kind=ParagraphKind.TITLE),
        Paragraph("without a picture", kind=ParagraphKind.SECTION),
        Paragraph("prose"),
        Paragraph("with a picture", kind=ParagraphKind.SECTION),
        matrix(),
    ]
    drawn = "".join(svg(blocks, "title"))
    assert "the title" in drawn and "with a picture" in drawn
    assert "without a picture" not in drawn and "prose" not in drawn
    assert ElementTree.fromstring("".join(svg(blocks[:1], "title"))) is not None
