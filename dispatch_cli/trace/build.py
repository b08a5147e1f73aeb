"""Build the recorder for a PyTorch: a library of C++ on PyTorch's public headers, which `recorder.py` loads.

usage: PYTHON build.py FOLDER CACHE BESIDE

FOLDER: where it is built. CACHE: the user's own folder where it is kept, under a digest of that PyTorch, the Python,
the compiler and the sources; empty where there is none. BESIDE: the folder from which a program imports first. It
prints {"library": PATH}, or {"error": TEXT, "hint": TEXT}; PATH is null where that Python has no PyTorch but one in
BESIDE. A script of its own: it needs Python 3.8 and its standard library.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
import sysconfig
from pathlib import Path

SOURCES = Path(__file__).absolute().with_name("cpp")
SOURCE = SOURCES / "recorder.cpp"
COMPILERS = ("c++", "g++", "clang++")
"""Tried in order, where CXX names none."""
SECONDS = 600
"""The time that a compiler has. It takes some seconds, and minutes where the headers are read over a slow network."""
SHOWN_LINES = 8
"""Lines of a compiler's errors that an error message shows, each of so many characters:"""
MAX_LINE = 500
FLAGS = ("-std=c++20", "-O1", "-shared", "-fPIC", "-w", "-DNDEBUG", "-fno-access-control")
_IMPORT = "import sys; sys.path[:] = [path for path in sys.path if path]; import torch; "


class NotBuilt(Exception):
    """The recorder cannot be built. hint: what to do about it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message}; {hint}" if hint else message)
        self.message, self.hint = message, hint


def torch_folder() -> Path | None:
    """The folder of the PyTorch that would be imported; None where there is none."""
    own = {str(SOURCES.parent), str(SOURCES.parent.resolve())}
    sys.path[:] = [path for path in sys.path if path not in own]
    return _found_torch()


def _found_torch() -> Path | None:
    spec = importlib.util.find_spec("torch")
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def library_for(torch: Path, folder: Path, cache: Path | None) -> Path:
    """The library for the PyTorch in a folder, built where it has not been yet. Errors: NotBuilt."""
    if sys.platform == "win32":
        raise NotBuilt("there is none for Windows", "record the program on Linux or macOS")
    if not (torch / "include" / "ATen" / "core" / "dispatch" / "Dispatcher.h").is_file():
        raise NotBuilt(f"there are no C++ headers in {torch}", "use a PyTorch with headers, as its wheels have them")
    if not (_python_headers() / "Python.h").is_file():
        raise NotBuilt(
            f"there is no {_python_headers() / 'Python.h'}",
            "install the headers of this Python (the package python3-dev, or python3-devel)",
        )
    compiler = _compiler()
    name = f"{_digest(torch, compiler)}.so"
    if cache is not None and _is_own_file(cache / name):
        return cache / name
    once = ", once for this PyTorch" if cache is not None and os.access(cache, os.W_OK) else ""
    print(f"note: compiling the recorder{once}; this takes up to a minute", file=sys.stderr, flush=True)
    output = folder / name
    _build(torch, compiler, output)
    if cache is not None:
        with contextlib.suppress(OSError):
            new = cache / f"{name}.{os.getpid()}"
            shutil.copyfile(output, new)
            return new.replace(cache / name)
    return output


def _python_headers() -> Path:
    return Path(sysconfig.get_paths()["include"])


def _compiler() -> list[str]:
    """The command of the C++ compiler. Errors: NotBuilt."""
    named = os.environ.get("CXX", "")
    try:
        words = shlex.split(named)
    except ValueError:
        words = []
    path = shutil.which(words[0]) if words else None
    if path is not None:
        return [path, *words[1:]]
    if named.strip():
        raise NotBuilt(
            f"there is no C++ compiler {named}, as CXX has it", "install it, or name another one in the variable CXX"
        )
    for name in COMPILERS:
        path = shutil.which(name)
        if path is not None:
            return [path]
    raise NotBuilt("there is no C++ compiler on the PATH", "install g++ or clang++, or name one in the variable CXX")


def _is_own_file(path: Path) -> bool:
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and status.st_size > 0


def _digest(torch: Path, compiler: list[str]) -> str:
    """Digest of everything that decides what is built. Errors: NotBuilt."""
    parts = [str(torch), sys.version, *compiler, *FLAGS]
    try:
        parts.append((torch / "version.py").read_text("utf-8"))
        libraries = [path.stat() for path in sorted((torch / "lib").glob("*torch_cpu*"))]
        parts += [f"{status.st_size} {status.st_mtime_ns}" for status in libraries]
        parts += [path.read_text("utf-8") for path in sorted(SOURCES.rglob("*")) if path.is_file()]
    except (OSError, ValueError) as error:
        raise NotBuilt(f"{torch} cannot be read: {error}") from None
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=20).hexdigest()


def _build(torch: Path, compiler: list[str], output: Path) -> None:
    """Errors: NotBuilt."""
    abi = _run([sys.executable, "-c", _IMPORT + "print(int(torch.compiled_with_cxx11_abi()))"], "import PyTorch")
    headers = (SOURCES, SOURCES / "stand_in", torch / "include", _python_headers())
    command = [*compiler, *FLAGS, f"-D_GLIBCXX_USE_CXX11_ABI={abi.split()[-1]}", _built_for(torch)]
    command += [f"-I{folder}" for folder in headers]
    command += [str(SOURCE), "-o", str(output), f"-L{torch}/lib", "-ltorch_cpu", "-lc10"]
    command += ["-Xlinker", "-rpath", "-Xlinker", f"{torch}/lib"]
    command += ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else []
    _run(command, "make the library")
    if not output.is_file():
        raise NotBuilt(f"{compiler[0]} has made no library, and says no error")
    load = _IMPORT + "import ctypes; ctypes.PyDLL(sys.argv[1])"
    _run([sys.executable, "-c", load, str(output)], f"load what {compiler[0]} has made")


def _built_for(torch: Path) -> str:
    """The option that has the folder as a string of C++, which escapes characters as JSON does."""
    return f"-DBUILT_FOR={json.dumps(str(torch), ensure_ascii=False)}"


def _run(command: list[str], what: str) -> str:
    """Output of a command. what: the task of the command, as a verb. Errors: NotBuilt."""
    try:
        done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise NotBuilt(f"{command[0]} did not {what} within {SECONDS} seconds") from None
    except OSError as error:
        raise NotBuilt(f"{command[0]} cannot be run: {error.strerror or error}") from None
    if done.returncode == 0:
        return done.stdout.decode("utf-8", "replace")
    lines = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()] or lines
    shown = "".join(f"\n{line[:MAX_LINE]}" for line in errors[:SHOWN_LINES])
    how = f"exited with {done.returncode}" if done.returncode > 0 else f"was ended by signal {-done.returncode}"
    raise NotBuilt(f"{command[0]} cannot {what}: it {how}{shown}")


def main() -> None:
    """Print the path of the library."""
    folder, cache, beside = sys.argv[1:]
    torch = torch_folder()
    sys.path.insert(0, beside)
    answer: dict[str, str | None]
    try:
        if torch is None and _found_torch() is None:
            raise NotBuilt("there is no PyTorch that it can import", "give a Python that has PyTorch: --python PATH")
        path = None if torch is None else library_for(torch, Path(folder), Path(cache) if cache else None)
        answer = {"library": None if path is None else str(path)}
    except NotBuilt as error:
        answer = {"error": error.message, "hint": error.hint}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
