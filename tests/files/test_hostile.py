"""Revisions that are small and ask for very much: what is read is bounded, and what is left out is said."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from dispatch_cli.extract.left_out import WhyLeftOut
from dispatch_cli.extract.run import SourceRun, run
from dispatch_cli.files import asked, paths, revision
from dispatch_cli.files.ignore_rules import MAX_RULES
from dispatch_cli.model.problem import InputError
from tests.files.support import git, repository
from tests.fuzz.hostile import HEAD, OPERATOR


@pytest.fixture(autouse=True)
def in_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository(tmp_path / "repository"))


def stored(text: str, *command: str) -> str:
    """The name of the object that git makes of a text."""
    done = subprocess.run(["git", *command], input=text, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def blob(text: str) -> str:
    return f"100644 blob {stored(text, 'hash-object', '-w', '--stdin')}"


def trees_of_trees(count: int) -> str:
    """2 to the power of *count* files in a few objects."""
    entry = blob(HEAD + OPERATOR)
    tree = stored(f"{entry}\ta.py\n{entry}\tb.py\n", "mktree")
    for _ in range(count - 1):
        tree = stored(f"040000 tree {tree}\ta\n040000 tree {tree}\tb\n", "mktree")
    return tree


def extracted(tree: str) -> SourceRun:
    """The tree, read as the folder ``src`` of a commit."""
    whole = stored(f"040000 tree {tree}\tsrc\n", "mktree")
    git(Path.cwd(), "update-ref", "refs/heads/main", git(Path.cwd(), "commit-tree", "-m", "x", whole).strip())
    try:
        return run(asked.resolve(["HEAD:src"]))
    finally:
        paths.close_trees()


def too_large(found: SourceRun) -> list[str]:
    return [f"{part.path}: {part.detail}" for part in found.left_out if part.reason is WhyLeftOut.TOO_LARGE]


def test_trees_of_trees_are_read_some_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand files in a few objects."""
    monkeypatch.setattr(revision, "FREE_BYTES", 1 << 18)
    extraction = extracted(trees_of_trees(10))
    (count,) = (number for _, number in extraction.files)
    assert 60 < count < 90
    assert len(too_large(extraction)) == 2**10 - count


@pytest.mark.parametrize("count", [24, 40])
def test_trees_of_trees_are_not_listed_whole(count: int) -> None:
    """Up to 2 to the power of 40 files in a few objects."""
    with pytest.raises(InputError, match="git ls-tree prints more than 64 MiB"):
        extracted(trees_of_trees(count))


def test_one_large_file_under_many_names_is_read_some_times() -> None:
    entry = blob(HEAD + "# x\n" * 200_000)
    extraction = extracted(stored("".join(f"{entry}\tf{number:05}.py\n" for number in range(400)), "mktree"))
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
