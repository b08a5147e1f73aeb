"""Project files: what they say, where they are looked for, and that whatever is in them is a mistake at the worst."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.declarations.project import find_project
from dispatch_cli.declarations.project_settings import read_project
from dispatch_cli.declarations.pytorch_requirement import newest_allowed
from dispatch_cli.model.names import Severity
from dispatch_cli.model.problem import InputError
from dispatch_cli.model.settings import CheckSettings, Named, Selector
from dispatch_cli.model.span import Span

TEXT = """\
[project]
name = "x"  # select

[tool.dispatch-cli]
select = ["DC1, guard", "stale"]
ignore = "DC101"
fail-on = "info"
baseline = "known.json"
guards = ["a.yaml", "/b.yaml"]

[tool.dispatch-cli.severity]
guard = "warning"
"""


def test_what_a_project_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.toml").write_text(TEXT, encoding="utf-8")
    assert read_project(Path("p.toml"), allow_outside=True) == CheckSettings(
        select=(
            Selector("DC1", Span("p.toml", 5, 11)),
            Selector("guard", Span("p.toml", 5, 17)),
            Selector("stale", Span("p.toml", 5, 25)),
        ),
        ignore=(Selector("DC101", Span("p.toml", 6, 10)),),
        severities=((Selector("guard", Span("p.toml", 12, 1)), Severity.WARNING),),
        fail_on=Severity.INFO,
        baseline=Named("known.json", Span("p.toml", 8, 12)),
        guards=(Named("a.yaml", Span("p.toml", 9, 11)), Named("/b.yaml", Span("p.toml", 9, 21))),
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[tool.dispatch-cli]\n", True),
        ("[ tool . 'dispatch-cli' ]\n", True),
        ('[tool."dispatch-cli".severity]\n', True),
        ("[tool]\ndispatch-cli = {select = 'DC1'}\n", True),
        ("tool.dispatch-cli.select = 'DC1'\n", True),
        ("[[tool.dispatch-cli]]\n", True),
        ("[tool]\ndispatch-cli = 3\n", True),
        ("[tool.dispatch-cli\nselect = 'DC1'\n", True),
        ("# [tool.dispatch-cli]\n", False),
        ("[project]\nname = 'dispatch-cli'\n", False),
        ("[project\ndependencies = ['dispatch-cli']\n", False),
        ("tool = 'dispatch-cli'\n", False),
    ],
)
def test_which_file_speaks_of_this_program(text: str, found: bool, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert (find_project(inner) == tmp_path / "pyproject.toml") is found


def test_the_nearest_file_counts(tmp_path: Path) -> None:
    inner = tmp_path / "a"
    inner.mkdir()
    for folder in (tmp_path, inner):
        (folder / "pyproject.toml").write_text("[tool.dispatch-cli]\n", encoding="utf-8")
    assert find_project(inner) == inner / "pyproject.toml"
    (inner / "pyproject.toml").write_text("[tool.other]\n", encoding="utf-8")
    assert find_project(inner) == tmp_path / "pyproject.toml"
    (inner / "pyproject.toml").unlink()
    (inner / "pyproject.toml").mkdir()
    with pytest.raises(InputError, match="is a directory"):
        find_project(inner)


LONG_KEY = ".".join("a" * 50_000)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("select = " + "[" * 5_000 + "]" * 5_000, "tables and lists nest too deeply"),
        ("a = " + "{a=" * 3_000 + "1" + "}" * 3_000, "tables and lists nest too deeply"),
        (f"{LONG_KEY} = 1", "a key has more than 16 dotted parts"),
        (f"x = {{a = 1, b = [{{{LONG_KEY} = 1}}]}}", "a key has more than 16 dotted parts"),
        ("select = " + "9" * 5_000, "a number has too many digits"),
        ("select = [" + "'x'," * 1_001 + "]", "a table or list has more than 1000 entries"),
        ("[tool" + " " * 200_000 + "x]", "Expected ']' at the end of a table declaration"),
        (" " * 200_000 + "[", None),
    ],
)
def test_a_project_that_means_harm(text: str, message: str | None, tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(f"[tool.dispatch-cli]\n{text}\n", encoding="utf-8")
    assert find_project(tmp_path) == path
    with pytest.raises(InputError) as refused:
        read_project(path)
    (problem,) = refused.value.problems
    assert problem.span is not None
    assert problem.span.line in (1, 2, 3)
    assert message is None or problem.message == message
    assert len(problem.message) < 200
    assert len(problem.line_text or "") <= 160


# The state that the packaging files of a project allow.


STATES = ("torch-2.15", "torch-2.14", "torch-2.13", "torch-2.9", "torch-2.5", "torch-2.4")


def allowed(folder: Path) -> tuple[str, str | None, bool]:
    name, requirement, is_allowed = newest_allowed(str(folder), STATES)
    return name, None if requirement is None else requirement.spec, is_allowed


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "csrc").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("spec", "state", "is_allowed"),
    [
        ("==2.9.1", "torch-2.9", True),
        ("==2.14.0.dev20260719+cpu", "torch-2.14", True),
        ("==2.5.*", "torch-2.5", True),
        ("~=2.9.0", "torch-2.9", True),
        ("^2.4", "torch-2.15", True),
        (">=2.4,<2.14", "torch-2.13", True),
        (">=2.4, !=2.15.*", "torch-2.14", True),
        ("==2.3", "torch-2.4", False),
        ("==2.7.0", "torch-2.9", False),
        (">=3.0", "torch-2.15", False),
    ],
)
def test_a_requirement(project: Path, spec: str, state: str, is_allowed: bool) -> None:
    (project / "requirements.txt").write_text(f"numpy\ntorch{spec}  # pinned\n", "utf-8")
    assert allowed(project / "csrc") == (state, spec, is_allowed)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (
            "pyproject.toml",
            '[project]\ndependencies = [\n  "numpy",\n  "torch>=2.4,<2.14; python_version > \'3.9\'",\n]\n',
        ),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = ">=2.4,<2.14"\n'),
        ("setup.py", "from setuptools import setup\n\nsetup(install_requires=['torch[opt] >=2.4,<2.14'])\n"),
        ("requirements-dev.txt", "torch >= 2.4, < 2.14\n"),
    ],
)
def test_files(project: Path, file: str, text: str) -> None:
    (project / file).write_text(text, "utf-8")
    name, requirement, is_allowed = newest_allowed(str(project / "csrc"), STATES)
    assert (name, is_allowed) == ("torch-2.13", True)
    assert requirement is not None and requirement.span.file.endswith(file)
    assert "torch" in text.splitlines()[requirement.span.line - 1]


def test_the_version_of_pytorchs_own_sources(project: Path) -> None:
    (project / "version.txt").write_text("2.13.0a0\n", "utf-8")
    assert allowed(project) == ("torch-2.15", None, True)
    for name in ("aten", "c10"):
        (project / name).mkdir()
    assert allowed(project / "csrc") == ("torch-2.13", "==2.13.0a0", True)


@pytest.mark.parametrize(
    "text", ["torch", "torch\n", "torchvision==0.19\n", "# torch==2.4\n", "torch @ file:///torch.whl\n", "torch=={V}\n"]
)
def test_what_is_no_requirement_on_a_version(project: Path, text: str) -> None:
    (project / "requirements.txt").write_text(text, "utf-8")
    assert allowed(project) == ("torch-2.15", None, True)


@pytest.mark.parametrize(
    "text",
    [
        "[options]\ninstall_requires =\n    numpy\n    torch>=2.4,<2.10  # or newer\n",
        "[options]\ninstall_requires = torch >=2.4, <2.10\n",
        "[options]\ninstall_requires =\n    torchvision>1\n    # torch<2.5\n    torch[opt]>=2.4,<2.10; a == 'b'\n",
    ],
)
def test_requirements_of_setup_cfg(project: Path, text: str) -> None:
    (project / "setup.cfg").write_text(text)
    state, _, is_allowed = allowed(project)
    assert (state, is_allowed) == ("torch-2.9", True)
