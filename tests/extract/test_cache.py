"""The cache in a folder that others made: nothing in it is believed, waited for, or removed."""

from __future__ import annotations

import os
import tracemalloc
import zlib
from pathlib import Path

import pytest

from dispatch_cli.extract import cache as caches
from dispatch_cli.extract import signing
from dispatch_cli.extract.cache import Cache, key_of
from dispatch_cli.extract.run import run

KEY = key_of("a")
CPP = 'TORCH_LIBRARY(my, m) { m.def("f(Tensor x) -> Tensor"); }\n'


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    return tmp_path / "user" / "dispatch-cli"


def entry(folder: str = "cache", key: str = KEY) -> Path:
    return Path(folder, "extract", f"{key}.json.z")


def test_only_what_this_user_wrote_is_believed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    Cache("cache").put(KEY, {"a": 1})
    assert Cache("cache").get(KEY) == {"a": 1}
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert Cache("cache").get(KEY) is None
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    entry("cache", key_of("b")).write_bytes(entry().read_bytes())
    assert Cache("cache").get(key_of("b")) is None


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_the_secret_is_of_the_user_alone(user: Path) -> None:
    first = signing.signature(b"a")
    secret = user / "secret"
    assert secret.stat().st_mode & 0o777 == 0o600 and signing.signature(b"a") == first != signing.signature(b"", b"a")
    secret.chmod(0o644)
    assert signing.signature(b"a") != first  # others may know it: there is a new one
    assert secret.stat().st_mode & 0o777 == 0o600
    target = user / "target"
    target.write_bytes(b"x" * 32)
    target.chmod(0o600)
    secret.unlink()
    secret.symlink_to(target)
    signing.signature(b"a")
    assert not secret.is_symlink() and target.read_bytes() == b"x" * 32


def test_without_a_place_for_a_secret_nothing_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    Cache("cache").put(KEY, {"a": 1})
    assert not entry().exists()


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


def test_an_entry_that_unpacks_to_very_much_is_passed_over() -> None:
    Cache("cache").put(KEY, {"a": 1})
    for body in (b"[" + b" " * (200 << 20) + b"]", b"[" + b"[]," * (10 << 20) + b"[]]"):
        packed = zlib.compress(body, 9)
        head = caches._head(KEY, packed)
        assert head is not None
        entry().write_bytes(head + b"\n" + packed)
        tracemalloc.start()
        assert Cache("cache").get(KEY) is None
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 200 << 20


@pytest.mark.parametrize("data", [{}, [], {"opened": [], "looked_for": []}, {"opened": 1, "looked_for": []}, 0, [[]]])
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
    assert run(["src"], cache="cache").unaccounted == ()
    Path("src/b.cpp.in").write_text('TORCH_LIBRARY(tm, m) { m.def("${x}(Tensor x) -> Tensor"); }\n')
    cached = run(["src"], cache="cache").unaccounted
    assert cached == run(["src"]).unaccounted != ()
