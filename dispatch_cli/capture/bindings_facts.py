"""Differences between versions in the functions of a running ``torch._C`` about dispatch.

A part of the probe, which loads it from its own directory: it needs Python 3.8 and PyTorch 2.4 or newer.
"""

from __future__ import annotations

import mmap
import pickle
from pathlib import Path
from typing import Any

BEGINS = b"Warning only once for all operators"
"""Start of the first line of the warning of an overridden kernel."""
LONGEST = 400


def facts(torch: Any) -> dict[str, Any]:
    """Facts about the functions, as far as this PyTorch says them.

    guards_remove: a guard that includes or excludes keys takes away in the end those that it added; otherwise all is as
    it was before. keysets_without_pickle: key sets do not pickle. override_warning: the first line of the warning of an
    overridden kernel. It comes once in a process and has perhaps come, so it is read from PyTorch's library.
    """
    data: dict[str, Any] = {
        "guards_remove": _guards_remove(torch._C),
        "keysets_without_pickle": _without_pickle(torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)),
    }
    for library in sorted((Path(torch.__file__).parent / "lib").glob("*torch_cpu.*")):
        warning = text_in(library, BEGINS)
        if warning is not None:
            data["override_warning"] = warning
            break
    return data


def _guards_remove(core: Any) -> bool:
    """A key is included while a guard for another one is active: is it still there afterwards?"""
    first, second = core.DispatchKey.PythonDispatcher, core.DispatchKey.PreDispatch
    before = core._dispatch_tls_local_include_set()
    if before.has(first) or before.has(second):
        return False
    guard = core._IncludeDispatchKeyGuard(second)
    guard.__enter__()
    core._dispatch_tls_set_dispatch_key_included(first, True)
    guard.__exit__(None, None, None)
    stayed = bool(core._dispatch_tls_is_dispatch_key_included(first))
    core._dispatch_tls_set_dispatch_key_included(first, False)
    return stayed


def _without_pickle(keyset: Any) -> bool:
    try:
        pickle.dumps(keyset)
    except TypeError:
        return True
    return False


def text_in(library: Path, begins: bytes) -> str | None:
    """The first line of the text in a library that begins so; None where there is none."""
    try:
        with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            place = content.find(begins)
            text = content[place : place + LONGEST] if place >= 0 else b""
    except (OSError, ValueError):
        return None
    return text.split(b"\0")[0].split(b"\n")[0].decode("utf-8", "replace") or None
