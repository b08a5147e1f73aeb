"""Files that git ignores are left out: git itself is the judge, if it is there."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from dispatch_cli.extract.left_out import Ignored, WhyLeftOut
from dispatch_cli.extract.walk import walk
from dispatch_cli.files.ignore_rules import IgnoreList, is_left_out, parse_rule, tracked_files
from tests.ends import ends

GIT = {"PATH": os.environ.get("PATH", ""), "GIT_CONFIG_NOSYSTEM": "1", "HOME": os.devnull}

LINES = (
    "*.o", "build/", "/only_top.cpp", "sub/*.cu", "**/deep", "a/**", "a/**/z.cpp", "!keep.cpp", "*", "!*/", "!*.py",
    "doc[0-9].h", "doc[!0-9].h", "x?z", "\\!bang", "\\#hash", "# comment", "trailing   ", "a/b", "/a/b/",
    "**", "**/b/*", "b/**/", "[]x].h", "[a", "\\", "a\\", "*a*b*c", "foo/**/bar/**/baz", "/",
    "//", "!",
    "***", "a**b", "/**/x.h", ".hidden", "[^a-c].c", "[\\]]q", "*.[ch]", "a/", "!a/b/", "a/*", "!a/b",
    "[z-a]x",
)  # fmt: skip
NAMES = ("a", "b", "c", "x.h", "z.cpp", "keep.cpp", "a.o", "doc1.h", "docx.h", "xyz", "!bang", "#hash", "deep", "kept ",
         "trailing", "foo", "bar", "baz", "one.py", ".hidden", "aXbYc", "]x", "]q", "build", "k.c", "q.cu",
         "only_top.cpp",         "sub")  # fmt: skip


def lines(dice: random.Random) -> list[str]:
    return [dice.choice(LINES) if dice.random() < 0.7 else _line(dice) for _ in range(dice.randrange(1, 7))]


def _line(dice: random.Random) -> str:
    parts = (*NAMES[:8], "*", "**", "?", "[a-c]", "[!a]", "*.h", "a*", "*b*")
    text = "/".join(dice.choice(parts) for _ in range(dice.randrange(1, 5)))
    return dice.choice(["", "", "", "/", "!", "!/"]) + text + dice.choice(["", "", "/"])


def tree(folder: Path, dice: random.Random, depth: int = 0) -> None:
    for name in dice.sample(NAMES, 7):
        path = folder / name
        if dice.random() < 0.45 and depth < 3:
            path.mkdir()
            tree(path, dice, depth + 1)
        else:
            path.write_text("")
    if dice.random() < (1 if depth == 0 else 0.25):
        folder.joinpath(".gitignore").write_text("\n".join(lines(dice)) + dice.choice(["", "\n", "\r\n"]))


def ours(folder: Path) -> set[str]:
    """Paths that a walk leaves out; nothing in a folder that is left out."""
    ignored = Ignored(str(folder))
    results: set[str] = set()

    def look(here: Path, parts: tuple[str, ...], lists: tuple[IgnoreList, ...]) -> None:
        lists = (*lists, *ignored.rules(str(here)))
        for path in here.iterdir():
            if path.name == ".git":
                continue
            if is_left_out(lists, (*parts, path.name), path.is_dir()):
                results.add("/".join((*parts, path.name)))
            elif path.is_dir():
                look(path, (*parts, path.name), lists)

    look(folder, (), ignored.above)
    return results


def gits(folder: Path) -> set[str]:
    paths = [str(path.relative_to(folder)) for path in folder.rglob("*") if ".git" not in path.parts]
    done = subprocess.run(
        ["git", "-c", "core.excludesFile=/dev/null", "check-ignore", "-z", "--no-index", "--stdin"],
        input="\0".join(paths).encode(),
        capture_output=True,
        check=False,
        cwd=folder,
        env=GIT,
    )
    assert done.returncode in (0, 1), done.stderr
    return {part.decode() for part in done.stdout.split(b"\0") if part}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="git is the judge")
def test_git_ignores_the_same(tmp_path: Path) -> None:
    compared = 0
    for seed in range(60):
        folder = tmp_path / str(seed)
        folder.mkdir()
        tree(folder, random.Random(seed))
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True, env=GIT)
        theirs = gits(folder)
        # git says of everything in an ignored folder that it is ignored
        top = {path for path in theirs if not any(str(above) in theirs for above in Path(path).parents)}
        assert ours(folder) == top, (seed, sorted(ours(folder) ^ top))
        compared += len(top)
    assert compared > 300


@pytest.mark.parametrize(
    "pattern", ["*a" * 2000 + "b", "**/a/" * 800 + "b", "[" * 4000, "*?" * 2000, "a*" * 2000 + "/b"]
)
def test_no_pattern_takes_long(pattern: str) -> None:
    path = ("a" * 255,) * 40
    with ends():
        rule = parse_rule(pattern)
        for count in range(1, len(path)):
            if rule is not None:
                rule.matches(path[:count], False)


@pytest.mark.skipif(shutil.which("git") is None, reason="git makes the index")
def test_what_git_tracks_is_read_although_a_rule_ignores_it(tmp_path: Path) -> None:
    tmp_path.joinpath(".gitignore").write_text("*.h\nmade/\n")
    for name in ("tracked.h", "csrc/deep.h", "made.h", "made/tracked.h"):
        tmp_path.joinpath(name).parent.mkdir(exist_ok=True)
        tmp_path.joinpath(name).write_text("TORCH_LIBRARY(my, m) {}")
    for command in (["init", "-q"], ["add", "-f", "tracked.h", "csrc/deep.h", "made/tracked.h"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True, env=GIT)
    walked = walk([str(tmp_path)])
    assert sorted(walked.headers) == [str(tmp_path / "csrc/deep.h"), str(tmp_path / "tracked.h")]
    left_out = {part.path for part in walked.left_out if part.reason is WhyLeftOut.IGNORED}
    assert left_out == {str(tmp_path / "made"), str(tmp_path / "made.h")}
    index = tmp_path.joinpath(".git", "index").read_bytes()
    for end in range(0, len(index), 7):
        assert tracked_files(index[:end]) <= tracked_files(index)
