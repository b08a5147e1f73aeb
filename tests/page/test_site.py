"""``page --all-versions``: a page for each embedded version, and the index that leads to them."""

from __future__ import annotations

import errno
import json
import lzma
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli import bases
from dispatch_cli.answers.history.report import history_report
from dispatch_cli.answers.history.versions import Versions
from dispatch_cli.cli.output import CannotWrite, written_folder
from dispatch_cli.page import versions
from dispatch_cli.page.versions import versions_data
from tests.answers.raw_history import expected
from tests.cli.support import call
from tests.page.support import SITE_VERSIONS, site
from tests.page.test_write import data_of
from tests.support import RECORDINGS

_TAGS, _KERNELS = 3, 4
"""Places in the record of an operator."""
MARKS = {"defined": "+", "gone": "-", "schema": "s", "kernels": "r", "slots": "t"}


def index() -> Any:
    return data_of((site() / "index.html").read_text(encoding="utf-8"))


def page(version: str) -> Any:
    return data_of((site() / f"{version}.html").read_text(encoding="utf-8"))


def cells(data: Any) -> Iterator[tuple[str, str, str, bool]]:
    """Operator, version, marks, and whether the cell leads to a page."""
    for name, *row in data["rows"]:
        for (version, *_), number in zip(data["versions"], row, strict=True):
            marks, _, leads = data["cells"][number]
            yield name, version, "".join(data["marks"][mark][0] for mark in marks), leads


def test_the_marks_are_what_the_dumps_of_every_version_say() -> None:
    """Tags are not in dumps: of those, the embedded states are read as they are."""
    with lzma.open(RECORDINGS / "versions.raw_dumps.json.xz", "rt") as file:
        recorded = json.load(file)
    names = [*recorded[0]["ops"]]
    every = [f"torch-{recording['version']}" for recording in recorded]
    signs = {cell[:2]: cell[2] for cell in cells(versions_data(history_report(Versions(every), names), every))}
    changes = expected(recorded)
    assert {name for name, _ in signs} == {name for name in names if changes[name]}
    for (name, version), marks in signs.items():
        assert set(marks.replace("\N{MIDDLE DOT}", "")) - {"g"} == {
            MARKS[kind] for kind in changes[name].get(version, {})
        }
        if "g" in marks:
            place = every.index(f"torch-{version}")
            before, after = (bases.load(version).record(name)[_TAGS] for version in every[place - 1 : place + 1])
            assert sorted(before) != sorted(after), (name, version)
    assert signs["aten::_scaled_mm", "2.9"] == "g"


@pytest.mark.slow
def test_every_cell_leads_to_the_operator_in_the_page_of_its_version() -> None:
    data = index()
    pages = {version: page(f"torch-{version}") for version, *_ in data["versions"]}
    there = {
        version: {*one["operators"]["name"], *(other["name"] for other in one["higher_order"]["operators"])}
        for version, one in pages.items()
    }
    for name, version, marks, leads in cells(data):
        assert leads == (name in there[version]), (name, version)
        assert (marks in ("", "-")) == (not leads)
    states = [data["about"] for data in pages.values()]
    assert [state["over"] for state in states] == [[version] for version in reversed(SITE_VERSIONS)]
    assert {state["index_page"] for state in states} == {"index.html"}
    assert [(version, file) for version, _, file in data["versions"]] == [
        (version.removeprefix("torch-"), f"{version}.html") for version in reversed(SITE_VERSIONS)
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--all-versions writes a folder; name a new one, such as -o site."),
        (("-o", "file"), "cannot write file: it is a file; name a folder"),
        (("-o", "full"), "cannot write full: the folder is not empty; name a new one"),
        (("-o", "no/such"), "cannot write no/such: No such file or directory"),
        (("-o", "away"), "cannot write away: it is a link that leads out of the project"),
        (("own.yaml", "-o", "new"), "--all-versions cannot be combined with own.yaml: its pages are those of the"),
        (("--base", "torch-2.13", "-o", "new"), "--all-versions cannot be combined with --base: its pages are"),
        (("--trace", "t.json", "-o", "new"), "--all-versions cannot be combined with --trace: its pages are"),
        (("--source-url", "https://github.com/a/b", "-o", "new"), "cannot be combined with --source-url: its"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_work(
    arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    (project / "full").mkdir(parents=True)
    (project / "full" / "kept").touch()
    (project / "file").touch()
    (project / "pyproject.toml").touch()
    (tmp_path / "elsewhere").mkdir()
    (project / "away").symlink_to(tmp_path / "elsewhere")
    monkeypatch.chdir(project)
    before = sorted(project.rglob("*"))
    result = call("page", "--all-versions", *arguments)
    assert (result.code, result.out) == (2, "")
    assert message in " ".join(result.err.split())
    assert sorted(project.rglob("*")) == before


@pytest.mark.slow
def test_a_folder_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "site").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bases, "names", lambda: SITE_VERSIONS[-1:])
    with monkeypatch.context() as patch:
        patch.setattr(versions, "versions_data", _no_space)
        result = call("page", "--all-versions", "-o", "site")
    assert result.code == 2
    assert result.err.endswith("\nError: cannot write site: No space left on device\n")
    assert [*tmp_path.rglob("*")] == [tmp_path / "site"]
    result = call("page", "--all-versions", "-o", "site")
    assert (result.code, result.out) == (0, "")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["index.html", "site", f"{SITE_VERSIONS[-1]}.html"]


@pytest.mark.parametrize("exists", [False, True])
def test_a_folder_is_filled_on_its_own_device(exists: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder can be a mount point: from beside it, nothing can be moved into it."""
    target = tmp_path / "site"
    if exists:
        target.mkdir()
    monkeypatch.chdir(tmp_path)
    with written_folder("site") as folder:
        assert folder.parent == (target if exists else tmp_path)
        (folder / "index.html").touch()
    assert sorted(tmp_path.rglob("*")) == [target, target / "index.html"]


def _folder(target: Path) -> None:
    target.mkdir()


def _link(target: Path) -> None:
    target.symlink_to("../elsewhere")


def _moved(target: Path) -> None:
    target.rename("../elsewhere/moved")
    target.symlink_to("../elsewhere/moved")


def _filled(target: Path) -> None:
    (target / "index.html").write_text("theirs")


@pytest.mark.parametrize(
    ("exists", "meanwhile"), [(False, _folder), (False, _link), (False, Path.touch), (True, _moved), (True, _filled)]
)
def test_what_came_there_during_the_work_is_left_alone(
    exists: bool, meanwhile: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").touch()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(project)
    target = Path("site")
    if exists:
        target.mkdir()
    with pytest.raises(CannotWrite, match=r"^cannot write site: something else was put there"):  # noqa: SIM117
        with written_folder("site") as folder:
            (folder / "index.html").write_text("ours")
            meanwhile(target)
    assert [path.read_text() for path in tmp_path.rglob("index.html")] == ["theirs"] * (meanwhile is _filled)
    assert not [*tmp_path.rglob(".site.*")]


def _no_space(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
