"""Links in a project: a pull request can add them, and they lead nowhere outside, for reading and for writing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dispatch_cli.answers.shared.source_lines import line_at
from dispatch_cli.api import load_state
from dispatch_cli.declarations.loader import load
from dispatch_cli.declarations.project_folder import project_folder
from tests.cli.support import call

GOOD = "dispatch: 1\noperators: [{func: 'm::near() -> ()'}]\n"
SECRET = "hunter2"
GUARD = f"""\
dispatch: 1
operators: [{{func: 'm::op(Tensor x) -> Tensor'}}]
guards:
  - {{op: 'm::op', key: CPU, kernel: {SECRET}}}
"""
"""It is broken, so a finding has the place of its line."""


@pytest.fixture(autouse=True)
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory is a project; so is a folder beside it, to which a link in the project leads."""
    for name in ("repo", "secret"):
        (tmp_path / name / ".git").mkdir(parents=True)
    (tmp_path / "secret" / "conf.yaml").write_text(f"password: {SECRET}\n", encoding="utf-8")
    (tmp_path / "secret" / "good.yaml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "repo" / "near.yaml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "repo" / "declarations").symlink_to(tmp_path / "secret")
    monkeypatch.chdir(tmp_path / "repo")
    return tmp_path / "repo"


@pytest.mark.parametrize("mark", [".git", None])
@pytest.mark.parametrize("whole", [False, True])
def test_a_folder_that_is_a_link_is_no_project(mark: str | None, whole: bool, repo: Path) -> None:
    """Whatever marks there are on the other side; where the working directory has none, it is the project."""
    if mark is None:
        (repo / ".git").rmdir()
    for name in ("conf.yaml", "good.yaml", "nothing.yaml", "deeper/conf.yaml"):
        path = f"{repo}/declarations/{name}" if whole else f"declarations/{name}"
        for command in (["check-invariants"], ["register", "near.yaml", "--universe"], ["explain", "--from-error"]):
            result = call(*command, path)
            assert result.code == 2, (command, path)
            assert "a link that leads out of the project" in result.err
            assert SECRET not in result.out + result.err
    assert call("register", "declarations/good.yaml", "--allow-outside").code == 0


def test_links_in_the_project_lead_to_each_other(repo: Path) -> None:
    (repo / "real" / "deep").mkdir(parents=True)
    (repo / "sub").mkdir()
    (repo / "real" / "deep" / "a.yaml").write_text("dispatch: 1\nextends: [../../near.yaml]\n", encoding="utf-8")
    (repo / "sub" / "link").symlink_to("../real/deep")
    (repo / "here").symlink_to(".")
    for file in ("sub/link/a.yaml", "here/sub/link/a.yaml", f"{repo}/sub/link/a.yaml"):
        assert load_state([file]).dispatcher.names() == ["m::near"]
        assert project_folder(file) == os.path.realpath(repo)


@pytest.mark.parametrize(
    "options",
    [
        ("--format", "json", "-o"),
        ("--fail-on", "none", "--step-summary"),
        ("--update-baseline", "--baseline"),
    ],
)
def test_nothing_is_written_through_a_link(options: tuple[str, ...], repo: Path) -> None:
    outside = repo.parent / "secret"
    (outside / "there").write_text(SECRET, encoding="utf-8")
    (repo / "there").symlink_to(outside / "there")
    (repo / "new").symlink_to(outside / "new")
    before = sorted(outside.iterdir())
    for target in ("declarations/new", "there", "new", f"{repo}/there"):
        result = call("check-invariants", "near.yaml", *options, target)
        assert result.code == 2, target
        assert "a link that leads out of the project" in result.err
    assert (outside / "there").read_text(encoding="utf-8") == SECRET
    assert sorted(outside.iterdir()) == before


def test_the_summary_of_a_runner_is_outside(repo: Path) -> None:
    summary = repo.parent / "summary.md"
    assert call("check-invariants", "near.yaml", "--step-summary", str(summary), "--fail-on", "none").code == 0
    assert summary.read_text(encoding="utf-8").startswith("## dispatch-cli check-invariants")


@pytest.mark.parametrize("format_", ["text", "markdown", "html", "github"])
def test_a_file_that_is_called_like_standard_input(format_: str, repo: Path) -> None:
    (repo / "-").symlink_to(repo.parent / "secret" / "lines")
    lines = [f"stolen line {number} CPU" for number in range(1, 9)]
    (repo.parent / "secret" / "lines").write_text("\n".join(lines), encoding="utf-8")
    result = call("check-invariants", "-", "--format", format_, stdin=GUARD.encode())
    assert result.code == 1
    assert "stolen" not in result.out + result.err


def test_a_file_that_has_changed_shows_what_was_read(repo: Path) -> None:
    """A link that is put in its place while the command runs leads nowhere."""
    (repo / "a.yaml").write_text(GUARD, encoding="utf-8")
    (guard,) = load(["a.yaml"]).guards
    (repo / "a.yaml").unlink()
    (repo / "a.yaml").symlink_to(repo.parent / "secret" / "conf.yaml")
    assert guard.span is not None
    assert line_at(guard.span) == GUARD.split("\n")[3]
