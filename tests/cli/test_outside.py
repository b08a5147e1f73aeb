"""Files outside the project: not read, and nothing of them shown, whatever leads there."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli import universes
from dispatch_cli.api import load_state, load_universes
from dispatch_cli.model.problem import InputError
from tests.cli.support import call

SECRET = "hunter2"
NEIGHBOUR = "credentials.yaml"
ALLOW = "--allow-outside"
FORMATS = ("text", "json", "csv", "markdown", "html")


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
    "../outside/",
    "./link.yaml",
    "folder/credentials.yaml",
    "folder/credential.yaml",
    "folder/../outside/credentials.yaml",
    "declared/../../outside/credentials.yaml",
    "/proc/self/environ",
    "/proc/self/cwd/../outside/credentials.yaml",
    "/etc/passwd",
    "/nowhere/at/all.yaml",
)


def keeps_it(text: str, path: str) -> bool:
    """True if a text shows no content and no name but those of the user's files."""
    return SECRET not in text and "root:" not in text and (NEIGHBOUR in path or NEIGHBOUR not in text)


@pytest.mark.parametrize("path", WAYS_OUT)
@pytest.mark.parametrize("field", ["extends: [{}]", "universe: {}"])
def test_what_a_file_names(field: str, path: str, project: Path) -> None:
    (project / "x.yaml").write_text(f"dispatch: 1\n{field.format(path)}\n", encoding="utf-8")
    for command in ("table", "check-invariants"):
        for format_ in FORMATS:
            result = call(command, "x.yaml", "--format", format_)
            assert result.code == 2
            assert "outside-project" in result.err
            assert "x.yaml:2:" in result.err
            assert ALLOW in result.err
            assert keeps_it(result.out + result.err, path)


@pytest.mark.parametrize("path", [path for path in WAYS_OUT if path.startswith(("./", "folder"))])
def test_a_link_that_the_user_names(path: str) -> None:
    """A pull request can put a link in the place of a file that CI names."""
    for arguments in (
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
    (project / "declared" / "top.yaml").write_text(
        f"dispatch: 1\nextends: [../near.yaml, ../by_link.yaml, '{project}/near.yaml']\n", encoding="utf-8"
    )
    assert load_state(["declared/top.yaml"]).dispatcher.names() == ["m::near"]
    assert load_state([str(project / "declared" / "top.yaml")]).dispatcher.names() == ["m::near"]


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


def test_standard_input_is_in_the_working_directory() -> None:
    assert call("register", "-", stdin=b"dispatch: 1\nextends: [./near.yaml]\n").code == 0
    result = call("register", "-", stdin=b"dispatch: 1\nextends: [../outside/good.yaml]\n")
    assert result.code == 2
    assert "error[outside-project]" in result.err


def test_universes(project: Path) -> None:
    own = Path(universes.__file__).parent / "torch-2.4.json"
    (project / "u.json").symlink_to(own)
    with pytest.raises(InputError):
        load_universes(["u.json"])
    assert load_universes(["u.json"], allow_outside=True)[0].name == "torch-2.4"
