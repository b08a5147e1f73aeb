"""A cache of what sources say, so that a second run over the same files need not read them again.

An entry is found by a digest of everything that decides it: the content and the names of all files of the run, the
settings, and this program's own readers. What a run reads besides, such as headers in ``-I``, is noted in the entry and
compared. An entry that is damaged or foreign is passed over. A folder of entries could come with a project, and say
what its author likes: one inside a git checkout is not used.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import tempfile
import zlib
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from dispatch_cli.model.budget import Budget, OverBudget, parse_json

_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_READ |= getattr(os, "O_BINARY", 0)
MAX_ENTRY = 16 << 20
"""Bytes of an entry as it is stored."""
MAX_UNPACKED = 48 << 20
"""Bytes of an entry when it is unpacked."""
MAX_FOLDER = 256 << 20
"""Bytes of all entries. Where there would be more, all are removed."""
_NAME = re.compile(r"[0-9a-f]{40}\.json\.z")
VARIABLE = "DISPATCH_CLI_CACHE_DIR"
"""The folder of the cache, instead of the one of the user; `NO_CACHE` for none."""
NO_CACHE = "none"


def user_folder() -> str | None:
    """The user's own folder for what can be made anew; None where there is none."""
    variable, below = ("LOCALAPPDATA", "") if sys.platform == "win32" else ("XDG_CACHE_HOME", ".cache")
    base = os.environ.get(variable, "")
    if not os.path.isabs(base):  # noqa: PTH117
        home = os.path.expanduser("~")  # noqa: PTH111
        base = os.path.join(home, below) if below and os.path.isabs(home) else ""  # noqa: PTH117, PTH118
    return os.path.join(base, "dispatch-cli") if base else None  # noqa: PTH118


def read_own(path: Path, most: int) -> bytes:
    """The content of a regular file of this user.

    Errors: OSError, also for anything else than such a file, and for one with more than *most* bytes.
    """
    handle = os.open(path, _READ)
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or not _is_own(status):
            raise OSError("it is no file of this user")
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError("it is too large")
    return data


def is_own_folder(path: Path) -> bool:
    """True if it is a folder of this user, and no link to one."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and _is_own(status)


def _is_own(status: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def default_folder() -> str | None:
    """The folder of the cache; None for none."""
    if named := os.environ.get(VARIABLE):
        return None if named == NO_CACHE else named
    return user_folder()


def usable_folder() -> Path | None:
    """The folder of the cache; None for none, and where it is inside a git checkout."""
    folder = default_folder()
    return None if folder is None or _is_in_checkout(folder) else Path(folder)


def _is_in_checkout(folder: str) -> bool:
    """True for a folder that could come with a project. A home may be under git, and its own folder is used."""
    inside = Path(folder) / "extract"
    return folder != user_folder() and any((above / ".git").exists() for above in inside.resolve().parents)


def key_of(*parts: object) -> str:
    """The name of an entry: of what decides it, and of the readers themselves."""
    text = json.dumps([_readers(), parts], ensure_ascii=True, sort_keys=True)
    return blake2b(text.encode(), digest_size=20).hexdigest()


@lru_cache(maxsize=1)
def _readers() -> str:
    """A digest of the modules that read sources: while one works on them, the version stays as it is."""
    package = Path(__file__).parents[1]
    hasher = blake2b(digest_size=20)
    for folder in ("extract", "audit", "declarations", "files", "model"):
        for path in sorted(package.joinpath(folder).rglob("*")):
            if path.suffix in (".py", ".json") and path.is_file():
                hasher.update(b"%d " % path.stat().st_size + path.read_bytes())
    return hasher.hexdigest()


class Cache:
    """The entries in a folder. Nothing that goes wrong with it is an error: the sources are read then."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder) / "extract"
        self._is_used = not _is_in_checkout(folder)

    def get(self, key: str) -> Any:
        """Content of the entry of a key; None where there is none that can be used."""
        path = self._folder / f"{key}.json.z"
        if not self._is_used or not is_own_folder(self._folder):
            return None
        try:
            unpacker = zlib.decompressobj()
            text = unpacker.decompress(read_own(path, MAX_ENTRY), MAX_UNPACKED)
            return parse_json(text, Budget(len(text))) if unpacker.eof else None
        except (OSError, ValueError, zlib.error, RecursionError, OverBudget):
            return None

    def put(self, key: str, value: Any) -> None:
        """Keep what JSON can express."""
        body = json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()
        packed = zlib.compress(body, 1)
        if not self._is_used or len(packed) > MAX_ENTRY or len(body) >= MAX_UNPACKED:
            return
        with suppress(OSError):
            self._folder.mkdir(0o700, parents=True, exist_ok=True)
            if is_own_folder(self._folder):
                self._make_room(len(packed))
                _write(self._folder / f"{key}.json.z", packed)

    def _make_room(self, needed: int) -> None:
        with os.scandir(self._folder) as entries:
            files = [entry for entry in entries if _NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)]
        if sum(entry.stat(follow_symlinks=False).st_size for entry in files) + needed > MAX_FOLDER:
            for entry in files:
                Path(entry.path).unlink(missing_ok=True)


def _write(path: Path, data: bytes) -> None:
    """Whole, or not at all. Errors: OSError."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", suffix=".new", delete=False) as file:
        written = Path(file.name)
        try:
            file.write(data)
            file.close()
            written.replace(path)
        except BaseException:
            written.unlink(missing_ok=True)
            raise
