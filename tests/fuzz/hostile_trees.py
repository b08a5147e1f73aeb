"""Trees of files, YAML of torchgen and build files that are small and ask for very much, by kind.

`tests.fuzz.hostile` reads each in three sizes; those of `REVISIONS` are repositories, whose ``HEAD:src`` is read.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from tests.files.support import git, repository
from tests.fuzz.hostile_cpp import BLOCK, Hostile, lines
from tests.fuzz.hostile_python import HEAD, OPERATOR

SOURCE = {"a.py": HEAD + OPERATOR, "b.cpp": BLOCK}
NATIVE = "- func: f{n}(Tensor self) -> Tensor\n  dispatch:\n    CPU: f{n}\n"


def ignoring(make: Callable[[int], str], files: int = 200) -> Callable[[int], Mapping[str, str]]:
    """A ``.gitignore``, beside some files."""
    some = {f"d{number}/f{number}.py": HEAD for number in range(files)}
    return lambda count: {".gitignore": make(count), **some, **SOURCE}


def native(make: Callable[[int], str]) -> Callable[[int], Mapping[str, str]]:
    return lambda count: {"native_functions.yaml": NATIVE.replace("{n}", "") + make(count), **SOURCE}


def backend(make: Callable[[int], str]) -> Callable[[int], Mapping[str, str]]:
    head = "backend: XLA\ncpp_namespace: torch_xla\n"
    return lambda count: {"xla_native_functions.yaml": head + make(count), **SOURCE}


def build(name: str, make: Callable[[int], str]) -> Callable[[int], Mapping[str, str]]:
    """A build file, beside two sources that register the same, for which it is read."""
    return lambda count: {name: make(count), "x/a.cpp": BLOCK, "x/b.cpp": BLOCK, "y/a.cpp": BLOCK}


def nested(count: int) -> Mapping[str, str]:
    """Folders in each other, each with a ``.gitignore``."""
    results: dict[str, str] = {}
    for depth in range(count):
        folder = "d/" * depth
        results[f"{folder}.gitignore"] = lines("*a@*b\n", 100)
        results[f"{folder}f.py"] = HEAD
    return results


def anchors(count: int) -> str:
    head = "a0: &a0 [x, x]\n" + lines("a@: &a@ [*a^, *a^]\n", count)
    return f"{head}supported:\n- add\n"


TREES: dict[str, Hostile] = {
    ".gitignore with names": Hostile(40_000, ignoring(lambda n: lines("name@.py\n", n))),
    ".gitignore with stars": Hostile(40_000, ignoring(lambda n: lines("*name@*.py\n", n))),
    ".gitignore with folders": Hostile(40_000, ignoring(lambda n: lines("**/x@/**/*.py\n", n))),
    ".gitignore with one folder again": Hostile(40_000, ignoring(lambda n: lines("x@/f1.py\n", n))),
    ".gitignore with long patterns": Hostile(200, ignoring(lambda n: lines("*a@" * 1300 + "\n", n))),
    ".gitignore with brackets": Hostile(4000, ignoring(lambda n: lines("[a-z@][!0-9][[:alpha:]]*.py\n", n))),
    ".gitignore of a megabyte": Hostile(1_040_000, ignoring(lambda n: "x\n" * (n // 2))),
    ".gitignore in each folder": Hostile(150, nested),
    ".gitmodules with blanks": Hostile(1_000_000, lambda n: {".gitmodules": f"path = a{' ' * n}b\n", **SOURCE}),
    "empty files": Hostile(8000, lambda n: {f"d{k % 90}/f{k}.py": "" for k in range(n)}),
    "links": Hostile(4000, lambda n: {f"l{k}.py": f"->l{k + 1}.py" for k in range(n)} | SOURCE),
    # YAML
    "aliases that double": Hostile(60, native(lambda n: "- x: &a0 [a, a]\n" + lines("- x: &a@ [*a^, *a^]\n", n))),
    "aliases that double, of a backend": Hostile(60, backend(anchors)),
    "lists in each other": Hostile(4000, native(lambda n: f"- func: {'[' * n}{']' * n}\n")),
    "mappings in each other": Hostile(4000, native(lambda n: f"- func: {'{a: ' * n}1{'}' * n}\n")),
    "operators": Hostile(8000, native(lambda n: "".join(NATIVE.replace("{n}", str(k)) for k in range(n)))),
    "a schema with many arguments": Hostile(
        20_000, native(lambda n: f"- func: g({lines('Tensor x@', n, ', ')}) -> Tensor\n")
    ),
    "a schema with many brackets": Hostile(20_000, native(lambda n: f"- func: g(Tensor{'[]' * n} x) -> Tensor\n")),
    "a schema with many results": Hostile(
        20_000, native(lambda n: f"- func: g(Tensor x) -> ({lines('Tensor', n, ', ')})\n")
    ),
    "a schema of parentheses": Hostile(20_000, native(lambda n: f"- func: g{'(' * n}Tensor x{')' * n} -> Tensor\n")),
    "a schema with a long default": Hostile(200_000, native(lambda n: f'- func: g(str x="{"a" * n}") -> Tensor\n')),
    "keys of one operator": Hostile(
        20_000, native(lambda n: f"- func: g(Tensor x) -> Tensor\n  dispatch:\n    {lines('K@', n, ', ')}: g\n")
    ),
    "many keys": Hostile(
        8000, native(lambda n: "- func: g(Tensor x) -> Tensor\n  dispatch:\n" + lines("    K@: g\n", n))
    ),
    "one operator again": Hostile(8000, native(lambda n: NATIVE.replace("{n}", "") * n)),
    "overloads": Hostile(8000, native(lambda n: lines("- func: g.o@(Tensor x) -> Tensor\n", n))),
    "forms of one function": Hostile(
        4000,
        native(
            lambda n: lines(
                "- func: g@.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
                "- func: g@_(Tensor(a!) self) -> Tensor(a!)\n",
                n,
            )
        ),
    ),
    "delegates": Hostile(
        4000, native(lambda n: lines("- func: g@(Tensor self) -> Tensor\n  structured_delegate: g^\n", n))
    ),
    "autogen": Hostile(
        4000, native(lambda n: f"- func: g(Tensor self) -> Tensor\n  autogen: {lines('g.x@', n, ', ')}\n")
    ),
    "derivatives": Hostile(
        4000,
        lambda n: {
            "native_functions.yaml": "".join(NATIVE.replace("{n}", str(k)) for k in range(n)),
            "derivatives.yaml": lines("- name: f@(Tensor self) -> Tensor\n  self: grad\n", n),
        },
    ),
    "derivatives that nothing is of": Hostile(
        8000, lambda n: {"derivatives.yaml": lines("- name: f@(Tensor self) -> Tensor\n  self: grad\n", n), **SOURCE}
    ),
    "names that nearly are operators": Hostile(8000, backend(lambda n: "supported:\n" + lines("- ad@d\n", n))),
    "a long name": Hostile(400_000, backend(lambda n: f"supported:\n- {'a' * n}\n")),
    "operators of a backend again": Hostile(8000, backend(lambda n: "supported:\n" + "- add.Tensor\n" * n)),
    "anchors": Hostile(20_000, native(lambda n: lines("- &a@ func\n", n))),
    "comments": Hostile(40_000, native(lambda n: "# x\n" * n)),
    "quotes": Hostile(40_000, native(lambda n: "- 'a''b'\n" * n)),
    "a block of lines": Hostile(40_000, native(lambda n: "- func: |\n" + "    x\n" * n)),
    "blanks of YAML": Hostile(400_000, native(lambda n: f"- func:{' ' * n}x\n")),
    # build files
    "setup.py with sums": Hostile(
        8000, build("setup.py", lambda n: "s = ['x/a.cpp']\n" + "s = s + s\n" * n + "Extension('x', sources=s)\n")
    ),
    "setup.py with globs": Hostile(
        8000,
        build("setup.py", lambda n: "import glob\n" + lines("Extension('x', sources=glob.glob('**/*@*.cpp'))\n", n)),
    ),
    "setup.py with branches": Hostile(
        8000,
        build(
            "setup.py",
            lambda n: "s = []\n" + lines("if a@:\n    s = s + ['x/a.cpp']\n", n) + "Extension('x', sources=s)\n",
        ),
    ),
    "setup.py with functions": Hostile(
        8000,
        build("setup.py", lambda n: lines("def f@():\n    return f^()\n", n) + f"Extension('x', sources=f{n}())\n"),
    ),
    "setup.py with texts that double": Hostile(
        60, build("setup.py", lambda n: "s = 'a'\n" + "s = s + s\n" * n + "Extension('x', sources=[s])\n")
    ),
    "setup.py with texts of lists": Hostile(
        60,
        build(
            "setup.py",
            lambda n: (
                "for a in ['x/', 'y/'] * 99:\n"
                + "  for b in ['a', 'b', a + 'c']:\n"
                + "    a = a + b\n" * n
                + "Extension('x', sources=[a])\n"
            ),
        ),
    ),
    "setup.py with comprehensions": Hostile(
        200,
        build(
            "setup.py",
            lambda n: (
                f"s = [{', '.join(repr(f'{k}.cpp') for k in range(n * 20))}]\n"
                + "s = ['x/' + f for f in s]\n" * n
                + "Extension('x', sources=s)\n"
            ),
        ),
    ),
    "CMake with lists": Hostile(
        8000, build("CMakeLists.txt", lambda n: "set(s x/a.cpp)\n" + "set(s ${s} ${s})\n" * n + "add_library(x ${s})\n")
    ),
    "CMake with variables": Hostile(
        8000,
        build(
            "CMakeLists.txt",
            lambda n: "set(s0 x)\n" + lines("set(s@ ${s^}${s^})\n", n) + f"add_library(x ${{s{n}}}/a.cpp)\n",
        ),
    ),
    "CMake with globs": Hostile(
        8000, build("CMakeLists.txt", lambda n: lines("file(GLOB_RECURSE s@ *@*.cpp)\nadd_library(x ${s@})\n", n))
    ),
    "CMake with branches": Hostile(
        8000,
        build(
            "CMakeLists.txt",
            lambda n: (
                lines("if(A@)\nlist(APPEND s x@.cpp)\nelseif(B@)\nlist(APPEND s x/a.cpp)\nendif()\n", n)
                + "add_library(x ${s})\n"
            ),
        ),
    ),
    "CMake with libraries": Hostile(
        8000, build("CMakeLists.txt", lambda n: lines("add_library(x@ x/a.cpp x/b.cpp)\n", n))
    ),
    "CMake with brackets": Hostile(100_000, build("CMakeLists.txt", lambda n: "(" * n + "#[[" * n)),
    "CMake with bracket comments": Hostile(
        8000, build("CMakeLists.txt", lambda n: f"#[{'=' * n}[\n" + f"]{'=' * (n - 1)}\n" * 20)
    ),
    "CMake with long names": Hostile(400_000, build("CMakeLists.txt", lambda n: f"{'_' * n}(x)\n")),
    "build.toml": Hostile(
        40_000,
        lambda n: {"build.toml": "[general]\n" * n + "nam" * n, "a.cpp": BLOCK.replace("my", "TORCH_EXTENSION_NAME")},
    ),
    "uses of one operator": Hostile(
        1000,
        lambda n: {
            **{f"p{k}/setup.py": "x" for k in range(n)},
            **{f"p{k}/a.cpp": BLOCK.replace("my", "TORCH_EXTENSION_NAME") for k in range(n)},
            **{f"p{k}/u.py": f"torch.ops.n{k}.a\n" for k in range(n)},
        },
    ),
    "files that register the same": Hostile(1000, lambda n: {f"d{k}/a.cpp": BLOCK for k in range(n)}),
}


def written(folder: Path, kind: bytes, content: bytes) -> str:
    """Write an object of git, and give its name."""
    whole = kind + b" %d\0" % len(content) + content
    name = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
    path = folder / ".git" / "objects" / name[:2] / name[2:]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zlib.compress(whole))
    return name


def tree(folder: Path, entries: Iterable[tuple[str, bytes, str]]) -> str:
    """Write a tree of modes, names and objects."""
    content = b"".join(b"%s %s\0" % (mode.encode(), name) + bytes.fromhex(oid) for mode, name, oid in entries)
    return written(folder, b"tree", content)


def committed(folder: Path, top: str) -> None:
    """Make a tree the folder ``src`` of the commit of a new repository, and check nothing out."""
    whole = tree(folder, [("40000", b"src", top)])
    git(folder, "update-ref", "refs/heads/main", git(folder, "commit-tree", "-m", "x", whole).strip())


def trees_of_trees(folder: Path, count: int) -> None:
    """2 to the power of *count* files in a few objects."""
    blob = written(folder, b"blob", (HEAD + OPERATOR).encode())
    top = tree(folder, [("100644", b"a.py", blob), ("100644", b"b.py", blob)])
    for _ in range(count - 1):
        top = tree(folder, [("40000", b"a", top), ("40000", b"b", top)])
    committed(folder, top)


def one_file_often(folder: Path, count: int) -> None:
    """A large file under many names."""
    blob = written(folder, b"blob", HEAD.encode() + b"# x\n" * 200_000)
    committed(folder, tree(folder, [("100644", b"f%05d.py" % k, blob) for k in range(count)]))


def long_name(folder: Path, count: int) -> None:
    """A name of *count* bytes."""
    blob = written(folder, b"blob", (HEAD + OPERATOR).encode())
    committed(folder, tree(folder, [("100644", b"a.py", blob), ("100644", b"b" * count + b".py", blob)]))


def many_names(folder: Path, count: int) -> None:
    """A folder of very many files."""
    blob = written(folder, b"blob", b"x = 1\n")
    committed(folder, tree(folder, [("100644", b"f%06d.py" % k, blob) for k in range(count)]))


def large_links(folder: Path, count: int) -> None:
    """Links whose targets are large."""
    blob = written(folder, b"blob", b"a/" * 10_000_000)
    committed(folder, tree(folder, [("120000", b"l%05d.py" % k, blob) for k in range(count)]))


def pipe(folder: Path, count: int) -> None:
    """Objects that are pipes."""
    blobs = [written(folder, b"blob", b"%d\n" % k + HEAD.encode()) for k in range(count)]
    committed(folder, tree(folder, [("100644", b"f%05d.py" % k, blob) for k, blob in enumerate(blobs)]))
    for blob in blobs:
        path = folder / ".git" / "objects" / blob[:2] / blob[2:]
        path.unlink()
        os.mkfifo(path)


def pipe_of_commit(folder: Path, _: int) -> None:
    """The commit is a pipe."""
    blob = written(folder, b"blob", HEAD.encode())
    committed(folder, tree(folder, [("100644", b"a.py", blob)]))
    name = git(folder, "rev-parse", "HEAD").strip()
    path = folder / ".git" / "objects" / name[:2] / name[2:]
    path.unlink()
    os.mkfifo(path)


REVISIONS: dict[str, tuple[int, Callable[[Path, int], None]]] = {
    "trees of trees": (24, trees_of_trees),
    "one file under many names": (4000, one_file_often),
    "a long name": (50_000_000, long_name),
    "a folder of many files": (200_000, many_names),
    "links with large targets": (1000, large_links),
    "objects that are pipes": (40, pipe),
    "a commit that is a pipe": (1, pipe_of_commit),
}
"""Kinds of repositories: the greatest size, and what makes one of a size in an empty one."""


def make_repository(folder: Path, make: Callable[[Path, int], None], count: int) -> int:
    """A repository in a folder, and the bytes of its objects."""
    make(repository(folder), count)
    objects = (path for path in (folder / ".git" / "objects").rglob("*") if path.is_file())
    return sum(path.stat().st_size for path in objects)
