"""Places in sources: the position of a word on a line, and conditions in the sentence of a finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.answers.shared.conditions import when_words
from dispatch_cli.answers.shared.source_lines import at_word
from dispatch_cli.declarations.source import read
from dispatch_cli.model import read_files
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import Excerpt, Paragraph, ParagraphKind, Run, Tone
from dispatch_cli.render.problems import snippet
from dispatch_cli.render.text import Style, text

LINE = "{CPU: op_cpu, XLA: b, CPU2: c, CPU: d}"


@pytest.mark.parametrize(
    ("column", "word", "follows", "expected"),
    [
        (LINE.index("op_cpu"), "CPU", False, LINE.index("CPU:")),
        (LINE.index("d}"), "CPU", False, LINE.rindex("CPU")),
        (LINE.index(" b,"), "XLA", False, LINE.index("XLA")),
        (LINE.index(" b,"), "CUDA", False, LINE.index(" b,")),
        (1000, "CPU", False, LINE.rindex("CPU")),
        (0, "CPU", True, LINE.index("CPU:")),
        (LINE.index("XLA"), "CPU", True, LINE.rindex("CPU")),
        (LINE.index("d}"), "XLA", True, LINE.index("XLA")),
    ],
)
def test_the_nearest_word_is_meant(
    column: int, word: str, follows: bool, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(f"first\n{LINE}\n", encoding="utf-8")
    read("a.yaml")
    assert at_word(Span("a.yaml", 2, column + 1), word, follows=follows) == Span("a.yaml", 2, expected + 1)


def test_where_there_is_no_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text("one\n\n", encoding="utf-8")
    read("a.yaml")
    for span in (Span("a.yaml", 2, 1), Span("a.yaml", 9, 1), Span("none", 1, 1), Span(".", 1, 1), Span("\0", 1, 1)):
        assert snippet(span, None, Tone.BAD) is None


def test_a_word_in_a_comment_is_not_meant(tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_text('  m.impl("f", &f); // at Meta\n', "utf-8")
    read_files.keep_lines(str(path), 60, lambda: path.read_text("utf-8").splitlines())
    span = Span(str(path), 1, 3)
    assert at_word(span, "Meta") == span
    assert at_word(span, "f") == span._replace(column=11)


SOURCE = """\
import torch
for op in operators:
    if 'a' in op.tags:
        pass
    else:
        register(op)
if (ns + "::b" in
        known):
    pass
"""


@pytest.mark.parametrize(
    ("when", "words"),
    [
        ("defined(WITH_CUDA) and not CUDA_VERSION >= 12000", "when defined(WITH_CUDA) and not CUDA_VERSION >= 12000"),
        ("not 'a' in op.tags", "under a condition at a.py:3"),
        ("not (defined(A) or 'a' in op.tags)", "when not defined(A), and under a condition at a.py:3"),
        ("ns + '::b' in known", "under a condition"),
        ("in.cpp is in the build, not b.cpp", "when in.cpp is in the build, not b.cpp"),
        ("'a' in op.ta…", "under a condition"),
        ("((", "when (("),
    ],
)
def test_an_expression_is_named_by_its_place(
    when: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(SOURCE, encoding="utf-8")
    read("a.py")
    assert when_words(when, Span("a.py", 6, 9)) == words


@pytest.mark.parametrize("width", [40, 80, None])
@pytest.mark.parametrize("before", [0, 50, 150, 400])
def test_a_line_is_cut_around_what_is_underlined(before: int, width: int | None) -> None:
    line = f"{'a' * before}MEANT{'b' * 300}"
    excerpt = Excerpt(123, line, before, 5, Tone.BAD, indent=4)
    shown, marks = "".join(text([excerpt], Style(width))).splitlines()
    assert max(len(shown), len(marks)) <= (width or 160 + len("    123 | "))
    assert [shown[at] for at, sign in enumerate(marks) if sign == "^"] == [*"MEANT"]
    assert shown.startswith("    123 | ") and ("…" in shown[:12]) == (not shown[10:].startswith(line[:5]))


def test_code_is_whole_at_every_width() -> None:
    """Copied code works: a terminal breaks lines without putting ends of lines into them."""
    code = Paragraph(
        Run(f"  dispatch: {{{', '.join(f'KEY{number}: kernel' for number in range(9))}}}"), 4, 4, ParagraphKind.CODE
    )
    whole = "".join(text([code], Style(None)))
    assert whole.startswith(" " * 6 + "dispatch") and whole.count("\n") == 1 and len(whole) > 100
    assert "".join(text([code], Style(60))) == whole
