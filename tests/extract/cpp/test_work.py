"""Small files that ask for very much: their work is counted, and the run ends, says where, and does not pass."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from dispatch_cli.audit import audit
from dispatch_cli.extract.cpp.run import extract_cpp
from dispatch_cli.extract.sources import Sources
from dispatch_cli.extract.work import FILE_UNITS, OverWork, WorkBudget
from dispatch_cli.model.sources.extracted import ExtractedDefinition, Extraction, SourceKind
from tests.cli.support import call
from tests.cli.test_linear import counted
from tests.fuzz.hostile import HOSTILE, write


def extracted(folder: Path, text: str, **others: str) -> Extraction:
    """Extraction of the file ``a.cpp``, and of others beside it."""
    texts = {"a.cpp": text, **{f"{name}.cpp": content for name, content in others.items()}}
    for name, content in texts.items():
        (folder / name).write_bytes(content.encode())
    return extract_cpp(Sources({SourceKind.CPP: [str(folder / name) for name in texts]}))


FINE = 'TORCH_LIBRARY(fine, m) { m.def("size(Tensor x) -> int"); }\n'
ENDS = {
    "stringified backslashes": "a text of more than",
    "headers three times": "steps to read",
    "headers under #if": "steps to read",
    "nested #if": "nest more than",
    "macros that double": "steps to read",
    "macros that double by pasting": "a text of more than",
    "arguments that double": "steps to read",
    "arguments used twice": "steps to read",
    "loops in loops": "steps to read",
    "functions that call twice": "steps to read",
    "arguments of functions that double": "steps to read",
}
"""Kinds of input of which no machine could do all that they ask for, and a part of what is said."""


def read(folder: Path, name: str, count: int) -> tuple[Extraction, WorkBudget]:
    """Result of a kind of input, and the work that it took."""
    files = HOSTILE[name].files(count)
    for file, text in files.items():
        (folder / file).write_text(text, encoding="utf-8")
    names = frozenset(str(folder / file) for file in files)
    sources = Sources({SourceKind.CPP: [str(folder / "a.cpp")]}, names)
    return extract_cpp(sources), sources.work


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDS)
def test_what_nobody_could_read_ends_within_the_budget_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    units = FILE_UNITS // 20
    monkeypatch.setattr("dispatch_cli.extract.work.FILE_UNITS", units)
    result, work = read(tmp_path, name, HOSTILE[name].size)
    (entry,) = (entry for entry in result.not_understood if entry.bound and ENDS[name] in entry.why)
    lines = (tmp_path / "a.cpp").read_text(encoding="utf-8").split("\n")
    assert entry.at.file == str(tmp_path / "a.cpp")
    assert lines[entry.at.line - 1][entry.at.column - 1 :].strip()
    # what is counted last is counted at once, and may be more than what was left
    assert work.spent[entry.at.file] < units + FILE_UNITS * 0.025


@pytest.mark.parametrize("name", sorted(HOSTILE.keys() - ENDS.keys()))
def test_what_only_looks_like_much_is_read_to_its_end(tmp_path: Path, name: str) -> None:
    spent = []
    for count in (HOSTILE[name].size // 2, HOSTILE[name].size):
        result, work = read(tmp_path, name, count)
        assert not any(entry.bound for entry in result.not_understood)
        spent.append(sum(work.spent.values()))
    assert spent[1] < 4 * spent[0]


def test_the_checks_do_not_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "headers three times"
    write({**HOSTILE[name].files(HOSTILE[name].size), "b.cpp": FINE}, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dispatch_cli.extract.work.FILE_UNITS", FILE_UNITS // 40)
    result = call("check-invariants", "src", "--format", "json")
    assert result.code == 1
    assert '"check": "unread-sources"' in result.out
    assert '"file": "src/a.cpp"' in result.out
    accepted = call("check-invariants", "src", "--ignore", "unread-sources")
    assert accepted.code == 0


# ---- the budget itself


def test_the_files_together_have_no_more_than_the_run() -> None:
    work = WorkBudget(100)
    with work.file("a"):
        work.spend(99)
    with work.file("b"), pytest.raises(OverWork, match="the files together"):
        work.spend(2)
    with pytest.raises(OverWork, match="the files together"):
        work.spend(1)


# Texts that are made to slow the reader down, or to hide registrations from it.


BLOCK = 'TORCH_LIBRARY(my, m) { m.def("a(Tensor x) -> Tensor"); }\n'


def lines(result: Extraction) -> list[int]:
    """Those of the definitions."""
    return [item.at.line for item in result.items if isinstance(item, ExtractedDefinition)]


def reasons(result: Extraction) -> list[str]:
    return [gap.why for gap in result.not_understood]


# ---- lines that are joined


def test_a_carriage_return_alone_ends_a_line(tmp_path: Path) -> None:
    text = f"// comment\r{BLOCK.strip()}\r#if X\r{BLOCK.strip()}\r#endif\r"
    result = extracted(tmp_path, text)
    assert lines(result) == [2, 4]
    assert [place.at.line for place in audit(["a.cpp"], lambda _: text, frozenset())] == [2, 2, 4, 4]


# ---- what takes long


def steps(folder: Path, text: str) -> tuple[int, Extraction]:
    with counted() as count:
        result = extracted(folder, text)
    return count[0], result


UNMATCHED = "the braces of this block are missing or do not match"
BOUND = "steps to read"
GROWING = {
    "quotes": ('TORCH_LIBRARY(my, m) { m.def("', '\\"', "\n}\n", ""),
    "parentheses": ("TORCH_LIBRARY(my, m) { m.def(", "(", '"x"); }', UNMATCHED),
    "braces": ("TORCH_LIBRARY(my, m) { ", "{", "", UNMATCHED),
    "blocks": ("", "TORCH_LIBRARY(my, m) {", "", UNMATCHED),
    "conditions with or": ("#if X", "||X@", f"\n{BLOCK}#endif\n", ""),
    "branches": (f"#if X\n{BLOCK}", f"#elif X@\n{BLOCK}", f"#else\n{BLOCK}#endif\n", ""),
    "macros": ("#define A M0\n", "#define M@ M^\n", "TORCH_LIBRARY(my, m) { A }", BOUND),
    "macros with arguments": ("#define A(x) M0(x)\n", "#define M@(x) M^(x)\n", "TORCH_LIBRARY(my, m) { A(1) }", BOUND),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", GROWING)
def test_steps_grow_with_the_text_and_bounds_are_said(tmp_path: Path, name: str) -> None:
    before, each, after, reason = GROWING[name]

    def text(count: int) -> str:
        parts = (each.replace("@", str(index)).replace("^", str(index + 1)) for index in range(count))
        return before + "".join(parts) + after

    size = 1600 if reason == BOUND else 200
    steps(tmp_path, text(size))  # imports what it needs
    (once, _), (twice, _), (four_times, result) = (steps(tmp_path, text(size * times)) for times in (1, 2, 4))
    # what a bound cuts off costs next to nothing: its difference can be small, or below zero
    assert four_times - twice <= max(twice - once, once // 4, 200) * 2.7, (once, twice, four_times)
    assert any(reason in text for text in ["", *reasons(result)])


def test_the_patterns_go_through_a_literal_without_an_end_once(tmp_path: Path) -> None:
    """A pattern that fails at the end is tried again at each quote, which made 160 million steps of this."""
    text = f'{BLOCK}int x = "' + '\\"' * 40_000 + f"\n{BLOCK}"
    assert len(lines(extracted(tmp_path, text))) == 2
    assert len(audit(["a.cpp"], lambda _: text, frozenset())) == 4


def test_macros_that_double_take_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    macros = "".join(f"#define A{index + 1} {f'A{index} ' * 10}\n" for index in range(30))
    text = f'#define A0 m.def("x");\n{macros}TORCH_LIBRARY(my, m) {{ A30 }}'
    monkeypatch.setattr("dispatch_cli.extract.work.FILE_UNITS", 100_000)
    tracemalloc.start()
    try:
        result = extracted(tmp_path, text)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert any("steps to read" in reason for reason in reasons(result))
    assert most < 40_000_000  # bytes; to read any file takes 33 million at once


# Texts that nest deeply, or have no end.


@pytest.mark.parametrize(
    "body",
    [
        'm.impl("f", a' + "<a" * 20_000 + ");",
        'm.impl("f", ' + "(" * 2_000 + "f" + ")" * 2_000 + ");",
        "m.def(" + '"a" + ' * 2_000 + '"b");',
        "if (" + "!" * 2_000 + 'x) m.impl("f", f);',
        "".join(f"#elif A{n}\n" for n in range(2_000)).replace("#elif", "#if", 1) + "#endif",
        "/*" * 20_000,
        'R"x(' * 20_000,
        "{" * 5_000 + "}" * 5_000,
        "".join(f"#define A{n} A{n + 1} A{n + 1}\n" for n in range(30)) + "A0",
    ],
    ids=["angles", "parentheses", "sums", "not", "branches", "comments", "strings", "braces", "macros that double"],
)
def test_the_other_files_are_read(tmp_path: Path, body: str) -> None:
    result = extracted(tmp_path, f"TORCH_LIBRARY_IMPL(my, CPU, m) {{\n{body}\n}}\n", b=FINE)
    assert [Path(item.at.file).name for item in result.items if isinstance(item, ExtractedDefinition)][-1] == "b.cpp"
    if body.endswith("A0"):
        assert [(gap.bound, "steps to read" in gap.why) for gap in result.not_understood] == [(True, True)]
