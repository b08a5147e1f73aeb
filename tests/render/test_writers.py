"""The writers: every format shows every text of a document, and nothing from outside is markup or a command in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any, ClassVar

import pytest
from markdown_it import MarkdownIt

from dispatch_cli.render.data import SCHEMA_VERSION, json_text
from dispatch_cli.render.document import (
    Block,
    Column,
    Fact,
    Facts,
    Gap,
    Paragraph,
    ParagraphKind,
    Run,
    TableBlock,
    Tone,
    Under,
    lines,
)
from dispatch_cli.render.html import html
from dispatch_cli.render.markdown import markdown
from dispatch_cli.render.printed import safe, safe_lines
from dispatch_cli.render.sheet import Sheet, csv_text
from dispatch_cli.render.text import Style, text
from dispatch_cli.render.text_lines import width_of


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1", "'=1"),
        ("a;=HYPERLINK(1)", "a;'=HYPERLINK(1)"),
        (";+1;-1", ";'+1;'-1"),
        ('a;"=1"', '"a;\'""=1"""'),
        ("a; b;c", "a; b;c"),
    ],
)
def test_a_semicolon_can_part_cells(cell: str, written: str) -> None:
    """Spreadsheets take it for the separator where a comma belongs to numbers."""
    assert "".join(csv_text(Sheet(("a",), [(cell,)]))) == f"a\n{written}\n"


HOSTILE = [
    "[bold red]x[/] [link=http://a.b]y[/link]",
    "a|b `c` ``d`` *e* _f_ **g** <b>h</b> [i](http://j) \\ ~~k~~ #1 &amp; &#60; $x$",
    "<script>alert(1)</script><img src=x onerror='alert(1)'>",
    "\"><svg onload=alert(1)> '/* --> ]]>",
    "\x1b[31mred\x1b[0m \x07 \x9b31m \u202eabc\u2066",
    *("- item", "1. item", "# head", "+ plus", "> quote", "```fence", "====="),
    "a/b/c.cpp:12",
    "日本語カーネル",
    "line\nline",
]
"""Texts that are something in one of the formats, if they are not made safe."""
TIMES = 16
"""Number of times that the text stands in the document below."""


def every_block(hostile: str) -> list[Block]:
    """A document with *hostile* everywhere where text can be."""
    columns: list[Column[str]] = [
        Column("Key", lambda row, _: row),
        Column(hostile, lambda row, short: Run("s" if short else row, Tone.KERNEL)),
        Column("Number", lambda _, __: "7", right=True),
        Column("Place", lambda row, _: Run(row, Tone.PLACE), Under("Key"), optional=True),
    ]
    return [
        Paragraph(hostile, kind=ParagraphKind.TITLE),
        Paragraph(Run(hostile, Tone.HEAD)),
        Paragraph((Run("head ", Tone.HEAD), Run(hostile), Run(hostile, breaks=True)), indent=2, hang=2),
        Gap(),
        Paragraph(hostile, kind=ParagraphKind.SECTION),
        Paragraph(lines(hostile, hostile), kind=ParagraphKind.CODE),
        Paragraph(lines(hostile, hostile), kind=ParagraphKind.QUOTE),
        Facts([Fact(hostile, hostile), Fact("", lines(hostile, "b"))]),
        TableBlock(columns, [hostile]),
    ]


class Page(HTMLParser):
    """A page as a browser's parser sees it: its elements in order, its text, and whether all of them are closed."""

    VOID = frozenset({"meta", "wbr", "br"})

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))

    def text(self) -> str:
        return "".join(data for tag, data in self.texts if tag not in ("style", "title"))


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_page_has_texts_and_no_markup_of_theirs(hostile: str) -> None:
    page = Page("".join(html(every_block(hostile), hostile)))
    assert page.open == []
    plain = Page("".join(html(every_block("plain"), "plain")))
    assert [tag for tag, _ in page.elements if tag != "wbr"] == [tag for tag, _ in plain.elements]
    assert page.text().count(safe(hostile)) == plain.text().count("plain") == TIMES
    assert {name for _, attributes in page.elements for name in attributes} <= {
        *("lang", "charset", "name", "content", "class", "style", "data-head"),
    }
    assert not {"script", "img", "svg", "b", "a"} & {tag for tag, _ in page.elements}


def test_a_page_asks_nothing_of_other_places() -> None:
    page = "".join(html(every_block("plain"), "plain"))
    assert not re.search(r"https?:|url\(|@import|<script|<link|javascript:", page)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_markdown_is_no_markup_of_a_text(hostile: str) -> None:
    """Read by a parser of GitHub's Markdown: the same structure whatever the text is, and the text itself."""
    parser = MarkdownIt("gfm-like", {"linkify": False})

    def read(word: str) -> tuple[list[str], str]:
        tokens = parser.parse("".join(markdown(every_block(word))))
        kinds, shown = [], ""
        for token in tokens:
            kinds.append(token.type)
            for child in token.children or []:
                if child.content == APART:
                    continue
                if child.type not in ("text", "text_special"):
                    kinds.append(child.type)
                shown += child.content if child.type != "html_inline" else "\n"
            if token.type == "fence":
                shown += token.content
        return kinds, shown

    kinds, shown = read(hostile)
    expected, plain = read("plain")
    assert kinds == expected
    assert shown.count(safe(hostile)) == plain.count("plain") == TIMES


_REFERENCE = re.compile(r"@\w|\w:/|www\.|[#!%$&-]\d|[%~][\"a-z]|\^alert|[0-9a-f]{7}|:(?:tada|\+1|100):", re.IGNORECASE)
APART = "<!-- -->"
"""An empty comment: what stands before it and behind it are two texts."""


@pytest.mark.parametrize(
    "reference",
    [
        *("@octocat", "@org/team", "a@b.org", "mailto:a@b.org", "https://a.b", "ftp://a.b", "www.a.b", "WWW.A.B"),
        *("#12", "GH-12", "GL-12", "!12", "user/repo!3", "%3", '%"a b"', "^alert_1", "~bug", "$12", "&12"),
        *("0123456789abcdef0123456789abcdef01234567", "abcdef1234567", ":tada:", ":+1:", ":100:"),
    ],
)
@pytest.mark.parametrize("before", ["", "(", "\\"])
def test_markdown_mentions_nobody_and_links_to_nothing(reference: str, before: str) -> None:
    """GitHub and GitLab look for these in each text without its marks; a comment makes two texts of one."""
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse("".join(markdown(every_block(before + reference))))
    texts = [""]
    for token in tokens:
        for child in token.children or []:
            if child.type in ("text", "text_special"):
                texts[-1] += child.content
            else:
                texts.append("")
        texts.append("")
    assert len("".join(texts)) > TIMES
    assert [text for text in texts if _REFERENCE.search(text)] == []


@pytest.mark.parametrize("width", [None, 20, 80])
@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_terminal_gets_no_commands(hostile: str, width: int | None) -> None:
    plain = "".join(text(every_block(hostile), Style(width)))
    colored = "".join(text(every_block(hostile), Style(width, color=True)))
    codes = re.compile(r"\x1b\[[0-9;]*m")
    assert "\x1b" not in plain and "\x1b" not in codes.sub("", colored)
    assert [line.rstrip() for line in codes.sub("", colored).split("\n")] == plain.split("\n")
    if width is None:
        assert plain.count(safe(hostile)) == TIMES
    code = {safe(hostile)}
    for line in plain.split("\n"):
        assert width is None or width_of(line) <= width or line.strip() in code


def shown(columns: list[Column[Any]], rows: list[Any], width: int | None = None) -> str:
    return "".join(text([TableBlock(columns, rows)], Style(width)))


def test_all_lines_of_a_cell_that_stands_below_another_are_indented() -> None:
    columns: list[Column[str]] = [
        Column("Key", lambda row, _: row),
        Column("Kernel", lambda _, __: lines("first kernel", "second kernel"), Under("Key")),
    ]
    assert shown(columns, ["AutogradCPU"], 20) == "Key / Kernel\nAutogradCPU\n  first kernel\n  second kernel\n"


def test_a_heading_takes_the_room_of_the_columns_behind_it() -> None:
    columns: list[Column[tuple[str, str]]] = [
        Column("Call", lambda row, _: row[0], wraps=False, overflows=True),
        Column("Kernels", lambda row, _: row[1]),
    ]
    rows = [("a heading that is wide", ""), ("add", "AutogradCPU and CPU in turn")]
    whole = "Call  Kernels\na heading that is wide\nadd   AutogradCPU and CPU in turn\n"
    assert shown(columns, rows) == shown(columns, rows, 40) == whole
    narrow = ["Call  Kernels", "a heading that is wide", "add   AutogradCPU and", "      CPU in turn"]
    assert shown(columns, rows, 24).splitlines() == narrow


# Steps that texts pass through on their way out.


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("add_kernel [alias] ü 日本", "add_kernel [alias] ü 日本"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\nb\tc\rd\0", "a\\nb\\tc\\rd\\x00"),
        ("\x7f\x85\x9b", "\\x7f\\x85\\x9b"),
        ("\u200b\u202e\u2066\ufeff", "\\u200b\\u202e\\u2066\\ufeff"),
        ("\u034f\u3164\ufe0f\ufffe\U000e0100\U0010ffff", "\\u034f\\u3164\\ufe0f\\ufffe\\U000e0100\\U0010ffff"),
        ("\xa0\u3000\ue000e\u0301", "\xa0\u3000\ue000e\u0301"),
        ("\ud800\udcff", "\\ud800\\udcff"),
        ("back\\slash", "back\\slash"),
    ],
)
def test_safe(text: str, shown: str) -> None:
    assert safe(text) == shown
    assert safe_lines(f"{text}\n{text}") == "\n".join(map(safe, f"{text}\n{text}".split("\n")))


@dataclass(frozen=True)
class Streamed:
    """A report whose last field is computed as it is read."""

    REPORT: ClassVar[str] = "streamed"

    nested: dict[str, list[int]]
    items: Iterator[object]


def test_a_json_document() -> None:
    nested = {"a": [1, 2]}
    head = {"schema_version": SCHEMA_VERSION, "report": "streamed", "nested": nested}
    items = [{"x": 1}, {"x": "a\nb"}, []]
    text = "".join(json_text(Streamed(nested, iter(items))))
    assert json.loads(text) == {**head, "items": items}
    assert text == json.dumps({**head, "items": items}, indent=2) + "\n"
    empty = "".join(json_text(Streamed(nested, iter([]))))
    assert json.loads(empty) == {**head, "items": []}
