"""Small files that ask for very much: their work is counted, and the run ends, says where, and does not pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.extract.cpp import extract_cpp
from dispatch_cli.extract.sources import Sources
from dispatch_cli.extract.work import FREE_UNITS, UNITS_PER_BYTE, OverWork, WorkBudget
from dispatch_cli.model.extracted import Extraction, SourceKind
from tests.cli.support import call
from tests.fuzz.hostile import HOSTILE, write

FINE = 'TORCH_LIBRARY(fine, m) { m.def("size(Tensor x) -> int"); }\n'
ENDS = {
    "stringified backslashes": "a text of more than",
    "headers three times": "steps to read",
    "headers under #if": "steps to read",
    "macros that double": "steps to read",
    "macros that double by pasting": "a text of more than",
    "arguments that double": "steps to read",
    "arguments used twice": "steps to read",
    "constants that add up three": "steps to read",
    "local conditions that double": "steps to read",
    "loops in loops": "steps to read",
    "functions that call twice": "steps to read",
    "arguments of functions that double": "steps to read",
}
"""Kinds of input of which no machine could do all that they ask for, and a part of what is said."""
IS_READ = (
    "lambdas that call twice",
    "#elif with operators",
    "nested #if",
    "case arms",
    "namespaces that nearly match",
)
"""Kinds of input that are only long."""


def read(folder: Path, name: str, count: int) -> tuple[Extraction, WorkBudget, int]:
    """Result of a kind of input, the work that it took, and the bytes of its files."""
    files = HOSTILE[name].files(count)
    for file, text in files.items():
        (folder / file).write_text(text, encoding="utf-8")
    names = frozenset(str(folder / file) for file in files)
    sources = Sources({SourceKind.CPP: [str(folder / "a.cpp")]}, names)
    return extract_cpp(sources), sources.work, sum(map(len, files.values()))


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDS)
def test_what_nobody_could_read_ends_within_the_budget_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    free = FREE_UNITS // 5
    monkeypatch.setattr("dispatch_cli.extract.work.FREE_UNITS", free)
    result, work, size = read(tmp_path, name, HOSTILE[name].size)
    (entry,) = (entry for entry in result.not_understood if entry.bound and ENDS[name] in entry.why)
    lines = (tmp_path / "a.cpp").read_text(encoding="utf-8").split("\n")
    assert entry.at.file == str(tmp_path / "a.cpp")
    assert lines[entry.at.line - 1][entry.at.column - 1 :].strip()
    # what is counted last is counted at once, and may be more than what was left
    assert work.spent[entry.at.file] < free + UNITS_PER_BYTE * size + FREE_UNITS * 0.1


@pytest.mark.parametrize("name", IS_READ)
def test_what_is_only_long_is_read_whole_with_work_that_grows_with_it(tmp_path: Path, name: str) -> None:
    size = HOSTILE[name].size // 24
    spent = []
    for count in (size, 2 * size, 4 * size):
        result, work, _ = read(tmp_path, name, count)
        assert not any(entry.bound for entry in result.not_understood)
        spent += work.spent.values()
    once, twice, four_times = spent
    assert four_times - twice < 4.1 * (twice - once)


@pytest.mark.parametrize(
    "name",
    ["stringified backslashes", "headers three times"],
)
def test_the_checks_do_not_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    write({**HOSTILE[name].files(HOSTILE[name].size), "b.cpp": FINE}, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    result = call("check-invariants", "src", "--format", "json")
    assert result.code == 1
    assert '"check": "unread-sources"' in result.out
    assert '"file": "src/a.cpp"' in result.out
    accepted = call("check-invariants", "src", "--ignore", "unread-sources")
    assert accepted.code == 0


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dispatch_cli.declarations.source.MAX_SOURCE_BYTES", 1000)
    write({"large.cpp": "// long\n" * 1000, "b.cpp": FINE}, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    result = call("check-invariants", "src")
    assert result.code == 1
    assert "src/large.cpp is not read completely: too large" in " ".join(result.out.split())


# ---- the budget itself


def test_files_have_shares_that_grow_with_what_is_read_for_them() -> None:
    work = WorkBudget()
    work.note("a", 10)
    work.note("b", 1000)
    with work.file("a"):
        work.spend(FREE_UNITS + UNITS_PER_BYTE * 10)
        with pytest.raises(OverWork, match=f"more than {FREE_UNITS + UNITS_PER_BYTE * 10:,} steps"):
            work.spend(1)
        with work.file("b"):
            work.spend(UNITS_PER_BYTE * 1000 - 1)
        with pytest.raises(OverWork):
            work.spend(1)
    with work.file("b"):
        work.spend(FREE_UNITS)


def test_the_files_together_have_no_more_than_the_run() -> None:
    work = WorkBudget(100)
    with work.file("a"):
        work.spend(99)
    with work.file("b"), pytest.raises(OverWork, match="the files together"):
        work.spend(2)
    with pytest.raises(OverWork, match="the files together"):
        work.spend(1)
