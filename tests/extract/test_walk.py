"""Files of a tree that are read, and the reasons for the others."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from dispatch_cli.extract.left_out import Exclusion, Walked, WhyLeftOut
from dispatch_cli.extract.walk import walk
from dispatch_cli.files.ignore_rules import IgnoreList
from dispatch_cli.model.problem import InputError
from dispatch_cli.model.sources.extracted import SourceKind

CPP = "TORCH_LIBRARY(a, m) {}\n"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, str | bytes]], Path]:
    monkeypatch.chdir(tmp_path)

    def make(files: dict[str, str | bytes]) -> Path:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return tmp_path

    return make


Make = Callable[[dict[str, "str | bytes"]], Path]


def left_out(walked: Walked) -> dict[str, WhyLeftOut]:
    return {omission.path: omission.reason for omission in walked.left_out}


def test_excluded(tree: Make) -> None:
    root = tree({"a.cpp": CPP, "sub/b.cpp": CPP, "sub/c.cu": CPP, "d_test.cpp": CPP})
    own = Exclusion(None, IgnoreList(["sub/*.cu", "*_test.cpp"]))
    walked = walk([".", "d_test.cpp"], [own])
    assert walked.files == {SourceKind.CPP: ["a.cpp", "sub/b.cpp"]}
    assert left_out(walked) == {"d_test.cpp": WhyLeftOut.EXCLUDED, "sub/c.cu": WhyLeftOut.EXCLUDED}
    project = own._replace(folder=str(root))
    assert walk(["d_test.cpp"], [project]).files == {SourceKind.CPP: ["d_test.cpp"]}


def test_links(tree: Make) -> None:
    root = tree({"p/a.cpp": CPP, "p/sub/b.cpp": CPP, "outside/secret.cpp": CPP})
    for name, target in {
        "circle": ".",
        "out": "../outside",
        "secret.cpp": "../outside/secret.cpp",
        "again.cpp": "a.cpp",
        "gone.cpp": "nowhere.cpp",
        "self.cpp": "self.cpp",
        "again": "sub",
        "up": "../..",
    }.items():
        (root / "p" / name).symlink_to(target)
    walked = walk(["p"])
    assert walked.files == {SourceKind.CPP: ["p/a.cpp", "p/sub/b.cpp"]}
    names = ("out", "secret.cpp", "up", "gone.cpp", "self.cpp")
    assert left_out(walked) == {f"p/{name}": WhyLeftOut.LINK for name in names}


def test_what_cannot_be_read_is_named(tree: Make) -> None:
    root = tree(
        {"a.cpp": CPP, "binary.cpp": b"\x7fELF\0\0", "utf16.py": "x = 1\n".encode("utf-16"), "data.json": b"{\0"}
    )
    os.mkfifo(root / "pipe.cpp")
    with (root / "large.cu").open("wb") as file:
        file.truncate(100 << 20)
    closed = root / "closed"
    closed.mkdir()
    walked = walk(["."])
    assert walked.files == {SourceKind.CPP: ["a.cpp"]}
    assert left_out(walked) == {
        "binary.cpp": WhyLeftOut.BINARY,
        "utf16.py": WhyLeftOut.BINARY,
        "data.json": WhyLeftOut.BINARY,
        "pipe.cpp": WhyLeftOut.NOT_A_FILE,
        "large.cu": WhyLeftOut.TOO_LARGE,
    }


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("binary.cpp", "binary-file"),
        ("pipe.cpp", "not-a-file"),
        ("large.cu", "too-large"),
        ("gone.cpp", "file-not-found"),
        ("nowhere.cpp", "file-not-found"),
        ("self.cpp", "unreadable-file"),
        ("notes.txt", "not-a-source"),
        ("other.yaml", "not-a-source"),
        ("p/secret.cpp", "outside-project"),
    ],
)
def test_what_is_named_must_be_usable(name: str, code: str, tree: Make) -> None:
    root = tree({"binary.cpp": b"\0", "notes.txt": "nothing\n", "other.yaml": "a: b\n", "p/pyproject.toml": ""})
    os.mkfifo(root / "pipe.cpp")
    with (root / "large.cu").open("wb") as file:
        file.truncate(100 << 20)
    (root / "gone.cpp").symlink_to("none.cpp")
    (root / "self.cpp").symlink_to("self.cpp")
    (root / "secret.cpp").write_text(CPP)
    (root / "p" / "secret.cpp").symlink_to("../secret.cpp")
    with pytest.raises(InputError) as raised:
        walk([name])
    assert [problem.code for problem in raised.value.problems] == [code]


def test_a_directory_that_leads_out_of_the_project_is_refused(tree: Make) -> None:
    root = tree({"p/pyproject.toml": "", "outside/a.cpp": CPP})
    (root / "p" / "csrc").symlink_to("../outside")
    with pytest.raises(InputError) as raised:
        walk(["p/csrc"])
    assert raised.value.problems[0].code == "outside-project"
    assert walk(["p/csrc"], allow_outside=True).files == {SourceKind.CPP: ["p/csrc/a.cpp"]}


def test_folders_that_nest_deeply_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(300):
        Path("d").mkdir()
        os.chdir("d")
    Path("a.cpp").write_text(CPP)
    os.chdir(tmp_path)
    walked = walk(["."])
    assert walked.files == {}
    assert [omission.reason for omission in walked.left_out] == [WhyLeftOut.TOO_DEEP]
