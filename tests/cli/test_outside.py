"""Files outside the project: not read, not written, and nothing of them shown, whatever leads there."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.answers.shared.source_lines import line_at
from dispatch_cli.api import load_state
from dispatch_cli.declarations.loader import load
from dispatch_cli.model.problem import InputError
from tests.cli.support import call

SECRET = "hunter2"
NEIGHBOUR = "credentials.yaml"
ALLOW = "--allow-outside"
FORMATS = ("text", "json", "html")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project is the working directory; beside it are a file with a secret, and links in the project lead there."""
    outside, project = tmp_path / "outside", tmp_path / "project"
    outside.mkdir()
    (outside / NEIGHBOUR).write_text(f"password: {SECRET}\n", encoding="utf-8")
    (outside / "good.yaml").write_text("dispatch: 1\noperators: [{func: 'm::far() -> ()'}]\n", encoding="utf-8")
    (project / "declared").mkdir(parents=True)
    (project / "pyproject.toml").touch()
    (project / "link.yaml").symlink_to(outside / NEIGHBOUR)
    (project / "folder").symlink_to(outside)
    (project / "near.yaml").write_text("dispatch: 1\noperators: [{func: 'm::near() -> ()'}]\n", encoding="utf-8")
    monkeypatch.chdir(project)
    return project


WAYS_OUT = (
    "../outside/credentials.yaml",
    "../outside/credential.yaml",  # there is none, and its neighbour is not suggested
    "./link.yaml",
    "folder/credentials.yaml",
    "declared/../../outside/credentials.yaml",
    "/proc/self/environ",
    "/proc/self/cwd/../outside/credentials.yaml",
    "/etc/passwd",
)


def keeps_it(text: str, path: str) -> bool:
    """True if a text shows no content and no name but those of the user's files."""
    return SECRET not in text and "root:" not in text and (NEIGHBOUR in path or NEIGHBOUR not in text)


@pytest.mark.parametrize("path", WAYS_OUT)
def test_what_a_file_names(path: str, project: Path) -> None:
    (project / "x.yaml").write_text(f"dispatch: 1\nextends: [{path}]\n", encoding="utf-8")
    for format_ in FORMATS:
        result = call("check-invariants", "x.yaml", "--format", format_)
        assert result.code == 2
        assert "outside-project" in result.err
        assert "x.yaml:2:" in result.err
        assert ALLOW in result.err
        assert keeps_it(result.out + result.err, path)


@pytest.mark.parametrize("is_marked", [True, False])
@pytest.mark.parametrize("path", ["./link.yaml", "folder/credentials.yaml", "folder/none.yaml", "folder/good.yaml"])
def test_a_link_that_the_user_names(path: str, is_marked: bool, project: Path) -> None:
    """A pull request can put a link in the place of a file that CI names, whatever marks are on the other side.

    Where the working directory has no mark, it is the project.
    """
    (project.parent / "outside" / ".git").mkdir()
    if not is_marked:
        (project / "pyproject.toml").unlink()
    for arguments in (
        ("register", f"{project}/{path}"),
        ("register", path),
        ("check-invariants", "near.yaml", "--guards", path),
        ("check-invariants", "near.yaml", "--baseline", path),
        ("check-invariants", "near.yaml", "--config", path),
        ("explain", "--from-error", path),
        ("crossref", path),
        ("keys", "--universe", path),
        ("register", "-k", "CPU", "--universe", path),
        ("register", "near.yaml", "--universe", path),
    ):
        result = call(*arguments)
        assert result.code == 2, arguments
        assert "a link that leads out of the project" in result.err, arguments
        assert keeps_it(result.out + result.err, path), arguments


@pytest.mark.parametrize("setting", ['baseline = "{}"', 'guards = ["{}"]'])
@pytest.mark.parametrize("path", ["../outside/new.json", "folder/new.json", "/outside.json", "link.yaml"])
def test_a_project_file(setting: str, path: str, project: Path) -> None:
    text = f"[tool.dispatch-cli]\n{setting.format(path)}\n"
    (project / "pyproject.toml").write_text(text, encoding="utf-8")
    before = sorted((project.parent / "outside").iterdir())
    result = call("check-invariants", "near.yaml", "--update-baseline")
    assert result.code == 2
    assert "pyproject.toml:2:" in result.err
    assert "error[outside-project]" in result.err
    assert keeps_it(result.err, path)
    assert sorted((project.parent / "outside").iterdir()) == before
    assert not Path("/outside.json").exists()


def test_a_project_file_that_is_a_link(project: Path) -> None:
    target = project.parent / "outside" / "settings.toml"
    target.write_text(f"[tool.dispatch-cli]\nselect = {SECRET}\n", encoding="utf-8")
    (project / "pyproject.toml").unlink()
    (project / "pyproject.toml").symlink_to(target)
    result = call("check-invariants", "near.yaml")
    assert result.code == 2
    assert keeps_it(result.err, "")


def test_the_command_line_can_allow_it(project: Path) -> None:
    (project / "x.yaml").write_text("dispatch: 1\nextends: [../outside/good.yaml]\n", encoding="utf-8")
    assert call("register", "x.yaml", "--format", "csv").code == 2
    result = call("register", "x.yaml", "--op", "m::far", ALLOW)
    assert (result.code, result.err) == (0, "")
    (project / "linked.yaml").symlink_to(project.parent / "outside" / "good.yaml")
    assert call("register", "linked.yaml").code == 2
    assert call("register", "linked.yaml", ALLOW).code == 0


@pytest.mark.parametrize("text", ["allow-outside = true", "allow_outside = true"])
def test_no_file_can_allow_it(text: str, project: Path) -> None:
    (project / "pyproject.toml").write_text(f"[tool.dispatch-cli]\n{text}\nguards = ['../outside/good.yaml']\n")
    result = call("check-invariants", "near.yaml")
    assert result.code == 2
    assert "error[unknown-field]" in result.err
    assert "error[outside-project]" in result.err
    (project / "x.yaml").write_text("dispatch: 1\nallow_outside: true\nextends: [../outside/good.yaml]\n")
    result = call("register", "x.yaml")
    assert result.code == 2
    assert "error[outside-project]" in result.err


def test_files_of_the_project_lead_to_each_other(project: Path) -> None:
    """Up to its folder, by links, by whole paths, and from wherever the command is run."""
    (project / "by_link.yaml").symlink_to(project / "near.yaml")
    (project / "here").symlink_to(".")
    (project / "declared" / "top.yaml").write_text(
        f"dispatch: 1\nextends: [../near.yaml, ../by_link.yaml, '{project}/near.yaml']\n", encoding="utf-8"
    )
    assert load_state(["declared/top.yaml"]).dispatcher.names() == ["m::near"]
    assert load_state([str(project / "here" / "declared" / "top.yaml")]).dispatcher.names() == ["m::near"]


@pytest.mark.parametrize("mark", ["pyproject.toml", ".git", None])
def test_which_folder_is_the_project(mark: str | None, project: Path) -> None:
    """The nearest with pyproject.toml or .git; without them the first file's."""
    (project / "pyproject.toml").unlink()
    if mark is not None:
        (project / mark).touch()
    (project / "declared" / "top.yaml").write_text("dispatch: 1\nextends: [../near.yaml]\n", encoding="utf-8")
    if mark is not None:
        assert load_state(["declared/top.yaml"]).dispatcher.names() == ["m::near"]
    else:
        with pytest.raises(InputError) as caught:
            load_state(["declared/top.yaml"])
        (problem,) = caught.value.problems
        assert problem.code == "outside-project"
        assert problem.hint is not None
        assert "the project is the directory declared;" in problem.hint


# What is written, and what is shown of a line.


GUARD = f"""\
dispatch: 1
operators: [{{func: 'm::op(Tensor x) -> Tensor'}}]
guards:
  - {{op: 'm::op', key: CPU, kernel: {SECRET}}}
"""
"""It is broken, so a finding has the place of its line."""


@pytest.mark.parametrize(
    "options",
    [
        ("--format", "json", "-o"),
        ("--fail-on", "none", "--step-summary"),
        ("--update-baseline", "--baseline"),
    ],
)
def test_nothing_is_written_through_a_link(options: tuple[str, ...], project: Path) -> None:
    outside = project.parent / "outside"
    (outside / "there").write_text(SECRET, encoding="utf-8")
    (project / "there").symlink_to(outside / "there")
    (project / "new").symlink_to(outside / "new")
    before = sorted(outside.iterdir())
    for target in ("folder/new", "there", "new", f"{project}/there"):
        result = call("check-invariants", "near.yaml", *options, target)
        assert result.code == 2, target
        assert "a link that leads out of the project" in result.err
    assert (outside / "there").read_text(encoding="utf-8") == SECRET
    assert sorted(outside.iterdir()) == before


def test_the_summary_of_a_runner_is_outside(project: Path) -> None:
    summary = project.parent / "summary.md"
    assert call("check-invariants", "near.yaml", "--step-summary", str(summary), "--fail-on", "none").code == 0
    assert summary.read_text(encoding="utf-8").startswith("## dispatch-cli check-invariants")


@pytest.mark.parametrize("format_", ["text", "github"])
def test_a_file_that_is_called_like_standard_input(format_: str, project: Path) -> None:
    (project / "-").symlink_to(project.parent / "outside" / "lines")
    lines = [f"stolen line {number} CPU" for number in range(1, 9)]
    (project.parent / "outside" / "lines").write_text("\n".join(lines), encoding="utf-8")
    result = call("check-invariants", "-", "--format", format_, stdin=GUARD.encode())
    assert result.code == 1
    assert "stolen" not in result.out + result.err


def test_a_file_that_has_changed_shows_what_was_read(project: Path) -> None:
    """A link that is put in its place while the command runs leads nowhere."""
    (project / "a.yaml").write_text(GUARD, encoding="utf-8")
    (guard,) = load(["a.yaml"]).guards
    (project / "a.yaml").unlink()
    (project / "a.yaml").symlink_to(project.parent / "outside" / NEIGHBOUR)
    assert guard.span is not None
    assert line_at(guard.span) == GUARD.split("\n")[3]
