"""Run a Python program and record every call that PyTorch's dispatcher gets in it.

usage: PYTHON recorder.py --save FILE [--max-size MB] [--no-lines] [--no-state] SCRIPT [ARGS...]
       PYTHON recorder.py --save FILE [...] -m MODULE [ARGS...]

A script of its own: it needs Python 3.8 and its standard library, and imports nothing of the package it lies in. The
program runs as ``python SCRIPT`` would run it, with its own output and exit code; PyTorch is imported when the program
does it. Its calls are observed by a callback of PyTorch itself (``at::addGlobalCallback``), in every thread, and are
written to FILE at once: nothing is lost when the program is killed.

How PyTorch lays out its structures in memory differs between versions. So nothing is assumed: when PyTorch has been
imported, structures are looked through for values that are known (`MemoryLayout`). Where they are not found, nothing is
recorded, FILE says why, and the program runs as ever.

Observed: each call of ``Dispatcher::call``, also nested ones and those of backward; its operator, the key sets of its
tensors and of the thread, wrappers and layers of functorch, modes, the thread and the line of Python it comes from.
Not observed: redispatches to further kernels of the same operator; what gives no event (``size``, ``is_leaf``,
``output_nr``, ``_version``, ``is_complex``); code that Inductor compiled, which makes no calls; processes that are
started or forked by the program.
"""

from __future__ import annotations

import _thread
import atexit
import ctypes
import importlib
import json
import mmap
import os
import sys
import time
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # Python 3.8 knows these spellings only where it does not look at them.
    from collections.abc import Callable, Iterator, Sequence

    Handler = Callable[[int], None]
    """Gets the address of a RecordFunction."""

FORMAT = 1
OWN_FILE = os.path.abspath(__file__)


class Unusable(Exception):
    """This PyTorch cannot be observed; the text says why."""


# Memory.

WORDS: Any = memoryview((ctypes.c_uint64 * (1 << 44)).from_address(0)).cast("B").cast("Q")
"""The memory of this process as words of 64 bits: ``WORDS[address >> 3]``. Only for addresses that are known to be in
use."""


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


# PyTorch's structures.

START = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_size_t, ctypes.c_size_t)
"""Returns a unique_ptr: the caller gives the place for it, and gets that place back."""
END = ctypes.CFUNCTYPE(None, ctypes.c_size_t, ctypes.c_size_t)
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
            self.finish = self._function(self.cpu, "_ZN2at14RecordFunctionD1Ev", None, word)
            self.is_inference = self._function(self.c10, "_ZN3c1013InferenceMode10is_enabledEv", ctypes.c_bool)
            self.is_grad = self._function(self.c10, "_ZN3c108GradMode10is_enabledEv", ctypes.c_bool)
            self.count_modes = self._function(
                self.c10, "_ZN3c104impl20TorchDispatchModeTLS9stack_lenEv", ctypes.c_int64
            )
            self.python_dispatcher = self._function(self.c10, "_ZN3c104impl19PythonDispatcherTLS9get_stateEv", word)
            self.requires_grad = self._function(self.c10, "_ZNK3c1010TensorImpl13requires_gradEv", ctypes.c_bool, word)
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


class Observation:
    """A callback for calibration: while it is there, *handle* gets every RecordFunction of that scope."""

    def __init__(self, library: Exports, handle: Handler, *flags: int) -> None:
        self.library = library

        def start(place: int, function: int) -> int:
            WORDS[place >> 3] = 0
            handle(function)
            return place

        self.start = START(start)
        self.callback = Callback(self.start, END(), 1.0)
        for flag in flags:
            self.callback.flags[flag] = 1

    def __enter__(self) -> None:
        self.handle = self.library.add_callback(self.callback)

    def __exit__(self, *_: object) -> None:
        self.library.remove_callback(self.handle)


class MemoryLayout:
    """Where things are in this version's structures: offsets in bytes, found by looking for values that are known.

    Errors: Unusable, where something is not found without which a call cannot be told.
    """

    def __init__(self, torch: Any, library: Exports) -> None:
        self.torch, self.library = torch, library
        self.looking = Looking()
        self.missing: list[str] = []
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

    def _try(self, what: str, find: Callable[[], None]) -> None:
        """Find something without which the rest can be recorded."""
        try:
            find()
        except Unusable:
            self.missing.append(what)

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
        self.batched, self.grad_wrapped = self.key("FuncTorchBatched"), self.key("FuncTorchGradWrapper")
        self.functional = self.key("Functionalize")

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

    def _find_device(self) -> None:
        """Two bytes, for type and number, and a third that says that they are there."""
        torch = self.torch
        known = [(self.a, 0, 255), (torch.empty(1, device="meta"), 14, 255)]
        kinds = torch.autograd.DeviceType.__members__
        known = [(self.a, int(kinds["CPU"]), 255), (torch.empty(1, device="meta"), int(kinds["Meta"]), 255)]
        places = None
        for tensor, kind, number in known:
            data = b"".join(word.to_bytes(8, "little") for word in self.looking.words(self.impl(tensor), 64))
            here = [at for at in range(len(data) - 2) if data[at : at + 3] == bytes((kind, number, 1))]
            places = here if places is None else [at for at in places if at in here]
        self.device = self._one("the device of a tensor", places or [])

    def _find_autograd(self) -> None:
        """Where a tensor says that nothing of autograd is known of it: most do."""
        leaf = self.torch.ones(1, device="cpu", requires_grad=True)
        if not self.library.requires_grad(self.impl(leaf)) or self.library.requires_grad(self.impl_a):
            raise Unusable("requires_grad")

    def _find_python_object(self) -> None:
        """The object of Python for a tensor; its lowest bit may say something else."""
        places = None
        for tensor in (self.a, self.b):
            words = [word & ~1 for word in self.looking.words(self.impl(tensor), 64)]
            here = self._places(words, id(tensor))
            places = here if places is None else [at for at in places if at in here]
        self.python_object = self._one("the object of a tensor", places or [])

    def _find_layers(self) -> None:
        raise Unusable("not yet")


# The file.


class RecordingFile:
    """The recording: lines of a file that is never larger than its bound.

    The file is mapped into memory, piece by piece: a line is there as soon as it is copied, whatever becomes of the
    process; nothing is called to write it, and it does not matter that the program closes files. Space is reserved
    before it is used: a full disk is noticed then. Zeros stand behind the last line until the end.
    """

    PIECE = 1 << 16
    LAST = 1 << 12
    """Bytes that are kept free for the last lines."""

    def __init__(self, path: str, limit: int) -> None:
        self.path, self.limit = path, max(limit, 2 * self.PIECE)
        self.lock = _thread.allocate_lock()
        self.stopped = ""
        self.position = 0
        self.pid = os.getpid()
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0), 0o666)
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
        page = self.position // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
        length = -(-(self.position + size - page) // self.PIECE) * self.PIECE
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file, page, length)
        else:
            os.ftruncate(file, page + length)
        self.map = mmap.mmap(file, length, offset=page)
        self.base, self.end = page, page + length

    def write(self, line: bytes, last: bool = False) -> bool:
        """Append a line, unless recording has stopped; whether it is there. last: the free bytes may be used."""
        with self.lock:
            return self._write(line, last)

    def _write(self, line: bytes, last: bool) -> bool:
        if self.stopped and not last:
            return False
        size = len(line)
        if (
            self.position + size > self.end - (0 if last else self.LAST)
            and not (last and self.stopped)
            and not self._grow(size)
        ):
            return False
        at = self.position - self.base
        if at + size > self.end - self.base:
            return False
        self.map[at : at + size] = line
        self.position += size
        return True

    def _grow(self, size: int) -> bool:
        if self.position + size + self.LAST > self.limit:
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
            self._stop("disk", f"the recording cannot be written: {error}")
            return False
        return True

    def _stop(self, reason: str, text: str) -> None:
        self.stopped = reason
        self._write(line_of("x", {"reason": reason, "text": text}), True)

    def stop(self, reason: str, text: str) -> None:
        """Write nothing more, but why."""
        with self.lock:
            if not self.stopped:
                self._stop(reason, text)

    def close(self) -> None:
        """Cut the file behind its last line."""
        with self.lock:
            self.stopped = self.stopped or "closed"
            try:
                file = os.open(self.path, os.O_RDWR)
                try:
                    if self._identity(os.fstat(file)) == self.identity:
                        os.ftruncate(file, self.position)
                finally:
                    os.close(file)
            except OSError:
                pass  # a reader does not mind zeros


def line_of(*values: Any) -> bytes:
    """Values as a line of the recording."""
    return json.dumps(values, separators=(",", ":")).encode("ascii") + b"\n"


# Calls.


class CalledOperator:
    """What is known of an operator. number: its own; count: of its arguments; places: those that may have tensors."""

    __slots__ = ("count", "dtype", "layout", "number", "places")

    def __init__(self, number: int, schema: Any) -> None:
        self.number = number
        arguments = schema.arguments if schema is not None else []
        self.count = len(arguments)
        self.places = [
            (2 * at, str(argument.type) in ("Tensor", "Optional[Tensor]"))
            for at, argument in enumerate(arguments)
            if str(argument.type).replace("Optional[", "").rstrip("]") not in PLAIN
        ]
        names = [argument.name for argument in arguments]
        self.layout = 2 * names.index("layout") if "layout" in names else -1
        self.dtype = 2 * names.index("dtype") if "dtype" in names else -1


PLAIN = {"int", "float", "bool", "str", "number", "SymInt", "List[int", "List[SymInt", "List[float", "List[bool"}
"""Types of arguments that have no tensors."""


class CallingThread:
    """A thread of the program. open: its calls that have not ended, innermost last; nodes: of autograd, the same."""

    __slots__ = ("busy", "keys", "nodes", "number", "open")

    def __init__(self, number: int, keys: int) -> None:
        self.number, self.keys, self.busy = number, keys >> 3, False
        self.open: list[tuple[int, int, int]] = []
        self.nodes: list[tuple[int, int, int]] = []


class CallRecorder:
    """Writes the calls of this process as they begin and end."""

    MOST = 1 << 16
    """Signatures, places and files that are remembered; beyond, they are forgotten and numbered anew."""

    def __init__(self, torch: Any, output: RecordingFile, lines: bool, started: int) -> None:
        self.torch, self.output, self.lines, self.started = torch, output, lines, started
        self.library = Exports(torch)
        self.layout = MemoryLayout(torch, self.library)
        self.folder = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
        self.operators: dict[int, CalledOperator] = {}
        self.threads: dict[int, CallingThread] = {}
        self.codes: dict[int, Any] = {}
        self.kept: list[Any] = []
        self.files: dict[str, int] = {}
        self.signatures: dict[Any, int] = {}
        self.counts = {"o": 0, "f": 0, "l": 0, "t": 0, "s": 0}
        self.calls = self.dropped = 0
        self.devices = {int(kind): name.lower() for name, kind in torch.autograd.DeviceType.__members__.items()}
        self.start, self.end = START(self._make_start()), END(self._make_end())

    def install(self) -> None:
        """Observe from here on, in every thread."""
        callback = Callback(self.start, self.end, 1.0)
        callback.flags[FUNCTION] = callback.flags[BACKWARD] = callback.flags[self.layout.needs_inputs] = 1
        # the process may call them until its very end
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self.start))
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self.end))
        self.handle = self.library.add_callback(callback)

    def remove(self) -> None:
        """Observe no more."""
        self.library.remove_callback(self.handle)

    def number(self, tag: str, *values: Any) -> int:
        """Write a line that gives the next number of that kind to something."""
        number = self.counts[tag]
        self.counts[tag] = number + 1
        self.output.write(line_of(tag, number, *values))
        return number

    def operator(self, function: int, schema: int) -> CalledOperator:
        """The operator of a call; None when it is none."""
        answer = (ctypes.c_uint64 * 32)()
        self.library.operator_name(ctypes.addressof(answer), function)
        name, overload = (
            ctypes.string_at(answer[at >> 3]).decode("utf-8", "replace")
            for at in (self.layout.name, self.layout.overload)
        )
        try:
            found = self.torch._C._get_schema(name, overload)
        except RuntimeError:
            found = None
        full = f"{name}.{overload}" if overload else name
        operator = self.operators[schema] = CalledOperator(self.number("o", full), found)
        return operator

    def thread(self, number: int) -> CallingThread:
        """The thread with a number of PyTorch, which is never used again; this one."""
        name = next((one.name for one in _threads() if one.ident == _thread.get_ident()), "")
        thread = self.threads[number] = CallingThread(self.number("t", name), self.library.keys_of_thread())
        return thread

    def code(self, code: Any) -> Any:
        """The places of a function's code by instruction; None for code of PyTorch and of this file."""
        file = code.co_filename
        own = file.startswith((self.folder, "<frozen ", "<eval_with_key>")) or file == OWN_FILE
        places = self.codes[id(code)] = None if own else {}
        self.kept.append(code)
        return places

    def place(self, frame: Any, places: dict[int, int]) -> int:
        """The number of the line that a frame is at."""
        code = frame.f_code
        file = self.files.get(code.co_filename)
        if file is None:
            path = code.co_filename
            file = self.files[path] = self.number("f", path if path.startswith("<") else os.path.abspath(path))
        place = places[frame.f_lasti] = self.number(
            "l", file, frame.f_lineno or 0, getattr(code, "co_qualname", code.co_name)
        )
        return place

    def _make_start(self) -> Callable[[int, int], int]:
        """The function that is called as a call begins: names are its own, for speed."""
        layout, library, output, words = self.layout, self.library, self.output, WORDS
        threads, operators, codes, signatures = self.threads, self.operators, self.codes, self.signatures
        get_frame, now, started, lines = sys._getframe, time.perf_counter_ns, self.started, self.lines
        at_thread, at_scope, at_schema, at_inputs = (
            layout.thread >> 3,
            layout.scope >> 3,
            layout.schema >> 3,
            layout.inputs >> 3,
        )
        at_kind, kind_shift = layout.kind >> 3, 8 * (layout.kind & 7)
        at_sequence, scope_shift = layout.sequence >> 3, 8 * (layout.scope & 7)
        at_forward = getattr(layout, "forward_thread", -8) >> 3
        tensor_tag, at_keys, list_tag, at_list = layout.tensor_tag, layout.keys >> 3, layout.list_tag, layout.list >> 3
        none_tag, device_tag, generator_tag = layout.none_tag, layout.device_tag, layout.generator_tag
        at_generator_keys, int_tag = layout.generator_keys >> 3, layout.int_tag

        def begin(fn: int) -> None:
            fn >>= 3
            number = words[fn + at_thread]
            thread = threads.get(number) or self.thread(number)
            if words[fn + at_scope] >> scope_shift & 0xFF:
                forward = words[fn + at_forward] if at_forward > 0 else 0
                forward = threads[forward].number if forward in threads else -1
                thread.nodes.append((fn, words[fn + at_sequence], forward))
                return
            if not words[fn + at_kind] >> kind_shift & 0xFF:
                return
            schema = words[fn + at_schema]
            operator = operators.get(schema) or self.operator(fn << 3, schema)
            # the place
            place = -1
            top = 0
            if lines:
                frame: Any = get_frame(2)
                top = id(frame)
                if thread.open and thread.open[-1][1] == top:
                    place = thread.open[-1][2]
                else:
                    while frame is not None:
                        code = frame.f_code
                        places = codes.get(id(code), codes)
                        if places is codes:
                            places = self.code(code)
                        if places is not None:
                            place = places.get(frame.f_lasti, -1)
                            if place < 0:
                                place = self.place(frame, places)
                            break
                        frame = frame.f_back
            # what the call is
            at = thread.keys
            parts = [
                operator.number,
                words[at],
                words[at + 1],
                library.is_inference(),
                library.is_grad(),
                library.count_modes(),
                library.python_dispatcher(),
            ]
            add = parts.append
            values = (words[fn + at_inputs] >> 3) + 2 * (words[fn + at_inputs + 1] - operator.count)
            for offset, _ in operator.places:
                tag = words[values + offset + 1] & 0xFFFFFFFF
                if tag == tensor_tag:
                    add(words[(words[values + offset] >> 3) + at_keys])
                elif tag == none_tag:
                    add(None)
                elif tag == list_tag:
                    body = (words[values + offset] >> 3) + at_list
                    add("[")
                    for one in range(words[body] >> 3, words[body + 1] >> 3, 2):
                        if words[one + 1] & 0xFFFFFFFF == tensor_tag:
                            add(words[(words[one] >> 3) + at_keys])
                    add("]")
                elif tag == device_tag:
                    add(("d", words[values + offset] & 0xFFFF))
                elif tag == generator_tag:
                    add(("g", words[(words[values + offset] >> 3) + at_generator_keys]))
            if operator.layout >= 0 and words[values + operator.layout + 1] & 0xFFFFFFFF == int_tag:
                add(("l", words[values + operator.layout]))
            if operator.dtype >= 0 and words[values + operator.dtype + 1] & 0xFFFFFFFF == int_tag:
                add(("t", words[values + operator.dtype]))
            key = tuple(parts)
            signature = signatures.get(key)
            if signature is None:
                signature = signatures[key] = self.number("s", self.describe(operator, key, values))
            sequence = words[fn + at_sequence]
            forward = -1
            if thread.nodes:
                _, sequence, forward = thread.nodes[-1]
            if sequence >> 63:
                sequence = -1
            output.write(
                b'["c",%d,%d,%d,%d,%d,%d,%d]\n'
                % (signature, thread.number, len(thread.open), place, (now() - started) // 1000, sequence, forward)
            )
            thread.open.append((fn, top, place))
            self.calls += 1

        def start(place: int, function: int) -> int:
            words[place >> 3] = 0
            try:
                begin(function)
            except BaseException as error:
                self.failed(error)
            return place

        return start

    def _make_end(self) -> Callable[[int, int], None]:
        words, threads, output = WORDS, self.threads, self.output
        at_thread, started, now = self.layout.thread >> 3, self.started, time.perf_counter_ns

        def end(function: int, _: int) -> None:
            fn = function >> 3
            thread = threads.get(words[fn + at_thread])
            if thread is None:
                return
            if thread.nodes and thread.nodes[-1][0] == fn:
                thread.nodes.pop()
            elif thread.open and thread.open[-1][0] == fn:
                thread.open.pop()
                output.write(b'["e",%d,%d,null]\n' % (thread.number, (now() - started) // 1000))

        return end

    def failed(self, error: BaseException) -> None:
        """An exception in this file: nothing more is recorded."""
        self.output.stop("internal", f"the recorder failed: {type(error).__name__}: {error}")

    def describe(self, operator: CalledOperator, key: tuple[Any, ...], values: int) -> dict[str, Any]:
        """A signature, as the recording has it. values: the arguments, as an index of words."""
        layout = self.layout
        number, included, excluded, inference, grad, modes, dispatcher = key[:7]
        answer: dict[str, Any] = {
            "operator": number,
            "tensors": list(self.tensors(operator, values)),
            "keys": [included ^ layout.included_by_default, excluded ^ layout.excluded_by_default],
            "inference": inference,
            "modes": modes,
            "python_dispatcher": bool(dispatcher),
            "grad_mode": grad,
        }
        for offset, _ in operator.places:
            if WORDS[values + offset + 1] & TAG == layout.device_tag:
                answer["device"] = self.device(WORDS[values + offset] & 0xFF)
                break
        for name, offset in (("layout", operator.layout), ("dtype", operator.dtype)):
            if offset >= 0 and WORDS[values + offset + 1] & TAG == layout.int_tag:
                answer[name] = WORDS[values + offset]
        return answer

    def tensors(self, operator: CalledOperator, values: int) -> Iterator[Any]:
        """The tensors of a call in order, and generators, and what stands in the place of a tensor."""
        layout = self.layout
        for offset, is_tensor in operator.places:
            tag, payload = WORDS[values + offset + 1] & TAG, WORDS[values + offset]
            if tag == layout.none_tag:
                if is_tensor:
                    yield [0, "none"]
            elif tag == layout.tensor_tag:
                yield self.tensor(payload)
            elif tag == layout.list_tag:
                body = payload + layout.list >> 3
                for one in range(WORDS[body] >> 3, WORDS[body + 1] >> 3, 2):
                    if WORDS[one + 1] & TAG == layout.tensor_tag:
                        yield self.tensor(WORDS[one])
            elif tag == layout.generator_tag:
                yield [WORDS[payload + layout.generator_keys >> 3], "generator"]

    def tensor(self, impl: int) -> list[Any]:
        """A tensor, with what it wraps."""
        keys = WORDS[impl + self.layout.keys >> 3]
        return [keys, "undefined"] if impl == self.library.undefined else [keys]

    def device(self, kind: int) -> str:
        """The name of a type of devices."""
        name: str = self.devices.get(kind, f"device{kind}")
        return name


def _threads() -> Any:
    threading = sys.modules.get("threading")
    return list(threading._active.values()) if threading is not None else []


# When PyTorch is imported.


class ImportWatch:
    """Says when the module torch has been imported; finds no module itself."""

    def __init__(self, imported: Callable[[Any], None]) -> None:
        self.imported = imported

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
        loader = spec.loader
        if hasattr(loader, "exec_module"):
            loader.exec_module = _seen_as_importing(self._executing(loader, loader.exec_module))
        return spec

    def _executing(self, loader: Any, execute: Callable[[Any], None]) -> Callable[[Any], None]:
        imported, path, finder = self.imported, sys.meta_path, self

        def _call_with_frames_removed(module: Any) -> None:
            del loader.exec_module
            execute(module)
            if finder in path:
                path.remove(finder)
            imported(module)

        return _call_with_frames_removed


def _seen_as_importing(function: Any) -> Any:
    """A function that Python leaves out of the traceback of a failed import, as it leaves out its own."""
    code = function.__code__.replace(co_filename="<frozen importlib._bootstrap>")
    return types.FunctionType(code, function.__globals__, function.__name__, None, function.__closure__)


# The program.


class WrongCommand(Exception):
    """The command line is wrong."""


class CommandLine:
    """The command line."""

    def __init__(self, words: list[str]) -> None:
        self.save, self.size, self.lines, self.state, self.module = "", 256, True, True, False
        words = list(words)
        while words and words[0].startswith("-"):
            option = words.pop(0)
            if option == "--no-lines":
                self.lines = False
            elif option == "--no-state":
                self.state = False
            elif option in ("--save", "--max-size", "-m"):
                if not words:
                    raise WrongCommand(f"{option} needs a value")
                if option == "-m":
                    self.module = True
                    break
                value = words.pop(0)
                if option == "--save":
                    self.save = value
                elif value.isdigit() and int(value):
                    self.size = int(value)
                else:
                    raise WrongCommand("--max-size needs a number of megabytes")
            elif option == "--":
                break
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
        self.output = RecordingFile(os.path.abspath(options.save), options.size << 20)
        self.recorder: CallRecorder | None = None
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
        self.head_size = len(self._head()) + 64
        self.output.write(self._head())
        if "torch" in sys.modules:
            self.imported(sys.modules["torch"])
        else:
            sys.meta_path.insert(0, ImportWatch(self.imported))
        atexit.register(self.finish)

    def _head(self) -> bytes:
        """The first line; there is room for the version of PyTorch, which is known later."""
        line = line_of(self.head)[1:-2]
        return line + b" " * (getattr(self, "head_size", len(line) + 65) - len(line) - 1) + b"\n"

    def imported(self, torch: Any) -> None:
        """PyTorch is there: record from here on."""
        try:
            self.head["torch"] = str(torch.__version__)
            head = self._head()
            if len(head) == self.head_size:
                self.output.map[: len(head)] = head
            recorder = CallRecorder(torch, self.output, self.options.lines, self.started)
            recorder.install()
            self.recorder = recorder
        except Exception as error:
            self.output.stop("calibration", f"this PyTorch cannot be recorded: {type(error).__name__}: {error}")

    def finish(self) -> None:
        """The program has ended."""
        if os.getpid() != self.output.pid:
            return
        recorder = self.recorder
        if recorder is not None:
            recorder.remove()
        elif not self.output.stopped:
            self.output.write(line_of("x", {"reason": "torch", "text": "the program has not imported PyTorch"}))
        seconds = (time.perf_counter_ns() - self.started) / 1e9
        calls, dropped = (recorder.calls, recorder.dropped) if recorder is not None else (0, 0)
        self.output.write(line_of("end", {"calls": calls, "dropped": dropped, "seconds": round(seconds, 6)}), True)
        self.output.close()


def run(program: list[str], module: bool) -> None:
    """Run a program as Python runs it from the command line."""
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = sys.modules["builtins"]
    sys.modules["__main__"] = main
    if module:
        runpy: Any = importlib.import_module("runpy")
        sys.argv[:] = ["-m", *program[1:]]
        runpy._run_module_as_main(program[0])
        return
    sys.argv[:] = program
    path = os.path.abspath(program[0])
    with open(path, "rb") as file:
        source = file.read()
    from importlib.machinery import SourceFileLoader

    main.__dict__.update(__file__=path, __loader__=SourceFileLoader("__main__", path), __cached__=None)
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    exec(compile(source, path, "exec", dont_inherit=True), main.__dict__)


def main() -> None:
    """Be the command. Exit codes: the program's own; 2 for a wrong command line."""
    try:
        options = CommandLine(sys.argv[1:])
    except WrongCommand as error:
        print(f"recorder: {error}\n\n{__doc__.split(chr(10) * 2)[1]}", file=sys.stderr)
        raise SystemExit(2) from None
    RecordedProcess(options)
    run(options.program, options.module)


if __name__ == "__main__":
    main()
