"""Files of a tree that are read, and the reasons for the others."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dispatch_cli.extract.ignore import IgnoreList
from dispatch_cli.extract.left_out import WhyLeftOut
from dispatch_cli.extract.python.modules import ModuleIndex
from dispatch_cli.extract.sources import Sources
from dispatch_cli.extract.walk import walk
from dispatch_cli.extract.walked import Exclusion, Walked
from dispatch_cli.model.extracted import SourceKind
from dispatch_cli.model.problem import InputError

CPP = "TORCH_LIBRARY(a, m) {}\n"
OURS = "# a comment\ndispatch: 1\noperators: []\n"
NATIVE = "# header\n- func: f(Tensor x) -> Tensor\n  variants: function\n"
DERIVATIVES = "- name: f(Tensor x) -> Tensor\n  x: grad\n"
BACKEND = "backend: XLA\ncpp_namespace: torch_xla\nsupported:\n  - abs\n"


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


def test_kinds_are_told_by_content(tree: Make) -> None:
    tree(
        {
            "a.cpp": CPP,
            "b.cu": "",
            "c.mm": CPP,
            "d.h": "#pragma once\n",
            "e.py": "import torch\n",
            "tool": "#!/usr/bin/env python3\nimport torch\n",
            "other": "#!/bin/sh\n",
            "matlab.m": "function y = f(x)\n  y = x;\nend\n",
            "objective.m": "#import <Foundation/Foundation.h>\n",
            "whatever.yaml": NATIVE,
            "x.yml": DERIVATIVES,
            "backend.yaml": BACKEND,
            "ours.yaml": OURS,
            "ours.json": '{"dispatch": 1, "operators": []}',
            "flow.yaml": "{dispatch: 1, operators: []}\n",
            "ci.yaml": "on: push\njobs: {}\n",
            "workflow.yaml": "on:\n  workflow_dispatch:\n",
            "package.json": '{"name": "x", "scripts": {"dispatch": 1}}',
            "list.json": "[1, 2]",
            "notes.txt": CPP,
        }
    )
    walked = walk(["."])
    assert walked.files == {
        SourceKind.CPP: ["a.cpp", "b.cu", "c.mm", "objective.m"],
        SourceKind.PYTHON: ["e.py", "tool"],
        SourceKind.NATIVE_FUNCTIONS: ["whatever.yaml"],
        SourceKind.DERIVATIVES: ["x.yml"],
        SourceKind.BACKEND_YAML: ["backend.yaml"],
        SourceKind.DECLARATIONS: ["flow.yaml", "ours.json", "ours.yaml"],
    }
    assert walked.headers == {"a.cpp", "b.cu", "c.mm", "objective.m", "d.h"}
    assert walked.left_out == ()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (CPP, SourceKind.CPP),
        ("import torch\n", SourceKind.PYTHON),
    ],
)
def test_a_named_file_may_have_any_name(text: str, kind: SourceKind, tree: Make) -> None:
    tree({"it.txt": text})
    assert walk(["it.txt"]).files == {kind: ["it.txt"]}


def test_a_named_header_is_read(tree: Make) -> None:
    tree({"a.h": CPP, "b.cpp": CPP})
    assert walk(["a.h", "."]).files == {SourceKind.CPP: ["a.h", "b.cpp"]}


def test_tests_benchmarks_and_examples_are_left_out_and_named(tree: Make) -> None:
    folders = ["test", "my/tests", "unit_tests", "op-tests", "benchmarks", "my/Examples", "docs"]
    read = ["testing", "my/contest", "samplers", "latest"]
    tree({f"{name}/a.cpp": CPP for name in [*folders, *read]} | {"test_a.cpp": CPP})
    walked = walk(["."])
    assert left_out(walked) == dict.fromkeys(folders, WhyLeftOut.TESTS)
    assert walked.files == {SourceKind.CPP: ["test_a.cpp", *sorted(f"{name}/a.cpp" for name in read)]}


def test_what_is_named_of_tests_is_read(tree: Make) -> None:
    tree({"a.cpp": CPP, "tests/unit/tests/b.cpp": CPP, "tests/c/d.cpp": CPP})
    assert walk(["tests"]).files == {SourceKind.CPP: ["tests/c/d.cpp", "tests/unit/tests/b.cpp"]}
    both = walk([".", "tests/c"])
    assert both.files == {SourceKind.CPP: ["a.cpp", "tests/c/d.cpp"]}
    assert left_out(walk([".", "tests"])) == left_out(walk(["."], with_tests=True)) == {}
    assert walk(["tests/unit/tests/b.cpp"]).files == {SourceKind.CPP: ["tests/unit/tests/b.cpp"]}


def test_code_of_others_and_of_builds_is_left_out_and_named(tree: Make) -> None:
    tree(
        {
            "a.cpp": CPP,
            "third_party/b.cpp": CPP,
            "sub/vendor/b.cpp": CPP,
            "node_modules/b.py": "",
            "build/b.cpp": CPP,
            "env/pyvenv.cfg": "",
            "env/lib/b.py": "",
            "x.egg-info/b.py": "",
            "module/.git": "gitdir: ../.git/modules/module\n",
            "module/b.cpp": CPP,
            ".gitmodules": '[submodule "m"]\n\tpath = deps/m\n\turl = https://x\n',
            "deps/m/b.cpp": CPP,
            "deps/c.cpp": CPP,
            "__pycache__/x.py": "",
        }
    )
    walked = walk(["."])
    assert walked.files == {SourceKind.CPP: ["a.cpp", "deps/c.cpp"]}
    assert left_out(walked) == {
        "third_party": WhyLeftOut.VENDORED,
        "sub/vendor": WhyLeftOut.VENDORED,
        "node_modules": WhyLeftOut.VENDORED,
        "build": WhyLeftOut.BUILT,
        "env": WhyLeftOut.VENV,
        "x.egg-info": WhyLeftOut.BUILT,
        "module": WhyLeftOut.REPOSITORY,
        "deps/m": WhyLeftOut.REPOSITORY,
    }


def test_a_path_in_a_folder_that_is_left_out_is_read(tree: Make) -> None:
    tree({"third_party/b.cpp": CPP, "build/gen/c.cpp": CPP, ".gitignore": "build/\n", ".git/HEAD": ""})
    assert walk(["third_party", "build/gen", "."]).files == {SourceKind.CPP: ["third_party/b.cpp", "build/gen/c.cpp"]}


def test_what_git_ignores_is_left_out_and_named(tree: Make) -> None:
    tree({"a.cpp": CPP, "gen.cpp": CPP, "out/b.cpp": CPP, "x.log": "", ".gitignore": "gen.cpp\nout/\n*.log\n"})
    walked = walk(["."])
    assert walked.files == {SourceKind.CPP: ["a.cpp"]}
    assert left_out(walked) == {"gen.cpp": WhyLeftOut.IGNORED, "out": WhyLeftOut.IGNORED}
    assert walk(["gen.cpp"]).files == {SourceKind.CPP: ["gen.cpp"]}


def test_excluded(tree: Make) -> None:
    root = tree({"a.cpp": CPP, "sub/b.cpp": CPP, "sub/c.cu": CPP, "d_test.cpp": CPP})
    own = Exclusion(str(root), IgnoreList(["sub/*.cu", "*_test.cpp"]), True)
    walked = walk([".", "d_test.cpp"], [own])
    assert walked.files == {SourceKind.CPP: ["a.cpp", "sub/b.cpp"]}
    assert left_out(walked) == {"d_test.cpp": WhyLeftOut.EXCLUDED, "sub/c.cu": WhyLeftOut.EXCLUDED}
    project = own._replace(of_named=False)
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


def test_templates_are_not_read(tree: Make) -> None:
    tree({"Register.cpp": "TORCH_LIBRARY(aten, m) {\n  ${registrations}\n}\n", "x.cpp.j2": CPP, "ok.cpp": CPP})
    walked = walk(["."])
    assert walked.files == {SourceKind.CPP: ["ok.cpp"]}
    assert walked.templates == ("Register.cpp", "x.cpp.j2")


@pytest.mark.parametrize("head", ["dispatch: 1\nextracted: true\n", '{"dispatch": 1,\n"extracted": true}'])
def test_what_extract_wrote_is_left_out_of_a_directory(head: str, tree: Make) -> None:
    tree({"a.cpp": CPP, "written.yaml": head, "hand.yaml": "dispatch: 1\n"})
    walked = walk(["."])
    assert walked.files[SourceKind.DECLARATIONS] == ["hand.yaml"]
    assert left_out(walked) == {"written.yaml": WhyLeftOut.EXTRACTED}
    assert walk([".", "written.yaml"]).files[SourceKind.DECLARATIONS] == ["hand.yaml", "written.yaml"]
    assert walk(["written.yaml"]).left_out == ()


# Folders of ``sys.path`` in which modules are looked for.


COUNT = 500


def test_many_files_that_say_folders_take_linear_time() -> None:
    files = [f"d{number}/m.py" for number in range(COUNT)]
    index = ModuleIndex(files, Sources({}))
    start = time.process_time()
    for number, file in enumerate(files):
        index.search([f"d{number}", f"d{number * 7 % COUNT}"], file)
        for name in range(3):
            assert index.absolute(f"unknown{name}", file) is None
    assert time.process_time() - start < 1.5
