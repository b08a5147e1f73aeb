"""Names of macros, and files that are known to be loaded together."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from dispatch_cli.extract.given_names import backend_names
from dispatch_cli.extract.loaded_together import LoadedTogether
from dispatch_cli.extract.sources import Sources
from dispatch_cli.model.sources.extracted import SourceKind
from dispatch_cli.model.sources.source_settings import definition
from dispatch_cli.model.span import Span


@pytest.mark.parametrize("option", ["F(", "F(a b)=1", "F(,)=1", "F(1)=1"])
def test_names_that_are_no_macros(option: str) -> None:
    with pytest.raises(ValueError, match="a macro has a name"):
        definition(option)


A, B, C, D = FILES = ["a.cpp", "csrc/b.cpp", "csrc/cpu/c.cpp", "csrc/cuda/d.cu"]


@pytest.mark.parametrize(
    ("build", "text", "pairs"),
    [
        ("setup.py", 'CppExtension(name="x", sources=[\n    "a.cpp",  # one\n    "csrc/b.cpp",\n])', {(A, B)}),
        ("setup.py", 'Extension("x", ["a.cpp"])\nExtension("y", ["csrc/b.cpp"])', set()),
        ("setup.py", 'Extension("x", ["a.cpp" if new else "csrc/b.cpp"])', set()),
        ("setup.py", 's = ["a.cpp", "csrc/b.cpp"]\nExtension("x", s)', {(A, B)}),
        ("setup.py", 's = ["a.cpp", "csrc/b.cpp"]', set()),
        ("setup.py", 's = ["a.cpp", "csrc/b.cpp"]\ns.remove("a.cpp")\nExtension("x", s)', set()),
        ("setup.py", 'Extension("x", ["a.cpp"], depends=["csrc/b.cpp"])', set()),
        ("setup.py", 'Extension("x", glob.glob("csrc/*.cpp") + ["a.cpp"])', {(A, B)}),
        ("setup.py", 'Extension("x", glob.glob("csrc/**/*.c*", recursive=True))', set()),
        ("CMakeLists.txt", "file(GLOB S csrc/*.cpp)\nadd_library(x a.cpp ${S})", set()),
        ("CMakeLists.txt", "add_library(x SHARED a.cpp csrc/b.cpp)", {(A, B)}),
        (
            "CMakeLists.txt",
            'set(S "a.cpp" ${CMAKE_CURRENT_SOURCE_DIR}/csrc/b.cpp)\nadd_library(x ${S})',
            {(A, B)},
        ),
        ("CMakeLists.txt", "set(S a.cpp csrc/b.cpp)\nset(ALL ${S})\ntarget_sources(x PRIVATE ${ALL})", {(A, B)}),
        ("CMakeLists.txt", "set(S a.cpp csrc/b.cpp PARENT_SCOPE)", set()),
        ("CMakeLists.txt", "set(LINT a.cpp csrc/b.cpp)\nadd_library(x a.cpp)", set()),
        ("CMakeLists.txt", "add_custom_target(lint SOURCES a.cpp csrc/b.cpp)", set()),
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


def test_a_glob_is_compared_with_the_files_of_its_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    compared: list[str] = []

    def matches(name: str, pattern: str) -> bool:
        compared.append(name)
        return fnmatchcase(name, pattern)

    monkeypatch.setattr("dispatch_cli.extract.loaded_together.fnmatchcase", matches)
    monkeypatch.chdir(tmp_path)
    folders = range(50)
    Path("setup.py").write_text("".join(f'Extension("x", glob.glob("d{each}/*.cpp"))\n' for each in folders))
    headers = frozenset(f"d{each}/{name}.cpp" for each in folders for name in "ab")
    together = LoadedTogether(Sources({SourceKind.PYTHON: ["setup.py"]}, headers=headers))
    assert together.is_known("d7/a.cpp", "d7/b.cpp")
    assert len(compared) == len(headers)


def test_constants_with_the_name_of_the_backend_are_read_once() -> None:
    call = "torch.utils.rename_privateuse1_backend"
    files = {f"{number}.py": f'NAME = "npu"\n{call}(NAME)\n{call}(OTHER)\n' for number in range(50)}
    reads: list[str] = []

    def read(file: str) -> str:
        reads.append(file)
        return files[file]

    assert backend_names(files, list(files), read) == [("npu", Span("0.py", 2, 13))]
    assert len(reads) == 2 * len(files)
