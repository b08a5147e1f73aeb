"""Results of a run over sources, with the settings of a project and of the command line, and with the cache."""

from __future__ import annotations

import os
import tracemalloc
import zlib
from pathlib import Path

import pytest

from dispatch_cli.extract import cache as caches
from dispatch_cli.extract.cache import Cache, is_own_folder, key_of
from dispatch_cli.extract.left_out import WhyLeftOut
from dispatch_cli.extract.run import SourceRun, run
from dispatch_cli.extract.sources import ReadSettings, settings_of_files
from dispatch_cli.model.conditions.condition import Atom, Not
from dispatch_cli.model.problem import InputError
from dispatch_cli.model.sources.extracted import SourceKind
from dispatch_cli.model.sources.source_settings import FileSettings, SourceSettings

CPP = """#include "keys.h"
TORCH_LIBRARY(my, m) {
  m.def("f(Tensor x) -> Tensor");
}
#ifdef WITH_META
TORCH_LIBRARY_IMPL(my, Meta, m) { m.impl("f", &f); }
#endif
TORCH_LIBRARY_IMPL(my, KEY, m) { m.impl("f", &f); }
"""
PYTHON = 'import torch\n\n\n@torch.library.impl("my::f", "CUDA")\ndef f(x):\n    return x\n'


@pytest.fixture(autouse=True)
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"src/f.cpp": CPP, "src/g.py": PYTHON, "inc/keys.h": "#define KEY CPU\n"}.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


INCLUDED = SourceSettings(include=("inc",))


def same(one: SourceRun, other: SourceRun) -> bool:
    return one._replace(lines=len) == other._replace(lines=len)


def test_what_a_run_finds() -> None:
    result = run(["src"], (INCLUDED,))
    assert result.files == ((SourceKind.CPP, 1), (SourceKind.PYTHON, 1))
    assert (result.definitions, result.registrations, result.conditional) == (1, 3, 1)
    assert result.not_understood == () and result.left_out == ()
    assert result.document["dispatch"] == 1
    assert result.lines("src/f.cpp")[2] == '  m.def("f(Tensor x) -> Tensor");'
    assert result.lines("inc/keys.h")[0] == "#define KEY CPU"
    assert result.lines("/etc/passwd") == []


def test_lines_of_a_file_that_was_changed_are_not_shown(tree: Path) -> None:
    result = run(["src"])
    (tree / "src" / "f.cpp").write_text("a secret\n")
    assert result.lines("src/f.cpp") == []


def test_settings_of_some_files() -> None:
    project = SourceSettings(
        FileSettings((), (("A", "1"), ("B", "1")), (), (("key", "CPU"),)),
        (
            FileSettings(("csrc/moe/**",), (("NAME", "_moe"),), ("A",), when=(Atom("defined(MOE)"),)),
            FileSettings(("*.cu",), (("A", "3"),), (), (("key", "CUDA"),), (Atom("cuda"),)),
        ),
    )
    own = SourceSettings(FileSettings((), (("B", "2"),)))
    read = settings_of_files((project, own))
    assert read("other/x.cpp") == ReadSettings((("A", "1"), ("B", "2")), frozenset(), (("key", "CPU"),))
    assert read("csrc/moe/x.cpp") == ReadSettings(
        (("B", "2"), ("NAME", "_moe")), frozenset("A"), (("key", "CPU"),), (Atom("defined(MOE)"),)
    )
    assert read("csrc/moe/y/x.cu") == ReadSettings(
        (("B", "2"), ("NAME", "_moe"), ("A", "3")),
        frozenset(),
        (("key", "CUDA"),),
        (Atom("defined(MOE)"), Atom("cuda")),
    )


def test_macros_decide_which_files_the_build_has() -> None:
    own = FileSettings(("src/f.cpp",), (("MINE", "1"),), when=(Atom("defined(X)"), Not(Atom("defined(MINE)"))))
    project = SourceSettings(FileSettings(()), (own,))
    with_x = SourceSettings(FileSettings((), (("X", "1"),)))
    without = SourceSettings(FileSettings((), undefines=("X",)))
    assert settings_of_files((project, with_x))("src/f.cpp").when == (Not(Atom("defined(MINE)")),)
    whole, part = run(["src"], (project, with_x)), run(["src"], (project, without))
    assert (dict(whole.files)[SourceKind.CPP], dict(part.files)[SourceKind.CPP]) == (1, 0)
    assert not part.not_understood
    assert [(item.path, item.reason) for item in part.left_out] == [("src/f.cpp", WhyLeftOut.NOT_BUILT)]


def test_a_second_run_is_the_same_and_reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(["src"], (INCLUDED,), cache="cache")
    with monkeypatch.context() as patched:
        patched.setattr("dispatch_cli.extract.run.collect", lambda *_: pytest.fail("it reads again"))
        assert same(run(["src"], (INCLUDED,), cache="cache"), first)
    assert same(run(["src"], (INCLUDED,)), first)


@pytest.mark.parametrize(
    "change",
    [
        "src/f.cpp", "src/g.py", "inc/keys.h", "src/new.cpp", "src/new.h", "inc/gone.h", "src/.gitignore",
    ],
)  # fmt: skip
def test_every_change_is_seen(change: str, tree: Path) -> None:
    """Changes of the sources, of headers elsewhere, of files to include; also if no time of a file changes."""
    (tree / "src" / "f.cpp").write_text('#include "gone.h"\n' + CPP)
    before = run(["src"], (INCLUDED,), cache="cache")
    path = tree / change
    texts = {"inc/keys.h": "#define KEY XLA\n", "inc/gone.h": "#define WITH_META\n", "src/.gitignore": "g.py\n"}
    text = texts.get(change, path.read_text().replace("my", "xy") if path.exists() else "#define X\n" + CPP)
    status = path.stat() if path.exists() else None
    path.write_text(text)
    if status is not None:
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    after = run(["src"], (INCLUDED,), cache="cache")
    assert same(after, run(["src"], (INCLUDED,)))
    assert change == "src/new.h" or not same(after, before)


def test_damaged_and_foreign_entries_are_passed_over(tree: Path) -> None:
    first = run(["src"], (INCLUDED,), cache="cache")
    (entry,) = tree.glob("cache/extract/*.json.z")
    good = entry.read_bytes()
    for data in (b"", b"x" * 100, good[:-20], good[:50] + b"\0" + good[51:], good[1:]):
        entry.write_bytes(data)
        assert same(run(["src"], (INCLUDED,), cache="cache"), first)
        assert entry.read_bytes() == good  # written anew


def test_the_folder_stays_small(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Cache("cache")
    value = os.urandom(50_000).hex()
    monkeypatch.setattr(caches, "MAX_FOLDER", 200_000)
    for number in range(8):
        kept.put(key_of(number), [value])
    assert sum(path.stat().st_size for path in tree.glob("cache/extract/*.json.z")) <= 200_000
    assert kept.get(key_of(7)) == [value] and kept.get(key_of(0)) is None


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("native_functions.yaml", "- func: f(Tensor x) -> Tensor\n  variants: [\n", "yaml-syntax"),
        ("ours.yaml", "dispatch: 1\noperators: [\n", "yaml-syntax"),
        ("later.yaml", "dispatch: 7\n", "wrong-type"),
    ],
)
def test_broken_yaml_is_said_and_refused_where_it_is_named(name: str, text: str, code: str, tree: Path) -> None:
    (tree / "src" / name).write_text(text)
    for cache in (None, "cache", "cache"):
        result = run(["src"], (INCLUDED,), cache=cache)
        (broken,) = result.left_out
        assert broken.path == f"src/{name}" and "line " in broken.detail
        assert result.definitions == 1 and result.declarations == ()
        with pytest.raises(InputError) as raised:
            run(["src", f"src/{name}"], cache=cache)
        assert raised.value.problems[0].code == code
        assert raised.value.problems[0].span is not None


def test_templates_are_for_the_audit_alone() -> None:
    Path("t.cpp").write_text('TORCH_LIBRARY(other, m) {\nm.def("f_{{ kind }}_update() -> ()");\n}\n')
    for result in (run(["t.cpp"]), run(["."]), run(["."], cache="cache"), run(["."], cache="cache")):
        places = [(at.split(":")[1], why) for at, _, why in result.not_understood if at.startswith("t.cpp:")]
        why = "this file is a template, which is filled in when the project is built"
        assert places == [("1", why), ("2", why)]


# The cache in a folder that others made: nothing in it is believed, waited for, or removed.


KEY = key_of("a")


def entry() -> Path:
    return Path("cache", "extract", f"{KEY}.json.z")


def test_a_folder_inside_a_checkout_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Cache("cache").put(KEY, {"a": 1})
    assert Cache("cache").get(KEY) == {"a": 1}
    (tmp_path / ".git").mkdir()
    assert Cache("cache").get(KEY) is None
    (tmp_path / "user").mkdir()
    (tmp_path / "user" / "link").symlink_to(tmp_path / "cache")
    assert Cache("user/link").get(KEY) is None
    Cache("other").put(KEY, {"a": 1})
    assert not Path("other").exists()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # a home under git
    Cache(str(tmp_path / "dispatch-cli")).put(KEY, {"a": 1})
    assert Cache(str(tmp_path / "dispatch-cli")).get(KEY) == {"a": 1}


def test_an_entry_of_others_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is their folder."""
    Cache("cache").put(KEY, {"a": 1})
    status, owner = os.fstat, os.geteuid()
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: owner + 1)
        assert Cache("cache").get(KEY) is None and not is_own_folder(Path("cache"))
    monkeypatch.setattr(os, "fstat", lambda file: os.stat_result([*status(file)[:4], owner + 1, *status(file)[5:]]))
    assert Cache("cache").get(KEY) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
def test_an_entry_that_is_no_file_is_passed_over(tmp_path: Path) -> None:
    Cache("cache").put(KEY, {"a": 1})
    entry().rename(tmp_path / "real")
    os.mkfifo(entry())
    assert Cache("cache").get(KEY) is None
    entry().unlink()
    for target in ("/dev/zero", str(tmp_path / "real")):
        entry().symlink_to(target)
        assert Cache("cache").get(KEY) is None
        entry().unlink()


def test_an_entry_that_unpacks_to_very_much_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "MAX_UNPACKED", 1 << 20)
    monkeypatch.setattr(caches, "MAX_ENTRY", 1 << 20)
    Cache("cache").put(KEY, {"a": 1})
    for body in (b"[" + b" " * (20 << 20) + b"]", b"[" + b"[]," * (1 << 20) + b"[]]"):
        entry().write_bytes(zlib.compress(body, 9))
        tracemalloc.start()
        assert Cache("cache").get(KEY) is None
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 8 << 20


def test_what_is_not_of_the_cache_is_not_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "MAX_FOLDER", 10)
    others = tmp_path / "others"
    others.mkdir()
    (others / f"{KEY}.json.z").write_text("theirs")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "extract").symlink_to(others)
    Cache("linked").put(KEY, {"a": 1})
    assert (others / f"{KEY}.json.z").read_text() == "theirs" and Cache("linked").get(KEY) is None
    entry().parent.mkdir(parents=True)
    (entry().parent / "mine.json.z").write_text("x" * 100)
    Cache("cache").put(KEY, {"a": 1})
    assert (entry().parent / "mine.json.z").exists() and Cache("cache").get(KEY) == {"a": 1}
