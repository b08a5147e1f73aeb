"""Matrices and the grid: every width has every cell, and pictures are XML whatever names say."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from html import unescape
from typing import Any
from xml.etree import ElementTree

import pytest

from dispatch_cli import universes
from dispatch_cli.answers.shared.slot_row import TableRow
from dispatch_cli.answers.table.grid_document import code_of, document
from dispatch_cli.answers.table.report import OperatorTable, TableReport
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.universe import Universe
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
from dispatch_cli.render.text import Style, text
from dispatch_cli.render.text_lines import width_of
from dispatch_cli.render.text_matrix import TextMatrix
from tests.cli.support import ROOT, call
from tests.support import SOME_UNIVERSES

GOOD, BAD = Mark("K", Tone.KERNEL, "kernel"), Mark("X", Tone.BAD, "raises")
HOSTILE = "</text><script>alert(1)</script>&\"'\x1b]0;x\x07\u202e\ufffe\ud800::error::"


def matrix(groups: int = 3, label: str = "lib::operator", name: str = "context") -> Matrix:
    heads = [MatrixHead(f"{name}{at}", group=f"Backend{group}") for group in range(groups) for at in range(4)]
    rows = [MatrixRow(f"{label}{at}", [MatrixCell((BAD if at else GOOD,))] * len(heads)) for at in range(2)]
    return Matrix(heads, rows, "Operator")


@pytest.mark.parametrize("width", [30, 41, 80, None])
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


def test_a_label_that_is_cut_keeps_its_own_name_and_the_number_of_the_others() -> None:
    row = MatrixRow("_C_ascend::batch_matmul_transpose_and_add and 40 more", [MatrixCell((GOOD,))])
    *_, line = TextMatrix(Matrix([MatrixHead("vmap")], [row]), 40).lines
    label = "".join(run.text for run in line).partition(" more")[0]
    assert label.startswith("…batch_m") and label.endswith("and_add and 40")


def test_hostile_names_are_text_in_a_picture() -> None:
    blocks: list[Block] = [Paragraph(HOSTILE, kind=ParagraphKind.TITLE), matrix(label=HOSTILE, name=HOSTILE)]
    root = ElementTree.fromstring("".join(svg(blocks, "title")).encode())
    tags = {"svg", "title", "style", "rect", "text", "tspan", "g"}
    assert {element.tag.rpartition("}")[2] for element in root.iter()} == tags
    assert root[0].text is not None and root[0].text.startswith("</text><script>alert(1)</script>&\"'\\x1b")
    assert "<script" not in "".join(html(blocks, "title"))
    assert re.search(r"(?<!\\)<script", "".join(markdown(blocks))) is None


UNIVERSE = universes.load("torch-2.15")


def row(key: str, rule: Rule, **others: Any) -> TableRow:
    fields: dict[str, Any] = {"rule_number": 1, "kernel": "k", "fallthrough": False, "source": key, "blockers": ()}
    return TableRow(**{"key": key, "rule": rule, **fields, "core_fallback": False, "span": None, **others})


def shown(rows: Sequence[TableRow], width: int | None = None, universe: Universe = UNIVERSE) -> str:
    table = OperatorTable("a::b", "a::b() -> ()", None, tuple(rows))
    report = TableReport(universe.name, (), (), False, (), (), iter([table]))
    return "".join(text(document(report, universe=universe), Style(width)))


def test_every_answer_has_a_code_of_its_own() -> None:
    answers = [row("CPU", rule) for rule in Rule]
    answers.append(row("CPU", Rule.FALLBACK, core_fallback=True))
    answers.append(row("CPU", Rule.KERNEL, fallthrough=True))
    codes = [code_of(answer) for answer in answers]
    assert len({code.letter for code in codes}) == len({code.meaning for code in codes}) == len(answers)
    assert all(len(code.letter) == 1 and code.letter.isascii() for code in codes)


@pytest.mark.parametrize("name", SOME_UNIVERSES)
@pytest.mark.parametrize("width", [40, 79, 80])
def test_every_width_has_room_and_every_slot(name: str, width: int) -> None:
    universe = universes.load(name)
    text = shown([row(key, Rule.KERNEL, stale=True, live_kernel="x") for key in universe.slots], width, universe)
    assert max(map(len, text.splitlines())) <= width
    lines = text.partition("Code  ")[0]
    per_backend = sum(map(len, universe.per_backend.values()))
    others = sum(line.startswith("K!") for line in lines.splitlines())
    assert lines.count("K!") == per_backend + others == per_backend + 1
    blocks = sum(line.startswith("Dense ") for line in text.splitlines())
    assert width == 79 or (blocks == 1) == (width >= 80)


# Pictures of calls and of matrices say what JSON and text say.


_TEXT = "{http://www.w3.org/2000/svg}text"
_CALLS = (
    ("aten::add.Tensor", "--tensor", "cuda batched requires_grad", "--context", "vmap", "--tensor", "cuda"),
    ("aten::add.Tensor", "--tensor", "cpu sparse requires_grad", "--tensor", "cpu"),
    ("aten::ones", "--argument", "device=cuda"),
    ("mine::scale", str(ROOT / "tests/explore/layouts/operators.yaml"), "--tensor", "hip"),
    ("aten::linear", "--tensor", "cpu", "--context", "autocast cpu"),
)


def texts_of(svg: str) -> list[str]:
    """The texts of a picture, from the top; it is XML, without scripts and addresses."""
    root = ElementTree.fromstring(svg)
    assert not [node for node in root.iter() if node.tag.endswith(("script", "image", "foreignObject"))]
    assert not [name for node in root.iter() for name in node.attrib if name.startswith("on") or name.endswith("href")]
    return [node.findtext("{*}title") or "".join(node.itertext()) for node in root.iter(_TEXT)]  # a long one has both


@pytest.mark.parametrize("arguments", _CALLS)
def test_a_picture_has_each_key_and_each_kernel_in_turn(arguments: tuple[str, ...]) -> None:
    report = json.loads(call("resolve", *arguments, "--format", "json").out)
    picture = call("resolve", *arguments, "--format", "svg").out
    texts = texts_of(picture)
    keys = [key for stage in report["selections"] for key in stage["keys"]]
    names = {key["key"] for key in keys}
    assert [text for text in texts if text in names][: len(keys)] == [key["key"] for key in keys]
    runs = [key for key in keys if key["status"] == "runs"]
    assert runs
    steps = [step for stage in report["selections"] for step in stage["steps"]]
    assert picture.count("<path ") == len(steps) - 1, "an arrow between each two steps"
    assert ('class="bad"' in picture) is (report["end"]["kind"] == "error")


_MATRICES = (
    ("table", "--base", "torch-2.15", "--op", "aten::abs", "--view", "grid"),
    ("table", str(ROOT / "examples/overlay.yaml"), "--op", "aten::to.dtype", "--view", "grid"),
    ("support", str(ROOT / "examples/custom_ops.yaml")),
    ("coverage", "--op", "aten::*relu*"),
    ("history", "aten::*relu*"),
)


def words_of(texts: list[str]) -> Counter[str]:
    return Counter(word.strip(",") for text in texts for word in text.split() if word.strip(","))


@pytest.mark.parametrize("arguments", _MATRICES)
def test_each_word_of_a_matrix_is_in_text_html_and_svg(arguments: tuple[str, ...]) -> None:
    """Each head, label, mark and meaning, as often as the picture has it."""
    drawn = words_of(texts_of(call(*arguments, "--format", "svg").out))
    assert drawn.total() > 40
    page = call(*arguments, "--format", "html").out
    body = re.sub("<(style|script).*?</\\1>", "", page, flags=re.DOTALL)
    body = unescape(re.sub("<[^>]*>", " ", re.sub("</?span[^>]*>", "", body)))
    for shown in (call(*arguments).out, body):
        assert not drawn - words_of([shown])
