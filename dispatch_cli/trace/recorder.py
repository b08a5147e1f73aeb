"""The recorder of `dispatch-cli trace`: every call that PyTorch's dispatcher gets in this process.

`start/sitecustomize.py`, which Python imports before the program, calls `begin` when the program has imported PyTorch.
It needs Python 3.8 and its standard library, and imports nothing of the package it lies in. A library of C++
(``cpp/recorder.cpp``, which `build.py` builds) writes each call to the file at once: nothing is lost when the program
is killed. At the end the file gets what is registered then, and the slots that held something else in calls.

Not observed: redispatches to further kernels of the same operator, without *kernels*; what gives no event (``size``,
``is_leaf``, ``output_nr``, ``_version``, ``is_complex``); code that Inductor compiled; processes that the program
starts or forks, or that it becomes (``os.execv``), and subinterpreters; what functions of `atexit` call that were
registered before PyTorch was imported.

A program can notice:
- A line needs Python's lock to be read: a thread that has it and waits for another one of Python's, which calls an
  operator, waits for ever. That is so where one thread asks a view for its grad_fn while another computes it.
- A kernel that was called, and an object that it holds, can live until its operator is called again.
- Operators of ``torch.library.custom_op`` are called by the dispatcher, not by PyTorch 2.15's shorter way in Python.
- At its end it waits some seconds for a forked copy of the process that captures the registry of PyTorch (without
  *state*, it does not): functions that are registered for a fork run.
"""

from __future__ import annotations

import atexit
import builtins
import ctypes
import gc
import importlib.util
import io
import json
import os
import signal
import sys
import time
import types
import warnings
from typing import Any


def as_it_is(module: types.ModuleType) -> types.ModuleType:
    """A copy of a module, with the functions that it has now."""
    copy = types.ModuleType(module.__name__)
    vars(copy).update(vars(module))
    return copy


USED = [(sys.modules[name], as_it_is(sys.modules[name])) for name in ("os", "os.path", "io", "time", "json", "signal")]
"""Modules of which functions are needed until the program's end, and copies of them: a program may replace functions,
and leave them replaced (`mock.patch`).
"""
os, os.path, io, time, json, signal = (copy for _, copy in USED)  # noqa: F811
open = io.open  # noqa: A001

PROBE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "capture", "probe.py")
MOST_SECONDS = 120
"""Seconds that the capture of the registry may take."""
COMPILED = "torch._inductor.runtime.compile_tasks."
"""The names of modules that Inductor makes begin so."""


def begin(torch: Any, options: str, started: int) -> None:
    """Record from here on, until the program's end. options: see `launch.variables`. started: the program's start."""
    process = RecordedProcess(torch, json.loads(options), started)
    try:
        process.start()
    except Exception as error:
        text = f"this PyTorch cannot be recorded: {error}"
        try:
            process.write_head(line_of("x", {"reason": "calibration", "text": text}))
        except OSError:
            pass
    else:
        go_through_dispatcher(torch)
        atexit.register(process.finish)  # before PyTorch's own handlers, which take registrations away
        os.register_at_fork(after_in_parent=process.after_fork)


def line_of(*values: Any) -> bytes:
    """Values as a line of the recording."""
    return json.dumps(values, separators=(",", ":")).encode("ascii") + b"\n"


def go_through_dispatcher(torch: Any) -> None:
    """Have operators of ``torch.library.custom_op`` called by the dispatcher; PyTorch 2.15 has a shorter way in Python,
    which gives no events. The import of PyTorch makes operators, too.
    """
    kind: Any = getattr(getattr(torch, "_ops", None), "OpOverload", None)
    if not hasattr(kind, "_can_enable_pyobj_dispatch"):
        return
    kind._can_enable_pyobj_dispatch = lambda _: False
    for overload in gc.get_objects():
        if type(overload) is kind:
            overload._enable_pyobj_dispatch(False)


class RecordedProcess:
    """The recording of this process, from the import of PyTorch until the program has ended."""

    def __init__(self, torch: Any, options: dict[str, Any], started: int) -> None:
        self.torch, self.options, self.started = torch, options, started
        self.pid = os.getpid()
        self.library: Any = None
        self.forked = False

    def start(self) -> None:
        """Load the library, which records from here on. Errors: OSError, ValueError where it is of another PyTorch."""
        options, folder = self.options, os.path.dirname(os.path.abspath(self.torch.__file__))
        with open(options["library"], "rb") as file:
            if b"built for: %s\0" % os.fsencode(folder) not in file.read():
                raise ValueError(f"the recorder is not built for {folder}")
        library = self.library = ctypes.PyDLL(options["library"])
        word, text = ctypes.c_int64, ctypes.c_char_p
        library.recorder_start.argtypes = [text, word, word, text, text]
        library.recorder_start.restype, library.recorder_stop.restype = text, word
        library.recorder_changes.restype = text
        if options["kernels"]:
            library.kernel_log_install()
            library.kernel_log_start()
        size, limit = self.write_head(), options["megabytes"] << 20
        path, directory, torch = map(os.fsencode, (options["save"], options["head"]["directory"], folder + os.sep))
        error = library.recorder_start(path, size, limit, torch, directory)
        if error is not None:
            raise OSError(error.decode())

    def write_head(self, *lines: bytes) -> int:
        """Write the first line, and others; returns the size of the file. Errors: OSError."""
        version = str(getattr(self.torch, "__version__", ""))
        head = {**self.options["head"], "torch": version, "python": sys.version.split()[0]}
        with open(self.options["save"], "wb") as file:
            file.write(line_of(head)[1:-2] + b"\n" + b"".join(lines))
            return file.tell()

    def after_fork(self) -> None:
        """The program has forked itself."""
        self.forked = True

    def finish(self) -> None:
        """The program has ended: add to the recording how, what it does not have, and what is registered."""
        if os.getpid() != self.pid:
            return
        dropped, seconds = self.library.recorder_stop(), (time.perf_counter_ns() - self.started) / 1e9
        if dropped < 0:
            return  # the file is not there any more
        lines = [line_of("end", {"dropped": dropped, "seconds": seconds})]
        if self.forked:
            lines.append(line_of("x", {"reason": "fork", "text": "forked child processes are not recorded"}))
        if any(name.startswith(COMPILED) for name in list(sys.modules)):
            text = "what Inductor compiled is not recorded: it makes no calls"
            lines.append(line_of("x", {"reason": "inductor", "text": text}))
        try:
            with open(self.options["save"], "ab") as file:
                file.writelines(lines)
                file.flush()
                if self.options["state"]:
                    file.write(captured(self))
        except (Exception, KeyboardInterrupt):
            pass  # the state of the same version stands for that of the program


def captured(process: RecordedProcess) -> bytes:
    """Lines with the state of the dispatcher in this process, and the slots that held something else.

    The probe registers operators and imports modules to see what happens, for some seconds: a forked copy of the
    process does that, of which nothing else sees anything. Errors: OSError.
    """
    reading, writing = os.pipe()
    handler = signal.getsignal(signal.SIGCHLD)
    if callable(handler):  # the program's, for children that end
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the process has threads
            child = os.fork()
        if child == 0:
            _be_copy(process, writing)
        os.close(writing)
        with open(reading, "rb") as stream:
            lines = stream.read()
        try:
            os.waitpid(child, 0)
        except ChildProcessError:
            pass  # the program has its children taken away
        return lines
    finally:
        if callable(handler):
            signal.signal(signal.SIGCHLD, handler)


def _be_copy(process: RecordedProcess, output: int) -> None:
    """Be the copy: never return. output: where its lines go."""
    try:
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        signal.alarm(MOST_SECONDS)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        if process.options["kernels"]:
            process.library.kernel_log_remove()
        for module, copy in USED:  # the probe gets what the program may have replaced
            vars(module).update(vars(copy))
        builtins.open = open
        with open(output, "wb") as file:
            file.write(_registry(process))
    finally:
        os._exit(0)


def _registry(process: RecordedProcess) -> bytes:
    """The lines of `captured`, in the copy."""
    spec: Any = importlib.util.spec_from_file_location("dispatch_cli_probe", PROBE)
    probe: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(probe)
    root = os.path.dirname(os.path.dirname(os.path.abspath(process.torch.__file__)))
    clean = probe.Cleaner(root, sys.path, os.path.expanduser("~")).clean
    changes = []
    for text in process.library.recorder_changes().decode("utf-8", "replace").splitlines():
        number, slots = json.loads(text)  # before the probe registers something
        for _, kernels, _ in slots:
            for kernel in kernels or ():
                kernel[1] = clean(kernel[1])
        changes.append(line_of("r", number, slots))
    return b"".join(changes) + line_of("state", probe.capture(probe.LivePyTorch(process.torch, [], clean, [])))
