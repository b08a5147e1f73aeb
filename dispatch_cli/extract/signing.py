"""Signatures of this user: with a secret in the user's own cache folder, wherever what is signed is kept."""

from __future__ import annotations

import hmac
import os
import secrets
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from dispatch_cli.extract.cache_files import is_own_folder, read_own

_BYTES = 32


def user_folder() -> str | None:
    """The user's own folder for what can be made anew; None where there is none."""
    variable, below = ("LOCALAPPDATA", "") if sys.platform == "win32" else ("XDG_CACHE_HOME", ".cache")
    base = os.environ.get(variable, "")
    if not os.path.isabs(base):  # noqa: PTH117
        home = os.path.expanduser("~")  # noqa: PTH111
        base = os.path.join(home, below) if below and os.path.isabs(home) else ""  # noqa: PTH117, PTH118
    return os.path.join(base, "dispatch-cli") if base else None  # noqa: PTH118


def signature(*parts: bytes) -> str | None:
    """The signature of some bytes; None where the user has no folder that can keep a secret."""
    folder = user_folder()
    secret = None if folder is None else _secret(Path(folder))
    if secret is None:
        return None
    signed = hmac.new(secret, digestmod=sha256)
    for part in parts:
        signed.update(len(part).to_bytes(8, "big") + part)
    return signed.hexdigest()


def _secret(folder: Path) -> bytes | None:
    """The secret of this user, made if there is none, or none that can be trusted."""
    path = folder / "secret"
    with suppress(OSError):
        return _read(path)
    with suppress(OSError):
        folder.mkdir(0o700, parents=True, exist_ok=True)
        if not is_own_folder(folder):
            return None
        made = folder / f".secret.{secrets.token_hex(8)}"
        try:
            handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(secrets.token_bytes(_BYTES))
            made.replace(path)
        finally:
            made.unlink(missing_ok=True)
        return _read(path)
    return None


def _read(path: Path) -> bytes:
    """Errors: OSError."""
    data = read_own(path, _BYTES, secret=True)
    if len(data) != _BYTES:
        raise OSError("it is not whole")
    return data
