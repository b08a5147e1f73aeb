"""The start of the recorder in a program that `dispatch-cli trace` runs.

Python imports this module before the program begins, since the launcher puts its folder first into PYTHONPATH. Nothing
of that is left for the program, nor for what it starts: no folder in the path, no variable, no module. The module of
this name that Python would have imported is imported at the end. Python 3.8 is enough; nothing is imported that the
program's own folder could have a module for.
"""

from __future__ import annotations

import atexit
import os
import sys
import time
from os import getpid, kill, unlink
from os.path import dirname, isdir
from time import sleep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STARTED, PROGRAM = time.perf_counter_ns(), getpid()
FOLDER = dirname(os.path.abspath(__file__))
OPTIONS = os.environ.pop("DISPATCH_CLI_TRACE", None)
"""Options of the recording, see `launch.variables`."""
ENDS = os.environ.pop("DISPATCH_CLI_TRACE_ENDS", "")
"""The process that shows the calls when the program has ended, and the file that tells it so, see `launch.become`."""


class ImportWatch:
    """Says when the module torch has been imported; finds no module itself."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Spec that the other finders find; for torch, with a loader that tells."""
        if name != "torch":
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find is not None and finder is not self else None
            if spec is not None:
                break
        else:
            return None
        loader, execute = spec.loader, getattr(spec.loader, "exec_module", None)
        if execute is not None:

            def _call_with_frames_removed(module: Any) -> None:
                del loader.exec_module
                execute(module)
                if self in sys.meta_path:
                    sys.meta_path.remove(self)
                begin(module)

            # tracebacks of a failed import leave out frames of this name and file
            code = _call_with_frames_removed.__code__.replace(co_filename="<frozen importlib._bootstrap>")
            _call_with_frames_removed.__code__ = code
            loader.exec_module = _call_with_frames_removed
        return spec


def begin(torch: Any) -> None:
    """PyTorch has been imported: record from here on."""
    from importlib.util import module_from_spec, spec_from_file_location

    spec: Any = spec_from_file_location("dispatch_cli_recorder", os.path.join(dirname(FOLDER), "recorder.py"))
    recorder = module_from_spec(spec)
    spec.loader.exec_module(recorder)
    recorder.begin(torch, OPTIONS, STARTED)


def end() -> None:
    """At the program's end: let the calls be shown, and wait for that. The program can have replaced functions."""
    process, _, runs = ENDS.partition(" ")
    try:
        if runs and getpid() == PROGRAM:
            unlink(runs)
            while isdir(dirname(runs)):
                kill(int(process), 0)
                sleep(0.02)
    except (OSError, KeyboardInterrupt):
        pass


sys.path[:] = [path for path in sys.path if path != FOLDER]
_, separator, others = os.environ.pop("PYTHONPATH", "").partition(os.pathsep)
if separator:
    os.environ["PYTHONPATH"] = others
if OPTIONS is not None:
    atexit.register(end)  # functions of atexit run in the reverse order: the program's are before
    if "torch" in sys.modules:
        begin(sys.modules["torch"])
    else:
        sys.meta_path.insert(0, ImportWatch())
del sys.modules[__name__]
__import__("sitecustomize")  # where there is none, Python goes on: the error names this module
