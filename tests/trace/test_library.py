"""Building the recorder: where it cannot be done, an error says why; what was built is kept."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from dispatch_cli.model.problem import InputError
from dispatch_cli.trace.build import library_for
from tests.trace.recorded import has_compiler


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder."""
    monkeypatch.setenv("DISPATCH_CLI_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def python_with(folder: Path, headers: bool) -> str:
    """A Python that finds a package named torch in a folder, and headers of its own."""
    package = folder / "torch"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("def compiled_with_cxx11_abi():\n    return True\n", encoding="utf-8")
    (package / "version.py").write_text("__version__ = '2.99.0'\n", encoding="utf-8")
    if headers:
        dispatcher = package / "include" / "ATen" / "core" / "dispatch"
        dispatcher.mkdir(parents=True)
        (dispatcher / "Dispatcher.h").write_text("", encoding="utf-8")
    include = package / "python"
    include.mkdir()
    (include / "Python.h").write_text("", encoding="utf-8")
    paths = f"import sysconfig\nsysconfig.get_paths = lambda: {{'include': {str(include)!r}}}\n"
    (folder / "sitecustomize.py").write_text(paths, encoding="utf-8")
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{folder}" exec "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    return str(python)


def built(python: str) -> Path:
    """The library."""
    with TemporaryDirectory() as folder:
        return Path(library_for(python, folder))


def refused(python: str) -> str:
    """The reason why nothing is built."""
    with pytest.raises(InputError) as caught:
        built(python)
    (problem,) = caught.value.problems
    assert problem.code == "no-recorder"
    assert problem.message.startswith("the recorder cannot be built: ")
    return problem.message


def test_no_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch").mkdir()  # of the directory in which the command runs: a program would not import it, either
    (tmp_path / "torch" / "__init__.py").write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert "there is no PyTorch that it can import" in refused(sys.executable)


def test_what_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "cannot be run: no such file" in refused(str(tmp_path / "none"))
    assert "there are no C++ headers" in refused(python_with(tmp_path / "bare", headers=False))
    python = python_with(tmp_path, headers=True)
    monkeypatch.setenv("CXX", "no-such-compiler -O2")
    assert not has_compiler()
    assert "there is no C++ compiler no-such-compiler -O2" in refused(python)
    with monkeypatch.context() as patch:
        patch.delenv("CXX")
        patch.setenv("PATH", str(tmp_path / "nothing"))
        assert "there is no C++ compiler on the PATH" in refused(python)
    (tmp_path / "torch" / "python" / "Python.h").unlink()
    assert "torch/python/Python.h" in refused(python)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 0", "has made no library, and says no error"),
        ("kill -9 $$", "cannot make the library: it was ended by signal 9"),
        ('for word; do [ "$last" = -o ] && echo no > "$word"; last=$word; done', " cannot load what "),
        ("head -c 60000 /dev/zero | tr '\\0' x >&2; exit 1", "exited with 1\nxxxx"),
    ],
)
def test_what_a_compiler_makes(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, script: str, said: str
) -> None:
    """Nothing is kept that cannot be loaded: it would be there for the next run, too."""
    compiler = tmp_path / "compiler"
    compiler.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    message = refused(python_with(tmp_path / "with", headers=True))
    assert said in message
    assert len(message) < 2000
    assert [path for path in cache.rglob("*") if path.is_file()] == []


COPIES = 'for word; do [ "$last" = -o ] && cp "{library}" "$word"; last=$word; done\n'
"""A compiler that makes a library which can be loaded."""


def compiler_in(folder: Path, log: Path) -> Path:
    """A compiler that notes its calls."""
    compiler = folder / "compiler"
    spec = importlib.util.find_spec("_ctypes")
    assert spec is not None
    compiler.write_text(f'#!/bin/sh\n{COPIES.format(library=spec.origin)}echo >> "{log}"\n', encoding="utf-8")
    compiler.chmod(0o755)
    return compiler


def test_built_once(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """And anew where PyTorch, the compiler or its options are others."""
    torch, log = tmp_path / "with" / "torch", tmp_path / "log"
    compiler = compiler_in(tmp_path, log)
    monkeypatch.setenv("CXX", str(compiler))
    python = python_with(tmp_path / "with", headers=True)
    library = built(python)
    assert [path for path in cache.rglob("*") if path.is_file()] == [library]
    assert "compiling the recorder, once for this PyTorch" in capfd.readouterr().err
    assert built(python) == library
    assert capfd.readouterr().err == ""
    assert log.read_text(encoding="utf-8") == "\n"
    (torch / "version.py").write_text("__version__ = '2.99.1'\n", encoding="utf-8")
    another = built(python)
    monkeypatch.setenv("CXX", f"{compiler} -g0")
    assert len({library, another, built(python)}) == log.read_text(encoding="utf-8").count("\n") == 3


@pytest.mark.parametrize("is_checkout", [True, False])
def test_a_cache_that_others_can_fill(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], is_checkout: bool
) -> None:
    """A folder inside a git checkout, and one to which others may write, are not used."""
    monkeypatch.setenv("CXX", str(compiler_in(tmp_path, tmp_path / "log")))
    python = python_with(tmp_path / "with", headers=True)
    kept = built(python)
    assert capfd.readouterr().err == "note: compiling the recorder, once for this PyTorch; this takes up to a minute\n"
    if is_checkout:
        (tmp_path / ".git").mkdir()
    else:
        kept.parent.chmod(0o770)
    assert cache not in built(python).parents
    assert capfd.readouterr().err == "note: compiling the recorder; this takes up to a minute\n"
