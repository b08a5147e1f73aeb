"""A program that is recorded behaves as without: its output, its traceback, its exit code. No PyTorch is needed."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from dispatch_cli.trace.launch import variables
from tests.trace.recorded import read

pytestmark = pytest.mark.slow

PROGRAMS = {
    "output": "import sys\nprint(sys.argv[1:], __name__, __file__, __package__, __spec__)\nprint(1, file=sys.stderr)",
    "names": "import __main__, sys\nprint(sorted(vars(__main__)), __loader__.path, sys.path[0], sys.argv[0])",
    "raises": "def f(): raise ValueError(2)\ntry:\n    f()\nexcept ValueError as e:\n    raise KeyError(1) from e",
    "exits": "import sys\nsys.exit(7)",
    "exits with a text": "import sys\nsys.exit('no way')",
    "syntax": "def f(:\n",
    "interrupted": "raise KeyboardInterrupt",
    "os exit": "import os\nprint('out', flush=True)\nos._exit(9)",
    "killed": "import os, signal\nprint('out', flush=True)\nos.kill(os.getpid(), signal.SIGKILL)",
    "hook": "import sys\nsys.excepthook = lambda kind, error, trace: print(kind, error, trace.tb_lineno)\n1 / 0",
    "atexit": "import atexit\natexit.register(print, 'first')\natexit.register(print, 'second')\nprint('end')",
    "failing import": "import no_such_module",
    "no pytorch": "import sys\nsys.path.insert(0, '.')\nimport torch",
    "input": "print(input() + '!')",
    "pickle": "import pickle\nclass A: x = 1\nprint(pickle.loads(pickle.dumps(A())).x, A.__module__)",
    "directory": "import os\nos.chdir('/')\nprint(__file__)",
    "fork": "import os\npid = os.fork()\nif pid: print(os.waitpid(pid, 0)[1] >> 8, flush=True)\nelse: os._exit(3)",
    "threads": "import threading\nt = threading.Thread(target=lambda: 1 / 0)\nt.start()\nt.join()\nprint(t.name)",
    "spawn": "import multiprocessing as m\ndef f(x): return x + 1\nif __name__ == '__main__':\n"
    "    with m.get_context('spawn').Pool(1) as pool: print(pool.map(f, [1, 2]))",
    "warns": "import warnings\nwarnings.warn('look')",
    "closes files": "import os\nos.closerange(3, 100)\nopen('new', 'w').write('x')\nprint(open('new').read())",
    "a torch that fails": "import sys\nsys.path.insert(0, 'failing')\nimport torch",
    "another torch": "import sys\nsys.path.insert(0, 'other')\nimport torch\nprint(torch.__version__)",
}


def both(tmp_path: Path, program: list[str]) -> tuple[list[object], list[object], Path]:
    """End of a program without the recorder and with it, and the recording."""
    save = tmp_path / "recording"
    ended: list[list[object]] = []
    for added in ({}, variables(program, "none", str(save))):
        done = subprocess.run(
            [sys.executable, *program],
            capture_output=True,
            text=True,
            input="in\n",
            cwd=tmp_path,
            check=False,
            env={**os.environ, **added},
        )
        ended.append([done.returncode, done.stdout, done.stderr])
    return ended[0], ended[1], save


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_script(tmp_path: Path, name: str) -> None:
    (tmp_path / "program.py").write_text(PROGRAMS[name], encoding="utf-8")
    for folder, text in (("failing", "def f():\n    1 / 0\nf()"), ("other", "__version__ = '9.9'")):
        (tmp_path / folder / "torch").mkdir(parents=True)
        (tmp_path / folder / "torch" / "__init__.py").write_text(text, encoding="utf-8")
    without, recorded, save = both(tmp_path, ["program.py", "--an", "option"])
    assert recorded == without
    if name != "another torch":
        assert save.read_bytes() == b""
        return
    head, reason = read(save)
    assert (head["argv"], head["torch"]) == (["program.py", "--an", "option"], "9.9")
    assert (reason[0], reason[1]["reason"]) == ("x", "calibration")


@pytest.mark.parametrize("source", ["output", "raises", "exits", "names"])
def test_a_module(tmp_path: Path, source: str) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    text = PROGRAMS[source].replace("__spec__", "__spec__.name")
    (package / "__main__.py").write_text(text, encoding="utf-8")
    without, recorded, _ = both(tmp_path, ["-m", "package", "word", "-x"])
    assert recorded == without


def test_a_directory_and_an_archive(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "__main__.py").write_text("import sys\nprint(sys.argv, sys.path[0], __name__)", encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.write(inside / "__main__.py", "__main__.py")
    for name in ("inside", "archive.zip"):
        without, recorded, _ = both(tmp_path, [name, "word"])
        assert recorded == without
        assert recorded[0] == 0


@pytest.mark.parametrize("program", [["missing.py"], ["-m", "missing"], ["."]])
def test_what_is_not_there(tmp_path: Path, program: list[str]) -> None:
    without, recorded, _ = both(tmp_path, program)
    assert recorded == without
    assert without[0] != 0
