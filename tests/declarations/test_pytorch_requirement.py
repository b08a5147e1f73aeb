"""The state that the packaging files of a project allow."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from dispatch_cli.declarations.pytorch_requirement import newest_allowed

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
        ("~=2.9", "torch-2.15", True),
        ("^2.4", "torch-2.15", True),
        (">=2.4,<2.14", "torch-2.13", True),
        (">=2.4, !=2.15.*", "torch-2.14", True),
        ("<=2.13.1", "torch-2.13", True),
        (">2.0", "torch-2.15", True),
        ("==2.3", "torch-2.4", False),
        ("<2", "torch-2.4", False),
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


@pytest.mark.parametrize(
    "text", ["torch", "torch\n", "torchvision==0.19\n", "# torch==2.4\n", "torch @ file:///torch.whl\n", "torch=={V}\n"]
)
def test_what_is_no_requirement_on_a_version(project: Path, text: str) -> None:
    (project / "requirements.txt").write_text(text, "utf-8")
    assert allowed(project) == ("torch-2.15", None, True)


def test_the_most_permissive_of_several_counts(project: Path) -> None:
    (project / "requirements.txt").write_text("torch==2.9.0\n", "utf-8")
    (project / "requirements_2.13.txt").write_text("torch==2.13.0\n", "utf-8")
    assert allowed(project) == ("torch-2.13", "==2.13.0", True)


def test_only_files_of_the_project_count(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch==2.4.0\n", "utf-8")
    inner = tmp_path / "inner"
    (inner / ".git").mkdir(parents=True)
    assert allowed(inner) == ("torch-2.15", None, True)


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


def test_a_byte_order_mark_before_a_requirement(project: Path) -> None:
    (project / "requirements.txt").write_text("\ufefftorch==2.5.1\n", encoding="utf-8")
    assert allowed(project)[0] == "torch-2.5"


@pytest.mark.parametrize("line", ["torch>=1.{}.{},<2.0\n", "torch<1.0  # {} {}\n", "torch>=1" + ",>=1" * 9 + "\n"])
def test_many_requirements_take_little_time(project: Path, line: str) -> None:
    text = "".join(line.format(number % 100, number) for number in range(20_000))
    (project / "requirements.txt").write_text(text[: 1 << 19])
    start = time.process_time()
    allowed(project)
    assert time.process_time() - start < 3
