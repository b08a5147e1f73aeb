"""Texts that are made to slow the reader down, or to hide registrations from it."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from dispatch_cli.audit import audit
from dispatch_cli.extract.cpp import extract_cpp
from dispatch_cli.extract.cpp.splices import normal
from dispatch_cli.extract.sources import Sources
from dispatch_cli.model.condition import Atom
from dispatch_cli.model.extracted import ExtractedDefinition, Extraction, SourceKind
from tests.cli.test_linear import counted
from tests.extract.cpp.reading import extracted

BLOCK = 'TORCH_LIBRARY(my, m) { m.def("a(Tensor x) -> Tensor"); }\n'


def lines(result: Extraction) -> list[int]:
    """Those of the definitions."""
    return [item.at.line for item in result.found if isinstance(item, ExtractedDefinition)]


def reasons(result: Extraction) -> list[str]:
    return [gap.why for gap in result.not_understood]


# ---- lines that are joined


@pytest.mark.parametrize("end", ["\\\n", "\\\r\n", "\\\r", "\\ \n", "\\\t \r\n"], ids=repr)
@pytest.mark.parametrize("step", [1, 2, 3, 7, 20])
def test_a_splice_anywhere_hides_nothing(tmp_path: Path, end: str, step: int) -> None:
    whole = BLOCK.rstrip()
    spliced = end.join(whole[index : index + step] for index in range(0, len(whole), step)) + "\n" + BLOCK
    result = extracted_bytes(tmp_path, spliced)
    assert lines(result)[1:] == [len(range(0, len(whole), step)) + 1]
    assert reasons(result) == []
    places = audit(["a.cpp"], lambda _: spliced, frozenset())
    assert [place.what for place in places] == ["TORCH_LIBRARY", "def"] * 2
    assert not audit([str(tmp_path / "a.cpp")], lambda _: spliced, result.accounted)


def extracted_bytes(folder: Path, text: str) -> Extraction:
    (folder / "a.cpp").write_bytes(text.encode())
    return extract_cpp(Sources({SourceKind.CPP: [str(folder / "a.cpp")]}))


@pytest.mark.parametrize(
    "before",
    [
        "/\\\n* x *\\\n/ ",
        "/\\\n/ TORCH_LIBRARY(\n",
        "#def\\\nine X\n",
    ],
)
def test_a_splice_in_a_comment_or_a_directive(tmp_path: Path, before: str) -> None:
    result = extracted(tmp_path, before + BLOCK)
    assert (len(lines(result)), reasons(result)) == (1, [])


def test_raw_literals_keep_their_lines() -> None:
    text = 'R"(a\\\nb \\ \n)" x\\\ny\n// R"(\nTORCH_\\\nLIBRARY'
    assert normal(text) == 'R"(a\\\nb \\ \n)" x\\\ny\n// R"(\nTORCH_LIBRARY\n'
    assert normal(normal(text)) == normal(text)


def test_a_carriage_return_alone_ends_a_line(tmp_path: Path) -> None:
    text = f"// comment\r{BLOCK.strip()}\r#if X\r{BLOCK.strip()}\r#endif\r"
    result = extracted_bytes(tmp_path, text)
    assert lines(result) == [2, 4]
    assert [place.at.line for place in audit(["a.cpp"], lambda _: text, frozenset())] == [2, 2, 4, 4]


def test_the_audit_counts_lines_of_python_as_python_does() -> None:
    text = 'import torch\n\x0c\rlib.define("b() -> ()")\n'
    assert [place.at.line for place in audit(["a.py"], lambda _: text, frozenset())] == [3]


# ---- numbers


@pytest.mark.parametrize("expression", ["9223372036854775807+1", "4611686018427387904*4", "99999999999999999999"])
def test_what_has_no_value_in_64_bits_is_not_decided(tmp_path: Path, expression: str) -> None:
    (block, _) = extracted(tmp_path, f"#if {expression}\n{BLOCK}#endif\n").found
    assert block.when == (Atom(expression),)


# ---- what takes long


def steps(folder: Path, text: str) -> tuple[int, Extraction]:
    with counted() as count:
        result = extracted(folder, text)
    return count[0], result


UNMATCHED = "the braces of this block are missing or do not match"
HOSTILE = {
    "quotes": ('TORCH_LIBRARY(my, m) { m.def("', '\\"', "\n}\n", ""),
    "parentheses": (
        "TORCH_LIBRARY(my, m) { m.def(",
        "(",
        '"x"); }',
        UNMATCHED,
    ),
    "braces": ("TORCH_LIBRARY(my, m) { ", "{", "", UNMATCHED),
    "blocks": ("", "TORCH_LIBRARY(my, m) {", "", UNMATCHED),
    "conditions with or": ("#if X", "||X@", f"\n{BLOCK}#endif\n", ""),
    "branches": (
        f"#if X\n{BLOCK}",
        f"#elif X@\n{BLOCK}",
        f"#else\n{BLOCK}#endif\n",
        "",
    ),
    "macros": (
        "#define A M0\n",
        "#define M@ M^\n",
        "TORCH_LIBRARY(my, m) { A }",
        "steps to read",
    ),
    "macros with arguments": (
        "#define A(x) M0(x)\n",
        "#define M@(x) M^(x)\n",
        "TORCH_LIBRARY(my, m) { A(1) }",
        "steps to read",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_steps_grow_with_the_text_and_bounds_are_said(tmp_path: Path, name: str) -> None:
    before, each, after, reason = HOSTILE[name]

    def text(count: int) -> str:
        parts = (each.replace("@", str(index)).replace("^", str(index + 1)) for index in range(count))
        return before + "".join(parts) + after

    steps(tmp_path, text(10))
    size = 600 if reason == "steps to read" else 200
    (once, _), (twice, _), (four_times, result) = (steps(tmp_path, text(size * times)) for times in (1, 2, 4))
    # what a bound cuts off costs next to nothing: its difference can be small, or below zero
    assert four_times - twice <= max(twice - once, once // 4, 200) * 2.7, (once, twice, four_times)
    assert any(reason in text for text in ["", *reasons(result)])


def test_the_patterns_go_through_a_literal_without_an_end_once(tmp_path: Path) -> None:
    """A pattern that fails at the end is tried again at each quote, which made 16,000 million steps of this."""
    text = f'{BLOCK}int x = "' + '\\"' * 400_000 + f"\n{BLOCK}"
    assert len(lines(extracted(tmp_path, text))) == 2
    assert len(audit(["a.cpp"], lambda _: text, frozenset())) == 4


@pytest.mark.parametrize(
    "text",
    [
        '#define A0 m.def("x");\n'
        + "".join(f"#define A{index + 1} {f'A{index} ' * 10}\n" for index in range(30))
        + "TORCH_LIBRARY(my, m) { A30 }",
        "#define A0 1\n"
        + "".join(f"#define A{index + 1} (A{index}+A{index})\n" for index in range(60))
        + f"#if A60\n{BLOCK}#endif\n",
    ],
    ids=["statements", "a condition"],
)
def test_macros_that_double_take_little_memory(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dispatch_cli.extract.work.FREE_UNITS", 100_000)
    tracemalloc.start()
    try:
        result = extracted(tmp_path, text)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert any("steps to read" in reason for reason in reasons(result))
    assert most < 40_000_000  # bytes; to read any file takes 33 million at once
