"""Faults in what a case left behind: the exit code, characters that command, outputs that nothing reads."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml
from jsonschema_rs import Draft4Validator
from markdown_it import MarkdownIt

from tests.cli.support import Result, assert_valid
from tests.cli.test_untrusted_names import DANGEROUS
from tests.fuzz.words import SHELLS

SARIF = Path(__file__).parents[1] / "render" / "schemas" / "sarif-2.1.0.json"
COLOUR = re.compile("\x1b\\[[0-9;]*m")
WORKFLOW = re.compile(r"::(error|warning|notice)( \w+=[^,:]*(,\w+=[^,:]*)*)?::.*")
CHECKED = '{\n  "schema_version"'
"""Beginning of a JSON answer that `tests.cli.support.call` has held against its JSON Schema."""
VOID = {"meta", "br", "hr", "col", "link", "img", "input", "wbr"}


def wrong(result: Result, command: str, format_: str, colored: bool) -> str | None:
    """The fault in what a run printed, or None."""
    if result.code not in (0, 1, 2):
        return f"exit code {result.code}: {result.err[:300]}"
    err = COLOUR.sub("", result.err) if colored else result.err
    if match := DANGEROUS.search(err):
        return f"stderr has {match!r}"
    return unreadable(result.out, command, format_, colored)


def unreadable(out: str, command: str, format_: str, colored: bool) -> str | None:
    """The fault in an answer, or None. colored: whether text may have colours."""
    plain = out.replace("\t", "") if format_ in SHELLS else COLOUR.sub("", out) if colored else out
    if match := DANGEROUS.search(plain):
        return f"{format_ or 'text'} has {match!r}"
    its = "json" if command == "schema" else "page" if (command, format_) == ("page", "html") else format_
    is_ours = format_ == "yaml" or (command == "guards" and out.startswith("dispatch:"))
    reader = _read_declarations if is_ours else READERS.get(its)
    if out and reader is not None:
        try:
            reader(out)
        except Exception as error:
            return f"{its} is not well-formed: {type(error).__name__}: {str(error)[:300]}"
    return None


def _read_declarations(text: str) -> None:
    data = yaml.load(text, yaml.CSafeLoader)
    assert data["dispatch"] == 1, "no declarations"


def _read_json(text: str) -> None:
    data = json.loads(text)
    if "report" in data and not text.startswith(CHECKED):
        assert_valid(data)


def _read_csv(text: str) -> None:
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert len({len(row) for row in rows}) == 1, "rows differ in length"


@cache
def sarif_validator() -> Draft4Validator:
    """That of the published schema, with the escape that a pattern in it lacks."""
    text = SARIF.read_text(encoding="utf-8")
    wrong, right = "-[a-zA-Z]{2}]?$", r"-[a-zA-Z]{2}\\]?$"
    assert wrong in text
    return Draft4Validator(json.loads(text.replace(wrong, right)))


def _read_sarif(text: str) -> None:
    data: Any = json.loads(text)
    for run in data["runs"]:  # of thousands, the others are like these
        run["results"] = run["results"][:5]
        run["tool"]["driver"]["rules"] = run["tool"]["driver"]["rules"][:2]
    sarif_validator().validate(data)


def _read_github(text: str) -> None:
    for line in text.splitlines():
        assert WORKFLOW.fullmatch(line), f"no workflow command: {line[:100]!r}"


SHAPES = frozenset(("title", "rect", "text", "tspan", "g", "path", "line", "marker", "defs"))
"""The elements of pictures: none of them loads or runs anything."""


class _Html(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "img", "iframe"), f"a {tag}"
        assert "svg" not in self.open or tag in SHAPES, f"a {tag} in a picture"
        assert not any(name.startswith("on") for name, _ in attrs), f"{attrs}"
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"


def _read_html(text: str) -> None:
    parser = _Html()
    parser.feed(text)
    parser.close()
    assert parser.open == [], f"{parser.open} stay open"


def _read_markdown(text: str) -> None:
    blocks = MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)
    tokens = [
        token
        for block in blocks
        for token in (block, *(block.children or ()))
        if token.content not in ("<br>", "<!-- -->")
    ]
    foreign = [token.content for token in tokens if token.type in ("html_block", "html_inline", "image")]
    assert foreign == [], f"{foreign[:3]}"
    links = [token for block in blocks for token in (block.children or ()) if token.type == "link_open"]
    assert all(str(token.attrs.get("href", "")).startswith("https://") for token in links), f"{links[:2]}"


def _read_junit(text: str) -> None:
    ElementTree.fromstring(text)


READERS: dict[str, Callable[[str], None]] = {
    "json": _read_json,
    "csv": _read_csv,
    "sarif": _read_sarif,
    "github": _read_github,
    "html": _read_html,
    "markdown": _read_markdown,
    "junit": _read_junit,
}


def unequal(codes: dict[str, int]) -> str | None:
    """The difference between the exit codes of one question in several formats, or None."""
    answered = {format_: code for format_, code in codes.items() if code != 2}  # options that not every format has
    return f"exit codes differ: {answered}" if len(set(answered.values())) > 1 else None
