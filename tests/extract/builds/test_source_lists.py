"""Lists of sources in build files: which files are known to be in one library."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from dispatch_cli.extract.builds.cmake import cmake_lists
from dispatch_cli.extract.builds.imports import ModuleImports
from dispatch_cli.extract.builds.setup_py import setup_lists
from dispatch_cli.extract.builds.source_lists import FileLists
from dispatch_cli.extract.sources import Sources
from dispatch_cli.extract.work import OverWork, WorkBudget
from dispatch_cli.model.extracted import SourceKind
from tests.steps import counted

TEXTS = (
    "from " + "." * 200_000 + "x",
    "from a import (\n" * 100_000,
    "from a import b" + " " * 200_000 + "c",
    "import " + "a." * 100_000 + "b",
    "from " + "." * 50_000 + " import " + ", ".join(f"a{number}" for number in range(5_000)),
)


@pytest.mark.parametrize("text", TEXTS)
def test_reading_takes_linear_time(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.py").write_text(text)
    files = [str(tmp_path / "a.py"), str(tmp_path / "b.py")]
    (tmp_path / "b.py").write_text("from . import a")
    start = time.process_time()
    assert ModuleImports(Sources({SourceKind.PYTHON: files})).load_both(*files)
    assert time.process_time() - start < 3


FILES = ["p/a.cpp", "p/csrc/b.cpp", "p/csrc/cpu/c.cpp", "p/csrc/cuda/d.cu", "q/a.cpp"]
A, B, C, D, OTHER = FILES


def together(build: str, text: str) -> set[tuple[str, str]]:
    """The pairs of files that a build file in ``p`` has in one list."""
    work = WorkBudget()
    lists = FileLists(FILES, FILES, work.spend)
    lists.add("p", (cmake_lists if build == "cmake" else setup_lists)(text, "p/build", work.spend))
    return {(file, two) for file in FILES for two in FILES if file < two and lists.has_both(file, two)}


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ('CUDAExtension("x", ["a.cpp", "csrc/b.cpp"])', {(A, B)}),
        ('CppExtension(name="x", sources=["a.cpp", "csrc/b.cpp"])', {(A, B)}),
        ('Extension("x", ["a.cpp"])\nExtension("y", ["csrc/b.cpp"])', set()),
        ('Extension("x", glob.glob("csrc/*.cpp") + ["a.cpp"])', {(A, B)}),
        ('Extension("x", sources=sorted(glob("csrc/**/*.c*", recursive=True)))', {(B, C), (B, D), (C, D)}),
        ('Extension("x", [str(p) for p in (Path(__file__).parent / "csrc").rglob("*.cpp")])', {(B, C)}),
        (
            "here = os.path.dirname(os.path.abspath(__file__))\n"
            'folder = os.path.join(here, "csrc")\n'
            'sources = ["b.cpp"] + glob.glob(os.path.join(folder, "cpu", "*.cpp"))\n'
            'if cuda:\n    sources += ["cuda/d.cu"]\n'
            'Extension("x", sources=[os.path.join(folder, s) for s in sources])',
            {(B, C), (B, D), (C, D)},
        ),
        # only one of them is in a build
        (
            'if new:\n    s = "a.cpp"\nelse:\n    s = "csrc/b.cpp"\nExtension("x", sources=[s, "csrc/cpu/c.cpp"])',
            {(A, C), (B, C)},
        ),
        ('s = ["a.cpp"]\nif new:\n    s = ["csrc/b.cpp"]\nExtension("x", sources=s)', set()),
        ('Extension("x", ["a.cpp" if new else "csrc/b.cpp", "csrc/cpu/c.cpp"])', {(A, C), (B, C)}),
        # what stands before is not known: the rest names a file if it names one
        ('Extension("x", [f"{unknown}/csrc/b.cpp", unknown + "/cpu/c.cpp"])', {(B, C)}),
        ('class Builder:\n    def sources(self):\n        return ["a.cpp", "csrc/b.cpp"]', {(A, B)}),
        ('def lists():\n    return ["a.cpp"] + ["csrc/b.cpp"]\nExtension("x", sources=lists())', {(A, B)}),
        ('print(["a.cpp", "csrc/b.cpp"])', set()),
        ("x = [1, (2", set()),
    ],
)  # fmt: skip
def test_build_scripts(text: str, pairs: set[tuple[str, str]]) -> None:
    assert together("setup", text) == pairs


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("add_library(x SHARED a.cpp csrc/b.cpp)", {(A, B)}),
        ("add_library(x a.cpp) # csrc/b.cpp\nadd_library(y csrc/b.cpp)", set()),
        ('set(SRCS "a.cpp" ${CMAKE_CURRENT_SOURCE_DIR}/csrc/b.cpp PARENT_SCOPE)', {(A, B)}),
        ("file(GLOB SRCS csrc/*.cpp)\nlist(APPEND SRCS a.cpp)\nadd_library(x ${SRCS})", {(A, B)}),
        ("file(GLOB_RECURSE SRCS CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/csrc/*.c*)", {(B, C), (B, D), (C, D)}),
        ("set(ONE a.cpp)\nset(TWO csrc/b.cpp)\ntarget_sources(x PRIVATE ${ONE} ${TWO})", {(A, B)}),
        ("set(ONE a.cpp)\nset(TWO csrc/b.cpp)", set()),
        ("set(SRCS a.cpp)\nadd_library(x ${SRCS})\nset(SRCS csrc/b.cpp)\nadd_library(y ${SRCS})", set()),
        (
            "if(NEW)\n  set(SRCS a.cpp)\nelse()\n  set(SRCS csrc/b.cpp)\nendif()\n"
            "add_library(x ${SRCS} csrc/cpu/c.cpp)",
            {(A, C), (B, C)},
        ),
        ("add_library(x a.cpp)\nif(CUDA)\n  target_sources(x PRIVATE csrc/b.cpp csrc/cuda/d.cu)\nendif()", {(B, D)}),
        ("my_cpp_library(PREFIX x CPU_SRCS ${ROOT}/csrc/b.cpp GPU_SRCS csrc/cuda/d.cu)", {(B, D)}),
        ("set_source_files_properties(a.cpp csrc/b.cpp PROPERTIES X 1)", set()),
        ("set(SRCS a.cpp csrc/b.cpp csrc/cpu/c.cpp)\nlist(REMOVE_ITEM SRCS a.cpp)", {(B, C)}),
        ("add_library(x a.cpp csrc/b.cpp", set()),
        ("endif()\nset()\nlist()\nfile(GLOB)\n)))", set()),
    ],
)
def test_cmake(text: str, pairs: set[tuple[str, str]]) -> None:
    assert together("cmake", text) == pairs


def test_lists_that_double_stay_small() -> None:
    doubled = "\n".join(["x = ['a.cpp']", *["x = x + x"] * 60, "Extension('e', x)"])
    assert together("setup", doubled) == set()
    doubled = "\n".join(["set(X a.cpp)", *["set(X ${X} ${X})"] * 60])
    assert together("cmake", doubled) == set()


@pytest.mark.parametrize(
    ("build", "text"),
    [
        ("cmake", 'set(a x)\n' + 'set(a "${a}${a}")\n' * 60 + "add_library(l ${a})"),
        ("cmake", "set(a " + "x.cpp " * 5000 + ")\nset(b " + "${a} " * 20_000 + ")"),
        ("cmake", "set(a " + "x.cpp " * 5000 + ")\n" + "if(X)\nadd_library(l ${a})\nendif()\n" * 20_000),
        ("cmake", "if(X)\nset(a x.cpp)\n" * 20_000),
        ("cmake", '"' + '\\"' * 200_000),
        ("cmake", "#[[\n" * 200_000),
        ("cmake", "add_library(l [z-a].cpp csrc/[b-a]/*)"),
        ("cmake", "add_library(l " + "**/" * 500 + "x.cpp " + "*a" * 500 + ")"),
        ("setup", 'a = "x"\n' + "a = a + a\n" * 60 + 'Extension("l", [a])'),
        ("setup", 'a = "x"\n' + 'a = f"{a}{a}"\n' * 60 + 'Extension("l", [a])'),
        ("setup", f"a = {['x'] * 5000}\n" + 'if b: a = "x"\n' * 20_000),
        ("setup", f"a = {['x'] * 5000}\n" + "b = [a for x in a]\n" * 200),
        ("setup", 'Extension("l", glob("[z-a].cpp"))'),
    ],
)  # fmt: skip
def test_the_work_is_paid_for(build: str, text: str) -> None:
    work = WorkBudget(100_000)
    lists = FileLists([*FILES, "p/" + "d/" * 60 + "a" * 200], FILES, work.spend)
    read = cmake_lists if build == "cmake" else setup_lists
    with counted() as steps:
        try:
            with work.file("p/build"):
                lists.add("p", read(text, "p/build", work.spend))
        except OverWork as error:
            assert error.at is not None
            assert error.at.file == "p/build"
            assert 1 <= error.at.line <= text.count("\n") + 1
    assert steps[0] <= 10 * min(work.spent["p/build"], 100_000) + 5_000


def test_many_files_of_one_glob_are_together() -> None:
    files = [f"p/{number}.cpp" for number in range(20_000)]
    work = WorkBudget()
    lists = FileLists(files, files, work.spend)
    lists.add("p", cmake_lists("file(GLOB s *.cpp)\nadd_library(x ${s})", "p/build", work.spend))
    assert lists.has_both(files[0], files[-1])


@pytest.mark.parametrize(
    ("glob", "path", "found"),
    [
        ("**/x/**/y/*.cpp", "a/x/b/y/c.cpp", True),
        ("**/x/**/y/*.cpp", "x/y/c.cpp", True),
        ("**/x/**/y/*.cpp", "x/y/z/c.cpp", False),
        ("**/x/*.cpp", "x/a/x/b.cpp", True),
        ("src/**", "src/a/b.cpp", True),
        ("src/**/a.cpp", "src/a.cpp", True),
        ("src/*/a.cpp", "src/a.cpp", False),
        ("[!a].cpp", "b.cpp", True),
        ("[!a].cpp", "a.cpp", False),
    ],
)
def test_globs(glob: str, path: str, found: bool) -> None:
    files = [f"p/{path}", "p/main.cc"]
    work = WorkBudget()
    lists = FileLists(files, files, work.spend)
    lists.add("p", cmake_lists(f"add_library(x {glob} main.cc)", "p/build", work.spend))
    assert lists.has_both(*files) is found
