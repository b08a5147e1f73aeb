"""The file that an ``#include`` means."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from dispatch_cli.extract.builds.loaded_together import LoadedTogether
from dispatch_cli.extract.sources import Sources
from dispatch_cli.model.extracted import SourceKind
from dispatch_cli.model.source_settings import definition

HEADERS = frozenset({"src/core/macros.h", "src/gpu/macros.h", "src/gpu/core/other.h", "include/lib/api.h"})


@pytest.mark.parametrize(
    ("target", "including", "found"),
    [
        ("macros.h", "src/gpu/a.cu", "src/gpu/macros.h"),
        ("core/macros.h", "src/gpu/a.cu", "src/core/macros.h"),
        ("../core/macros.h", "src/gpu/a.cu", "src/core/macros.h"),
        ("lib/api.h", "src/gpu/a.cu", "include/lib/api.h"),
        ("acros.h", "src/core/b.cpp", None),
        ("torch/library.h", "src/core/b.cpp", None),
    ],
)
def test_a_header_is_found(target: str, including: str, found: str | None) -> None:
    """Beside the file, else where the end of its path says so, nearest to the file."""
    sources = Sources({}, headers=HEADERS)
    assert sources.find(target, including, quoted=True) == found
    if ".." not in target:
        assert sources.find(target, including, quoted=False) == found


def test_directories_of_headers_come_first() -> None:
    sources = Sources({}, headers=HEADERS, include=("src/core",))
    assert sources.find("macros.h", "src/gpu/a.cu", quoted=False) == "src/core/macros.h"
    assert sources.find("macros.h", "src/gpu/a.cu", quoted=True) == "src/gpu/macros.h"


@pytest.mark.parametrize(
    "option",
    [
        "F(",
        "F(a b)=1",
        "F(,)=1",
        "F(1)=1",
    ],
)
def test_names_that_are_no_macros(option: str) -> None:
    with pytest.raises(ValueError, match="a macro has a name"):
        definition(option)


# Files that are known to be loaded together: imports of modules, and lists in build files.


A, B, C, D = FILES = ["a.cpp", "csrc/b.cpp", "csrc/cpu/c.cpp", "csrc/cuda/d.cu"]


@pytest.mark.parametrize(
    ("build", "text", "pairs"),
    [
        ("setup.py", 'CppExtension(name="x", sources=[\n    "a.cpp",  # one\n    "csrc/b.cpp",\n])', {(A, B)}),
        ("setup.py", 'Extension("x", ["a.cpp"])\nExtension("y", ["csrc/b.cpp"])', set()),
        ("setup.py", 'Extension("x", ["a.cpp" if new else "csrc/b.cpp"])', set()),
        ("setup.py", 's = ["a.cpp", "csrc/b.cpp"]\ns.remove("a.cpp")', set()),
        ("setup.py", 'Extension("x", glob.glob("csrc/*.cpp") + ["a.cpp"])', set()),
        ("CMakeLists.txt", "add_library(x SHARED a.cpp csrc/b.cpp)", {(A, B)}),
        ("CMakeLists.txt", 'set(S "a.cpp" ${CMAKE_CURRENT_SOURCE_DIR}/csrc/b.cpp PARENT_SCOPE)', {(A, B)}),
        ("CMakeLists.txt", "if(NEW)\n  set(S a.cpp)\nelse()\n  set(S csrc/b.cpp)\nendif()", set()),
        ("CMakeLists.txt", "if(CUDA)\n  target_sources(x PRIVATE csrc/b.cpp csrc/cuda/d.cu)\nendif()", {(B, D)}),
        ("CMakeLists.txt", "set_source_files_properties(a.cpp csrc/b.cpp PROPERTIES X 1)", set()),
        ("CMakeLists.txt", "set(S a.cpp csrc/b.cpp)\nlist(REMOVE_ITEM S a.cpp)", set()),
    ],
)
def test_lists_of_build_files(
    build: str, text: str, pairs: set[tuple[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(build).write_text(text)
    python = [build] if build == "setup.py" else []
    builds = () if python else (build,)
    together = LoadedTogether(Sources({SourceKind.PYTHON: python}, headers=frozenset(FILES), builds=builds))
    assert {
        (file, other) for file in FILES for other in FILES if file < other and together.is_known(file, other)
    } == pairs


@pytest.mark.parametrize("text", ["[" * 200_000, "set(" * 100_000, "[" + "'a.cpp'," * 100_000, "set(" + "a " * 200_000])
@pytest.mark.parametrize("build", ["setup.py", "CMakeLists.txt"])
def test_lists_take_linear_time(text: str, build: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(build).write_text(text)
    python = [build] if build == "setup.py" else []
    start = time.process_time()
    together = LoadedTogether(Sources({SourceKind.PYTHON: python}, headers=frozenset(FILES), builds=(build,)))
    assert not together.is_known(A, B)
    assert time.process_time() - start < 3
