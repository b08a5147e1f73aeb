"""Build the recorder for a PyTorch: a library of C++ on PyTorch's public headers, which `recorder.py` loads.

It is kept in the user's own cache folder, under a digest of that PyTorch, its Python, the compiler and the sources.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.trace.cache import own_folder

SOURCES = Path(__file__).absolute().with_name("cpp")
SOURCE = SOURCES / "recorder.cpp"
COMPILERS = ("c++", "g++", "clang++")
"""Tried in order, where CXX names none."""
SECONDS = 600
"""The time that a compiler has. It takes some seconds, and minutes where the headers are read over a slow network."""
FLAGS = ("-std=c++20", "-O1", "-shared", "-fPIC", "-w", "-DNDEBUG", "-fno-access-control")
_BEFORE = "import sys; sys.path[:] = [path for path in sys.path if path]; "
"""A program imports nothing from the working directory, unless it lies there."""
_FACTS = f"""{_BEFORE}
import importlib.util, json, sysconfig
torch = importlib.util.find_spec("torch")
print(json.dumps([torch and torch.origin, sysconfig.get_paths()["include"], sys.version]))
"""


def library_for(python: str, folder: str) -> str:
    """The path of the recorder's library, built where it has not been yet. A line on standard error says so.

    python: the path of an executable. folder: where it is built; it is kept elsewhere, if that can be. Errors:
    InputError, where there is no PyTorch, where there are no headers, or no compiler, and where building fails.
    """
    return str(_Builder(python).library(Path(folder)))


def _error(message: str, hint: str | None = None) -> InputError:
    return InputError((Problem("no-recorder", f"the recorder cannot be built: {message}", hint=hint),))


def compiler() -> list[str]:
    """The command of the C++ compiler. Errors: InputError."""
    named = os.environ.get("CXX", "").strip()
    with suppress(ValueError):
        for program, *options in (shlex.split(named),) if named else ([name] for name in COMPILERS):
            path = shutil.which(program)
            if path is not None:
                return [path, *options]
    missing = f"there is no C++ compiler {named}, as CXX has it" if named else "there is no C++ compiler on the PATH"
    raise _error(missing, "install g++ or clang++, or name one in the variable CXX")


class _Builder:
    """Builds a library for the PyTorch of a Python. Errors: InputError, in all methods."""

    def __init__(self, python: str) -> None:
        self._python = python
        origin, include, self._version = self._facts()
        self._torch, self._include = Path(origin).parent, Path(include)

    def library(self, folder: Path) -> Path:
        """The library; see `library_for`."""
        if sys.platform == "win32":
            raise self._refusal("there is none for Windows", "record the program on Linux or macOS")
        if not (self._torch / "include" / "ATen" / "core" / "dispatch" / "Dispatcher.h").is_file():
            hint = "use a PyTorch with headers, as its wheels have them"
            raise self._refusal(f"there are no C++ headers in {self._torch}", hint)
        if not (self._include / "Python.h").is_file():
            hint = "install the headers of this Python (the package python3-dev, or python3-devel)"
            raise self._refusal(f"there is no {self._include / 'Python.h'}", hint)
        command = compiler()
        output = folder / f"{self._digest(command)}.so"
        kept, once = output, ""
        with suppress(OSError):
            kept, once = own_folder("recorder") / output.name, ", once for this PyTorch"
        if kept.is_file():
            return kept
        print(f"note: compiling the recorder{once}; this takes up to a minute", file=sys.stderr, flush=True)
        self._build(command, output)
        with suppress(OSError):
            return output.replace(kept)
        return output

    def _facts(self) -> tuple[str, str, str]:
        """PyTorch's own file, the folder of Python's headers, and Python's version."""
        try:
            done = subprocess.run([self._python, "-c", _FACTS], stdout=subprocess.PIPE, check=False)
            origin, include, version = json.loads(done.stdout)
        except OSError as error:
            raise _error(f"{self._python} cannot be run: {(error.strerror or str(error)).lower()}") from None
        except ValueError:
            raise _error(f"{self._python} does not say whether it has PyTorch") from None
        if origin is None:
            hint = "give a Python that has PyTorch: --python PATH"
            raise self._refusal("there is no PyTorch that it can import", hint)
        return origin, include, version

    def _refusal(self, message: str, hint: str | None = None) -> InputError:
        return _error(f"{self._python}: {message}", hint)

    def _digest(self, compiler: list[str]) -> str:
        """Digest of everything that decides what is built."""
        parts = [str(self._torch), self._version, *compiler, *FLAGS]
        try:
            parts.append((self._torch / "version.py").read_text("utf-8"))
            libraries = [path.stat() for path in sorted((self._torch / "lib").glob("*torch_cpu*"))]
            parts += [f"{status.st_size} {status.st_mtime_ns}" for status in libraries]
            parts += [path.read_text("utf-8") for path in sorted(SOURCES.rglob("*")) if path.is_file()]
        except (OSError, ValueError) as error:
            raise self._refusal(f"{self._torch} cannot be read: {error}") from None
        return hashlib.blake2b(json.dumps(parts).encode(), digest_size=20).hexdigest()

    def _build(self, compiler: list[str], output: Path) -> None:
        torch = self._torch
        print_abi = f"{_BEFORE}import torch; print(int(torch.compiled_with_cxx11_abi()))"
        abi = self._run([self._python, "-c", print_abi], "import PyTorch")
        headers = (SOURCES, SOURCES / "stand_in", torch / "include", self._include)
        # JSON escapes characters as C++ does
        built_for = f"-DBUILT_FOR={json.dumps(str(torch), ensure_ascii=False)}"
        command = [*compiler, *FLAGS, f"-D_GLIBCXX_USE_CXX11_ABI={abi.split()[-1]}", built_for]
        command += [f"-I{folder}" for folder in headers]
        command += [str(SOURCE), "-o", str(output), f"-L{torch}/lib", "-ltorch_cpu", "-lc10"]
        command += ["-Xlinker", "-rpath", "-Xlinker", f"{torch}/lib"]
        command += ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else []
        self._run(command, "make the library")
        if not output.is_file():
            raise self._refusal(f"{compiler[0]} has made no library, and says no error")
        load = f"{_BEFORE}import torch, ctypes; ctypes.PyDLL(sys.argv[1])"
        self._run([self._python, "-c", load, str(output)], f"load what {compiler[0]} has made")

    def _run(self, command: list[str], what: str) -> str:
        """Output of a command. what: the task of the command, as a verb."""
        try:
            done = subprocess.run(
                command, capture_output=True, stdin=subprocess.DEVNULL, timeout=SECONDS, check=False, errors="replace"
            )
        except subprocess.TimeoutExpired:
            raise self._refusal(f"{command[0]} did not {what} within {SECONDS} seconds") from None
        except OSError as error:
            raise self._refusal(f"{command[0]} cannot be run: {error.strerror or error}") from None
        if done.returncode == 0:
            return done.stdout
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if "error" in line.lower()] or lines
        shown = "".join(f"\n{line[:500]}" for line in errors[:8])
        how = f"exited with {done.returncode}" if done.returncode > 0 else f"was ended by signal {-done.returncode}"
        raise self._refusal(f"{command[0]} cannot {what}: it {how}{shown}")
