"""Writing an answer to a file: whole, or not at all."""

from __future__ import annotations

import errno
import io
import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from dispatch_cli.declarations.project import project_folder
from dispatch_cli.files.paths import is_in
from dispatch_cli.render.printed import UNENCODABLE

_STREAMS = ("/dev/", "/proc/")
"""Folders of links to what the process has open."""


def write_file(chunks: Iterable[str], output: str, compressed: bool, follows_links: bool = False) -> None:
    """Write to *output*, compressed by gzip if that is asked for.

    follows_links: whether *output* may be a link that leads out of its project. Errors: OSError.
    """
    target = check_writable(output, follows_links)
    with suppress(FileNotFoundError):
        target.stat()  # exists() says no as well where links go in a circle
    if target.exists() and not target.is_file():
        # a device or a named pipe is written to; a directory is an error
        with target.open("wb") as file:
            _encode(file, chunks, compressed)
    else:
        _replace(target.resolve(), chunks, compressed)


def check_writable(output: str, follows_links: bool = False) -> Path:
    """The path of a file. Refuses a folder, a file that is read-only, and a link out of its project. Errors: OSError.

    A name with a slash at its end is that of a folder, which `Path` leaves out. follows_links: as for `write_file`.
    """
    target = Path(output)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a directory")
    if os.path.basename(output) in ("", "."):  # noqa: PTH119
        raise IsADirectoryError(errno.EISDIR, "it names a folder; give the name of a file")
    with suppress(FileNotFoundError):
        # root could replace a file that is read-only
        if not target.stat().st_mode & 0o222 or not os.access(target, os.W_OK):
            raise PermissionError("it is read-only")
    if not follows_links:
        _refuse_outside(target)
    return target


def _refuse_outside(target: Path) -> None:
    """Refuse a link that leads out of the project that it is in: a pull request can add one. Errors: OSError."""
    if os.path.abspath(target).startswith(_STREAMS):  # noqa: PTH100 (as it is named: a link may lead there)
        return  # /dev/stdout leads to the file that the shell opened
    folder = project_folder(os.fspath(target))
    if not is_in(os.path.realpath(target), folder):
        raise PermissionError(0, "it is a link that leads out of the project; give the name of the file itself")


def check_folder(folder: Path) -> None:
    """Refuse a folder in which no file can be made. Errors: OSError."""
    with tempfile.TemporaryFile(dir=folder):
        pass


def _replace(target: Path, chunks: Iterable[str], compressed: bool) -> None:
    """Write beside *target*, then put it in its place with the mode that it has, or that a new file would have."""
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name[:100]}.", delete=False) as file:
        written = Path(file.name)
        try:
            _encode(file, chunks, compressed)
            file.close()
            written.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
            written.replace(target)
        except BaseException:
            written.unlink(missing_ok=True)
            raise


def _encode(stream: Any, chunks: Iterable[str], compressed: bool) -> None:
    if compressed:
        from gzip import GzipFile

        # without a name and a time of its own, the same text gives the same file
        with GzipFile("", "wb", 9, stream, mtime=0) as packed:
            _encode(packed, chunks, False)
        return
    text = io.TextIOWrapper(stream, "utf-8", UNENCODABLE, newline="")
    text.writelines(chunks)
    text.detach()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
