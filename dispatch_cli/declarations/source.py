"""One declaration file: its bytes, safely read, as text that can be quoted by line."""

from __future__ import annotations

import io
import os
import re
import stat
import sys
import zlib
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

from dispatch_cli.files import RevisionError, paths
from dispatch_cli.files.paths import is_in
from dispatch_cli.model import read_files
from dispatch_cli.model.budget import MAX_BYTES, MAX_THINGS, Budget, OverBudget, parse_json
from dispatch_cli.model.text.suggest import suggestion

STDIN = "-"
"""The file name that stands for standard input."""
COMMENT_MARK = "dispatch-cli:"
"""Start of what a comment says to dispatch-cli."""

_LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
"""The line breaks that YAML counts."""

MAX_PROJECT_BYTES = 1 << 19
"""Bytes of a project file; its parser is slow, and real ones have a few thousand."""
MAX_SOURCE_BYTES = 32 << 20
"""Bytes of one source file. The largest of PyTorch's has 3 MB."""
_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


class SourceError(Exception):
    """A file cannot be read as text.

    code, message, hint: as in `Problem`. line, column: where in the file, when something in it is to blame.
    """

    def __init__(self, code: str, message: str, hint: str | None = None, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.line = line
        self.column = column


@dataclass(frozen=True)
class Source:
    """The text of a file. file: its name as the user wrote it. budget: what it may say."""

    file: str
    text: str
    budget: Budget = field(default_factory=lambda: Budget(0), compare=False)

    @cached_property
    def lines(self) -> list[str]:
        """The text by line, without line breaks."""
        return _LINE_BREAK.split(self.text)

    def line(self, number: int) -> str:
        """Line *number*, 1-based; empty when there is none."""
        return self.lines[number - 1] if number <= len(self.lines) else ""


class Place(NamedTuple):
    """A line and a column, both 1-based."""

    line: int
    column: int


def place_behind(text: str) -> Place:
    """The place of what follows *text* at the start of a file."""
    lines = _LINE_BREAK.split(text)
    return Place(len(lines), len(lines[-1]) + 1)


def identity(file: str) -> str:
    """The same text for every name of the same file."""
    try:
        return file if file == STDIN else paths.real(file)
    except (OSError, ValueError):
        return file


def read(file: str, within: str | None = None, left: int = MAX_THINGS) -> Source:
    """Read *file* as text, or standard input when it is ``-``; gzip is recognised by its first bytes.

    within: the folder that it has to be in, links resolved; None for any. left: as for `Budget`. Errors: SourceError.
    """
    check_inside(file, within)
    data = _read(file, MAX_BYTES)
    budget = Budget(len(data), left)
    try:
        if data.startswith(_GZIP_MAGIC):
            data = _decompress_gzip(data, budget.bytes)
        budget.unpacked(len(data))
        source = Source(file, _decode(data), budget)
        budget.spend(source.text.count("\n"))
    except (EOFError, zlib.error) as error:
        raise SourceError("unreadable-file", f"the compressed file is damaged: {error}") from None
    except OverBudget as error:
        raise SourceError("too-large", error.message, error.hint) from None
    read_files.keep_lines(file, len(source.text), lambda: source.lines)
    return source


def read_plain(file: str, limit: int, within: str | None = None) -> bytes:
    """Read *file* as it is, at most *limit* bytes. within: as for `read`. Errors: SourceError."""
    check_inside(file, within)
    data = _read(file, limit)
    if len(data) > limit:
        most = f"{limit >> 20} MiB" if limit >> 20 else f"{limit >> 10} KiB"
        raise SourceError("too-large", f"the file is larger than {most}")
    return data


def lines_inside(within: str | None, file: str) -> list[str]:
    """The lines of a source file that a place in a declaration file names; none where it cannot be read.

    within: as for `read`.
    """
    if file == STDIN:
        return []
    try:
        return _LINE_BREAK.split(read_plain(file, MAX_SOURCE_BYTES, within).decode("utf-8", "replace"))
    except SourceError:
        return []


def read_start(file: str, count: int) -> bytes:
    """The first bytes of *file*, at most *count*. Errors: SourceError."""
    return _read(file, count - 1)


def read_json(file: str, within: str | None = None) -> Any:
    """Read *file* as JSON. within: as for `read`. Errors: SourceError; ValueError where it is not JSON."""
    data = read_plain(file, MAX_BYTES, within)
    try:
        return parse_json(data, Budget(len(data)))
    except OverBudget as error:
        raise SourceError("too-large", error.message, error.hint) from None


def _decompress_gzip(data: bytes, limit: int) -> bytes:
    """Errors: EOFError and zlib.error where the data is damaged."""
    import gzip

    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            return stream.read(limit + 1)
    except gzip.BadGzipFile as error:
        raise EOFError(str(error)) from None


def check_inside(file: str, folder: str | None) -> None:
    """Refuse *file* where it is not in *folder*, links resolved; where that is None, it can be anywhere.

    Nothing more is looked at: whether there is such a file outside is not said. Errors: SourceError.
    """
    if folder is None or file == STDIN:
        return
    try:
        path = paths.real(file)
    except (OSError, ValueError):
        return  # It cannot be opened, either.
    if path == folder or is_in(path, folder):
        return
    is_link = is_in(paths.normal(paths.join(paths.real(paths.here()), file)), folder)
    what = "a link that leads out of the project" if is_link else "outside the project"
    hint = f"the project is the directory {paths.shown(folder)}; --allow-outside also allows files outside it"
    raise SourceError("outside-project", f"{file} is {what}", hint)


def check(file: str, within: str | None = None) -> None:
    """Look whether *file* can be a file to read, without opening it. within: as for `read`.

    Errors: SourceError.
    """
    check_inside(file, within)
    try:
        is_regular = file == STDIN or stat.S_ISREG(paths.mode(file))
    except (OSError, ValueError) as error:
        raise _unreadable(file, error) from None
    if not is_regular:
        raise _not_regular(file)


def _read(file: str, limit: int) -> bytes:
    """Read standard input, or a regular file and nothing else: opening a pipe or a device can wait forever."""
    check(file)
    try:
        if file == STDIN:
            return sys.stdin.buffer.read(limit + 1)
        read_files.note(file)
        tree = paths.tree_of(file)
        if tree is not None:
            return tree.read(paths.inside(file), limit + 1)
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise _not_regular(file)
            return stream.read(limit + 1)
    except (OSError, ValueError) as error:
        raise _unreadable(file, error) from None


BINARY_HINT = (
    "of a compiled library, name the sources, or capture what it registers: `dispatch-cli capture --python PYTHON "
    "--import MODULE -o cap.json.gz`"
)
"""Hint for a file that is neither a source nor a declaration file."""
_REVISION = re.compile(r"HEAD|[0-9a-f]{7,40}|[\w./-]+(?:[~^]\d*)+")
"""Names of files that do not exist and look like names of revisions."""
_VERSION = re.compile(r"2\.\d+")
"""Those that look like versions of PyTorch."""


def _not_regular(file: str) -> SourceError:
    kinds = {stat.S_IFDIR: "a directory", stat.S_IFLNK: "a link, which is not followed at a revision"}
    what = kinds.get(paths.kind(file), "not a regular file")
    return SourceError("not-a-file", f"{file} is {what}", "name declaration files one by one, or - for standard input")


def _unreadable(file: str, error: Exception) -> SourceError:
    if isinstance(error, RevisionError):
        return SourceError(error.code, error.message, error.hint)
    reason = (os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)).lower()
    if isinstance(error, FileNotFoundError):
        if os.path.islink(file):  # noqa: PTH114
            target = os.readlink(file)  # noqa: PTH115
            return SourceError("file-not-found", f"{file} is a link to {target}, which does not exist")
        return SourceError("file-not-found", f"{file} does not exist", _similar_file(file))
    return SourceError("unreadable-file", f"{file} cannot be read: {reason}")


def _similar_file(file: str) -> str | None:
    if _REVISION.fullmatch(file):
        return f"to read a git revision, add a path: {file}:decl.yaml, or {file}:. for all of it"
    if _VERSION.fullmatch(file):
        return f"did you mean torch-{file}?"
    try:
        names = [entry.name for entry in islice(paths.each_entry(paths.folder_of(file)), 1000)]
    except (OSError, ValueError):
        return None
    return suggestion(os.path.basename(paths.inside(file)), sorted(names))  # noqa: PTH119


def decoded(data: bytes) -> str:
    """A text that is not one of ours, as it can be read; Windows writes what a program prints in UTF-16."""
    return data.decode(_encoding(data), "replace")


def _encoding(data: bytes) -> str:
    return next((name for mark, name in _BYTE_ORDER_MARKS if data.startswith(mark)), "utf-8")


def _decode(data: bytes) -> str:
    encoding = _encoding(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding == "utf-8" and b"\0" in data:
            raise SourceError("binary-file", "this is a binary file", BINARY_HINT) from None
        raise SourceError(
            "not-utf8",
            f"the file is not valid {encoding.removesuffix('-sig').upper()}: byte 0x{data[error.start]:02x} "
            f"at offset {error.start}",
            "save it as UTF-8",
            *place_behind(data[: error.start].decode(encoding, "replace")),
        ) from None
