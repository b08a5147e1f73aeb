"""Revisions that are small and ask for very much: what is read is bounded, and what is left out is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dispatch_cli.extract.left_out import MAX_RULES, WhyLeftOut
from dispatch_cli.extract.run import SourceRun, run
from dispatch_cli.files import asked, paths, revision
from dispatch_cli.model.problem import InputError
from tests.fuzz import hostile
from tests.fuzz.hostile import HEAD, OPERATOR


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def extracted(make: Callable[[Path, int], None], count: int) -> SourceRun:
    """The folder ``src`` of a repository, read."""
    hostile.make_repository(Path.cwd(), make, count)
    try:
        return run(asked.resolve(["HEAD:src"]))
    finally:
        paths.close_trees()


def too_large(found: SourceRun) -> list[str]:
    return [f"{part.path}: {part.detail}" for part in found.left_out if part.reason is WhyLeftOut.TOO_LARGE]


def test_trees_of_trees_are_read_some_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand files in a few objects."""
    monkeypatch.setattr(revision, "FREE_BYTES", 1 << 18)
    extraction = extracted(hostile.trees_of_trees, 10)
    (count,) = (number for _, number in extraction.files)
    assert 60 < count < 90
    assert len(too_large(extraction)) == 2**10 - count


@pytest.mark.parametrize("count", [24, 40])
def test_trees_of_trees_are_not_listed_whole(count: int) -> None:
    """Up to 2 to the power of 40 files in a few objects."""
    with pytest.raises(InputError, match="git ls-tree prints more than 64 MiB"):
        extracted(hostile.trees_of_trees, count)


def test_one_large_file_under_many_names_is_read_some_times() -> None:
    extraction = extracted(hostile.one_file_often, 400)
    (count,) = (number for _, number in extraction.files)
    assert 20 <= count < 60
    assert len(too_large(extraction)) == 400 - count
    assert too_large(extraction)[0].endswith("the files of HEAD repeat a few more than 20 times")


def test_what_too_many_patterns_ignore_is_read() -> None:
    Path(".gitignore").write_text("a.py\n" + "".join(f"*x{number}*y\n" for number in range(40_000)))
    Path("a.py").write_text(HEAD + OPERATOR)
    assert run(["."]).definitions == 1
    Path(".gitignore").write_text("a.py\n" + "".join(f"name{number}\n" for number in range(MAX_RULES - 1)))
    assert run(["."]).definitions == 0
    Path(".gitignore").write_text("a.py\n" * (1 << 18))
    assert run(["."]).definitions == 1
