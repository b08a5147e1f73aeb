"""Run a Python program and record every call that PyTorch's dispatcher gets in it.

usage: PYTHON recorder.py --save FILE [--max-size MB] [--no-lines] [--no-state] [--kernels LIBRARY] SCRIPT [ARGS...]
       PYTHON recorder.py --save FILE [...] -m MODULE [ARGS...]

A script of its own: it needs Python 3.8 and its standard library, and imports nothing of the package it lies in. The
program runs as ``python SCRIPT`` would run it, with its own output and exit code; PyTorch is imported when the program
does it. Its calls are observed by a callback of PyTorch itself (``at::addGlobalCallback``), in every thread, and are
written to FILE at once: nothing is lost when the program is killed.

How PyTorch lays out its structures in memory differs between versions. So nothing is assumed: when PyTorch has been
imported, structures are looked through for values that are known (`MemoryLayout`). Where they are not found, nothing is
recorded, FILE says why, and the program runs as ever.

Observed: each call of ``Dispatcher::call``, also nested ones and those of backward; its operator, the key sets of its
tensors and of the thread, wrappers and layers of functorch, modes, gradients, devices and classes of tensors, the
thread and the line of Python it comes from, when it ended and whether by an exception; and which kernels the slots of
its operator hold. The registry is captured only when the program ends, and it does not say in which order kernels were
registered, on which that depends. So an operator's table is read in memory when it is called for the first time, and
again when kernels may have been registered or taken away since: calls of the functions of PyTorch that do that, and of
those of Python that load libraries, are counted by a few instructions that are put before them. An operator whose
kernels have changed gets another number. At the end FILE gets the tables that the registry does not determine.
Not observed: redispatches to further kernels of the same operator; what gives no event (``size``, ``is_leaf``,
``output_nr``, ``_version``, ``is_complex``); code that Inductor compiled, which makes no calls; calls that a destructor
makes while an exception is on its way; calls that the program's Python code makes while the recorder is at work (the
handler of a signal, a finalizer): the end of the recording tells how many; processes that the program starts or forks,
or that it becomes (``os.execv``), and subinterpreters; kernels that C++ registers later than while its library is
loaded, until Python registers one or loads a library.

What can go wrong, because a call needs Python's lock to be recorded: a thread that has it and waits for another one,
which calls an operator, waits for ever. That is so in an extension that keeps the lock and calls operators in threads
of its own, and where one thread asks a view for its grad_fn while another computes it. The file of the recording must
not be cut while the program runs: the system would end the program.

What a program can notice:
- The stack begins with frames of this file: Python's limit of recursion is reached some calls earlier, what prints the
  stack shows them, and a warning for the caller of the main module names this file.
- The handler of a signal can run inside of a call of PyTorch, with the thread state that holds there. What it raises
  comes to the program before it goes on, with a traceback that lacks a frame.
- Tracers and profilers of Python do not see what the program's code does while the recorder is at work (the handler of
  a signal, a finalizer). Before Python 3.11 they see the recorder's functions instead, and what a profiler raises at
  their beginning is lost.
- PyTorch 2.4 counts a few functions that the recorder calls among those that torch.compile looked at.
- A call costs some microseconds more.
- When the main module has ended, a forked copy of the process captures the registry of PyTorch, and appends it to FILE
  some seconds after the program's end (``--no-state``): functions that are registered for a fork run. Where all
  processes are stopped with the program, as in a container whose first process it is, FILE has no registry.

Needs CPython on Linux and x86-64: elsewhere nothing is recorded.
"""

from __future__ import annotations

import sys

PRESENT = frozenset(sys.modules)
"""The modules that Python has imported by itself."""

import _ctypes
import _imp
import _thread
import atexit
import builtins
import ctypes
import dis
import errno
import importlib.machinery
import importlib.util
import io
import json
import mmap
import os
import pkgutil
import re
import runpy
import signal
import stat
import time
import types
import warnings
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

try:
    import fcntl
    import resource
except ImportError:
    pass  # nothing is recorded on this system

if TYPE_CHECKING:  # Python 3.8 knows these spellings only where it does not look at them.
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Handler = Callable[[int], None]
    """Gets the address of a RecordFunction."""
    Failed = Callable[[BaseException, int], None]
    """Gets an exception, and the address of a RecordFunction."""
    Kernel = tuple[int, ...]
    """Words of memory that are those of no other kernel."""


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
  --kernels LIBRARY  the logging kernels that `dispatch-cli trace --verify` builds
  --help             show this text"""


class Unusable(Exception):
    """This PyTorch cannot be observed; the text says why."""


class NotWritten(Exception):
    """This call is not recorded: the recording has stopped, or its file is being changed by what this call is in."""


# Memory.

WORDS: Any = b""
if sys.maxsize > 1 << 32:
    WORDS = memoryview((ctypes.c_uint64 * (1 << 44)).from_address(0)).cast("B").cast("Q")
"""The memory of this process as words of 64 bits: ``WORDS[address >> 3]``. Only for addresses that are known to be in
use."""


def check_system() -> None:
    """Errors: Unusable, where structures and calls of C++ are not as this file knows them."""
    machine = os.uname().machine if hasattr(os, "uname") else ""
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    if sys.platform != "linux" or machine != "x86_64" or sys.implementation.name != "cpython" or not gil:
        raise Unusable("calls are recorded only on Linux, on x86-64, and by CPython with its global lock")


class Looking:
    """Reads memory that may not be there: the system copies it, and refuses where the process would crash."""

    def __init__(self) -> None:
        self._out, self._in = os.pipe()

    def close(self) -> None:
        os.close(self._out)
        os.close(self._in)

    def words(self, address: int, count: int) -> list[int]:
        """Up to *count* words from an address on; fewer, or none, where memory ends."""
        if address <= 4096 or address & 7 or address >= 1 << 47:
            return []
        try:
            size = os.write(self._in, (ctypes.c_char * (8 * count)).from_address(address))
        except OSError:
            return []
        data = os.read(self._out, size)
        return [int.from_bytes(data[at : at + 8], "little") for at in range(0, len(data) - 7, 8)]

    def starts_with(self, address: int, text: bytes) -> bool:
        """Whether that C string is at an address."""
        if address <= 4096 or address >= 1 << 47:
            return False
        try:
            size = os.write(self._in, (ctypes.c_char * (len(text) + 1)).from_address(address))
        except OSError:
            return False
        return os.read(self._out, size) == text + b"\0"


# Tracers, profilers and monitoring of Python.

TRACING = "PyThreadState_EnterTracing", "PyThreadState_LeaveTracing"
"""Functions of Python 3.11 and later, between which these are told of nothing that the thread does."""


def as_of_python(function: Any) -> Any:
    """A function, and those made in it, in the name of Python's own file for imports: coverage leaves that out, and
    tracebacks of failed imports do.
    """

    def renamed(code: types.CodeType) -> types.CodeType:
        constants = [renamed(one) if isinstance(one, types.CodeType) else one for one in code.co_consts]
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


# PyTorch's structures.

START = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_size_t, ctypes.c_size_t)
"""Returns a unique_ptr: the caller gives the place for it, and gets that place back."""
END = ctypes.CFUNCTYPE(None, ctypes.c_size_t, ctypes.c_size_t)
ENTERED = ctypes.CFUNCTYPE(None, ctypes.c_size_t)
"""Gets the address of a RecordFunction."""
HEAD = 24
"""Bytes of a RecordFunctionCallback before its list of scopes: two functions and a probability."""
TAG = 0xFFFFFFFF
"""The part of a value's second word that tells its kind; the rest is not used, and not cleared."""
FUNCTION, BACKWARD = 0, 1
"""Scopes: a call of an operator; a node of autograd that runs backward."""


class Callback(ctypes.Structure):
    """at::RecordFunctionCallback, with room for more scopes than any version has."""

    _fields_ = [
        ("start", START),
        ("end", END),
        ("probability", ctypes.c_double),
        ("flags", ctypes.c_uint8 * 40),
    ]


class Exports:
    """The functions that PyTorch exports. None of them calls an operator."""

    def __init__(self, torch: Any) -> None:
        folder = os.path.join(os.path.dirname(os.path.abspath(torch.__file__)), "lib")
        try:
            self.cpu = ctypes.PyDLL(os.path.join(folder, "libtorch_cpu.so"))
            self.c10 = ctypes.PyDLL(os.path.join(folder, "libc10.so"))
            word = ctypes.c_size_t
            self.add_callback = self._function(self.cpu, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE", word)
            self.add_callback.argtypes = [Callback]
            self.remove_callback = self._function(self.cpu, "_ZN2at14removeCallbackEm", None, word)
            self.operator_name = self._function(self.cpu, "_ZNK2at14RecordFunction13operator_nameEv", word, word, word)
            self.thread_id = self._function(self.cpu, "_ZN2at14RecordFunction15currentThreadIdEv", ctypes.c_uint64)
            self.layers = self._function(self.cpu, "_ZN2at9functorch20getDynamicLayerStackEv", word)
            self.begin = self._function(
                self.cpu, "_ZN2at14RecordFunctionC1ENS_11RecordScopeE", None, word, ctypes.c_uint8
            )
            self.run_start = self._function(self.cpu, "_ZN2at14RecordFunction17runStartCallbacksEv", None, word)
            self.run_end = self._function(self.cpu, "_ZN2at14RecordFunction3endEv", None, word)
            self.finish = self._function(self.cpu, "_ZN2at14RecordFunctionD1Ev", None, word)
            self.is_inference = self._function(self.c10, "_ZN3c1013InferenceMode10is_enabledEv", ctypes.c_bool)
            self.is_grad = self._function(self.c10, "_ZN3c108GradMode10is_enabledEv", ctypes.c_bool)
            self.count_modes = self._function(
                self.c10, "_ZN3c104impl20TorchDispatchModeTLS9stack_lenEv", ctypes.c_int64
            )
            self.python_dispatcher = self._function(self.c10, "_ZN3c104impl19PythonDispatcherTLS9get_stateEv", word)
            self.requires_grad = self._function(self.c10, "_ZNK3c1010TensorImpl13requires_gradEv", ctypes.c_bool, word)
            self.unwinding = ctypes.cast(self.cpu["_ZSt19uncaught_exceptionsv"], ctypes.c_void_p).value or 0
            self.undefined = self._address(self.c10, "_ZN3c1019UndefinedTensorImpl10_singletonE")
        except (OSError, AttributeError, ValueError) as error:
            raise Unusable(f"PyTorch {torch.__version__} does not export what the recorder needs: {error}") from None

    @staticmethod
    def _function(library: Any, name: str, result: Any, *arguments: Any) -> Any:
        function = library[name]
        function.restype, function.argtypes = result, arguments
        return function

    @staticmethod
    def _address(library: Any, name: str) -> int:
        return ctypes.addressof(ctypes.c_uint64.in_dll(library, name))

    def keys_of_thread(self) -> int:
        """The address of this thread's included keys; the excluded ones follow."""
        return self._address(self.c10, "_ZN3c104impl26raw_local_dispatch_key_setE")


class Entries:
    """Functions of C++ that call functions of Python: a few instructions of x86-64 each, which nothing of the standard
    library can stand for.

    They call nothing while C++ unwinds the stack for an exception. An error of Python may be set at that time, for
    which that exception stands; any call from ctypes would lose it, and the program would not get it.
    The start of a call returns by the place that its caller gives that it has no observer, whatever Python does.
    Tracers, profilers and monitoring of Python do not see the functions that are called: the program may print what
    they see, and PyTorch's profiler draws its own conclusions from it.
    When the function has left an exception for its thread (`leave`), they have Python raise it in that thread as soon
    as it runs code of the program: ctypes lets no function raise, and one that waits to be raised before its end would
    be raised in it.
    Errors: OSError, where the system lets no program make instructions.
    """

    # push rdi; push rsi; sub rsp, 8; (mov qword [rdi], 0)
    # call std::uncaught_exceptions; test eax, eax; jne END
    # call PyGILState_Ensure; mov [rsp], eax
    # call PyThreadState_Get; mov rdi, rax; call PyThreadState_EnterTracing
    # mov rdi, [rsp+16] or [rsp+8]; call FUNCTION
    # call PyThreadState_Get; mov rdi, rax; call PyThreadState_LeaveTracing
    # mov rax, LEFT; mov rcx, fs:[16]; cmp [rax], rcx; jne RELEASE     the thread, as threading.get_ident() has it
    # mov qword [rax], 0; mov rdi, rcx; mov rsi, [rax+8]; call PyThreadState_SetAsyncExc
    # RELEASE: mov edi, [rsp]; call PyGILState_Release
    # END: add rsp, 8; pop rsi; pop rax; ret
    BEGIN = "57 56 4883ec08"
    NO_OBSERVER = "48c70700000000"
    ASK = "48b8 {asks} ffd0 85c0 0f8597000000"
    ENTER = "48b8 {ensure} ffd0 890424 48b8 {thread} ffd0 4889c7 48b8 {enters} ffd0"
    CALL_START = "488b7c2408 48b8 {calls} ffd0"
    CALL_END = "488b7c2410 48b8 {calls} ffd0"
    LEAVE = "48b8 {thread} ffd0 4889c7 48b8 {leaves} ffd0"
    RAISE = "48b8 {left} 64488b0c2510000000 483908 751a 48c70000000000 4889cf 488b7008 48b8 {sets} ffd0"
    RELEASE = "8b3c24 48b8 {releases} ffd0"
    FINISH = "4883c408 5e 58 c3"
    INSIDE = LEAVE + RAISE + RELEASE + FINISH
    START = BEGIN + NO_OBSERVER + ASK + ENTER + CALL_START + INSIDE
    END = BEGIN + ASK + ENTER + CALL_END + INSIDE

    def __init__(self, unwinding: int) -> None:
        # kept for ever: other threads may be in it at the end
        self.map = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        self.left = self.address >> 3
        self.size = 32
        python = ctypes.pythonapi
        # before Python 3.11 another function stands for both, which does nothing
        enters, leaves = (getattr(python, name, python.PyThreadState_Get) for name in TRACING)
        self.known = {
            "asks": unwinding,
            "left": self.address,
            "ensure": self._address_of(python.PyGILState_Ensure),
            "thread": self._address_of(python.PyThreadState_Get),
            "enters": self._address_of(enters),
            "leaves": self._address_of(leaves),
            "releases": self._address_of(python.PyGILState_Release),
            "sets": self._address_of(python.PyThreadState_SetAsyncExc),
        }

    @staticmethod
    def _address_of(function: Any) -> int:
        return ctypes.cast(function, ctypes.c_void_p).value or 0

    def entry(self, instructions: str, function: Any) -> int:
        """The address of instructions that call *function* with the address of the RecordFunction."""
        addresses = {**self.known, "calls": self._address_of(function)}
        words = {name: address.to_bytes(8, "little").hex() for name, address in addresses.items()}
        code = bytes.fromhex(instructions.format(**words))
        at = self.size
        self.map[at : at + len(code)] = code
        self.size = (at + len(code) + 15) // 16 * 16
        return self.address + at

    @property
    def changes(self) -> int:
        """Where it is counted how often functions were called that may register kernels, as an index of `WORDS`."""
        return self.left + 2

    def count(self, place: int) -> None:
        """Have calls counted of the function whose address is at a place, without a frame: it is jumped to.

        place: an index of `WORDS`.
        """
        counter, goes_on = (number.to_bytes(8, "little").hex() for number in (self.changes << 3, WORDS[place]))
        # mov rax, COUNTER; lock inc qword [rax]; mov rax, FUNCTION; jmp rax
        code = bytes.fromhex(f"48b8 {counter} f048ff00 48b8 {goes_on} ffe0")
        at = self.size
        self.map[at : at + len(code)] = code
        self.size = (at + len(code) + 15) // 16 * 16
        WORDS[place] = self.address + at

    def leave(self, kind: type[BaseException]) -> bool:
        """Have an exception raised in this thread when the function that is called now has ended.

        kind must be kept until then. False where one is left already.
        """
        address, thread = id(kind), _thread.get_ident()
        if WORDS[self.left]:
            return False
        WORDS[self.left + 1] = address  # nothing is called in between
        WORDS[self.left] = thread
        return True


def caught_everywhere(function: Any, failed: Failed) -> Any:
    """A function whose body is a try statement, and which catches what is raised anywhere in it.

    Python runs the handlers of signals also before the first instruction of that statement, and at some jumps that its
    tables leave out; what they raise there would get lost in ctypes. failed: what is called then.
    """
    if sys.version_info < (3, 11):

        def caught(address: int) -> None:
            try:
                function(address)
            except BaseException as error:
                failed(error, address)

        return caught
    code = function.__code__
    begin: int = next(one.offset for one in dis.get_instructions(code) if one.opname == "RESUME")
    entries = sorted(dis._parse_exception_table(code), key=lambda one: one.start)  # type: ignore[attr-defined]
    handler = entries[0].target
    covered = []
    for start, end, target, depth, lasti in [(one.start, one.end, one.target, one.depth, one.lasti) for one in entries]:
        if begin < min(start, handler):
            covered.append((begin, min(start, handler), handler, 0, False))
        covered.append((start, end, target, depth, lasti))
        begin = max(begin, end)
    data = bytearray()
    for start, end, target, depth, lasti in covered:
        for at, number in enumerate((start // 2, (end - start) // 2, target // 2, depth << 1 | lasti)):
            parts = [number & 63]
            while number := number >> 6:
                parts.append(number & 63 | 64)
            parts[-1] |= 128 if at == 0 else 0
            data += bytes(reversed(parts))
    function.__code__ = code.replace(co_exceptiontable=bytes(data))
    return function


class Observation:
    """A callback for calibration: while it is there, *handle* gets every RecordFunction of that scope."""

    def __init__(self, library: Exports, handle: Handler, *flags: int) -> None:
        self.library = library

        self.error: BaseException | None = None

        def start(place: int, function: int) -> int:
            try:
                WORDS[place >> 3] = 0
                handle(function)
            except BaseException as error:
                self.error = error
            return place

        self.start = START(start)
        self.callback = Callback(self.start, END(), 1.0)
        for flag in flags:
            self.callback.flags[flag] = 1

    def __enter__(self) -> None:
        self.handle = self.library.add_callback(self.callback)

    def __exit__(self, *_: object) -> None:
        self.library.remove_callback(self.handle)
        if self.error is not None:
            raise self.error


class MemoryLayout:
    """Where things are in this version's structures: offsets in bytes, found by looking for values that are known.

    Errors: Unusable, where something is not found without which a call cannot be told.
    """

    def __init__(self, torch: Any, library: Exports) -> None:
        self.torch, self.library = torch, library
        self.looking = Looking()
        self.missing: list[str] = []
        # what a call can be told without
        self.device = self.autograd = self.python_object = self.layer_size = self.forward_thread = 0
        self.wrapped: dict[str, tuple[int, int]] = {}
        self.tables: LiveTables | None = None
        try:
            with torch.no_grad():
                self._find()
        finally:
            self.looking.close()

    def _find(self) -> None:
        torch, words = self.torch, self.looking.words
        self.a, self.b = torch.ones(2, device="cpu"), torch.ones(3, device="cpu")
        self._find_inputs()
        self._find_scope()
        self._find_sequence_number()
        self._find_kind()
        self._find_end()
        # a tensor of Python and what it stands for
        self.of_python = self._one("a tensor", self._places(words(id(self.a), 16), self.impl_a))
        self._find_keys()
        self._find_keys_of_thread()
        self._find_tags()
        self._try("devices", self._find_device)
        self._try("requires_grad", self._find_autograd)
        self._try("subclasses", self._find_python_object)
        self._try("layers", self._find_layers)
        self._try("backward", self._find_forward_thread)
        self._try("tables", self._find_tables)

    def _try(self, what: str, find: Callable[[], None]) -> None:
        """Find something without which the rest can be recorded."""
        try:
            find()
        except (Unusable, AttributeError, IndexError, RuntimeError, TypeError) as error:
            self.missing.append(f"{what}: {error}")

    @staticmethod
    def _one(what: str, places: Sequence[int]) -> int:
        """The only place, or the first of several that are as good."""
        if not places:
            raise Unusable(f"{what} was not found in PyTorch's structures")
        return places[0]

    @staticmethod
    def _places(words: Sequence[int], value: int) -> list[int]:
        return [8 * at for at, word in enumerate(words) if word == value]

    def _observe(self, handle: Handler, run: Callable[[], Any], *flags: int) -> None:
        with Observation(self.library, handle, *(flags or (FUNCTION, self.needs_inputs))):
            run()

    # A RecordFunction.

    def _find_inputs(self) -> None:
        """The flag that asks for inputs, and where a RecordFunction has them, with the tensors in them."""
        torch, words = self.torch, self.looking.words
        found: list[tuple[int, int, int]] = []

        def look(function: int) -> None:
            fields = words(function, 64)
            for at in range(len(fields) - 1):
                if fields[at + 1] == 3:
                    value = words(fields[at], 6)
                    tags = [word & TAG for word in value[1::2]]
                    # the same tensor twice, and a number
                    if len(value) == 6 and value[0] > 4096 and value[0] == value[2] and tags[0] == tags[1] != tags[2]:
                        found.append((8 * at, value[0], tags[0]))

        for flag in range(1, 32):
            self._observe(look, lambda: torch.add(self.a, self.a), FUNCTION, flag)
            if found:
                self.needs_inputs = flag
                self.inputs, self.impl_a, self.tensor_tag = found[0]
                break
        else:
            raise Unusable("the inputs of a call were not found in PyTorch's structures")
        names: list[tuple[int, int]] = []
        schemas: list[list[int]] = []

        def look_for_names(function: int) -> None:
            answer = (ctypes.c_uint64 * 32)()
            self.library.operator_name(ctypes.addressof(answer), function)
            starts = self.looking.starts_with
            first = [8 * at for at in range(16) if starts(answer[at], b"aten::add")]
            second = [8 * at for at in range(16) if starts(answer[at], b"Tensor")]
            names.extend((one, other) for one in first[:1] for other in second[:1])
            if names:
                name_at, overload_at = names[0]
                schemas.append([])
                for at, word in enumerate(words(function, 64)):
                    schema = words(word, 16)
                    if (
                        len(schema) == 16
                        and self.looking.starts_with(schema[name_at >> 3], b"aten::add")
                        and self.looking.starts_with(schema[overload_at >> 3], b"Tensor")
                    ):
                        schemas[-1].append(8 * at)

        self._observe(look_for_names, lambda: torch.add(self.a, self.a))
        if not names or not schemas:
            raise Unusable("the names of operators were not found in PyTorch's structures")
        self.name, self.overload = names[0]
        self.schema = self._one("the operator of a call", schemas[0])

    def _find_scope(self) -> None:
        """Where a RecordFunction has its scope and the number of its thread."""
        size = 1024
        kept = []
        for scope in (0, 1, 7, 1, 0):
            data = ctypes.create_string_buffer(size)
            self.library.begin(ctypes.addressof(data), scope)
            kept.append((scope, bytes(data.raw)))
            self.library.finish(ctypes.addressof(data))
        places = [at for at in range(size) if all(data[at] == scope for scope, data in kept)]
        self.scope = self._one("the scope of a call", places)
        seen = [(self.library.thread_id(), kept[0][1])]
        done = _thread.allocate_lock()
        done.acquire()

        def look() -> None:
            data = ctypes.create_string_buffer(size)
            try:
                self.library.begin(ctypes.addressof(data), 0)
                seen.append((self.library.thread_id(), bytes(data.raw)))
                self.library.finish(ctypes.addressof(data))
            finally:
                done.release()

        _thread.start_new_thread(look, ())
        if not done.acquire(timeout=5) or len(seen) < 2:
            raise Unusable("the thread of a call was not found in PyTorch's structures")
        places = [
            at
            for at in range(0, size, 8)
            if all(int.from_bytes(data[at : at + 8], "little") == number for number, data in seen)
        ]
        self.thread = self._one("the thread of a call", places)

    def _find_sequence_number(self) -> None:
        """It is -1 without gradients; with them, what autograd says."""
        words, autograd = self.looking.words, self.torch._C._autograd
        minus, at_once = [], []

        def look_without(function: int) -> None:
            minus.extend(self._places(words(function, 64), (1 << 64) - 1))

        def look_with(function: int) -> None:
            at_once.extend(self._places(words(function, 64), autograd._get_sequence_nr()))

        self._observe(look_without, lambda: self.torch.add(self.a, self.a))
        with self.torch.enable_grad():
            self._observe(look_with, lambda: self.torch.add(self.a, self.a))
        self.sequence = self._one("the sequence number of a call", [at for at in minus if at in at_once])

    def _find_kind(self) -> None:
        """Where a RecordFunction says whether it has an operator, or only a name: detach makes one of each."""
        named: list[bytes] = []
        called: list[bytes] = []

        def look(function: int) -> None:
            answer = (ctypes.c_uint64 * 32)()
            self.library.operator_name(ctypes.addressof(answer), function)
            data = b"".join(word.to_bytes(8, "little") for word in self.looking.words(function, 64))
            (called if answer[self.name >> 3] else named).append(data[: self.sequence])

        torch = self.torch
        self._observe(look, lambda: [self.a.detach(), torch.add(self.a, self.a), self.b.detach(), torch.neg(self.b)])
        places = [
            at
            for at in range(self.schema + 8, self.sequence)
            if all(data[at] == 1 for data in called) and all(data[at] == 0 for data in named)
        ]
        self.kind = self._one("what a call is of", places if named else [])

    def _find_end(self) -> None:
        """What changes in a RecordFunction when its call ends."""
        data = ctypes.create_string_buffer(1024)
        address = ctypes.addressof(data)

        def run() -> None:
            self.library.begin(address, FUNCTION)
            self.library.run_start(address)
            before = self.looking.words(address, 64)
            self.library.run_end(address)
            after = self.looking.words(address, 64)
            places.extend(8 * at for at in range(len(before)) if before[at] != after[at])
            self.library.finish(address)

        places: list[int] = []
        self._observe(lambda _: None, run)
        self.open = self._one("the end of a call", [at for at in places if at < self.sequence])

    def _find_forward_thread(self) -> None:
        """A node made in another thread runs backward in this one; no engine of autograd is started for it."""
        torch, words = self.torch, self.looking.words
        made: list[Any] = []
        done = _thread.allocate_lock()
        done.acquire()
        leaf = self.a.detach().requires_grad_()

        def make() -> None:
            try:
                made.append(self.library.thread_id())
                made.append(torch.neg(leaf))
            finally:
                done.release()

        _thread.start_new_thread(make, ())
        if not done.acquire(timeout=5) or len(made) < 2:
            raise Unusable("no thread")
        thread, result = made
        places: list[int] = []
        node = result.grad_fn
        number = node._sequence_nr()

        def look(function: int) -> None:
            fields = words(function, 64)
            if (
                fields[self.sequence >> 3] == number
                and WORDS[(function + self.scope) >> 3] >> 8 * (self.scope & 7) & 0xFF == BACKWARD
            ):
                places.extend(self._places(fields, thread))

        self._observe(look, lambda: node(self.a), BACKWARD)
        self.forward_thread = self._one("the thread of the forward call", [at for at in places if at != self.thread])

    def _find_tables(self) -> None:
        self.tables = LiveTables(self.torch, self.library, self, self.looking)

    def name_of(self, schema: int) -> tuple[str, str]:
        """The name and the overload of the operator that has its schema at an address."""
        name, overload = (
            ctypes.string_at(WORDS[schema + at >> 3]).decode("utf-8", "replace") for at in (self.name, self.overload)
        )
        return name, overload

    # Tensors.

    def impl(self, tensor: Any) -> int:
        """The address of a tensor's structure."""
        found: int = WORDS[(id(tensor) + self.of_python) >> 3]
        return found

    def raw(self, keyset: Any) -> int:
        """The bits of a set of keys."""
        if hasattr(keyset, "raw_repr"):
            return int(keyset.raw_repr())
        if not hasattr(self, "_raw"):
            torch_c = self.torch._C
            one, two = (
                torch_c.DispatchKeySet(getattr(torch_c.DispatchKey, name)) for name in ("Conjugate", "Negative")
            )
            both = one | two
            for at in range(2, 8):
                values = [self.looking.words(WORDS[(id(each) >> 3) + at], 1) for each in (one, two, both)]
                if all(values) and values[0][0] | values[1][0] == values[2][0] and bin(values[2][0]).count("1") == 2:
                    self._raw = at
                    break
            else:
                raise Unusable("sets of keys cannot be read")
        return int(WORDS[WORDS[(id(keyset) >> 3) + self._raw] >> 3])

    def key(self, name: str) -> int:
        """The bits of one key."""
        torch_c = self.torch._C
        return self.raw(torch_c.DispatchKeySet(getattr(torch_c.DispatchKey, name)))

    def _find_keys(self) -> None:
        torch = self.torch
        known = [
            self.a,
            torch.empty(1, device="meta"),
            torch.ones(1, dtype=torch.complex64, device="cpu").conj(),
        ]
        places: list[int] | None = None
        for tensor in known:
            here = self._places(self.looking.words(self.impl(tensor), 64), self.raw(torch._C._dispatch_keys(tensor)))
            places = here if places is None else [at for at in places if at in here]
        self.keys = self._one("the key set of a tensor", places or [])
        self.python_keys = self.key("Python")
        kinds = {"batched": "FuncTorchBatched", "grad-wrapped": "FuncTorchGradWrapper", "functional": "Functionalize"}
        self.wrapper_keys = {kind: self.key(name) for kind, name in kinds.items()}
        self.special = self.python_keys
        for keys in self.wrapper_keys.values():
            self.special |= keys

    def _find_keys_of_thread(self) -> None:
        """What the thread's sets are kept with: the default sets, so that a thread begins with zeros."""
        torch_c = self.torch._C
        address = self.library.keys_of_thread()

        def defaults() -> tuple[int, int]:
            included = self.raw(torch_c._dispatch_tls_local_include_set()) ^ WORDS[address >> 3]
            return included, self.raw(torch_c._dispatch_tls_local_exclude_set()) ^ WORDS[(address >> 3) + 1]

        before = defaults()
        with torch_c._IncludeDispatchKeyGuard(torch_c.DispatchKey.AutocastCPU):
            included = defaults()
        with torch_c._ExcludeDispatchKeyGuard(torch_c.DispatchKeySet(torch_c.DispatchKey.AutocastCPU)):
            excluded = defaults()
        if before != included or before != excluded:
            raise Unusable("the key sets of a thread were not found")
        self.included_by_default, self.excluded_by_default = before

    def _values(self, run: Callable[[], Any], count: int) -> list[int]:
        """The words of the inputs of the first call that *run* makes with that many inputs."""
        found: list[int] = []

        def look(function: int) -> None:
            address, length = self.looking.words(function + self.inputs, 2)
            if length == count and not found:
                found.extend(self.looking.words(address, 2 * length))

        self._observe(look, run)
        if not found:
            raise Unusable("the arguments of a call were not found")
        return found

    def _find_tags(self) -> None:
        """The tags of values that a signature tells: numbers, devices, lists, generators, nothing."""
        torch = self.torch
        values = self._values(lambda: torch.empty((1,), dtype=torch.float32, device="meta"), 6)
        # SymInt[] size, dtype, layout, device, pin_memory, memory_format
        size, dtype, _, device, _, memory_format = (word & TAG for word in values[1::2])
        self.list_tag, self.int_tag, self.device_tag, self.none_tag = size, dtype, device, memory_format
        tags = {self.tensor_tag, size, dtype, device, memory_format}
        if len(tags) != 5 or values[2] & 0xFFFF != 6:
            raise Unusable("the kinds of arguments were not told apart")
        tensors = self._values(lambda: torch.cat([self.a, self.a, self.b]), 2)
        if tensors[1] & TAG != self.list_tag:
            raise Unusable("lists of tensors were not found")

        def look(function: int) -> None:
            address, length = self.looking.words(function + self.inputs, 2)
            if length == 2 and not places:
                body = self.looking.words(WORDS[address >> 3], 16)
                for at in range(len(body) - 1):
                    inside = self.looking.words(body[at], 6)
                    if body[at + 1] - body[at] == 48 and len(inside) == 6 and inside[0] == inside[2] == self.impl_a:
                        places.append(8 * at)

        places: list[int] = []
        self._observe(look, lambda: torch.cat([self.a, self.a, self.b]))
        self.list = self._one("the elements of a list", places)
        generator = torch.Generator()
        before = self._values(lambda: torch.rand((1,), generator=generator, device="cpu"), 6)
        self.generator_tag = before[3] & TAG
        words = self.looking.words(before[2], 32)
        self.generator_keys = self._one("the key set of a generator", self._places(words, self.key("CPU")))

    def _common(self, places: Iterable[Sequence[int]]) -> list[int]:
        """What is in all of them."""
        first, *others = places
        return [at for at in first if all(at in other for other in others)]

    def _find_device(self) -> None:
        """Two bytes, for type and number, and a third that says that they are there."""
        kinds = self.torch.autograd.DeviceType.__members__
        known = [(self.a, kinds["CPU"]), (self.torch.empty(1, device="meta"), kinds["Meta"])]
        places = []
        for tensor, kind in known:
            data = self._bytes(self.impl(tensor))
            places.append([at for at in range(len(data) - 2) if data[at : at + 3] == bytes((int(kind), 255, 1))])
        self.device = self._one("the device of a tensor", [at for at in self._common(places) if at & 7 < 6])

    def _bytes(self, address: int) -> bytes:
        return b"".join(word.to_bytes(8, "little") for word in self.looking.words(address, 64))

    def _find_autograd(self) -> None:
        """What a tensor has for autograd, or nothing: where there is nothing, no gradient is required."""
        places = []
        for _ in range(2):
            leaf = self.torch.ones(1, device="cpu")
            before = self.looking.words(self.impl(leaf), 64)
            leaf.requires_grad_()
            after = self.looking.words(self.impl(leaf), 64)
            places.append([8 * at for at, (old, new) in enumerate(zip(before, after)) if old == 0 and new > 4096])  # noqa: B905
            if not self.library.requires_grad(self.impl(leaf)) or self.library.requires_grad(self.impl_a):
                raise Unusable("requires_grad was not found in PyTorch's structures")
        self.autograd = self._one("requires_grad", self._common(places))

    def _find_python_object(self) -> None:
        """The object of Python for a tensor, whose lowest bit may say something else, and the type of an object."""
        places = []
        for tensor in (self.a, self.b):
            words = [word & ~1 for word in self.looking.words(self.impl(tensor), 64)]
            places.append(self._places(words, id(tensor)))
        self.python_object = self._one("the object of a tensor", self._common(places))
        types_of = [
            self._places(self.looking.words(id(one), 4), id(type(one))) for one in (self.a, self.torch.Generator())
        ]
        self.python_type = self._one("the type of an object", self._common(types_of))

    # functorch.

    def _find_layers(self) -> None:
        """Layers of functorch, made and taken away again; none of PyTorch's functions in Python is used for it."""
        functorch, library, words = self.torch._C._functorch, self.library, self.looking.words
        vector = library.layers()
        steps: list[tuple[Callable[[], int], Callable[[], int]]] = [
            (functorch._grad_increment_nesting, functorch._grad_decrement_nesting),
            (lambda: int(functorch._vmap_increment_nesting(2, "error")), functorch._vmap_decrement_nesting),
            (functorch._jvp_increment_nesting, functorch._jvp_decrement_nesting),
            (lambda: int(functorch._func_increment_nesting(True)), functorch._func_decrement_nesting),
            (lambda: int(functorch._vmap_increment_nesting(2, "error")), functorch._vmap_decrement_nesting),
            (functorch._grad_increment_nesting, functorch._grad_decrement_nesting),
        ]
        ends: list[Callable[[], int]] = []
        levels: list[int] = []
        try:
            for enter, leave in steps:
                levels.append(enter())
                ends.append(leave)
            begin, end = words(vector, 2)
            self.layer_size = (end - begin) // len(steps)
            layers = [words(begin + at * self.layer_size, self.layer_size >> 3) for at in range(len(steps))]
            if self.layer_size <= 0 or self.layer_size & 7 or not all(layers):
                raise Unusable("the layers of functorch were not found")
            columns = list(zip(*layers))  # noqa: B905
            self.layer_level = self._one("the level of a layer", self._places(columns, tuple(levels)))  # type: ignore[arg-type]
            columns = [tuple(word & TAG for word in column) for column in columns]
            kinds = [
                8 * at
                for at, column in enumerate(columns)
                if (column[0], column[1]) == (column[5], column[4]) and len(set(column)) == 4 and max(column) < 16
            ]
            self.layer_kind = self._one("the kind of a layer", kinds)
            column = columns[self.layer_kind >> 3]
            self.layer_kinds = dict(zip(column, ("grad", "vmap", "jvp", "functionalize")))  # noqa: B905
            self._find_wrappers(levels)
        finally:
            for leave in reversed(ends):
                leave()
        if words(vector, 2)[0] != words(vector, 2)[1]:
            raise Unusable("the layers of functorch were not found")
        wrapped = words(self.impl(self._wrapped), 96)
        dead = [at for at in self._alive if [one & 0xFF for one in words(wrapped[at >> 3], 1)] == [0]]
        self.alive = self._one("whether a wrapper is in use", dead)
        self._find_saved_keys()

    def _find_wrappers(self, levels: list[int]) -> None:
        """What a wrapper wraps, and its level: grad and vmap at two levels each, functionalize at one."""
        functorch, torch = self.torch._C._functorch, self.torch
        grads = [(functorch._wrap_for_grad(self.a, levels[at]), levels[at]) for at in (0, 5)]
        batched = [(functorch._add_batch_dim(self.a, 0, levels[at]), levels[at]) for at in (1, 4)]
        no_level = (1 << 64) - 1
        functional = [(torch._to_functional_tensor(self.a), no_level)]
        functional.append((functorch._wrap_functional_tensor(self.a, levels[3]), levels[3]))
        for name, found in (("grad-wrapped", grads), ("batched", batched), ("functional", functional)):
            structures = [self.looking.words(self.impl(tensor), 96) for tensor, _ in found]
            inner = self._common([self._places(structure, self.impl_a) for structure in structures])
            level = self._common([self._places(one, level) for one, (_, level) in zip(structures, found)])  # noqa: B905
            self.wrapped[name] = self._one("what a wrapper wraps", inner), self._one("the level of a wrapper", level)
        self._wrapped = grads[0][0]
        candidates = enumerate(self.looking.words(self.impl(self._wrapped), 96))
        self._alive = [8 * at for at, word in candidates if [one & 0xFF for one in self.looking.words(word, 1)] == [1]]

    def _find_saved_keys(self) -> None:
        """A layer keeps the thread's key sets while it works: those that the outer call of two has seen."""
        functorch, words = self.torch._C._functorch, self.looking.words
        level = functorch._vmap_increment_nesting(2, "error")
        seen: list[tuple[int, int, list[int]]] = []
        keys = self.library.keys_of_thread() >> 3

        def look(_: int) -> None:
            begin, end = words(self.library.layers(), 2)
            layer = words(begin, (end - begin) >> 3)
            seen.append((WORDS[keys] ^ self.included_by_default, WORDS[keys + 1] ^ self.excluded_by_default, layer))

        try:
            batched = functorch._add_batch_dim(self.a, 0, level)
            self._observe(look, lambda: self.torch.sin(batched))
        finally:
            functorch._vmap_decrement_nesting()
        included, excluded, outer = seen[0]
        places = [
            8 * at
            for _, _, layer in seen[1:]
            for at in range(len(layer) - 2)
            if layer[at : at + 2] == [included, excluded] and layer[at + 2] & 0xFF == 1 and outer[at + 2] & 0xFF == 0
        ]
        self.layer_saved = self._one("the key sets that a layer keeps", places)


# Tables.

REGISTRATION = re.compile(r"(\w+)(?:\[alias\])?(?: \(inactive\))?: (.+) :: .+ \[ ([a-z ]*)\]")
"""A kernel in PyTorch's dump of an operator: key, text, flags."""
IN_TABLE = re.compile(r"(\w+): (fallthrough )?(.+) \[([a-z ]+)\]")
"""A slot in PyTorch's dump of a table: key, whether it falls through, text of the kernel, rule."""
ALIASES = {
    "default backend kernel": ("CompositeExplicitAutogradNonFunctional", "CompositeExplicitAutograd"),
    "nested kernel": ("CompositeImplicitAutogradNestedTensor",),
    "math kernel": ("CompositeImplicitAutograd",),
    "autograd kernel": ("Autograd",),
    "batched kernel": ("FuncTorchBatchedDecomposition",),
}
"""The keys whose kernel fills a slot, by the rule that a dump names."""


class TableFound(NamedTuple):
    """What an operator had registered, and what the slots of its table held; no addresses.

    kernels: key, text of the dump, whether it falls through, and a number, which is the same for the same kernel: as
    the dump lists them, the newest one of a key first. slots: the number of the kernel in each slot, 0 for none.
    fallbacks: of slots, by position, that hold the backend fallback of their key: its text, and whether it falls
    through; no text where another kernel should be there.
    """

    kernels: tuple[tuple[str, str, bool, int], ...]
    slots: tuple[int, ...]
    fallbacks: tuple[tuple[int, str | None, bool], ...]


class LiveTables:
    """Reads what the tables of operators hold.

    PyTorch prints what they should hold, computed from the registrations. What a call finds can be another kernel: a
    registration computes only some slots anew. So the tables are read in memory. They are found by what they should
    hold in operators that come with PyTorch, where both are the same.
    Errors: Unusable.
    """

    SAME = 4
    """Words in which a kernel differs from all others: functor, boxed function, and two unboxed ones."""
    AROUND = 64
    """Words that are looked through for a table."""

    def __init__(self, torch: Any, exports: Exports, layout: MemoryLayout, looking: Looking) -> None:
        self.core = torch._C
        self.python = os.path.join(os.path.dirname(os.path.abspath(torch.__file__)), "lib", "libtorch_python.so")
        self.vtables: dict[int, bool] = {0: False}
        self.original: Callable[[int], int] | None = None
        self.keys = ["Undefined", *re.findall(r"\w+", str(self.core._dispatch_keyset_full()).partition("(")[2])]
        self.words: Callable[[int, int], list[int]] = looking.words
        word = ctypes.c_size_t
        self.dispatcher = exports._function(exports.cpu, "_ZN3c1010Dispatcher13realSingletonEv", word)()
        samples = self._samples(torch, layout)
        printed = {name: self.printed(name) for name in samples}
        size = self.AROUND + 8 * len(self.keys)
        memory = {name: self.words(schema, size) for name, schema in samples.items()}
        tables = [
            (at, stride)
            for stride in (4, 5, 6)
            for at in range(self.AROUND)
            if all(self._is_filled(memory[name], at, stride, printed[name]) for name in samples)
        ]
        if len(samples) < 5 or len(tables) != 1:
            raise Unusable("the tables of operators were not found")
        self.at, self.stride = tables[0]
        self.at *= 8
        self._find_kernels(samples, printed)
        self._find_fallbacks(samples, printed)
        self.words = lambda address, count: WORDS[address >> 3 : (address >> 3) + count].tolist()

    def _samples(self, torch: Any, layout: MemoryLayout) -> dict[str, int]:
        """Operators that come with PyTorch, with the addresses of their schemas."""
        found: dict[str, int] = {}

        def look(function: int) -> None:
            if WORDS[function + layout.kind >> 3] >> 8 * (layout.kind & 7) & 0xFF:
                schema = WORDS[function + layout.schema >> 3]
                found[full_name(*layout.name_of(schema))] = schema

        a = layout.a

        def run() -> None:
            torch.add(a, a), torch.neg(a), torch.cat([a, a]), torch.sum(a)
            torch.empty(1, device="meta"), torch.ones(1, device="meta"), torch.resolve_conj(a)

        layout._observe(look, run)
        return found

    def printed(self, name: str) -> dict[str, tuple[str, bool, str]]:
        """What the slots of an operator should hold, by key: text of the kernel, whether it falls through, and rule."""
        found = (IN_TABLE.fullmatch(line) for line in self._dumped(self.core._dispatch_dump_table, name))
        return {one[1]: (one[3], bool(one[2]), one[4]) for one in found if one is not None}

    @staticmethod
    def _dumped(dump: Callable[[str], str], name: str) -> list[str]:
        """The lines of a dump; none for an operator that is gone, or where a text is none of Python's."""
        try:
            return dump(name).splitlines()
        except (RuntimeError, UnicodeDecodeError):
            return []

    def _is_filled(self, memory: list[int], at: int, stride: int, printed: dict[str, tuple[str, bool, str]]) -> bool:
        """Whether the slots are filled that should be."""
        end = at + stride * len(self.keys)
        functions = memory[at + 1 : end : stride]
        return len(functions) == len(self.keys) and all(
            (one != 0) == (key in printed)
            for one, key in zip(functions, self.keys)  # noqa: B905
        )

    def _find_kernels(self, samples: dict[str, int], printed: dict[str, dict[str, tuple[str, bool, str]]]) -> None:
        """The map of an operator's kernels, behind its table: for each key a list."""
        begin = self.at + 8 * self.stride * len(self.keys)
        for at in range(begin, begin + 8 * self.AROUND, 8):
            for entry in (5, 4):  # a list may count its elements, or not
                self.kernels_at, self.entry = at, entry
                if all(self._are_kernels(name, schema, printed[name]) for name, schema in samples.items()):
                    return
        raise Unusable("the kernels of operators were not found")

    def _are_kernels(self, name: str, schema: int, printed: dict[str, tuple[str, bool, str]]) -> bool:
        kernels = self.kernels(name, schema)
        if kernels is None:
            return False
        first = {key: kernel for key, _, _, kernel in reversed(kernels)}
        table = dict(zip(self.keys, self.table(schema)))  # noqa: B905
        own = [key for key, (_, _, rule) in printed.items() if rule == "kernel"]
        return all(first.get(key) == table[key] for key in own)

    def _find_fallbacks(self, samples: dict[str, int], printed: dict[str, dict[str, tuple[str, bool, str]]]) -> None:
        """The backend fallbacks, which the dispatcher has: a kernel, a pointer, and a text of one word or four."""
        known = [
            (at, list(kernel))
            for name, schema in samples.items()
            for at, kernel in enumerate(self.table(schema))
            if printed[name].get(self.keys[at], ("", False, ""))[2] == "backend fallback"
        ]
        memory = self.words(self.dispatcher, self.AROUND + (self.stride + 5) * len(self.keys))
        for begin in range(self.AROUND):
            for size in (self.stride + 5, self.stride + 2):
                places = ((begin + at * size, kernel) for at, kernel in known)
                if known and all(memory[at : at + self.SAME] == kernel for at, kernel in places):
                    self.fallbacks_at, self.fallback_size = 8 * begin, size
                    return
        raise Unusable("the backend fallbacks were not found")

    # Reading.

    def data(self, schema: int) -> bytes:
        """A table as it is in memory. schema: the address of the operator's."""
        at = schema + self.at >> 3
        found: bytes = WORDS[at : at + self.stride * len(self.keys)].tobytes()
        return found

    def table(self, schema: int) -> list[Kernel]:
        """The kernels in the slots."""
        words = self.words(schema + self.at, self.stride * len(self.keys))
        return [self._kernel(words, at) for at in range(0, len(words), self.stride)]

    def _kernel(self, words: list[int], at: int) -> Kernel:
        """A kernel; of a logging kernel, the one that it stands for."""
        if self.original is not None and words[at]:
            original = self.original(words[at])
            if original:
                words, at = self.words(original, self.SAME), 0
        return tuple(words[at : at + self.SAME])

    def fallbacks(self) -> list[Kernel]:
        """The backend fallback of each key that has a slot."""
        words = self.words(self.dispatcher + self.fallbacks_at, self.fallback_size * len(self.keys))
        return [self._kernel(words, at) for at in range(0, len(words), self.fallback_size)]

    def kernels(self, name: str, schema: int) -> list[tuple[str, str, bool, Kernel]] | None:
        """What is registered: key, text, whether it falls through, and kernel; None where that is not understood."""
        found = self._in_map(schema + self.kernels_at)
        if found is None:
            return None
        lines = self._dumped(self.core._dispatch_dump, name)
        lines = lines[2 if lines[1:2] == ["schema: (none)"] else 4 :]
        printed = [REGISTRATION.fullmatch(line) for line in lines]
        if not lines or len(found) != len(printed) or None in printed:
            return None
        return [
            (one[1], one[2], "fallthrough" in one[3], kernel)
            for one, kernel in zip(printed, found)  # noqa: B905
            if one is not None
        ]

    def _in_map(self, address: int) -> list[Kernel] | None:
        """The kernels in a map, in the order of their keys' numbers. It is a table of entries that may be empty."""
        head = self.words(address, 4)
        if len(head) < 4 or head[1] & head[1] + 1 or not head[3] <= head[1] < 4096:
            return None
        size, entry = head[1] + (head[2] >> 8 & 0xFF), self.entry
        words = self.words(head[0], size * entry)
        if len(words) < size * entry:
            return None
        found: list[tuple[int, list[Kernel]]] = []
        for at in range(0, size * entry, entry):
            if not words[at] & 0x80:  # its distance from its place is not negative
                kernels = self._in_list(head[0] + 8 * at + 16, words[at + 2])
                if kernels is None:
                    return None
                found.append((words[at + 1] & 0xFFFF, kernels))
        return [kernel for _, kernels in sorted(found) for kernel in kernels] if len(found) == head[3] else None

    def _in_list(self, head: int, node: int) -> list[Kernel] | None:
        found: list[Kernel] = []
        while node != head:
            words = self.words(node, 2 + self.SAME)
            if len(words) < 2 + self.SAME or len(found) > 1000:
                return None
            found.append(self._kernel(words, 2))
            node = words[0]
        return found

    def has_python(self, data: bytes) -> bool:
        """Whether a table holds kernels that Python has registered: those can be taken away again."""
        functors = {*memoryview(data).cast("Q")[:: self.stride].tolist()} - {0}
        return any(self._is_python(WORDS[functor >> 3]) for functor in functors)

    def _is_python(self, vtable: int) -> bool:
        known = self.vtables.get(vtable)
        if known is None:
            library = (ctypes.c_char_p * 4)()
            found = SYSTEM.dladdr(ctypes.c_void_p(vtable), library)
            known = self.vtables[vtable] = bool(found) and os.fsdecode(library[0] or b"") == self.python
        return known

    def describe(self, name: str, schema: int) -> TableFound | None:
        """What an operator has registered, and what its table holds; None where that is not understood."""
        registered = self.kernels(name, schema)
        if registered is None:
            return None
        numbers: dict[Kernel, int] = {}
        kernels = tuple(
            (key, text, falls, numbers.setdefault(kernel, len(numbers) + 1)) for key, text, falls, kernel in registered
        )
        slots, fallbacks = [], []
        printed = self.printed(name)
        for at, (kernel, fallback) in enumerate(zip(self.table(schema), self.fallbacks())):  # noqa: B905
            slots.append(numbers.setdefault(kernel, len(numbers) + 1) if kernel[1] else 0)
            if kernel == fallback and kernel[1]:
                text, falls, rule = printed.get(self.keys[at], ("", False, ""))
                fallbacks.append((at, text, falls) if rule == "backend fallback" else (at, None, False))
        return TableFound(kernels, tuple(slots), tuple(fallbacks))

    def is_as_registered(self, name: str, found: TableFound) -> bool:
        """Whether the slots hold what PyTorch prints: what is registered now determines it."""
        first: dict[str, int] = {}
        for key, _, _, number in found.kernels:
            first.setdefault(key, number)
        numbers = {number for _, _, _, number in found.kernels}
        printed, fallbacks = self.printed(name), {at for at, _, _ in found.fallbacks}
        for at, (key, number) in enumerate(zip(self.keys, found.slots)):  # noqa: B905
            _, _, rule = printed.get(key, ("", False, ""))
            if not rule:
                is_right = number == 0
            elif rule == "ambiguous autogradother":
                is_right = number not in numbers and number > 0
            elif rule == "backend fallback":
                is_right = at in fallbacks
            else:
                is_right = number in [first.get(one) for one in ALIASES.get(rule, (key,))]
            if not is_right:
                return False
        return True


# The file.


SYSTEM: Any = ctypes.PyDLL(None, use_errno=True) if os.name == "posix" else None
if os.name == "posix":
    SYSTEM.mmap.restype = ctypes.c_size_t
    SYSTEM.mmap.argtypes = [
        *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int64)
    ]
    SYSTEM.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


class RecordingFile:
    """The recording: lines of a file that is never larger than its bound.

    The file is mapped into memory, piece by piece: a line is there as soon as it is copied, whatever becomes of the
    process; nothing is called to write it, and it does not matter that the program closes files. Space is reserved
    before it is used: a full disk is noticed then. Zeros stand behind the last line until the end.

    Python code of the program may run between any two calls of Python: the handler of a signal, a profiler, a
    finalizer. It may raise, and it may call operators, which come here again. So what belongs together is changed
    without a call in between, and what is not whole is never waited for: a line is left out then.
    limit: bytes that the file may have; kept: of these, for a long line at the end. room: up to where lines may be
    written in the mapped piece; -1 while there is none, and when recording has stopped.
    """

    PIECE = 1 << 16
    LAST = 1 << 12
    """Bytes that are kept free for the last lines."""
    MOST = 1_000_000
    """Entries of one table: operators, places, signatures ... Readers take no more."""

    def __init__(self, path: str, limit: int, kept: int) -> None:
        self.path, self.limit, self.most = path, limit, limit - kept
        self.lock: Any = _thread.RLock()
        self.counts = dict.fromkeys("oflts", 0)
        self.stopped, self.is_mapping = "", False
        self.base = self.at = self.address = self.length = 0
        self.map: Any = b""
        self.pid = os.getpid()
        file = _new_file(path)
        try:
            self.identity = self._identity(os.fstat(file))
            self._map(file, self.PIECE)
        finally:
            os.close(file)

    @staticmethod
    def _identity(status: os.stat_result) -> tuple[int, int]:
        return status.st_dev, status.st_ino

    def _map(self, file: int, size: int) -> None:
        """Map the piece at the end, with *size* bytes free at least. Errors: OSError."""
        position = self.base + self.at
        page, length = self._piece(size)
        soft, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
        if soft != resource.RLIM_INFINITY and page + length > soft:  # the system would send a signal
            raise OSError("the system lets files grow no further")
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file, page, length)
        else:
            os.ftruncate(file, page + length)
        address, before = mapped(file, page, length), (self.address, self.length)
        piece = memoryview((ctypes.c_char * length).from_address(address)).cast("B")
        at, room = position - page, length - self.LAST
        self.map, self.base, self.at, self.room = piece, page, at, room
        self.address, self.length = address, length
        if before[0]:
            SYSTEM.munmap(*before)

    def _piece(self, size: int) -> tuple[int, int]:
        """Where a piece of the file with *size* bytes free begins, and how long it is."""
        position = self.base + self.at
        page = position // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
        return page, -(-(position + size - page) // self.PIECE) * self.PIECE

    def write(self, line: bytes, counted: str = "", ended: list[Any] | None = None) -> bool:
        """Append a line; whether it is there.

        counted: the table that it is the next entry of. ended: the open calls, of which it ends the last one.
        """
        size, counts = len(line), self.counts
        while True:
            with self.lock:
                end = self.at + size
                if end <= self.room:
                    self.map[self.at : end] = line
                    self.at = end
                    if counted:
                        counts[counted] += 1
                    if ended is not None:
                        del ended[-1]
                    return True
            if not self.make_room(size):
                return False

    def write_entry(self, tag: str, *values: Any) -> int:
        """Append the next entry of a table, and return its number. Errors: NotWritten."""
        with self.lock:
            number = self.counts[tag]
            if number >= self.MOST:
                self.stop("limit", f"the recording has reached its bound of {self.MOST:,} entries {tag!r}")
            if not self.write(line_of(tag, number, *values), tag):
                raise NotWritten
        return number

    def make_room(self, size: int) -> bool:
        """Map the next piece; whether there is room for *size* bytes then."""
        with self.lock:
            if self.is_mapping or self.stopped:
                return False
            if self.at + size <= self.room:
                return True
            self.is_mapping = True
            try:
                return self._make_room(size)
            finally:
                self.is_mapping = False

    def _make_room(self, size: int) -> bool:
        if sum(self._piece(size + self.LAST)) > self.most:
            self._stop("limit", f"the recording has reached its bound of {self.limit >> 20} MB")
            return False
        try:
            file = os.open(self.path, os.O_RDWR)
            try:
                if self._identity(os.fstat(file)) != self.identity:
                    raise OSError("another file has taken its place")
                self._map(file, size + self.LAST)
            finally:
                os.close(file)
        except (OSError, ValueError) as error:
            if not is_own(error):
                raise
            self._stop("disk", f"the recording cannot be written: {error}")
            return False
        return True

    def _stop(self, reason: str, text: str) -> None:
        self._last(line_of("x", {"reason": reason, "text": text}))
        self.stopped, self.room = reason, -1

    def _last(self, line: bytes) -> None:
        """Write a line into the bytes that were kept free for it."""
        size, length = len(line), len(self.map)
        end = self.at + size
        if end <= length:
            self.map[self.at : end] = line
            self.at = end

    def stop(self, reason: str, text: str) -> None:
        """Write nothing more, but why."""
        with self.lock:
            if not self.stopped:
                self._stop(reason, text[:1000])

    def leave(self) -> None:
        """Never write again: this is another process."""
        self.lock = _thread.RLock()
        self.stopped, self.room = "fork", -1

    def close(self, line: bytes) -> None:
        """Write a last line, and cut the file behind it."""
        with self.lock:
            self._last(line)
            self.stopped, self.room = self.stopped or "closed", -1
            try:
                file = os.open(self.path, os.O_RDWR)
                try:
                    if self._identity(os.fstat(file)) == self.identity:
                        os.ftruncate(file, self.base + self.at)
                finally:
                    os.close(file)
            except OSError:
                pass  # a reader does not mind zeros

    def append_state(self, file: int, tables: bytes, state: bytes) -> None:
        """Append the state of the registry, when nothing else is written any more. file: the recording, open.

        tables: lines before it. It may follow after the bound for calls, but not after that of the file.
        Errors: OSError.
        """
        end = os.fstat(file).st_size
        while end > 0:  # a process that was killed leaves zeros behind the last line
            begin = max(0, end - self.PIECE)
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


def is_own(error: BaseException) -> bool:
    """Whether an exception was raised in this file, and not by the handler of a signal, for example."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return last is None or last.tb_frame.f_code.co_filename == OWN_FILE


def mapped(file: int, offset: int, length: int) -> int:
    """Map a part of a file into memory; its address. Errors: OSError.

    What Python maps keeps a copy of the file's number, which the program can close, and use again.
    """
    address: int | None = SYSTEM.mmap(None, length, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, file, offset)
    if address is None or address == ctypes.c_size_t(-1).value:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return address


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


# Calls.


def full_name(name: str, overload: str) -> str:
    """An operator's name as PyTorch takes it."""
    return f"{name}.{overload}" if overload else name


class CalledOperator:
    """What is known of an operator, as long as its kernels are the same. number: its own; schema: the address of that,
    when it was looked at last; table: what it has registered, None where that is not known; count: of its arguments;
    places: of those that may have tensors, and whether a tensor that is missing there is told. options: the names
    and places of the arguments layout and dtype, where it has them.
    """

    __slots__ = ("count", "number", "options", "places", "schema", "table")

    def __init__(self, number: int, schema: int, table: TableFound | None, arguments: list[Any]) -> None:
        self.number, self.schema, self.table, self.count = number, schema, table, len(arguments)
        types_of = [str(argument.type) for argument in arguments]
        self.places = [
            (2 * at, kind in ("Tensor", "Optional[Tensor]"))
            for at, kind in enumerate(types_of)
            if kind.replace("Optional[", "").rstrip("]") not in PLAIN
        ]
        names = [argument.name for argument in arguments]
        self.options = [(name, 2 * names.index(name)) for name in ("layout", "dtype") if name in names]


PLAIN = {"int", "float", "bool", "str", "number", "SymInt", "List[int", "List[SymInt", "List[float", "List[bool"}
"""Types of arguments that have no tensors."""


class CallingThread:
    """A thread of the program. open: its calls that have not ended, innermost last: the address of each, the frame
    that made it and its place, what its structure has until it ends, and its schema.
    nodes: of autograd that run backward: address, what its structure has until it ends, sequence number, thread of the
    forward call. busy: whether it is in the recorder: what is called then, by code of the program that runs in between,
    is left out. number: -1 before its first call. keys: the address of its key sets, as an index of `WORDS`.
    """

    __slots__ = ("busy", "keys", "nodes", "number", "open")

    def __init__(self, exports: Exports) -> None:
        self.number, self.busy = -1, False
        self.keys = exports.keys_of_thread() >> 3
        self.open: list[tuple[int, int, int, int, int]] = []
        self.nodes: list[tuple[int, int, int, int]] = []


def place_of_code(function: Any) -> int:
    """Where a function of Python that is written in C has the address of its code, as an index of `WORDS`.

    Errors: Unusable.
    """
    looking = Looking()
    try:
        definition = looking.words(id(function) + 16, 1)
        name = looking.words(definition[0], 1) if definition else []
        if not name or not looking.starts_with(name[0], function.__name__.encode()):
            raise Unusable("the functions that register kernels were not found")
        return (definition[0] >> 3) + 1
    finally:
        looking.close()


class TableSeen(NamedTuple):
    """A look at the table of an operator. data: the table in memory. has_python: whether it has kernels that Python has
    registered. changes: how many changes of kernels there had been.
    """

    name: str
    data: bytes
    has_python: bool
    changes: int
    operator: CalledOperator


def name_of(kind: type) -> str:
    """The name of a class. Its metaclass is not asked: that could be any code."""
    return str(type.__dict__["__name__"].__get__(kind))


class AddressWatch(weakref.ref):  # type: ignore[type-arg]
    """Tells when a thing is gone: what a table knows of its address is not true any more then."""

    __slots__ = ("address", "table")
    address: int
    table: dict[int, Any]


class CallRecorder:
    """Writes the calls of this process as they begin and end.

    directory: that the program was started in. started: the time that others are relative to, in nanoseconds.
    """

    MOST = 1 << 16
    """Signatures and functions that are remembered; beyond, they are forgotten and get new numbers."""
    LONG = 100
    """Tensors of a list that are all told; of a longer one the first of each kind is."""

    def __init__(self, torch: Any, output: RecordingFile, lines: bool, directory: str, started: int) -> None:
        self.torch, self.output, self.lines = torch, output, lines
        self.directory, self.started = directory, started
        check_system()
        self.exports = Exports(torch)
        self.layout = MemoryLayout(torch, self.exports)
        self.folder = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
        self.own = frozenset(torch._C._dispatch_get_all_op_names())
        self.operators: dict[int, CalledOperator] = {}
        self.others: dict[tuple[str, str, TableFound | None], CalledOperator] = {}
        self.tables = self.layout.tables
        self.looks: dict[int, TableSeen] = {}
        self.threads: dict[int, CallingThread] = {}
        self.codes: dict[int, Any] = {}
        self.files: dict[str, int] = {}
        self.signatures: dict[Any, int] = {}
        self.subclasses: dict[int, str] = {}
        self.watched: dict[int, AddressWatch] = {}
        self.gone: list[AddressWatch] = []
        self.passed_on: list[BaseException] = []
        self.kinds: list[type[BaseException]] = []
        self.waiting: list[tuple[int, type[BaseException]]] = []
        self.kernel_log: Any = None
        self.dropped = 0
        # whether calls are recorded, how many were, and changes of kernels: a list is faster than attributes
        self.state = [True, 0, 0]
        self.devices = {int(kind): name.lower() for name, kind in torch.autograd.DeviceType.__members__.items()}
        try:
            self.entries = Entries(self.exports.unwinding)
        except (OSError, ValueError) as error:
            raise Unusable(f"this system lets no program make instructions: {error}") from None
        start = caught_everywhere(self._make_start(), lambda error, at: self.failed([error], at, False))
        end = caught_everywhere(self._make_end(), lambda error, at: self.failed([error], at, True))
        self.start, self.end = ENTERED(start), ENTERED(end)
        _keep_from_compiling(
            torch,
            (CallRecorder, CallingThread, CalledOperator, RecordingFile, MemoryLayout, LiveTables),
            *(full_name, is_own, start, end),
        )

    def install(self) -> None:
        """Observe from here on, in every thread."""
        entries = self.entries
        callback = Callback(probability=1.0)
        callback.start = START(entries.entry(Entries.START, self.start))
        callback.end = END(entries.entry(Entries.END, self.end))
        callback.flags[FUNCTION] = callback.flags[BACKWARD] = callback.flags[self.layout.needs_inputs] = 1
        if self.tables is not None:
            try:
                self.notice_changes()
            except (Unusable, AttributeError) as error:
                self.tables = self.layout.tables = None
                self.layout.missing.append(f"tables: {error}")
        # other threads may call them until the very end of the process
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self.start))
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self.end))
        self.handle = self.exports.add_callback(callback)

    def remove(self) -> None:
        """Observe no more."""
        self.state[0] = False
        handle, self.handle = self.handle, 0
        if handle:
            self.exports.remove_callback(handle)

    def _make_start(self) -> Handler:
        """The function that is called as a call begins. What it needs are names of its own: it is called often."""
        layout, exports, words = self.layout, self.exports, WORDS
        threads, operators, codes, signatures = self.threads, self.operators, self.codes, self.signatures
        waiting = self.waiting
        gone, is_wrapped, long = self.gone, sys.version_info < (3, 11), 2 * self.LONG
        get_frame, now, started, lines = sys._getframe, time.perf_counter_ns, self.started, self.lines
        output, lock, make_room = self.output, self.output.lock, self.output.make_room
        at_thread, at_scope, scope_shift = layout.thread >> 3, layout.scope >> 3, 8 * (layout.scope & 7)
        at_kind, kind_shift, at_schema = layout.kind >> 3, 8 * (layout.kind & 7), layout.schema >> 3
        at_inputs, at_sequence = layout.inputs >> 3, layout.sequence >> 3
        tensor_tag, list_tag, none_tag, tag_bits = layout.tensor_tag, layout.list_tag, layout.none_tag, TAG
        at_keys, at_list = layout.keys >> 3, layout.list >> 3
        at_device = layout.device >> 3 if layout.device else at_keys
        device_bits = 0xFFFFFF << 8 * (layout.device & 7) if layout.device else 0
        at_autograd, special = layout.autograd >> 3, layout.special
        is_inference, is_grad, at_open = exports.is_inference, exports.is_grad, layout.open >> 3
        count_modes, python_dispatcher, requires_grad = (
            exports.count_modes,
            exports.python_dispatcher,
            exports.requires_grad,
        )
        has_layers, get_layers, state = bool(layout.layer_size), exports.layers, self.state
        at_changes = self.entries.changes

        def start(function: int, entered: CallingThread | None = None) -> None:
            try:
                if not state[0]:
                    return
                fn = function >> 3
                thread = threads.get(words[fn + at_thread])
                if thread is None:
                    thread = threads[words[fn + at_thread]] = CallingThread(exports)
                if thread.busy:
                    self.dropped += 1
                    return
                entered = thread
                thread.busy = True  # no call comes between the two
                if thread.number < 0:
                    thread.number = output.write_entry("t", self.name_of_thread())
                if gone:
                    self.forget()
                if waiting:
                    self.pass_on_waiting()
                if words[at_changes] != state[2]:
                    self.look_anew()
                opened = thread.open
                while opened:
                    top = opened[-1]
                    at = top[0] >> 3
                    if words[at + at_open] == top[3] and words[at + at_schema] == top[4] and top[0] > function:
                        break
                    self.ended(thread, True)
                if words[fn + at_scope] >> scope_shift & 0xFF:
                    self.node(thread, function)
                    thread.busy = False
                    return
                if not words[fn + at_kind] >> kind_shift & 0xFF:  # only a name
                    thread.busy = False
                    return
                schema = words[fn + at_schema]
                operator = operators.get(schema) or self.operator(schema)
                # where it comes from
                line, caller = -1, 0
                if lines:
                    frame: Any = get_frame().f_back
                    if is_wrapped:
                        frame = frame.f_back
                    caller = id(frame)
                    if opened and top[1] == caller:
                        line = top[2]
                    else:
                        while frame is not None:
                            places = codes.get(id(frame.f_code), 0)
                            if places == 0:
                                places = self.code(frame.f_code)
                            if places is not None:
                                line = places.get(frame.f_lasti, -1)
                                if line < 0:
                                    line = self.place(frame, places)
                                break
                            frame = frame.f_back
                # what it is
                at = thread.keys
                parts = [operator.number, words[at], words[at + 1], is_inference(), is_grad(), python_dispatcher()]
                add = parts.append
                if count_modes():
                    add(self.modes())
                at = get_layers() >> 3
                if has_layers and words[at] != words[at + 1]:
                    add(self.layers(words[at], words[at + 1]))
                values = (words[fn + at_inputs] >> 3) + 2 * (words[fn + at_inputs + 1] - operator.count)
                for offset, _ in operator.places:
                    tag = words[values + offset + 1] & tag_bits
                    payload = words[values + offset]
                    if tag == tensor_tag:
                        at = payload >> 3
                        keys = words[at + at_keys]
                        add(keys)
                        add(words[at + at_device] & device_bits)
                        if words[at + at_autograd] and requires_grad(payload):
                            add("g")
                        if keys & special:
                            add(self.special(payload))
                    elif tag == none_tag:
                        add("n")
                    elif tag == list_tag:
                        at = (payload >> 3) + at_list
                        add("[")
                        first, past = words[at] >> 3, words[at + 1] >> 3
                        if past - first > long:
                            add(tuple(self.different(first, past)))
                            past = first
                        for one in range(first, past, 2):
                            if words[one + 1] & tag_bits == tensor_tag:
                                inside = words[one]
                                at = inside >> 3
                                keys = words[at + at_keys]
                                add(keys)
                                add(words[at + at_device] & device_bits)
                                if words[at + at_autograd] and requires_grad(inside):
                                    add("g")
                                if keys & special:
                                    add(self.special(inside))
                        add("]")
                    else:
                        add(self.other(tag, payload))
                for _, offset in operator.options:
                    add(words[values + offset + 1] & tag_bits)
                    add(words[values + offset])
                key = tuple(parts)
                signature = signatures.get(key)
                if signature is None:
                    signature = self.signature(key, operator, values, thread)
                sequence, forward = words[fn + at_sequence], -1
                if thread.nodes:
                    sequence, forward = self.backward(thread, sequence)
                if sequence >> 63:
                    sequence = -1
                text = b'["c",%d,%d,%d,%d,%d,%d,%d]\n' % (
                    signature,
                    thread.number,
                    len(opened),
                    line,
                    (now() - started) // 1000,
                    sequence,
                    forward,
                )
                mark, size = words[fn + at_open], len(text)
                while True:
                    with lock:  # nothing is called while it is held, see RecordingFile
                        place = output.at + size
                        if place <= output.room:
                            output.map[output.at : place] = text
                            output.at = place
                            opened += ((function, caller, line, mark, schema),)
                            state[1] += 1
                            break
                    if not make_room(size):
                        raise NotWritten
                thread.busy = False
            except BaseException as error:
                if entered is not None:
                    entered.busy = False
                if error.__class__ is RecursionError:  # there is no room for a further call
                    self.dropped += 1
                else:
                    errors, tries = [error], 0
                    while errors and tries < 10:  # more can come wherever a function begins or ends
                        tries += 1
                        try:
                            self.failed(errors, function, False)
                        except BaseException as another:
                            errors += (another,)

        return start

    def _make_end(self) -> Handler:
        """The function that is called as a call ends, in whatever way."""
        words, threads, ended, state = WORDS, self.threads, self.ended, self.state
        at_thread = self.layout.thread >> 3

        def end(function: int, entered: CallingThread | None = None) -> None:
            try:
                if not state[0]:
                    return
                thread = threads.get(words[(function >> 3) + at_thread])
                if thread is None or thread.busy:
                    return
                entered = thread
                thread.busy = True  # no call comes between the two
                opened = thread.open
                is_open = False
                while opened and opened[-1][0] <= function:
                    is_open = opened[-1][0] == function
                    ended(thread, not is_open)
                if not is_open and thread.nodes and thread.nodes[-1][0] == function:
                    del thread.nodes[-1]
                thread.busy = False
            except BaseException as error:
                if entered is not None:
                    entered.busy = False
                if error.__class__ is RecursionError:  # there is no room for a further call
                    self.dropped += 1
                else:
                    errors, tries = [error], 0
                    while errors and tries < 10:  # more can come wherever a function begins or ends
                        tries += 1
                        try:
                            self.failed(errors, function, True)
                        except BaseException as another:
                            errors += (another,)

        return end

    def ended(self, thread: CallingThread, raised: bool) -> None:
        """The innermost open call of a thread has ended. raised: by an exception, as far as one can know: it has not
        said so itself. Errors: NotWritten.
        """
        opened = thread.open
        if self.kernel_log is not None:
            self.kernels(thread, opened[-1][0])
        now = (time.perf_counter_ns() - self.started) // 1000
        text = b'["e",%d,%d,%s]\n' % (thread.number, now, b"true" if raised else b"false")
        if not self.output.write(text, "", opened):
            raise NotWritten

    def log_kernels(self, file: str) -> None:
        """Have every kernel note that it runs, from here on. file: the library of dispatch-cli that does it, built."""
        self.kernel_log = library = ctypes.PyDLL(file)
        library.kernel_log_kernels.restype, library.kernel_log_kernels.argtypes = ctypes.c_char_p, [ctypes.c_size_t]
        library.kernel_log_original.restype, library.kernel_log_original.argtypes = ctypes.c_size_t, [ctypes.c_size_t]
        library.kernel_log_install()
        library.kernel_log_start()
        if self.tables is not None:
            self.tables.original = library.kernel_log_original

    def kernels(self, thread: CallingThread, function: int) -> None:
        """Write the kernels that ran in a call, all or none. function: the address of its RecordFunction."""
        lines = (self.kernel_log.kernel_log_kernels(function) or b"").splitlines()
        self.output.write(b"".join([b'["k",%d,%s]\n' % (thread.number, line) for line in lines]))

    def node(self, thread: CallingThread, function: int) -> None:
        """A node of autograd begins to run backward in a thread."""
        layout = self.layout
        number, mark = WORDS[function + layout.sequence >> 3], WORDS[function + layout.open >> 3]
        thread.nodes.append((function, mark, number, self.forward_thread(function)))

    def backward(self, thread: CallingThread, sequence: int) -> tuple[int, int]:
        """The number and the thread of the forward call that a call in backward belongs to; else *sequence* and -1."""
        layout, nodes = self.layout, thread.nodes
        while nodes:
            function, mark, number, forward = nodes[-1]
            if WORDS[function + layout.open >> 3] == mark and WORDS[function + layout.sequence >> 3] == number:
                return number, forward
            nodes.pop()
        return sequence, -1

    # What is told once, and gets a number.

    def operator(self, schema: int) -> CalledOperator:
        """The operator that has its schema at an address.

        Those that came with PyTorch stay. Others can be taken away, and their addresses used again: they are looked at
        in every call.
        """
        name, overload = self.layout.name_of(schema)
        full, tables, changes = full_name(name, overload), self.tables, self.state[2]
        data, table = b"", None
        if tables is not None:
            data = tables.data(schema)
            seen = self.looks.get(schema)
            if seen is not None and seen.data == data and seen.name == full:
                if seen.changes == changes:
                    return seen.operator
                # a kernel that Python has registered can be at the address of one that is gone
                table = None if seen.has_python else seen.operator.table
            table = table or tables.describe(full, schema)
        try:
            found = self.torch._C._get_schema(name, overload)
        except RuntimeError:
            found = None
        text = str(found)
        operator = self.others.get((full, text, table))
        if operator is None:
            arguments = list(found.arguments) if found is not None else []
            operator = CalledOperator(self.output.write_entry("o", full), schema, table, arguments)
            self.others[full, text, table] = operator
        operator.schema = schema
        if tables is not None:
            if len(self.looks) >= self.MOST:
                self.looks.clear()
            self.looks[schema] = TableSeen(full, data, tables.has_python(data), changes, operator)
        if full in self.own:
            self.operators[schema] = operator
        return operator

    def look_anew(self) -> None:
        """Kernels may have been registered or taken away: look at the table of each operator that is called."""
        self.state[2] = WORDS[self.entries.changes]
        self.operators.clear()

    def notice_changes(self) -> None:
        """Have `look_anew` called after whatever may register kernels: PyTorch's functions for it, and those of Python
        that load libraries. Errors: Unusable.
        """
        kind = self.torch._C._DispatchModule
        functions = [one.__func__ for one in vars(kind).values() if type(one).__name__ == "instancemethod"]
        names = {function.__name__ for function in functions}
        ends = (id(kind) >> 3) + 6, (id(self.torch._C.DispatchKeySet) >> 3) + 6
        if not {"impl", "reset", "define"} <= names or WORDS[ends[0]] != WORDS[ends[1]]:
            raise Unusable("the functions that register kernels were not found")
        places = {place_of_code(function) for function in (*functions, _imp.create_dynamic, _ctypes.dlopen)}
        for place in {*places, ends[0]}:
            self.entries.count(place)

    @staticmethod
    def name_of_thread() -> str:
        """What the program calls this thread; nothing for one that Python has not made."""
        threading = sys.modules.get("threading")
        known = threading._active.get(_thread.get_ident()) if threading is not None else None
        name = getattr(known, "__dict__", {}).get("_name")
        return name if type(name) is str else ""

    def forward_thread(self, function: int) -> int:
        """The number of the thread that made a node of autograd; -1 where it is not known."""
        at = self.layout.forward_thread
        thread = self.threads.get(WORDS[function + at >> 3]) if at else None
        return thread.number if thread is not None else -1

    def code(self, code: Any) -> dict[int, int] | None:
        """The places in a function's code, by instruction; None for code of PyTorch and of this file.

        Another code may get its identity when it is gone: it is forgotten then.
        """
        file = code.co_filename
        own = file.startswith((self.folder, "<frozen ", "<eval_with_key>")) or file == OWN_FILE
        places: dict[int, int] | None = None if own else {}
        self.watch(code, id(code), self.codes)
        self.codes[id(code)] = places
        return places

    def watch(self, thing: Any, address: int, table: dict[int, Any]) -> None:
        """Have what a table knows of a thing forgotten when it is gone. The recorder does not keep it."""
        if len(table) >= self.MOST:
            table.clear()
        if len(self.watched) >= 4 * self.MOST:
            self.watched.clear()
            self.codes.clear()
            self.subclasses.clear()
        watch = AddressWatch(thing, self.gone.append)
        watch.address, watch.table = address, table
        self.watched[address] = watch

    def forget(self) -> None:
        """Forget what is gone, since others may get its address."""
        while self.gone:
            watch = self.gone.pop()
            watch.table.pop(watch.address, None)
            if self.watched.get(watch.address) is watch:
                del self.watched[watch.address]

    def place(self, frame: Any, places: dict[int, int]) -> int:
        """The number of the line that a frame is at."""
        code = frame.f_code
        path = code.co_filename
        file = self.files.get(path)
        if file is None:
            if len(self.files) >= self.MOST:
                self.files.clear()
            full = path if path.startswith("<") else os.path.join(self.directory, path)
            file = self.files[path] = self.output.write_entry("f", full)
        name = getattr(code, "co_qualname", code.co_name)
        place = places[frame.f_lasti] = self.output.write_entry("l", file, frame.f_lineno or 0, name)
        return place

    def signature(self, key: Any, operator: CalledOperator, values: int, thread: CallingThread) -> int:
        """The number of a signature that was not seen before."""
        if len(self.signatures) >= self.MOST:
            self.signatures.clear()
        number = self.signatures[key] = self.output.write_entry("s", self.describe(operator, values, thread))
        return number

    # What a call is.

    def describe(self, operator: CalledOperator, values: int, thread: CallingThread) -> dict[str, Any]:
        """A signature, as the recording has it. values: of the arguments, as an index of words."""
        layout, exports = self.layout, self.exports
        included, excluded = (
            WORDS[thread.keys] ^ layout.included_by_default,
            WORDS[thread.keys + 1] ^ layout.excluded_by_default,
        )
        impls = list(self.tensors(operator, values))
        answer: dict[str, Any] = {
            "operator": operator.number,
            "tensors": [self.note(one) if isinstance(one, int) else one for one in impls],
            "keys": [included, excluded],
            "inference": exports.is_inference(),
            "modes": self.modes() if exports.count_modes() else [],
            "python_dispatcher": bool(exports.python_dispatcher()),
            "grad_mode": exports.is_grad(),
        }
        if layout.layer_size:
            at = exports.layers() >> 3
            answer["layers"] = self.layers(WORDS[at], WORDS[at + 1])
        if layout.autograd:
            answer["requires_grad"] = [isinstance(one, int) and bool(exports.requires_grad(one)) for one in impls]
        if layout.device:
            answer["devices"] = [self.device_of(one) if isinstance(one, int) else None for one in impls]
        if layout.python_object:
            answer["subclasses"] = [self.subclass(one) if isinstance(one, int) else None for one in impls]
        for offset, _ in operator.places:
            if WORDS[values + offset + 1] & TAG == layout.device_tag:
                answer["device"] = self.device(WORDS[values + offset])
                break
        for name, offset in operator.options:
            if WORDS[values + offset + 1] & TAG == layout.int_tag:
                answer[name] = WORDS[values + offset]
        return answer

    def different(self, begin: int, end: int) -> dict[Any, int]:
        """The tensors of a long list by their kinds: the first of each. begin, end: as indices of words."""
        layout, exports = self.layout, self.exports
        keys_at, autograd = layout.keys, layout.autograd
        found: dict[Any, int] = {}
        bits = 0xFFFFFF << 8 * (layout.device & 7) if layout.device else 0
        for one in range(begin, end, 2):
            if WORDS[one + 1] & TAG != layout.tensor_tag:
                continue
            impl = WORDS[one]
            keys = WORDS[impl + keys_at >> 3]
            kind = (
                keys,
                WORDS[impl + layout.device >> 3] & bits,
                bool(autograd and WORDS[impl + autograd >> 3] and exports.requires_grad(impl)),
                self.special(impl) if keys & layout.special else None,
            )
            if kind not in found and len(found) < self.LONG:
                found[kind] = impl
        return found

    def tensors(self, operator: CalledOperator, values: int) -> Iterator[Any]:
        """The tensors of a call in order, by their addresses; notes of generators, and of what else is there."""
        layout = self.layout
        for offset, is_tensor in operator.places:
            tag, payload = WORDS[values + offset + 1] & TAG, WORDS[values + offset]
            if tag == layout.none_tag:
                if is_tensor:
                    yield [0, "none"]
            elif tag == layout.tensor_tag:
                yield payload
            elif tag == layout.list_tag:
                body = payload + layout.list >> 3
                begin, end = WORDS[body] >> 3, WORDS[body + 1] >> 3
                if end - begin > 2 * self.LONG:
                    yield from self.different(begin, end).values()
                    continue
                for one in range(begin, end, 2):
                    if WORDS[one + 1] & TAG == layout.tensor_tag:
                        yield WORDS[one]
            elif tag == layout.generator_tag:
                yield [WORDS[payload + layout.generator_keys >> 3], "generator"]

    def other(self, tag: int, payload: int) -> tuple[int, int]:
        """What of another value tells signatures apart: a device, the keys of a generator."""
        if tag == self.layout.device_tag:
            return tag, payload & 0xFFFF
        if tag == self.layout.generator_tag:
            return tag, WORDS[payload + self.layout.generator_keys >> 3]
        return tag, 0

    def note(self, impl: int) -> tuple[Any, ...]:
        """A tensor: its keys, and what it wraps."""
        layout = self.layout
        keys = WORDS[impl + layout.keys >> 3]
        if impl == self.exports.undefined:
            return keys, "undefined"
        for kind, (inner, level) in layout.wrapped.items():
            if keys & layout.wrapper_keys[kind]:
                number: int | None = WORDS[impl + level >> 3]
                if (number is not None and number >> 63) or (
                    kind == "grad-wrapped" and not WORDS[WORDS[impl + layout.alive >> 3] >> 3] & 0xFF
                ):
                    number = None
                return keys, kind, number, self.note(WORDS[impl + inner >> 3])
        return (keys,)

    def special(self, impl: int) -> tuple[Any, ...]:
        """What tells apart tensors that wrap others or are of a class of Python."""
        return self.note(impl), self.subclass(impl)

    def subclass(self, impl: int) -> str | None:
        """The class of a tensor that Python handles; None for others."""
        layout = self.layout
        if not layout.python_object or not WORDS[impl + layout.keys >> 3] & layout.python_keys:
            return None
        thing = WORDS[impl + layout.python_object >> 3] & ~1
        if not thing:
            return None
        address = WORDS[thing + layout.python_type >> 3]
        known = self.subclasses.get(address)
        if known is None:
            kind = ctypes.cast(address, ctypes.py_object).value
            known = name_of(kind)
            self.watch(kind, address, self.subclasses)
            self.subclasses[address] = known
        return known

    def modes(self) -> tuple[str, ...]:
        """The classes of the modes of __torch_dispatch__, innermost last."""
        core = self.torch._C
        return tuple(name_of(type(core._get_dispatch_stack_at(at))) for at in range(self.exports.count_modes()))

    def layers(self, begin: int, end: int) -> tuple[Any, ...]:
        """The layers of functorch, outermost first: kind, level, and the key sets that it keeps while it works."""
        layout = self.layout
        found = []
        for at in range(begin, end, layout.layer_size):
            saved = at + layout.layer_saved >> 3
            kind = layout.layer_kinds.get(WORDS[at + layout.layer_kind >> 3] & TAG, "torch")
            keys = (WORDS[saved], WORDS[saved + 1]) if WORDS[saved + 2] & 0xFF else None
            found.append((kind, WORDS[at + layout.layer_level >> 3], keys))
        return tuple(found)

    def device(self, value: int) -> str:
        """A type of devices by its number, as PyTorch calls it. value: the number in the lowest byte."""
        kind = value & 0xFF
        if self.devices.get(kind) == "privateuse1":
            return str(self.torch._C._get_privateuse1_backend_name())
        return str(self.devices.get(kind, f"device{kind}"))

    def device_of(self, impl: int) -> str | None:
        """The device of a tensor, with its number."""
        at = impl + self.layout.device
        value = WORDS[at >> 3] >> 8 * (at & 7)
        if not value >> 16 & 0xFF:
            return None
        index = value >> 8 & 0xFF
        return self.device(value) if index > 127 else f"{self.device(value)}:{index}"

    # Failures.

    def failed(self, errors: list[BaseException], function: int, at_end: bool) -> None:
        """Exceptions in a callback, where they must not stay; what is done is taken from the list.

        Those that code of the program has raised, such as the handler of a signal, belong to the program: it gets them
        a moment later. For one of the recorder itself recording stops.
        """
        try:
            while at_end and self.state[0]:
                at_end = self.end_again(function)
        except NotWritten:
            pass  # as it has been before
        while errors:
            self.pass_on(errors[0])
            del errors[0]

    def end_again(self, function: int) -> bool:
        """End a call whose end an exception has interrupted; whether that is still to be done."""
        thread = self.threads.get(WORDS[function + self.layout.thread >> 3])
        if thread is None or thread.busy or not thread.open or thread.open[-1][0] > function:
            return False
        entered = None
        try:
            entered = thread
            thread.busy = True
            self.ended(thread, thread.open[-1][0] < function)
        finally:
            if entered is not None:
                entered.busy = False
        return True

    def pass_on(self, error: BaseException) -> None:
        """Give an exception to whom it belongs."""
        if isinstance(error, NotWritten):
            if self.output.stopped:
                self.remove()
            else:
                self.dropped += 1
            return
        own = is_own(error)
        if own and isinstance(error, (RecursionError, MemoryError)) and not self.is_passed_on(error):
            self.dropped += 1
            return
        # what Python raises in a thread has no arguments; mistakes have
        if own and isinstance(error, Exception) and error.args and not self.is_passed_on(error):
            self.output.stop("internal", f"the recorder failed: {type(error).__name__}: {error}")
            self.state[0] = False
            return
        kind = raises(error)
        self.passed_on = [*self.passed_on[-15:], error]
        self.kinds = [*self.kinds[-15:], kind]
        if not self.entries.leave(kind):
            self.waiting.append((_thread.get_ident(), kind))

    def pass_on_waiting(self) -> None:
        """Have an exception of this thread raised that has come while another one was left."""
        for at, (thread, kind) in enumerate(self.waiting):
            if thread == _thread.get_ident():
                if self.entries.leave(kind):
                    del self.waiting[at]
                return

    def is_passed_on(self, error: BaseException) -> bool:
        """Whether the recorder has raised it itself: one without arguments is made anew from its class."""
        is_bare = not error.args and not error.__dict__
        return any(one is error or (is_bare and type(one) is type(error)) for one in self.passed_on)


def raises(error: BaseException) -> type[BaseException]:
    """A class that is this very exception when it is raised: Python raises only classes in a thread."""
    kind = type(error)
    if not error.args and not error.__dict__ and kind.__module__ == "builtins":
        return kind

    def same(*_: Any) -> BaseException:
        return error

    # Python 3.10 looks for a handler by the class, later ones by the exception; a class of the program can refuse bases
    base = kind if sys.version_info < (3, 11) else next(one for one in kind.__mro__ if one.__module__ == "builtins")
    try:
        return type(kind.__name__, (base,), {"__new__": same})
    except Exception:
        return kind


def _keep_from_compiling(torch: Any, classes: tuple[type, ...], *callbacks: Any) -> None:
    """Keep torch.compile from looking into the recorder, which runs while it traces the program."""
    functions = [getattr(one, name) for one in classes for name in vars(one)] + [line_of, *callbacks]
    functions += [*vars(json.JSONEncoder).values(), json.dumps, ctypes.string_at, os.path.join]  # that these call
    codes = [function.__code__ for function in functions if isinstance(function, types.FunctionType)]
    for code in codes:
        codes += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    frames = torch._C._dynamo.eval_frame
    for code in codes:
        if hasattr(frames, "skip_code"):
            frames.skip_code(code)
        else:
            skip = frames._FrameAction.SKIP
            frames.set_code_exec_strategy(code, frames._FrameExecStrategy(skip, skip))


# When PyTorch is imported.


class ImportWatch:
    """Says when the module torch has been imported; finds no module itself."""

    def __init__(self, imported: Callable[[Any], None]) -> None:
        self.imported = imported

    @as_of_python
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """What the other finders find; for torch, with a loader that tells."""
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


class HelpAsked(Exception):
    """The user wants to know how the command is used."""


class CommandLine:
    """The command line."""

    def __init__(self, words: list[str]) -> None:
        self.save, self.size, self.lines, self.state, self.module = "", 256, True, True, False
        self.kernels = ""
        words = list(words)
        while words and words[0].startswith("-"):
            option = words.pop(0)
            if option == "--no-lines":
                self.lines = False
            elif option == "--no-state":
                self.state = False
            elif option in ("--save", "--max-size", "--kernels", "-m"):
                if not words:
                    raise WrongCommand(f"{option} needs a value")
                if option == "-m":
                    self.module = True
                    break
                value = words.pop(0)
                if option == "--save":
                    self.save = value
                elif option == "--kernels":
                    self.kernels = value
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


class RecordedProcess:
    """The recording of this process, from before the program begins until after it has ended."""

    def __init__(self, options: CommandLine) -> None:
        self.options = options
        self.started = time.perf_counter_ns()
        limit = options.size << 20
        self.output = RecordingFile(
            os.path.abspath(options.save), limit, FOR_STATE if options.state and limit > 2 * FOR_STATE else 0
        )
        self.recorder: CallRecorder | None = None
        self.torch: Any = None
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
            os.register_at_fork(after_in_parent=untraced(self._after_fork), after_in_child=untraced(self._in_child))

    def _head(self) -> bytes:
        """The first line; there is room for the version of PyTorch, which is known later."""
        return line_of(self.head)[1:-2].ljust(self.head_size - 1) + b"\n"

    def imported(self, torch: Any) -> None:
        """PyTorch is there: record from here on."""
        try:
            self.torch = torch
            self.head["torch"] = str(torch.__version__)
            head = self._head()
            if len(head) == self.head_size:
                self.output.map[: len(head)] = head
            recorder = CallRecorder(torch, self.output, self.options.lines, str(self.head["directory"]), self.started)
            recorder.install()
            self.recorder = recorder
            if self.options.kernels:
                recorder.log_kernels(self.options.kernels)
            if recorder.layout.missing:
                text = f"what could not be found in this PyTorch is not recorded: {'; '.join(recorder.layout.missing)}"
                self.output.write(line_of("x", {"reason": "partial", "text": text}))
        except Exception as error:
            reason = str(error) if isinstance(error, Unusable) else f"{type(error).__name__}: {error}"
            self.output.stop("calibration", f"this PyTorch cannot be recorded: {reason}")

    def _after_fork(self) -> None:
        if not self.forked:
            self.forked = True
            self.output.write(line_of("x", {"reason": "fork", "text": "forked child processes are not recorded"}))

    def _in_child(self) -> None:
        """This is a forked process now: the file is its parent's."""
        self.output.leave()
        if self.recorder is not None:
            self.recorder.state[0] = False
            WORDS[self.recorder.entries.left] = 0

    def end_of_main(self) -> None:
        """The program's main module has ended: what is registered now is taken away soon, by PyTorch's own handlers."""
        if os.getpid() != self.output.pid or self.recorder is None or not self.options.state:
            return
        self.forked = True  # what is forked now is the recorder's
        try:
            capture_state(self.recorder)
        except (Exception, KeyboardInterrupt):
            pass  # the state of the same version stands for it

    def finish(self) -> None:
        """The program has ended."""
        if os.getpid() != self.output.pid:
            return
        seconds = (time.perf_counter_ns() - self.started) / 1e9
        recorder = self.recorder
        if recorder is not None:
            recorder.remove()
            if any(name.startswith(COMPILED) for name in list(sys.modules)):
                text = "what Inductor compiled is not recorded: it makes no calls"
                self.output.write(line_of("x", {"reason": "inductor", "text": text}))
        elif not self.output.stopped:
            self.output.write(line_of("x", {"reason": "torch", "text": "the program has not imported PyTorch"}))
        calls, dropped = (recorder.state[1], recorder.dropped) if recorder is not None else (0, 0)
        self.output.close(line_of("end", {"calls": calls, "dropped": dropped, "seconds": round(seconds, 6)}))


COMPILED = "torch._inductor.runtime.compile_tasks."
"""The names of modules that Inductor makes begin so."""
FOR_STATE = 12 << 20
"""Bytes of the recording that are kept for the state of the registry, which is written last."""
PROBE = os.path.join(os.path.dirname(os.path.dirname(OWN_FILE)), "capture", "probe.py")
MOST_SECONDS = 120
"""Seconds that the capture of the registry may take."""


def capture_state(recorder: CallRecorder) -> None:
    """Have the state of the dispatcher in this process appended to its recording, when the process has ended.

    The probe registers operators and imports modules to see what happens, for some seconds: a forked copy of the
    process does that, of which nothing else sees anything. The program does not wait for it, and it is not the parent
    of it. The copy holds a lock of the recording until it is done; readers wait for that.
    Errors: OSError, RuntimeError.
    """
    output, changes = recorder.output, WORDS[recorder.entries.changes]
    if not os.path.isfile(PROBE):
        text = f"the registry is captured only where the recorder lies in dispatch_cli: there is no {PROBE}"
        output.write(line_of("x", {"reason": "state", "text": text}))
        return
    if _adopts():
        text = "the registry is not captured: this process waits for all processes that come from it"
        output.write(line_of("x", {"reason": "state", "text": text}))
        return
    file = os.open(output.path, os.O_RDWR)
    try:
        if output._identity(os.fstat(file)) != output.identity:
            return
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        begun = _begun(output.pid)
        # a handler of the program for children that end would take the one in between for one of its own
        handler = signal.getsignal(signal.SIGCHLD)
        if callable(handler):
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        try:
            child = _forked()
            if child == 0:
                _capture_in_copy(recorder, changes, file, begun)
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
    """Whether this process gets the children of its children, when those end: it would wait for the copy."""
    answer = ctypes.c_int(0)
    get_child_subreaper = 37
    SYSTEM.prctl(get_child_subreaper, ctypes.byref(answer), 0, 0, 0)
    return bool(answer.value) or os.getpid() == 1


def _capture_in_copy(recorder: CallRecorder, changes: int, file: int, begun: bytes) -> None:
    """Be the copy: never return. changes: see `_tables`. begun: when the program has begun, see `_begun`."""
    output = recorder.output
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
            if recorder.kernel_log is not None:
                recorder.kernel_log.kernel_log_remove()
            for module, copy in USED:  # the probe gets what the program may have replaced
                vars(module).update(vars(copy))
            builtins.open = open
            probe = _probe()
            root = os.path.dirname(os.path.dirname(os.path.abspath(recorder.torch.__file__)))
            clean = probe.Cleaner(root, sys.path, os.path.expanduser("~")).clean
            try:
                tables = b"".join(_tables(recorder, changes, clean))
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
    """When a process has begun, in the system's words; nothing for one that has ended."""
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


def _tables(recorder: CallRecorder, changes: int, clean: Callable[[str], str]) -> Iterator[bytes]:
    """Lines for those operators whose tables are not what the registry at the end determines.

    changes: how many changes of kernels were counted until then.
    """
    tables = recorder.layout.tables
    if tables is None:
        return
    looking = Looking()
    tables.words, tables.original = looking.words, None
    for (name, _, found), operator in recorder.others.items():
        now = _table_now(recorder, tables, looking, name, operator.schema)
        at_end = now is not None and (found is None or found == now)
        if now is not None and at_end:
            found = None if tables.is_as_registered(name, now) else now
        seen = recorder.looks.get(operator.schema)
        is_last = seen is not None and seen.operator is operator and seen.changes == changes
        if found is not None and seen is not None and is_last and recorder.kernel_log is None:
            found = _without_silent_changes(tables, seen.data, operator.schema, found)
        if found is not None:
            kernels = [(key, clean(text), falls, number) for key, text, falls, number in found.kernels]
            fallbacks = [(at, text and clean(text), falls) for at, text, falls in found.fallbacks]
            said = {"at_end": at_end, "kernels": kernels, "slots": found.slots, "fallbacks": fallbacks}
            yield line_of("r", operator.number, said)
    looking.close()


def _without_silent_changes(tables: LiveTables, data: bytes, schema: int, found: TableFound) -> TableFound:
    """A table with those slots not known that have changed since, though nothing was counted that changes kernels.

    data: the table in memory as it was.
    """
    words = memoryview(data).cast("Q").tolist()
    before = [tuple(words[at : at + tables.SAME]) for at in range(0, len(words), tables.stride)]
    not_known = 1 + max(found.slots)
    pairs = zip(found.slots, before, tables.table(schema))  # noqa: B905
    return found._replace(slots=tuple(slot if then == now else not_known for slot, then, now in pairs))


def _table_now(
    recorder: CallRecorder, tables: LiveTables, looking: Looking, name: str, schema: int
) -> TableFound | None:
    """What an operator's table holds at the end; None where it is gone."""
    layout = recorder.layout
    pointers = [*looking.words(schema + layout.name, 1), *looking.words(schema + layout.overload, 1)]
    parts = name.encode().partition(b".")
    if len(pointers) < 2 or not all(looking.starts_with(at, part) for at, part in zip(pointers, parts[::2])):  # noqa: B905
        return None
    return tables.describe(name, schema)


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
            for loaded in [one for one in sys.modules if one == name or one.startswith(name + ".")]:
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
    """Be the command. Exit codes: the program's own; 2 for a wrong command line or a recording that cannot be made."""
    try:
        options = CommandLine(sys.argv[1:])
        process = RecordedProcess(options)
    except HelpAsked:
        print(USAGE)
        return
    except WrongCommand as error:
        print(f"recorder: {error}\n\n{USAGE}", file=sys.stderr)
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
