"""The cache in a folder that others made: nothing in it is believed, waited for, or removed."""

from __future__ import annotations

import os
import tracemalloc
import zlib
from pathlib import Path

import pytest

from dispatch_cli.extract import cache as caches
from dispatch_cli.extract.cache import Cache, key_of
from dispatch_cli.extract.run import run

KEY = key_of("a")
CPP = 'TORCH_LIBRARY(my, m) { m.def("f(Tensor x) -> Tensor"); }\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def entry(folder: str = "cache", key: str = KEY) -> Path:
    return Path(folder, "extract", f"{key}.json.z")


def test_a_folder_inside_a_checkout_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Cache("cache").put(KEY, {"a": 1})
    assert Cache("cache").get(KEY) == {"a": 1}
    entry("cache", key_of("b")).write_bytes(entry().read_bytes())
    assert Cache("cache").get(key_of("b")) is None
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
        entry().write_bytes(caches._head(KEY) + b"\n" + zlib.compress(body, 9))
        tracemalloc.start()
        assert Cache("cache").get(KEY) is None
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 8 << 20


@pytest.mark.parametrize("data", [[], {"opened": [], "looked_for": []}, [[]]])
def test_an_entry_of_another_form_is_passed_over(data: object, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.cpp").write_text(CPP)
    expected = run(["a.cpp"]).document
    monkeypatch.setattr(Cache, "get", lambda *_: data)
    assert run(["a.cpp"], cache="cache").document == expected


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


def test_a_template_is_part_of_what_decides_an_answer() -> None:
    Path("src").mkdir()
    Path("src/a.cpp").write_text(CPP)
    assert run(["src"], cache="cache").not_understood == ()
    Path("src/b.cpp.in").write_text('TORCH_LIBRARY(tm, m) { m.def("${x}(Tensor x) -> Tensor"); }\n')
    cached = run(["src"], cache="cache").not_understood
    assert cached == run(["src"]).not_understood != ()
