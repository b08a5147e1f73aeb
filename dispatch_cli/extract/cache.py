"""What sources say is kept, so that a second run over the same files need not read them again.

An entry is found by a digest of everything that decides it: the content and the names of all files of the run, the
settings, and this program's own readers. What a run reads besides, such as headers in ``-I``, is noted in the entry and
compared. An entry that is damaged, foreign or of another format is passed over. Entries are in a folder of the user: a
folder in the project could come with the project, and say what its author likes.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import zlib
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

FORMAT = 1
MAX_ENTRY = 64 << 20
"""Bytes of an entry as it is stored; unpacked it may have eight times as many."""
MAX_FOLDER = 256 << 20
"""Bytes of all entries. The oldest are removed."""
VARIABLE = "DISPATCH_CLI_CACHE_DIR"
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of dispatch-cli. It can be deleted.\n"


def default_folder() -> str | None:
    """The folder of the cache; None where the user has none."""
    if named := os.environ.get(VARIABLE):
        return named
    variable, below = ("LOCALAPPDATA", "") if sys.platform == "win32" else ("XDG_CACHE_HOME", ".cache")
    base = os.environ.get(variable, "")
    if not os.path.isabs(base):  # noqa: PTH117
        home = os.path.expanduser("~")  # noqa: PTH111
        base = os.path.join(home, below) if below and os.path.isabs(home) else ""  # noqa: PTH117, PTH118
    return os.path.join(base, "dispatch-cli") if base else None  # noqa: PTH118


def key_of(*parts: object) -> str:
    """The name of an entry: of what decides it, and of the readers themselves."""
    text = json.dumps([FORMAT, _readers(), parts], ensure_ascii=True, sort_keys=True)
    return blake2b(text.encode(), digest_size=20).hexdigest()


@lru_cache(maxsize=1)
def _readers() -> str:
    """A digest of the modules that read sources: while one works on them, the version stays as it is."""
    package = Path(__file__).parents[1]
    found = blake2b(digest_size=20)
    for folder in ("extract", "audit", "declarations", "model"):
        for path in sorted(package.joinpath(folder).rglob("*")):
            if path.suffix in (".py", ".json") and path.is_file():
                found.update(b"%d " % path.stat().st_size + path.read_bytes())
    return found.hexdigest()


class Cache:
    """The entries in a folder. Nothing that goes wrong with it is an error: the sources are read then."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder) / "extract"

    def get(self, key: str) -> Any:
        """What is kept under a key; None where nothing is."""
        path = self._folder / f"{key}.json.z"
        try:
            with path.open("rb") as file:
                status = os.fstat(file.fileno())
                if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
                    return None
                data = file.read(MAX_ENTRY + 1)
            if len(data) > MAX_ENTRY:
                return None
            unpacker = zlib.decompressobj()
            text = unpacker.decompress(data, MAX_ENTRY * 8)
            head, _, body = text.partition(b"\n")
            if not unpacker.eof or head != _head(key, body):
                return None
            found = json.loads(body)
        except (OSError, ValueError, zlib.error, RecursionError):
            return None
        with suppress(OSError):
            os.utime(path)
        return found

    def put(self, key: str, value: Any) -> None:
        """Keep what JSON can express."""
        body = json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()
        data = zlib.compress(_head(key, body) + b"\n" + body, 1)
        if len(data) > MAX_ENTRY or len(body) > MAX_ENTRY * 8 - 1000:
            return
        with suppress(OSError):
            self._make_folder()
            self._remove_oldest(len(data))
            _write(self._folder / f"{key}.json.z", data)

    def _make_folder(self) -> None:
        if not self._folder.is_dir():
            self._folder.mkdir(0o700, parents=True, exist_ok=True)
        above = self._folder.parent
        for name, text in (("CACHEDIR.TAG", _TAG), (".gitignore", "*\n")):
            if not (above / name).exists():
                _write(above / name, text.encode())

    def _remove_oldest(self, needed: int) -> None:
        with os.scandir(self._folder) as entries:
            found = [(one.stat(follow_symlinks=False), one.path) for one in entries if one.name.endswith(".json.z")]
        size = sum(status.st_size for status, _ in found) + needed
        for status, path in sorted(found, key=lambda one: one[0].st_mtime):
            if size <= MAX_FOLDER:
                break
            Path(path).unlink(missing_ok=True)
            size -= status.st_size


def _head(key: str, body: bytes) -> bytes:
    return f"dispatch-cli {FORMAT} {key} {blake2b(body, digest_size=20).hexdigest()}".encode()


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
