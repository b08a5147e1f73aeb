"""Scripts in forks of one process that has imported PyTorch, which takes longer than most of them.

A script sees what it would see in a new process: its own arguments, directory, variables, streams and registry. At its
end its threads are waited for, and the functions of `atexit` run; the modules are not cleared. A script that must come
before `import torch`, or that is about the start or the end of Python, needs a process of its own.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import runpy
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests import forks

_servers: dict[str, forks.Server] = {}


def run(
    command: Sequence[str],
    input: str = "",  # noqa: A002
    check: bool = True,
    folder: Path | None = None,
    variables: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command: a Python that has PyTorch, a script or ``-c`` and code, and its arguments.

    folder: where it runs, if not in the working directory. variables: of its environment, besides those of this one.
    check: raise subprocess.CalledProcessError where the exit code is not 0, and show what it said.
    """
    python, *arguments = command
    if python not in _servers:
        _servers[python] = forks.Server(python, "tests.in_pytorch")
    server = _servers[python]
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        source.write(input.encode())
        source.seek(0)
        where = str(folder or Path.cwd())
        server.start(
            (arguments, where, {**os.environ, **(variables or {})}), (source.fileno(), out.fileno(), err.fileno())
        )
        code = server.exit_code()
        out.seek(0)
        err.seek(0)
        done = subprocess.CompletedProcess(command, code, out.read().decode(), err.read().decode())
    if check and code:
        sys.stderr.write(done.stderr)
        done.check_returncode()
    return done


def ask(python: str, script: Path, asked: Any) -> Any:
    """Answer of a script that reads a question as JSON from its input, and writes its answer as its last line."""
    done = run([python, str(script)], json.dumps(asked))
    return json.loads(done.stdout.splitlines()[-1])


def stop() -> None:
    """Stop the processes."""
    for server in _servers.values():
        server.stop()
    _servers.clear()


def serve(number: int) -> None:
    """Be the process that imports PyTorch; number: its socket, see `forks.serve`."""
    import torch  # noqa: F401

    forks.serve(number, _run)


def _run(arguments: list[str], folder: str, environment: dict[str, str]) -> int:
    """Be the process that runs the script; its exit code."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, buffering, encoding="utf-8", closefd=False)  # noqa: SIM115
        for number, (mode, buffering) in enumerate((("r", -1), ("w", -1), ("w", 1)))
    )
    sys.orig_argv = [sys.executable, *arguments]
    if "DISPATCH_CLI_TRACE" in environment:  # as Python does when it starts
        sys.path.insert(1, environment["PYTHONPATH"].partition(os.pathsep)[0])
        sys.modules.pop("sitecustomize", None)
        with contextlib.suppress(ImportError):
            importlib.import_module("sitecustomize")
    code = _exit_code(arguments)
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def _exit_code(arguments: list[str]) -> int:
    """That with which the script ends."""
    try:
        if arguments[0] == "-c":
            sys.argv, sys.path[0] = ["-c", *arguments[2:]], ""
            exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__"})
        else:
            script = Path(arguments[0]).absolute()
            sys.argv, sys.path[0] = arguments, str(script.parent)
            runpy.run_path(str(script), run_name="__main__")
    except SystemExit as stopped:
        if isinstance(stopped.code, str):
            print(stopped.code, file=sys.stderr)
        return stopped.code if isinstance(stopped.code, int) else int(stopped.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0
