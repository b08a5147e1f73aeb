"""Revisions that are small and ask for very much: what is read is bounded, and what is left out is said."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from dispatch_cli.extract.left_out import MAX_RULES, WhyLeftOut
from dispatch_cli.extract.run import SourceRun, run
from dispatch_cli.files import asked, git, paths, revision
from dispatch_cli.model.problem import InputError
from tests.cli.support import call
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


def test_only_one_answer_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git, "PATIENCE", 0.3)
    closed: list[object] = []
    close = git.Objects.close
    monkeypatch.setattr(git.Objects, "close", lambda self: (closed.append(self), close(self))[1])
    extraction = extracted(hostile.pipe, 20)
    assert {part.reason for part in extraction.left_out} == {WhyLeftOut.UNREADABLE}
    assert len(extraction.left_out) == 20
    assert all("git cat-file took more than 0 seconds" in part.detail for part in extraction.left_out)
    assert len(closed) == 2  # when it did not answer, and at the end


def test_files_that_cannot_be_read_are_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git, "PATIENCE", 0.3)
    hostile.make_repository(Path.cwd(), hostile.pipe, 2)
    result = call("check-invariants", "HEAD:src")
    assert len(re.findall(r"^warning: HEAD:src/.* cannot be read: git cat-file took", result.err, re.MULTILINE)) == 2
    assert result.out.count(": warning[unread-sources]: HEAD:src/") == 2
    assert "No operator was checked" in result.out and result.code == 1


def test_a_commit_that_is_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git, "PATIENCE", 0.3)
    hostile.make_repository(Path.cwd(), hostile.pipe_of_commit, 1)
    result = call("diff", "HEAD:src", "src", "--format", "json")
    assert result.code == 2
    assert json.loads(result.out)["problems"][0]["code"] == "git"


def test_a_folder_that_is_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git, "PATIENCE", 0.3)
    with pytest.raises(InputError, match="git rev-parse took more than 0 seconds"):
        extracted(hostile.pipe_of_folder, 1)


def test_what_too_many_patterns_ignore_is_read() -> None:
    Path(".gitignore").write_text("a.py\n" + "".join(f"*x{number}*y\n" for number in range(40_000)))
    Path("a.py").write_text(HEAD + OPERATOR)
    assert run(["."]).definitions == 1
    Path(".gitignore").write_text("a.py\n" + "".join(f"name{number}\n" for number in range(MAX_RULES - 1)))
    assert run(["."]).definitions == 0
    Path(".gitignore").write_text("a.py\n" * (1 << 18))
    assert run(["."]).definitions == 1
