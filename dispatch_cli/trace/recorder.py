"""Run a Python program and record every call that PyTorch's dispatcher gets in it.

usage: PYTHON recorder.py --save FILE [--max-size MB] [--no-lines] [--no-state] [--kernels] SCRIPT [ARGS...]
       PYTHON recorder.py --save FILE [...] -m MODULE [ARGS...]

A script of its own: it needs Python 3.8 and its standard library, and imports nothing of the package it lies in. The
program runs as ``python SCRIPT`` would run it, with its own output and exit code; PyTorch is imported when the program
does it. Its calls are observed by a library of C++ (``cpp/recorder.cpp``, which `build.py` builds) through a callback
of PyTorch itself (``at::addGlobalCallback``), in every thread, and are written to FILE at once: nothing is lost when
the program is killed.

Observed: each call of ``Dispatcher::call``, also nested ones and those of backward; its operator, the key sets of its
tensors and of the thread, wrappers and layers of functorch, modes, gradients, devices and classes of tensors, the
thread and the line of Python it comes from, when it ended and whether by an exception; and which kernels the slots of
its operator hold. The registry is captured only when the program ends, and it does not say in which order kernels were
registered, on which that depends. So an operator's slots are looked at in each call. An operator whose kernels have
changed gets another number. At the end FILE gets the tables that the registry does not determine.
Not observed: redispatches to further kernels of the same operator, without ``--kernels``; what gives no event
(``size``, ``is_leaf``, ``output_nr``, ``_version``, ``is_complex``); code that Inductor compiled, which makes no calls;
processes that the program starts or forks, or that it becomes (``os.execv``), and subinterpreters; lines of threads
that Python does not know.

What can go wrong, because a line needs Python's lock to be read: a thread that has it and waits for another one of
Python's, which calls an operator, waits for ever. That is so where one thread asks a view for its grad_fn while another
computes it. The file of the recording must not be cut while the program runs: the system would end the program.

What a program can notice:
- The stack begins with frames of this file: Python's limit of recursion is reached some calls earlier, what prints the
  stack shows them, and a warning for the caller of the main module names this file.
- A kernel that was called, and an object that it holds, can live until its operator is called again, or is gone.
- A call costs some microseconds more.
- When the main module has ended, a forked copy of the process captures the registry of PyTorch, and appends it to FILE
  some seconds after the program's end (``--no-state``): functions that are registered for a fork run. Where all
  processes are stopped with the program, as in a container whose first process it is, FILE has no registry.
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
import warnings
from typing import TYPE_CHECKING, Any

try:
    import fcntl
except ImportError:
    pass  # nothing is recorded on this system

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
USAGE = """usage: PYTHON recorder.py --save FILE [OPTIONS] SCRIPT [ARGS...]
       PYTHON recorder.py --save FILE [OPTIONS] -m MODULE [ARGS...]

Run a Python program, and record every call that PyTorch's dispatcher gets in it.

options:
  --save FILE        the recording; `dispatch-cli trace FILE` shows it
  --max-size MB      its largest size (default: 256)
  --no-lines         do not record lines of Python
  --no-state         do not capture the registry of PyTorch at the end
  --kernels          record every kernel that runs
  --library LIBRARY  what build.py has built (default: build it)
  --help             show this text"""
BUILD = os.path.join(os.path.dirname(OWN_FILE), "build.py")
LAST = 1 << 12
"""Bytes of the recording that are kept for the last lines, besides the state."""


# Tracers, profilers and monitoring of Python.

TRACING = "PyThreadState_EnterTracing", "PyThreadState_LeaveTracing"
"""Functions of Python 3.11 and later, between which these are told of nothing that the thread does."""


def as_of_python(function: Any) -> Any:
    """A function, and those made in it, in the name of Python's own file for imports: coverage leaves that out, and
    tracebacks of failed imports do.
    """

    def renamed(code: types.CodeType) -> types.CodeType:
        constants = [renamed(const) if isinstance(const, types.CodeType) else const for const in code.co_consts]
        return code.replace(co_filename="<frozen importlib._bootstrap>", co_consts=tuple(constants))

    names, code = function.__globals__, renamed(function.__code__)
    return types.FunctionType(code, names, function.__name__, function.__defaults__, function.__closure__)


def untraced(function: Callable[..., None]) -> Callable[..., None]:
    """A function of which tracers see but its call."""
    thread: Any = ctypes.PYFUNCTYPE(ctypes.c_void_p)(("PyThreadState_Get", ctypes.pythonapi))
    kind, library = ctypes.PYFUNCTYPE(None, ctypes.c_void_p), ctypes.pythonapi
    enter, leave = (kind((name, library)) if hasattr(library, name) else lambda _: None for name in TRACING)

    def work(*arguments: Any) -> None:
        enter(thread())
        try:
            function(*arguments)
        finally:
            leave(thread())

    return as_of_python(work)  # type: ignore[no-any-return]


# The file.


class RecordingFile:
    """The recording, while the library does not write to it: before PyTorch is there, and after the program's end.

    limit: bytes that the file may have.
    """

    def __init__(self, path: str, limit: int) -> None:
        self.path, self.limit, self.pid = path, limit, os.getpid()
        file = _new_file(path)
        try:
            self.identity = self._identity(os.fstat(file))
        finally:
            os.close(file)

    @staticmethod
    def _identity(status: os.stat_result) -> tuple[int, int]:
        return status.st_dev, status.st_ino

    def opened(self) -> int:
        """The file, open. Errors: OSError, also where another file has its name now."""
        file = os.open(self.path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
        if self._identity(os.fstat(file)) != self.identity:
            os.close(file)
            raise OSError("another file has taken its place")
        return file

    def write(self, data: bytes, position: int | None = None) -> int:
        """Write at the end, or at a position; returns the size of the file. What cannot be written is left out."""
        try:
            file = self.opened()
        except OSError:
            return 0
        try:
            os.lseek(file, position or 0, os.SEEK_END if position is None else os.SEEK_SET)
            while data:
                data = data[os.write(file, data) :]
            return os.fstat(file).st_size
        except OSError:
            return 0
        finally:
            os.close(file)

    def append_state(self, file: int, tables: bytes, state: bytes) -> None:
        """Append the state of the registry, when nothing else is written any more. file: the recording, open.

        tables: lines before it. It may follow after the bound for calls, but not after that of the file.
        Errors: OSError.
        """
        piece = 1 << 16
        end = os.fstat(file).st_size
        while end > 0:  # a process that was killed leaves zeros behind the last line
            begin = max(0, end - piece)
            last = os.pread(file, end - begin, begin).rfind(b"\n")
            end = begin + last + 1
            if last >= 0:
                break
        line = tables + b'["state",' + state + b"]\n"
        if end + len(line) > self.limit:
            text = f"the registry: it takes more than is left of {self.limit >> 20} MB; see --max-size"
            line = line_of("x", {"reason": "state", "text": text})
        if end + len(line) <= self.limit:
            os.ftruncate(file, end)
            at = 0
            while at < len(line):
                at += os.pwrite(file, line[at:], end + at)


def _new_file(path: str) -> int:
    """A new file, open. Errors: OSError.

    One that is there is not cut: another process may write to it, and would be killed.
    """
    flags, mode = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666
    path = os.path.realpath(path)
    try:
        status = os.stat(path)
    except OSError:
        status = None
    if status is not None:
        mode = status.st_mode
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "a recording needs a regular file")
        if status.st_size:
            with open(path, "rb") as before:
                if not before.read(64).replace(b" ", b"").startswith(b'{"dispatch_cli_trace":'):
                    raise OSError(errno.EEXIST, "the file is there, and is no recording")
        try:
            os.unlink(path)
        except OSError:
            pass  # the directory is not ours
    try:
        return os.open(path, flags | os.O_EXCL, mode & 0o777)
    except FileExistsError:
        return os.open(path, flags | os.O_TRUNC)


def line_of(*values: Any) -> bytes:
    """Values as a line of the recording."""
    return json.dumps(values, separators=(",", ":")).encode("ascii") + b"\n"


# When PyTorch is imported.


class ImportWatch:
    """Says when the module torch has been imported; finds no module itself."""

    def __init__(self, imported: Callable[[Any], None]) -> None:
        self.imported = imported

    @as_of_python
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
        loader, imported, importers = spec.loader, self.imported, sys.meta_path
        execute = getattr(loader, "exec_module", None)
        if execute is not None:

            def _call_with_frames_removed(module: Any) -> None:
                del loader.exec_module
                execute(module)
                if self in importers:
                    importers.remove(self)
                imported(module)

            loader.exec_module = _call_with_frames_removed
        return spec


# The program.


class WrongCommand(Exception):
    """The command line is wrong."""


class NotBuilt(Exception):
    """The recorder's library cannot be built; the text says why."""


class HelpAsked(Exception):
    """The user wants to know how the command is used."""


class CommandLine:
    """The command line."""

    def __init__(self, words: list[str]) -> None:
        self.save, self.size, self.lines, self.state, self.module = "", 256, True, True, False
        self.kernels, self.library = False, ""
        words = list(words)
        while words and words[0].startswith("-"):
            option = words.pop(0)
            if option == "--no-lines":
                self.lines = False
            elif option == "--no-state":
                self.state = False
            elif option == "--kernels":
                self.kernels = True
            elif option in ("--save", "--max-size", "--library", "-m"):
                if not words:
                    raise WrongCommand(f"{option} needs a value")
                if option == "-m":
                    self.module = True
                    break
                value = words.pop(0)
                if option == "--save":
                    self.save = value
                elif option == "--library":
                    self.library = value
                elif value.isdigit() and int(value):
                    self.size = int(value)
                else:
                    raise WrongCommand("--max-size needs a number of megabytes")
            elif option == "--":
                break
            elif option in ("-h", "--help"):
                raise HelpAsked
            else:
                raise WrongCommand(f"there is no option {option}")
        if not self.save:
            raise WrongCommand("--save FILE is missing")
        if not words:
            raise WrongCommand("a script, or -m and a module, is missing")
        self.program = words


class CallRecorder:
    """The library that records the calls of this process."""

    def __init__(self, path: str, torch: Any) -> None:
        """Errors: OSError, ValueError where it is not for this PyTorch."""
        self.torch, self.folder = torch, os.path.dirname(os.path.abspath(torch.__file__))
        with open(path, "rb") as file:
            if b"built for: %s\0" % os.fsencode(self.folder) not in file.read():
                raise ValueError(f"the recorder is not built for {self.folder}")
        self.library = ctypes.PyDLL(path)
        word, text = ctypes.c_int64, ctypes.c_char_p
        self.library.recorder_start.argtypes = [text, word, word, text, text, text, ctypes.c_bool, word]
        self.library.recorder_start.restype = self.library.recorder_write.restype = None
        self.library.recorder_write.argtypes = [text]
        self.library.recorder_stop.restype = self.library.recorder_dropped.restype = word
        self.library.recorder_tables.restype = text
        self.logs_kernels = False

    def log_kernels(self) -> None:
        """Have every kernel note that it runs, from here on."""
        self.logs_kernels = True
        self.library.kernel_log_install()
        self.library.kernel_log_start()

    def tables(self, clean: Callable[[str], str]) -> bytes:
        """Lines for those operators whose tables are not what the registry at the end determines."""
        lines = []
        for text in self.library.recorder_tables().decode("utf-8", "replace").splitlines():
            number, table = json.loads(text)
            table["kernels"] = [(key, clean(debug), *rest) for key, debug, *rest in table["kernels"]]
            table["fallbacks"] = [(at, debug and clean(debug), falls) for at, debug, falls in table["fallbacks"]]
            lines.append(line_of("r", number, table))
        return b"".join(lines)


class RecordedProcess:
    """The recording of this process, from before the program begins until after it has ended.

    library: the path of the recorder's; None where there is no PyTorch. is_kept: it is there for other runs, too.
    """

    def __init__(self, options: CommandLine, library: str | None, is_kept: bool) -> None:
        self.options, self.library, self.is_kept = options, library, is_kept
        self.started = time.perf_counter_ns()
        self.output = RecordingFile(os.path.abspath(options.save), options.size << 20)
        self.recorder: CallRecorder | None = None
        self.reasons: list[tuple[str, str]] = []
        self.forked = False
        self.head = {
            "dispatch_cli_trace": FORMAT,
            "torch": None,
            "python": sys.version.split()[0],
            "argv": (["-m"] if options.module else []) + options.program,
            "directory": os.getcwd(),
            "pid": os.getpid(),
            "started": round(time.time(), 6),
            "lines": options.lines,
        }
        self.head_size = 0
        self.head_size = len(self._head()) + 64
        self.output.write(self._head())
        if "torch" in sys.modules:
            self.imported(sys.modules["torch"])
        else:
            sys.meta_path.insert(0, ImportWatch(untraced(self.imported)))
        # handlers run in the reverse order: this one after those of the program
        atexit.register(untraced(self.finish))
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_parent=untraced(self._after_fork))

    def _head(self) -> bytes:
        """The first line; there is room for the version of PyTorch, which is known later."""
        return line_of(self.head)[1:-2].ljust(self.head_size - 1) + b"\n"

    def imported(self, torch: Any) -> None:
        """PyTorch is there: record from here on."""
        try:
            self.head["torch"] = str(torch.__version__)
            head = self._head()
            size = self.output.write(head, 0) if len(head) == self.head_size else self.head_size
            if self.library is None:
                raise ValueError("it was not there before the program began")
            recorder = CallRecorder(self.library, torch)
            if self.options.kernels:
                recorder.log_kernels()
            limit = self.output.limit
            kept = LAST + (FOR_STATE if self.options.state and limit > 2 * FOR_STATE else 0)
            texts = self.output.path, recorder.folder + os.sep, str(self.head["directory"]), OWN_FILE
            path, folder, directory, own = map(os.fsencode, texts)
            elapsed = time.perf_counter_ns() - self.started
            recorder.library.recorder_start(
                path, size, limit - kept, folder, directory, own, self.options.lines, elapsed
            )
            self.recorder = recorder
        except Exception as error:
            self.reasons.append(("calibration", f"this PyTorch cannot be recorded: {error}"))

    def note(self, reason: str, text: str) -> None:
        """Write what is not recorded, and why."""
        line = line_of("x", {"reason": reason, "text": text})
        if self.recorder is not None:
            self.recorder.library.recorder_write(line)
        else:
            self.output.write(line)

    def _after_fork(self) -> None:
        if not self.forked:
            self.forked = True
            self.note("fork", "forked child processes are not recorded")

    def end_of_main(self) -> None:
        """The program's main module has ended: what is registered now is taken away soon, by PyTorch's own handlers."""
        if os.getpid() != self.output.pid or self.recorder is None or not self.options.state:
            return
        self.forked = True  # what is forked now is the recorder's
        try:
            capture_state(self)
        except (Exception, KeyboardInterrupt):
            pass  # the state of the same version stands for it

    def finish(self) -> None:
        """The program has ended."""
        if os.getpid() != self.output.pid:
            return
        seconds = (time.perf_counter_ns() - self.started) / 1e9
        calls = dropped = 0
        if self.recorder is not None:
            if any(name.startswith(COMPILED) for name in list(sys.modules)):
                self.note("inductor", "what Inductor compiled is not recorded: it makes no calls")
            library = self.recorder.library
            calls, dropped = library.recorder_stop(), library.recorder_dropped()
        elif not self.reasons:
            self.reasons.append(("torch", "the program has not imported PyTorch"))
        lines = [line_of("x", {"reason": reason, "text": text}) for reason, text in self.reasons]
        end = {"calls": calls, "dropped": dropped, "seconds": round(seconds, 6)}
        self.output.write(b"".join(lines) + line_of("end", end))
        if self.library is not None and not self.is_kept:
            os.unlink(self.library)
            os.rmdir(os.path.dirname(self.library))


COMPILED = "torch._inductor.runtime.compile_tasks."
"""The names of modules that Inductor makes begin so."""
FOR_STATE = 12 << 20
"""Bytes of the recording that are kept for the state of the registry, which is written last."""
PROBE = os.path.join(os.path.dirname(os.path.dirname(OWN_FILE)), "capture", "probe.py")
MOST_SECONDS = 120
"""Seconds that the capture of the registry may take."""


def capture_state(process: RecordedProcess) -> None:
    """Have the state of the dispatcher in this process appended to its recording, when the process has ended.

    The probe registers operators and imports modules to see what happens, for some seconds: a forked copy of the
    process does that, of which nothing else sees anything. The program does not wait for it, and it is not the parent
    of it. The copy holds a lock of the recording until it is done; readers wait for that.
    Errors: OSError, RuntimeError.
    """
    output = process.output
    if not os.path.isfile(PROBE):
        process.note("state", f"the registry is captured only where the recorder lies in dispatch_cli: no {PROBE}")
        return
    if _adopts():
        process.note("state", "the registry is not captured: this process waits for all processes that come from it")
        return
    file = output.opened()
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        begun = _begun(output.pid)
        # a handler of the program for children that end would take the one in between for one of its own
        handler = signal.getsignal(signal.SIGCHLD)
        if callable(handler):
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        try:
            child = _forked()
            if child == 0:
                _capture_in_copy(process, file, begun)
            try:
                os.waitpid(child, 0)
            except ChildProcessError:
                pass  # the program has its children taken away
        finally:
            if callable(handler):
                signal.signal(signal.SIGCHLD, handler)
    finally:
        os.close(file)  # the copy still has the lock


def _forked() -> int:
    """Fork. Python 3.12 warns of it where a process has threads, and what changes the filters of warnings would have
    those of the program said once more.
    """
    say = getattr(warnings, "_showwarnmsg", None)
    warnings._showwarnmsg = lambda _: None  # type: ignore[attr-defined]
    try:
        return os.fork()
    finally:
        warnings._showwarnmsg = say  # type: ignore[attr-defined]


def _adopts() -> bool:
    """True if this process gets the children of its children, when those end: it would wait for the copy."""
    answer = ctypes.c_int(0)
    get_child_subreaper = 37
    ctypes.CDLL(None).prctl(get_child_subreaper, ctypes.byref(answer), 0, 0, 0)
    return bool(answer.value) or os.getpid() == 1


def _capture_in_copy(process: RecordedProcess, file: int, begun: bytes) -> None:
    """Be the copy: never return. begun: when the program has begun, see `_begun`."""
    recorder, output = process.recorder, process.output
    assert recorder is not None, "the caller has looked"
    program = output.pid
    try:
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            at_terminal = number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGPIPE)
            signal.signal(number, signal.SIG_IGN if at_terminal else signal.SIG_DFL)
        if os.fork() == 0:
            os.setsid()
            signal.alarm(MOST_SECONDS)
            # what the program has open must be closed when it has ended
            kept = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, 3)
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nowhere, stream)
            os.closerange(3, kept)
            os.closerange(kept + 1, _most_files())
            if recorder.logs_kernels:
                recorder.library.kernel_log_remove()
            for module, copy in USED:  # the probe gets what the program may have replaced
                vars(module).update(vars(copy))
            builtins.open = open
            probe = _probe()
            root = os.path.dirname(os.path.dirname(os.path.abspath(recorder.torch.__file__)))
            clean = probe.Cleaner(root, sys.path, os.path.expanduser("~")).clean
            try:
                tables = recorder.tables(clean)
            except Exception:
                tables = b""
            asked = probe.LivePyTorch(recorder.torch, [], clean, [])
            state = json.dumps(probe.capture(asked, bool)).encode("ascii")
            signal.alarm(0)
            while begun and _begun(program) == begun:
                time.sleep(0.05)
            output.append_state(kept, tables, state)
    finally:
        os._exit(0)


def _most_files() -> int:
    """A number above those of all open files."""
    return 1 + max(int(name) for name in os.listdir("/proc/self/fd"))


def _begun(process: int) -> bytes:
    """Time at which a process has begun, in the system's words; nothing for one that has ended."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            words = file.read().rpartition(b")")[2].split()
    except OSError:
        return b""
    return words[19] if words[0] not in b"ZXx" else b""


def _probe() -> Any:
    """The probe of dispatch-cli's captures. No vmap is made before."""
    spec: Any = importlib.util.spec_from_file_location("dispatch_cli_probe", PROBE)
    probe: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(probe)
    return probe


def run(program: list[str], module: bool) -> None:
    """Run a program as Python runs it from the command line.

    It runs in this process, below the frames of this file, as coverage and profilers do it: that works with every
    option of Python (-I, -S), and leaves no variable in the environment that programs started from there would get.
    Python's own functions run modules and directories. What differs is that the stack begins with these frames; they
    are left out of the traceback with which the program ends.
    """
    if hasattr(sys, "orig_argv"):
        # without this file's words: its path, or -m and its name, and its options
        begin = sys.orig_argv[: len(sys.orig_argv) - len(sys.argv) + 1]
        begin = begin[: -2 if begin[-2:-1] == ["-m"] else -1]
        sys.orig_argv[:] = begin + (["-m"] if module else []) + program
    own = sys.modules["__main__"]
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = sys.modules["builtins"]
    if hasattr(own, "__annotations__") and sys.version_info < (3, 14):
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


def library_for(options: CommandLine) -> tuple[str | None, bool]:
    """The path of the recorder's library, and whether it is kept; no path where there is no PyTorch. It is built by
    another process, since that imports many modules. Errors: NotBuilt.
    """
    if options.library:
        return options.library, True
    import subprocess

    done = subprocess.run([sys.executable, BUILD], stdout=subprocess.PIPE, check=False)
    answer = json.loads(done.stdout or b'{"error": "it does not say why", "hint": "see above"}')
    if "error" in answer:
        raise NotBuilt(f"{answer['error']}; {answer['hint']}" if answer["hint"] else answer["error"])
    return answer["library"], answer["is_kept"]


def main() -> None:
    """Be the command. Exit codes: the program's own; 2 for a wrong command line or a recording that cannot be made."""
    try:
        options = CommandLine(sys.argv[1:])
        process = RecordedProcess(options, *library_for(options))
    except HelpAsked:
        print(USAGE)
        return
    except WrongCommand as error:
        print(f"recorder: {error}\n\n{USAGE}", file=sys.stderr)
        raise SystemExit(2) from None
    except NotBuilt as error:
        print(f"recorder: it cannot be built: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except OSError as error:
        print(f"recorder: {options.save}: {error.strerror or error}: the recording cannot be made", file=sys.stderr)
        raise SystemExit(2) from None
    end = untraced(process.end_of_main)
    try:
        run(options.program, options.module)
    finally:
        end()


if __name__ == "__main__":
    main()
