"""REV:PATH: what is meant, and what is wrong with it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from dispatch_cli.declarations.loader import load
from dispatch_cli.files import paths
from dispatch_cli.files.asked import absent, is_revision, resolve
from dispatch_cli.model.problem import InputError, Problem
from tests.files.support import commit, repository

DECLARATION = "dispatch: 1\n"


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    paths.close_trees()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository: main is a commit ahead of v1."""
    folder = repository(tmp_path_factory.mktemp("made") / "repo")
    commit(folder, {"decl.yaml": DECLARATION, "sub/deep/a.yaml": DECLARATION}, tag="v1")
    commit(folder, {"later.yaml": DECLARATION})
    return folder


@pytest.fixture
def repo(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory is a copy of it."""
    shutil.copytree(made, tmp_path / "repo")
    monkeypatch.chdir(tmp_path / "repo")
    return tmp_path / "repo"


def problem_of(*names: str) -> Problem:
    with pytest.raises(InputError) as caught:
        resolve(names)
    (problem,) = caught.value.problems
    return problem


@pytest.mark.parametrize(
    "name", ["decl.yaml", "-", "C:\\a.yaml", "c:/a.yaml", "https://x/a.yaml", "./a:b.yaml", "/a:b", "../a:b", "here:it"]
)
def test_files_addresses_and_drives_are_no_revisions(name: str, repo: Path) -> None:
    (repo / "here:it").write_text(DECLARATION, encoding="utf-8")
    assert not is_revision(name)
    assert resolve([name]) == (name,)


def test_names_are_from_the_top_or_from_the_working_directory(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo / "sub" / "deep")
    asked = ["v1:decl.yaml", "v1:./a.yaml", "v1:../../decl.yaml", "v1:.", "v1:", "v1:sub//deep/../deep/", "HEAD~1:sub"]
    assert resolve(asked) == (
        *("v1:decl.yaml", "v1:sub/deep/a.yaml", "v1:decl.yaml"),
        *("v1:sub/deep", "v1:", "v1:sub/deep", "HEAD~1:sub"),
    )
    assert [tree.prefix for tree in paths.TREES] == ["v1:", "HEAD~1:"]


def test_a_file_of_the_working_tree_wins(repo: Path) -> None:
    """Also of two that are named together, and over the files that are found in a directory."""
    (repo / "main:decl.yaml").write_text("of the working tree\n", encoding="utf-8")
    name, other = resolve(["main:decl.yaml", "main:later.yaml"])
    assert (name, other) == ("./main:decl.yaml", "main:later.yaml")
    assert paths.tree_of(name) is None
    assert paths.normal(paths.join(".", "main:decl.yaml")) == "./main:decl.yaml"
    assert paths.join("", "main:decl.yaml") == "./main:decl.yaml"


def test_a_file_that_only_one_of_two_revisions_has(repo: Path) -> None:
    """It was added or deleted; of a name that neither has, and of two names, nothing can be said."""
    (repo / "decl.yaml").unlink()
    for old, new, expected in (
        ("v1:later.yaml", "later.yaml", "v1:later.yaml"),
        ("v1:later.yaml", "main:later.yaml", "v1:later.yaml"),
        ("main:decl.yaml", "decl.yaml", "decl.yaml"),
        ("later.yaml", "v1:later.yaml", "v1:later.yaml"),
        ("v1:later.yaml", "sub/deep/a.yaml", None),
        ("v1:nothing.yaml", "nothing.yaml", None),
        ("decl.yaml", "decl.yaml", None),
        ("main:nothing.yaml", "main:later.yaml", None),
    ):
        assert absent(*resolve([old, new])) == expected, (old, new)


@pytest.mark.parametrize(
    "revision",
    [
        "--output=/tmp/x", "-h", "--upload-pack=x", "--all", "v1 --all", "a\nb", "a\0b", "v1\n", "x" * 251, "x" * 99999,
        "", "@{9}", "@{u}", "HEAD^{/nothing such}", "HEAD^{blob}", "^main", "v1..main", "main^@", "main^!",
        "\udcff", "é", "@{-1}", "HEAD~999999999999", "main~0~0~9", "*", "refs/heads/*", "\u202ex",
    ],
)  # fmt: skip
def test_what_is_no_revision_is_no_option_either(revision: str, repo: Path) -> None:
    problem = problem_of(f"{revision}:decl.yaml")
    assert problem.code in ("unknown-revision", "file-not-found")
    assert len(problem.message) < 1000
    assert sorted(path.name for path in repo.iterdir()) == [".git", "decl.yaml", "later.yaml", "sub"]


@pytest.mark.parametrize(
    ("name", "code", "message", "hint"),
    [
        (
            "mian:decl.yaml",
            "unknown-revision",
            "no revision 'mian'",
            "`git branch --all` lists the branches",
        ),
        (":decl.yaml", "unknown-revision", "no revision ''", "HEAD:decl.yaml"),
        ("aten::add.Tensor", "file-not-found", "no file 'aten::add.Tensor'", "--op aten::add.Tensor"),
        ("v1:later.yaml", "file-not-found", "v1:later.yaml does not exist", None),
        ("v1:v1:decl.yaml", "file-not-found", "v1:v1:decl.yaml does not exist", None),
        ("v1:decl.yml", "file-not-found", "v1:decl.yml does not exist", "did you mean decl.yaml?"),
        ("v1:nothing/x", "file-not-found", "v1:nothing/x does not exist", None),
        ("v1:../decl.yaml", "outside-project", "leads out of the repository", None),
        ("v1:/etc/passwd", "outside-project", "leads out of the repository", None),
        ("v1:sub/../../decl.yaml", "outside-project", "leads out of the repository", None),
    ],
)
@pytest.mark.usefixtures("repo")
def test_what_is_wrong_is_said(name: str, code: str, message: str, hint: str | None) -> None:
    with pytest.raises(InputError) as caught:
        load(resolve([name]))
    (problem,) = caught.value.problems
    assert problem.code == code
    assert message in problem.message
    assert hint is None or hint in (problem.hint or "")


def test_outside_of_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    problem = problem_of("main:decl.yaml")
    assert problem.code == "not-a-repository"
    assert "no file 'main:decl.yaml'" in problem.message
    for name in ("GIT_TRACE", "GIT_TRACE_SETUP", "GIT_TRACE2"):  # they go where errors go
        monkeypatch.setenv(name, "1")
    assert problem_of("main:decl.yaml").message == problem.message
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    assert f"not a git repository: '{tmp_path / 'nowhere'}'" in problem_of("main:decl.yaml").message


def test_without_git(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of that name in the working directory is not git."""
    (repo / "git").write_text("#!/bin/sh\ntouch ran\n", encoding="utf-8")
    (repo / "git").chmod(0o755)
    for path in ("", ".", str(repo / "nothing")):
        monkeypatch.setenv("PATH", path)
        assert problem_of("main:decl.yaml").code == "no-git"
    assert not (repo / "ran").exists()


def test_a_repository_that_git_does_not_trust(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert repo
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    problem = problem_of("main:decl.yaml")
    assert problem.code == "not-a-repository"
    assert f"dubious ownership in repository at '{repo}'" in problem.message
    assert f"git config --global --add safe.directory {repo}" in problem.message
