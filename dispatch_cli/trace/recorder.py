"""Run a Python program and record every call that PyTorch's dispatcher gets in it.

usage: PYTHON recorder.py OPTIONS PROGRAM [ARGS...]

OPTIONS: a JSON object, see `Options`. PROGRAM: a script, or the name of a module. `launch.py` starts it.

It needs Python 3.8 and its standard library, and imports nothing of the package it lies in. The program runs as
``python SCRIPT`` would run it, with its own output and exit code; PyTorch is imported when the program does it. Its
calls are observed by a library of C++ (``cpp/recorder.cpp``, which `build.py` builds) through a callback of PyTorch
itself (``at::addGlobalCallback``), in every thread, and are written to the file at once: nothing is lost when the
program is killed.

Observed: each call of ``Dispatcher::call``, also nested ones and those of backward; its operator, the key sets of its
tensors and of the thread, wrappers and layers of functorch, modes, gradients, devices and classes of tensors, the
thread and the line of Python it comes from, when it ended and whether by an exception, the nodes of autograd that it
made; and which kernels the slots of its operator hold. The registry is captured only when the program ends, and it does
not say in which order kernels were registered, on which that depends. So an operator's slots are looked at in each
call. An operator whose kernels have changed gets another number. At the end the file gets the tables that the registry
does not determine.
Not observed: redispatches to further kernels of the same operator, without *kernels*; what gives no event (``size``,
``is_leaf``, ``output_nr``, ``_version``, ``is_complex``); code that Inductor compiled, which makes no calls; processes
that the program starts or forks, or that it becomes (``os.execv``), and subinterpreters; lines of threads that Python
does not know.

What can go wrong, because a line needs Python's lock to be read: a thread that has it and waits for another one of
Python's, which calls an operator, waits for ever. That is so where one thread asks a view for its grad_fn while another
computes it. The file of the recording must not be cut while the program runs: the system would end the program.

What a program can notice:
- The stack begins with frames of this file: Python's limit of recursion is reached some calls earlier, what prints the
  stack or traces Python shows them, and a warning for the caller of the main module names this file.
- A kernel that was called, and an object that it holds, can live until its operator is called again, or is gone.
- A call costs some microseconds more. Operators of ``torch.library.custom_op`` are called by the dispatcher, and not by
  PyTorch 2.15's shorter way in Python.
- When the main module has ended, it waits some seconds for a forked copy of the process that captures the registry of
  PyTorch (without *state*, it does not): functions that are registered for a fork run.
"""

from __future__ import annotations

import sys

PRESENT = frozenset(sys.modules)
"""The modules that Python has imported by itself."""

import atexit
import builtins
import ctypes
import errno
import importlib.machinery
import importlib.util
import io
import json
import os
import pkgutil
import runpy
import signal
import stat
import time
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # Python 3.8 knows these spellings only where it does not look at them.
    from collections.abc import Callable


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

FORMAT = 1
OWN_FILE = os.path.abspath(__file__)
FOR_END = 1 << 12
"""Bytes of the recording that are kept for the last lines, besides the state."""
FOR_STATE = 12 << 20
"""Bytes of the recording that are kept for the state of the registry."""
PROBE = os.path.join(os.path.dirname(os.path.dirname(OWN_FILE)), "capture", "probe.py")
MOST_SECONDS = 120
"""Seconds that the capture of the registry may take."""
COMPILED = "torch._inductor.runtime.compile_tasks."
"""The names of modules that Inductor makes begin so."""


class Options:
    """Options of a recording.

    save: the file. library: what `build.py` has built; None where there was no PyTorch. module: the program is a
    module. megabytes: the largest size of the file. lines, state, kernels: whether lines of Python, the registry at the
    end, and every kernel that runs are recorded.
    """

    def __init__(
        self,
        save: str,
        library: str | None,
        module: bool = False,
        megabytes: int = 256,
        lines: bool = True,
        state: bool = True,
        kernels: bool = False,
    ) -> None:
        self.save, self.library, self.module = os.path.abspath(save), library, module
        self.limit, self.lines, self.state, self.kernels = megabytes << 20, lines, state, kernels


def create(path: str) -> None:
    """Make the file of the recording. Errors: OSError.

    One that is there is not cut: another process may write to it, and would be killed.
    """
    path = os.path.realpath(path)
    mode = 0o666
    try:
        status = os.stat(path)
    except OSError:
        status = None
    if status is not None:
        mode = status.st_mode
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "a recording needs a regular file")
        try:
            os.unlink(path)
        except OSError:
            pass  # the directory is not ours
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode & 0o777))


def line_of(*values: Any) -> bytes:
    """Values as a line of the recording."""
    return json.dumps(values, separators=(",", ":")).encode("ascii") + b"\n"


def go_through_dispatcher(torch: Any) -> None:
    """Have operators of ``torch.library.custom_op`` called by the dispatcher; PyTorch 2.15 has a shorter way in Python,
    which gives no events. The import of PyTorch makes operators, too.
    """
    module: Any = getattr(torch, "_ops", None)
    if not hasattr(getattr(module, "OpOverload", None), "_can_enable_pyobj_dispatch"):
        return
    module.OpOverload._can_enable_pyobj_dispatch = lambda _: False
    for namespace in instances(torch.ops, module._OpNamespace):
        for packet in instances(namespace, module.OpOverloadPacket):
            for overload in instances(packet, module.OpOverload):
                overload._enable_pyobj_dispatch(False)


def instances(owner: Any, kind: Any) -> list[Any]:
    """The attributes of that kind which are there already; none is looked up, which would make operators."""
    return [value for value in list(vars(owner).values()) if isinstance(value, kind)]


class ImportWatch:
    """Says when the module torch has been imported; finds no module itself."""

    def __init__(self, imported: Callable[[Any], None]) -> None:
        self.imported = imported

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
                self.imported(module)

            # tracebacks of a failed import leave out frames of this name and file
            code = _call_with_frames_removed.__code__.replace(co_filename="<frozen importlib._bootstrap>")
            _call_with_frames_removed.__code__ = code
            loader.exec_module = _call_with_frames_removed
        return spec


class RecordedProcess:
    """The recording of this process, from before the program begins until after it has ended."""

    def __init__(self, options: Options, program: list[str]) -> None:
        """Errors: OSError."""
        self.options, self.pid = options, os.getpid()
        self.library: Any = None
        self.torch: Any = None
        self.reason = "torch", "the program has not imported PyTorch"
        self.forked = False
        create(options.save)
        self.started = time.perf_counter_ns()
        self.head = {
            "dispatch_cli_trace": FORMAT,
            "torch": None,
            "python": sys.version.split()[0],
            "argv": (["-m"] if options.module else []) + program,
            "directory": os.getcwd(),
            "pid": self.pid,
            "started": round(time.time(), 6),
            "lines": options.lines,
        }
        if "torch" in sys.modules:
            self.imported(sys.modules["torch"])
        else:
            sys.meta_path.insert(0, ImportWatch(self.imported))
        atexit.register(self.finish)  # handlers run in the reverse order: this one after those of the program
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_parent=self._after_fork)

    def imported(self, torch: Any) -> None:
        """PyTorch is there: record from here on."""
        self.torch = torch
        self.head["torch"] = str(getattr(torch, "__version__", ""))
        try:
            library = self._loaded(os.path.dirname(os.path.abspath(torch.__file__)))
        except Exception as error:
            self.reason = "calibration", f"this PyTorch cannot be recorded: {error}"
        else:
            self.library = library
            go_through_dispatcher(torch)

    def _loaded(self, folder: str) -> Any:
        """The library, which records from here on. Errors: OSError, ValueError where it is not for this PyTorch."""
        options = self.options
        if options.library is None:
            raise ValueError("it was not there before the program began")
        with open(options.library, "rb") as file:
            if b"built for: %s\0" % os.fsencode(folder) not in file.read():
                raise ValueError(f"the recorder is not built for {folder}")
        library = ctypes.PyDLL(options.library)
        word, text = ctypes.c_int64, ctypes.c_char_p
        library.recorder_start.argtypes = [text, word, word, word, text, text, text, ctypes.c_bool, word]
        library.recorder_start.restype = library.recorder_stop.restype = None
        library.recorder_write.argtypes, library.recorder_write.restype = [text], ctypes.c_bool
        library.recorder_tables.restype = text
        if options.kernels:
            library.kernel_log_install()
            library.kernel_log_start()
        size = self._write_head()
        kept = FOR_END + (FOR_STATE if options.state and options.limit > 2 * FOR_STATE else 0)
        path, own, directory, torch = map(
            os.fsencode, (options.save, OWN_FILE, str(self.head["directory"]), folder + os.sep)
        )
        elapsed = time.perf_counter_ns() - self.started
        library.recorder_start(path, size, options.limit, kept, torch, directory, own, options.lines, elapsed)
        return library

    def _write_head(self, *lines: bytes) -> int:
        """Write the first line, and others; returns the size of the file. Errors: OSError."""
        with open(self.options.save, "wb") as file:
            file.write(line_of(self.head)[1:-2] + b"\n" + b"".join(lines))
            return file.tell()

    def note(self, reason: str, text: str) -> None:
        """Write what is not recorded, and why."""
        if self.library is not None:
            self.library.recorder_write(line_of("x", {"reason": reason, "text": text}))

    def _after_fork(self) -> None:
        if not self.forked:
            self.forked = True
            self.note("fork", "forked child processes are not recorded")

    def end_of_main(self) -> None:
        """The program's main module has ended: what is registered now is taken away soon, by PyTorch's own handlers."""
        if os.getpid() != self.pid or self.library is None or not self.options.state:
            return
        self.forked = True  # what is forked now is the recorder's
        try:
            lines = captured(self)
        except (Exception, KeyboardInterrupt):
            return  # the state of the same version stands for it
        if not self.library.recorder_write(lines):
            size = self.options.limit >> 20
            self.note("state", f"the registry: it takes more than is left of {size} MB; see --max-size")

    def finish(self) -> None:
        """The program has ended."""
        if os.getpid() != self.pid:
            return
        if self.library is not None:
            if any(name.startswith(COMPILED) for name in list(sys.modules)):
                self.note("inductor", "what Inductor compiled is not recorded: it makes no calls")
            self.library.recorder_stop()
            return
        reason, text = self.reason
        seconds = round((time.perf_counter_ns() - self.started) / 1e9, 6)
        try:
            self._write_head(
                line_of("x", {"reason": reason, "text": text}),
                line_of("end", {"calls": 0, "dropped": 0, "seconds": seconds}),
            )
        except OSError:
            pass


def captured(process: RecordedProcess) -> bytes:
    """Lines with the state of the dispatcher in this process, and the tables that it does not determine.

    The probe registers operators and imports modules to see what happens, for some seconds: a forked copy of the
    process does that, of which nothing else sees anything. It is no child of the program, which may have a handler for
    children that end. Errors: OSError.
    """
    reading, writing = os.pipe()
    handler = signal.getsignal(signal.SIGCHLD)
    if callable(handler):
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        child = process.library.recorder_fork()
        if child == 0:
            _be_copy(process, writing)
        os.close(writing)
        try:
            os.waitpid(child, 0)
        except ChildProcessError:
            pass  # the program has its children taken away
    finally:
        if callable(handler):
            signal.signal(signal.SIGCHLD, handler)
    with open(reading, "rb") as stream:
        return stream.read()


def _be_copy(process: RecordedProcess, output: int) -> None:
    """Be the copy: never return. output: where its lines go."""
    try:
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        if process.library.recorder_fork() == 0:
            signal.alarm(MOST_SECONDS)
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nowhere, stream)
            if process.options.kernels:
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
    lines = []
    for text in process.library.recorder_tables().decode("utf-8", "replace").splitlines():
        number, table = json.loads(text)
        table["kernels"] = [(key, clean(debug), *rest) for key, debug, *rest in table["kernels"]]
        table["fallbacks"] = [(at, debug and clean(debug), falls) for at, debug, falls in table["fallbacks"]]
        lines.append(line_of("r", number, table))
    state = probe.capture(probe.LivePyTorch(process.torch, [], clean, []), bool)
    return b"".join(lines) + line_of("state", state)


# The program.


def run(program: list[str], module: bool) -> None:
    """Run a program as Python runs it from the command line.

    It runs in this process, below the frames of this file, as coverage and profilers do it: that works with every
    option of Python (-I, -S), and leaves no variable in the environment that programs started from there would get.
    Python's own functions run modules and directories. What differs is that the stack begins with these frames; they
    are left out of the traceback with which the program ends.
    """
    if hasattr(sys, "orig_argv"):
        own = len(sys.orig_argv) - len(sys.argv)
        sys.orig_argv[:] = sys.orig_argv[:own] + (["-m"] if module else []) + program
    before = sys.modules["__main__"]
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = sys.modules["builtins"]
    if hasattr(before, "__annotations__") and sys.version_info < (3, 14):
        main.__dict__.update(__annotations__={})
    sys.modules["__main__"] = main
    try:
        if module:
            sys.argv[:] = ["-m", *program[1:]]
            _begin_path(os.getcwd())
            runpy._run_module_as_main(program[0])  # type: ignore[attr-defined]
        else:
            sys.argv[:] = program
            _run_script(program[0], main)
    except SystemExit:
        raise
    except BaseException:
        _shorten_traceback()
        raise


def _run_script(name: str, main: Any) -> None:
    """Run a file, or what has a module __main__: a directory or an archive."""
    path = os.path.abspath(name) if sys.version_info >= (3, 9) else name
    if type(pkgutil.get_importer(path)).__name__ in ("FileFinder", "zipimporter"):
        _begin_path(path)
        runpy._run_module_as_main("__main__", False)  # type: ignore[attr-defined]
        return
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        print(f"{sys.executable}: can't open file {path!r}: [Errno {error.errno}] {error.strerror}", file=sys.stderr)
        raise SystemExit(2) from None
    _begin_path(os.path.dirname(os.path.realpath(path)))
    loader = importlib.machinery.SourceFileLoader("__main__", path)
    main.__dict__.update(__file__=path, __loader__=loader, __cached__=None)
    code = pkgutil.read_code(io.BytesIO(source))
    exec(code or compile(source, path, "exec", dont_inherit=True), main.__dict__)


def _begin_path(directory: str) -> None:
    """Put the program's directory where that of this file is; nowhere where Python was told to put none."""
    if sys.flags.isolated or getattr(sys.flags, "safe_path", False):
        return
    sys.path[0] = directory
    # it may have modules with names of those that only this file has imported
    before, now = ({name.partition(".")[0] for name in names} for names in (PRESENT, list(sys.modules)))
    for name in now - before - {"torch"}:
        path = os.path.join(directory, name)
        if os.path.isfile(path + ".py") or os.path.isfile(os.path.join(path, "__init__.py")):
            for loaded in [module for module in sys.modules if module == name or module.startswith(name + ".")]:
                del sys.modules[loaded]


def _shorten_traceback() -> None:
    """Have the program's end reported without the frames of this file, by whatever reports it."""
    report = sys.excepthook

    def excepthook(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        sys.excepthook = report
        at = trace
        while at is not None:
            if at.tb_frame.f_code.co_filename == OWN_FILE:
                trace = at.tb_next
            at = at.tb_next
        error.__traceback__ = sys.last_traceback = trace
        report(kind, error, trace)

    sys.excepthook = excepthook


def main() -> None:
    """Be the command. Exit codes: the program's own; 2 for a recording that cannot be made."""
    options, program = Options(**json.loads(sys.argv[1])), sys.argv[2:]
    try:
        process = RecordedProcess(options, program)
    except OSError as error:
        print(f"recorder: {options.save}: {error.strerror or error}: the recording cannot be made", file=sys.stderr)
        raise SystemExit(2) from None
    try:
        run(program, options.module)
    finally:
        process.end_of_main()


if __name__ == "__main__":
    main()
