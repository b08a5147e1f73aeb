"""Building the logging kernels of ``trace --verify`` for a PyTorch, once for each.

What is built is kept in the user's own cache folder, under a digest of that PyTorch, the compiler and the sources.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from dispatch_cli.capture import process
from dispatch_cli.extract.cache_files import is_own_folder, read_own, user_folder
from dispatch_cli.model.problem import InputError, Problem

SOURCES = Path(__file__).with_name("kernel_log")
COMPILERS = ("c++", "g++", "clang++")
"""Tried in order, where CXX names none."""
SECONDS = 600
"""The time that a compiler has. It takes some seconds, and minutes where the headers are read over a slow network."""
MAX_LIBRARY = 64 << 20
"""Bytes of the library. It has 1 MiB."""
SHOWN_LINES = 8
"""Lines of a compiler's errors that an error message shows."""
MAX_LINE = 500
"""Characters of such a line."""
_FLAGS = ("-std=c++20", "-O1", "-shared", "-fPIC", "-w", "-DNDEBUG", "-fno-access-control")
_ANSWER = b"dispatch-cli: "
_START = f"import sys; sys.path[:] = [one for one in sys.path if one]; say = lambda *all: print('\\n{_ANSWER.decode()}'"
_START += " + __import__('json').dumps(all), file=sys.stderr); "
_WHERE = _START + "from importlib.util import find_spec; found = find_spec('torch'); say(found and found.origin)"
_LOAD = _START + "import torch, ctypes; ctypes.PyDLL(sys.argv[1])"
_ABI = _START + "import torch; say(int(torch.compiled_with_cxx11_abi()))"


def library_for(python: str, before_building: Callable[[], None] | None = None) -> str:
    """The path of the logging kernels for the PyTorch of a Python, built where they have not been yet.

    python: the path of an executable. before_building: called where they have to be built, which takes up to a minute.
    Errors: InputError, where there is no PyTorch, no headers of it, or no compiler, and where building fails.
    """
    if sys.platform == "win32":
        raise _error("cannot be built on Windows", "leave out --verify")
    origin = _answer(python, _WHERE)
    if not isinstance(origin, str):
        raise _error(f"{python} has no PyTorch", "give a Python that has PyTorch: --python PATH")
    torch = Path(origin).parent
    if not (torch / "include" / "ATen" / "core" / "dispatch" / "Dispatcher.h").is_file():
        raise _error(f"there are no C++ headers in {torch}", "use a PyTorch with headers, as its wheels have them")
    compiler = _compiler()
    folder = _folder()
    library = folder / f"{_digest(torch, compiler)}.so"
    if not _is_whole(library):
        if before_building is not None:
            before_building()
        _build(python, torch, compiler, library)
    return os.fspath(library)


def has_compiler() -> bool:
    """Whether there is a C++ compiler."""
    try:
        _compiler()
    except InputError:
        return False
    return True


def _compiler() -> list[str]:
    """The command of the C++ compiler. Errors: InputError."""
    named = os.environ.get("CXX", "")
    with suppress(ValueError):
        words = shlex.split(named)
        if words and (found := shutil.which(words[0])) is not None:
            return [found, *words[1:]]
    if named.strip():
        raise _error(
            f"the C++ compiler {named} of the variable CXX is not there", "install it, or name another one in CXX"
        )
    for name in COMPILERS:
        if (found := shutil.which(name)) is not None:
            return [found]
    raise _error("there is no C++ compiler on the PATH", "install one, or name it in the variable CXX")


def _folder() -> Path:
    """Where the libraries are kept. Errors: InputError."""
    user = user_folder()
    if user is None:
        raise _error("there is no cache folder of the user to keep them in", "set HOME or XDG_CACHE_HOME")
    folder = Path(user) / "kernel-log"
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _error(f"{folder} cannot be made: {(error.strerror or str(error)).lower()}") from None
    if not is_own_folder(folder):
        raise _error(f"{folder} is not a folder of this user")
    return folder


def _digest(torch: Path, compiler: Sequence[str]) -> str:
    """Of everything that decides what is built. Errors: InputError."""
    found = blake2b(digest_size=20)
    try:
        libraries = [path.stat() for path in sorted((torch / "lib").glob("*torch_cpu*"))]
        parts = [os.fspath(torch), (torch / "version.py").read_text("utf-8"), *compiler, *_FLAGS]
        parts += [f"{one.st_size} {one.st_mtime_ns}" for one in libraries]
        parts += [path.read_text("utf-8") for path in sorted(SOURCES.rglob("*")) if path.is_file()]
    except (OSError, ValueError) as error:
        raise _error(f"{torch} cannot be read: {error}") from None
    found.update(json.dumps(parts).encode())
    return found.hexdigest()


def _is_whole(library: Path) -> bool:
    with suppress(OSError):
        return bool(read_own(library, MAX_LIBRARY))
    return False


def _build(python: str, torch: Path, compiler: Sequence[str], library: Path) -> None:
    """Errors: InputError."""
    abi = _answer(python, _ABI)
    if abi not in (0, 1):
        raise _error(f"PyTorch cannot be imported by {python}", "make `import torch` work there")
    include = torch / "include"
    headers = (SOURCES, SOURCES / "stand_in", include, include / "torch" / "csrc" / "api" / "include")
    try:
        with tempfile.TemporaryDirectory(prefix=".build-", dir=library.parent) as directory:
            made = Path(directory) / library.name
            command = [*compiler, *_FLAGS, f"-D_GLIBCXX_USE_CXX11_ABI={abi}", *(f"-I{one}" for one in headers)]
            command += [os.fspath(SOURCES / "kernel_log.cpp"), "-o", os.fspath(made)]
            command += [
                f"-L{torch / 'lib'}",
                "-ltorch_cpu",
                "-lc10",
                *("-Xlinker", "-rpath", "-Xlinker", f"{torch / 'lib'}"),
            ]
            ended = process.run(command, SECONDS, lambda _: False)
            if ended.code is None:
                raise _error(f"{compiler[0]} did not end within {SECONDS} seconds")
            if ended.code != 0:
                how = f"exited with {ended.code}" if ended.code > 0 else f"was ended by signal {-ended.code}"
                raise _error(f"{compiler[0]} {how}{_errors_of(ended.errors)}")
            if not made.is_file():
                raise _error(f"{compiler[0]} has made no library, and says no error")
            loaded = process.run([python, "-c", _LOAD, os.fspath(made)], SECONDS, lambda _: False)
            if loaded.code != 0:
                raise _error(f"{python} cannot load what {compiler[0]} has made{_errors_of(loaded.errors)}")
            made.replace(library)
    except OSError as error:
        raise _error(f"{library.parent}: {(error.strerror or str(error)).lower()}") from None


def _errors_of(text: str) -> str:
    """The lines of an error message that say most, each on a line of its own."""
    said = [line for line in text.splitlines() if line.strip()]
    errors = [line for line in said if "error" in line.lower()] or said
    return "".join(f"\n{textwrap.shorten(line, MAX_LINE)}" for line in errors[:SHOWN_LINES])


def _answer(python: str, code: str) -> Any:
    """What a Python says; None where it says nothing. Errors: InputError where it cannot be run."""
    found: list[Any] = []

    def take(line: bytes) -> bool:
        if line.startswith(_ANSWER):
            found.extend(json.loads(line[len(_ANSWER) :]))
        return False

    try:
        process.run([python, "-c", code], SECONDS, take)
    except OSError as error:
        raise _error(f"{python} cannot be run: {(error.strerror or str(error)).lower()}") from None
    return found[-1] if found else None


def _error(message: str, hint: str | None = None) -> InputError:
    return InputError((Problem("no-logging-kernels", f"cannot build the logging kernels: {message}", hint=hint),))
