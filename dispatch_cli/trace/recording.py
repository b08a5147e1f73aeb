"""Reading a recording: a text file of one JSON value a line, which a program may have left at any moment.

A line that is cut at the end of the file is left out; a tag that is not known is passed over; anything else that is not
what it must be is refused, with its line.
"""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, BinaryIO, NamedTuple

from dispatch_cli.capture.answer import Either, Malformed, look
from dispatch_cli.model.budget import Budget, OverBudget, parse_json
from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.model.span import MAX_LINE, Span

NONE = -1
"""Value of a column of numbers for none."""
VERSION = 2
HEAD = "dispatch_cli_trace"
START = b'{"dispatch_cli_trace":'
"""Start of a recording; blanks may stand between."""
MAX_BYTES = 4 << 30
"""Bytes of a recording that are read."""
MAX_CALLS = 5_000_000
"""Calls that are read; they take 250 MB."""
MAX_LINE_BYTES = 128 << 20
"""Bytes of a line. PyTorch 2.15 needs 6 MiB for the one with the state."""
MAX_NAMES = 1_000_000
"""Entries of one table: operators, places, signatures …"""
MAX_DEPTH = 10_000
MAX_NUMBER = 1 << 62
_SMALL = 4096
"""Bytes of a line that needs no budget."""


class Head(NamedTuple):
    """The first line.

    torch: the version of PyTorch. python: that of Python. argv: the command line. directory: where it ran.
    """

    torch: str
    python: str | None = None
    argv: tuple[str, ...] = ()
    directory: str | None = None


class PythonPlace(NamedTuple):
    """A place in Python. function: the name of the function that the line is in."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Ran(NamedTuple):
    """A kernel that was seen to run. raw: the key set that it got."""

    slot: str
    raw: int
    raised: bool


class NotRecorded(NamedTuple):
    """Reason why something is not recorded. reason: a word, such as ``limit``. text: a sentence."""

    reason: str
    text: str


class RecordedCalls:
    """Every call by its number, which is its position in the recording.

    signature, thread, place, forward_thread: numbers in the tables of the recording. parent: the call that made it.
    start, end: microseconds since the recording began. sequence: autograd's number.
    raised: 1 of a call that raised, otherwise 0. Where there is none of something, `NONE`.
    """

    def __init__(self) -> None:
        self.signature, self.thread, self.place, self.parent = (array("i") for _ in range(4))
        self.start, self.end, self.sequence = (array("q") for _ in range(3))
        self.forward_thread = array("i")
        self.raised = array("b")

    def __len__(self) -> int:
        return len(self.signature)

    def begin(self, *values: int) -> None:
        """Add a call. values: its signature, thread, place, start, sequence, thread of the forward call, and parent."""
        columns = (self.signature, self.thread, self.place, self.start, self.sequence, self.forward_thread, self.parent)
        for column, value in zip(columns, values, strict=True):
            column.append(value)
        self.end.append(NONE)
        self.raised.append(0)

    def microseconds(self, call: int) -> int | None:
        """Time that a call took; None where its end is not recorded."""
        end = self.end[call]
        return None if end == NONE else max(0, end - self.start[call])


Held = Sequence[tuple[str | None, str, bool]] | None
"""The registrations of the kernel that a slot held: key, text of a dump, whether it falls through; the newest of a key
first. The key of a backend fallback is None. Empty for a kernel that is not registered, None where there was none."""


class OtherSlot(NamedTuple):
    """Content of a slot of an operator in its calls, where another one is determined at the program's end.

    at_end: it still holds that: it is stale.
    """

    held: Held
    at_end: bool


@dataclass
class Recording:
    """A recording, as far as it goes.

    signatures: each call without its time, as it is written; `explained.observed` reads it. other_slots: those of
    operators, by their number. nodes: the innermost call that made each node of autograd, by its thread and the number
    of the node in it. kernels: those that were seen to run, by call: the first one, and those that each redispatches
    to. state: what `dispatch_cli.capture.probe` writes; None where the program ended before. end: what the recorder
    writes at the end: the calls that were not recorded (dropped), and how long the program ran (seconds).
    """

    file: str
    head: Head
    operators: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    places: list[PythonPlace] = field(default_factory=list)
    threads: list[str] = field(default_factory=list)
    signatures: list[dict[str, Any]] = field(default_factory=list)
    other_slots: dict[int, Mapping[str, OtherSlot]] = field(default_factory=dict)
    calls: RecordedCalls = field(default_factory=RecordedCalls)
    nodes: dict[tuple[int, int], int] = field(default_factory=dict)
    kernels: dict[int, list[Ran]] = field(default_factory=dict)
    stopped: list[NotRecorded] = field(default_factory=list)
    state: dict[str, Any] | None = None
    end: dict[str, Any] | None = None

    def operator_of(self, call: int) -> str:
        """The name of the operator that was called."""
        name: str = self.operators[self.signatures[self.calls.signature[call]]["operator"]]
        return name

    def place_of(self, call: int) -> PythonPlace | None:
        """The line of Python that called it."""
        place = self.calls.place[call]
        return None if place == NONE else self.places[place]

    def forward_of(self, call: int) -> int | None:
        """The forward call that made the node which a backward call belongs to; None for others."""
        thread = self.calls.forward_thread[call]
        return None if thread == NONE else self.nodes.get((thread, self.calls.sequence[call]))


def is_recording(file: str) -> bool:
    """True if a file begins as a recording does; False for one that cannot be read."""
    try:
        if not os.path.isfile(file):  # noqa: PTH113
            return False
        with open(file, "rb") as stream:  # noqa: PTH123
            return stream.read(len(START) + 64).replace(b" ", b"").startswith(START)
    except (OSError, ValueError):
        return False


def read(file: str) -> Recording:
    """The recording in a file. Errors: InputError."""
    from dispatch_cli.model.budget import no_collection
    from dispatch_cli.model.read_files import note

    try:
        with open(file, "rb") as stream, no_collection():  # noqa: PTH123
            note(file)
            return _RecordingReader(file).read(stream)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError((Problem("unreadable-file", f"cannot read {file}: {reason.lower()}"),)) from None


class _RecordingReader:
    """Reads one recording line by line."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._open: list[list[int]] = []
        """Calls of each thread that have begun and not ended."""
        self._of: Recording
        self._tags: dict[str, Callable[[list[Any]], None]] = {
            "c": self._call,
            "e": self._end_of_call,
            "k": self._kernel,
            "o": lambda value: _add(value, self._of.operators, value[2]),
            "f": lambda value: _add(value, self._of.files, value[2]),
            "l": self._place,
            "t": self._thread,
            "s": self._signature,
            "r": self._other_slots,
            "x": self._stopped,
            "state": self._state,
            "end": self._end,
        }

    def read(self, stream: BinaryIO) -> Recording:
        """Errors: InputError, OSError."""
        number, size = 0, 0
        for number, line in enumerate(iter(partial(stream.readline, MAX_LINE_BYTES), b""), start=1):
            size += len(line)
            try:
                self._line(number, line)
            except (ValueError, TypeError, RecursionError, OverBudget) as error:
                if number > 1 and not line.endswith(b"\n"):
                    if line.strip(b"\0"):  # zeros are what a program that was killed leaves
                        self._of.stopped.append(NotRecorded("cut", "the file is cut: its last line is not whole"))
                    break
                raise self._problem(number, line, error) from None
            if len(self._of.calls) >= MAX_CALLS or size > MAX_BYTES:
                what = f"the recording has more calls than the {len(self._of.calls):,} that are read"
                self._of.stopped.append(NotRecorded("too-large", what))
                break
        if not number:
            raise InputError((Problem("bad-recording", f"{self._file} is empty", Span(self._file, 1, 1)),))
        return self._of

    def _line(self, number: int, line: bytes) -> None:
        """Errors: ValueError, TypeError, RecursionError."""
        if not line.strip():
            return
        if number == 1:
            self._of = Recording(self._file, _head(_parsed(line)))
            return
        value = _parsed(line)
        if type(value) is not list or not value or type(value[0]) is not str:
            raise Malformed('must be a list that begins with a tag, such as ["c", …]')
        take = self._tags.get(value[0])
        if take is not None:
            look(_SHAPES.get(value[0], list), value)
            take(value)

    def _problem(self, number: int, line: bytes, error: Exception) -> InputError:
        """Problem with a line, with its text."""
        what = "a recording of `dispatch-cli trace`" if number == 1 else "a line of a recording"
        reason = str(error) if isinstance(error, Malformed | OverBudget) else "it is not valid JSON, or has too little"
        text = line[: MAX_LINE * 4].decode("utf-8", "replace").rstrip("\n")[:MAX_LINE]
        hint = "record it again, or cut the file off before this line" if number > 1 else None
        place = Span(self._file, number, 1)
        return InputError((Problem("bad-recording", f"not {what}: {reason}", place, text, hint),))

    # The lines

    def _place(self, value: list[Any]) -> None:
        file = self._of.files[_index(value[2], self._of.files, "a file")]
        _add(value, self._of.places, PythonPlace(file, value[3], value[4]))

    def _thread(self, value: list[Any]) -> None:
        _add(value, self._of.threads, value[2])
        self._open.append([])

    def _signature(self, value: list[Any]) -> None:
        _index(value[2].get("operator"), self._of.operators, "an operator")
        _add(value, self._of.signatures, value[2])

    def _other_slots(self, value: list[Any]) -> None:
        operator = _index(value[1], self._of.operators, "an operator")
        self._of.other_slots[operator] = {slot: OtherSlot(held, at_end) for slot, held, at_end, *_ in value[2]}

    def _call(self, value: list[Any]) -> None:
        _, signature, thread, depth, place, start, sequence, forward, *_ = value
        of = self._of
        _index(signature, of.signatures, "a signature")
        _index(thread, of.threads, "a thread")
        if place != NONE:
            _index(place, of.places, "a place")
        if forward != NONE:
            _index(forward, of.threads, "a thread")
        _number(start, "a time")
        _number(sequence + 1, "a sequence number")
        stack = self._open[thread]
        if _number(depth, "a depth") > min(len(stack), MAX_DEPTH):
            raise Malformed(f"a call at depth {depth}, where {len(stack)} are open")
        del stack[depth:]  # they have ended; how is not recorded
        parent = stack[-1] if stack else NONE
        stack.append(len(of.calls))
        of.calls.begin(signature, thread, place, start, sequence, forward, parent)

    def _end_of_call(self, value: list[Any]) -> None:
        _, thread, time, raised, *nodes = value
        stack = self._open[_index(thread, self._of.threads, "a thread")]
        if not stack:
            raise Malformed("a call ends, where none is open")
        call = stack.pop()
        self._of.calls.end[call] = _number(time, "a time")
        self._of.calls.raised[call] = raised is True
        for node in nodes[0] if nodes else ():
            self._of.nodes.setdefault((thread, _number(node, "a node")), call)

    def _kernel(self, value: list[Any]) -> None:
        """Note a kernel of the innermost open call of its thread, at whose end the kernels are written, in order."""
        stack = self._open[_index(value[1], self._of.threads, "a thread")]
        if stack:
            self._of.kernels.setdefault(stack[-1], []).append(Ran(*value[2:5]))

    def _stopped(self, value: list[Any]) -> None:
        if len(self._of.stopped) < MAX_NAMES:
            self._of.stopped.append(NotRecorded(value[1].get("reason", ""), value[1].get("text", "")))

    def _state(self, value: list[Any]) -> None:
        self._of.state = value[1]

    def _end(self, value: list[Any]) -> None:
        self._of.end = value[1]


_NUMBER = range(MAX_NUMBER)
_ENTRY = (str, _NUMBER, str)
_HELD = Either([(Either(str, None), str, bool)], None)
_SECONDS = Either(float, None)
_SHAPES = {
    **dict.fromkeys("oft", _ENTRY),
    "s": (str, _NUMBER, dict),
    "r": (str, _NUMBER, [(str, _HELD, bool)]),
    "l": (str, _NUMBER, _NUMBER, _NUMBER, str),
    "k": (str, _NUMBER, str, range(1 << 64), bool),
    "x": (str, {"reason?": str, "text?": str}),
    "state": (str, dict),
    "end": (str, {"dropped?": _NUMBER, "seconds?": _SECONDS}),
}
"""The shapes of lines by their tags, but for calls and their ends, of which there are many: they are looked at as they
are read."""
_HEAD = {
    "torch": str,
    "argv?": [str],
    "python?": Either(str, None),
    "directory?": Either(str, None),
}


def _parsed(line: bytes) -> Any:
    """Errors: ValueError, RecursionError."""
    if len(line) >= MAX_LINE_BYTES:
        raise Malformed(f"the line is longer than {MAX_LINE_BYTES >> 20} MiB")
    return json.loads(line) if len(line) < _SMALL else parse_json(line, Budget(len(line)))


def _head(value: Any) -> Head:
    """The first line. Errors: ValueError."""
    version = value.get(HEAD, VERSION) if type(value) is dict else VERSION
    if version != VERSION or type(version) is not int:
        raise Malformed(f"its format is {str(version)[:20]!r}, and this dispatch-cli reads format {VERSION}")
    look(_HEAD, value)
    given = {name: value[name] for name in Head._fields if name in value}
    return Head(**{**given, "argv": tuple(given.get("argv", ()))})


def _add(value: list[Any], table: list[Any], entry: object) -> None:
    """Add an entry to its table. Errors: ValueError for one that is not the next."""
    if value[1] != len(table):
        raise Malformed(f"the next entry {value[0]!r} must have the number {len(table)}")
    if len(table) >= MAX_NAMES:
        raise Malformed(f"there are more than {MAX_NAMES:,} entries {value[0]!r}")
    table.append(entry)


def _index(value: Any, table: list[Any], what: str) -> int:
    """Errors: ValueError for what is no number of an entry."""
    if type(value) is not int or not 0 <= value < len(table):
        raise Malformed(f"{what} must be the number of an entry before this line, not {str(value)[:20]!r}")
    return value


def _number(value: Any, what: str) -> int:
    """Errors: ValueError for what is no number from 0."""
    if type(value) is not int or not 0 <= value < MAX_NUMBER:
        raise Malformed(f"{what} must be a number from 0, not {str(value)[:20]!r}")
    return value
