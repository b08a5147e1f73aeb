"""Programs run with the recorder in a live PyTorch, and what was recorded of them."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
import tempfile
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli.model.problem import InputError
from dispatch_cli.trace import build
from dispatch_cli.trace.build import compiler, library_for
from dispatch_cli.trace.launch import variables
from tests import in_pytorch
from tests.capture.support import torch_python
from tests.extract.cases import cases
from tests.once import once

LIVE_PROGRAMS = {case.name: case.files for case in cases(Path(__file__).with_name("programs.txt"))}
"""Programs that live PyTorch runs, by what they are about: their files by name."""


def recorder_variables(save: Path, *words: str, **options: Any) -> dict[str, str]:
    """The variables with which the Python of the live PyTorch records a program, of these words."""
    return variables(words, library_of(torch_python()), str(save), **options)


@dataclass
class Recorded:
    """End of a program, and its recording by tags. lines: every line; calls: each with its names looked up."""

    code: int
    out: str
    err: str
    lines: list[Any]
    numbered: dict[str, list[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for line in self.lines[1:]:
            if line[0] in "oflts":
                values = self.numbered.setdefault(line[0], [])
                assert line[1] == len(values)
                values.append(line[2:] if len(line) > 3 else line[2])

    @property
    def head(self) -> dict[str, Any]:
        head: dict[str, Any] = self.lines[0]
        return head

    def tagged(self, tag: str) -> list[Any]:
        return [line[1:] for line in self.lines[1:] if line[0] == tag]

    def calls(self, operator: str = "") -> list[dict[str, Any]]:
        """The calls, of that operator or of all."""
        results = []
        for number, thread, depth, place, start, sequence, forward in self.tagged("c"):
            signature = self.numbered["s"][number]
            name = self.numbered["o"][signature["operator"]]
            file, line, function = self.numbered["l"][place] if place >= 0 else (None, None, None)
            call = {
                **signature,
                "operator": name,
                "thread": self.numbered["t"][thread],
                "depth": depth,
                "file": self.numbered["f"][file] if file is not None else None,
                "line": line,
                "function": function,
                "start": start,
                "sequence": sequence,
                "forward": forward,
            }
            if operator in ("", name):
                results.append(call)
        return results


def run_source(folder: Path, source: str, fresh: bool = False, **settings: Any) -> Recorded:
    """Run a program of that text; see `run`."""
    program = folder / "program.py"
    program.write_text(source, encoding="utf-8")
    return run(program, fresh=fresh, **settings)


def run(
    program: Path, *arguments: str, options: dict[str, int] | None = None, fresh: bool = False, **settings: Any
) -> Recorded:
    """Run a script, or ``-m`` and a module where *program* has no suffix, in the live PyTorch.

    fresh: in a new process, which does not have PyTorch before the program imports it. settings: for `subprocess.run`
    of that.
    """
    save = program.parent / "recording"
    words = ["-m", program.name] if program.suffix != ".py" else [str(program)]
    words += arguments
    added = recorder_variables(save, *words, **{"state": False, **(options or {})})
    command = [torch_python(), *words]
    if fresh:
        settings |= {"env": {**os.environ, **added}}
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, **settings)
    else:
        done = in_pytorch.run(command, check=False, variables=added)
    return Recorded(done.returncode, done.stdout, done.stderr, read(save))


def read(path: Path) -> list[Any]:
    """The lines of a recording, whole; a process that was killed leaves zeros behind them."""
    return [json.loads(line) for line in path.read_bytes().rstrip(b"\0").splitlines()]


# The recorder, built once in a run of the tests. The judge, which includes its source, is in the same library.


def has_compiler() -> bool:
    """True where there is a C++ compiler."""
    try:
        compiler()
    except InputError:
        return False
    return True


def cache_with_recorder(python: str) -> Path:
    """A cache folder in which `library_for` finds the recorder for the PyTorch of a Python.

    The test is skipped where there is no compiler, or no headers of Python.
    """
    if not has_compiler():
        pytest.skip("left out: there is no C++ compiler")
    if not (Path(sysconfig.get_paths()["include"]) / "Python.h").is_file():
        pytest.skip("left out: there are no headers of Python")

    def build_there(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DISPATCH_CLI_CACHE_DIR", str(folder))
            patch.setattr(build, "SOURCE", Path(__file__).with_name("judge") / "judge.cpp")
            library_for(python, tempfile.mkdtemp(dir=folder))

    return once(f"recorder-{blake2b(python.encode(), digest_size=8).hexdigest()}", build_there)


def library_of(python: str) -> str:
    """The path of the recorder, with the judge, for the PyTorch of a Python."""
    (library,) = cache_with_recorder(python).rglob("*.so")
    return str(library)
