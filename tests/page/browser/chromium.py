"""A Chromium without a window, driven over a pipe with the DevTools protocol.

The browser is the one that ``DISPATCH_CLI_CHROMIUM`` names, else the first of :data:`NAMES` on the PATH. Debian has the
package ``chromium``. Nothing is downloaded, no port is opened, and one process serves all tests.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections import deque
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SECONDS = 30.0
"""Seconds that an answer may take."""
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions"),
    *("--disable-default-apps", "--no-default-browser-check", "--hide-scrollbars", "--mute-audio"),
    *("--force-color-profile=srgb", "--remote-debugging-pipe"),
)


class DevToolsError(Exception):
    """Chromium refused a command, did not answer in time, or ended."""


def executable() -> str | None:
    """Path of Chromium, or None."""
    named = os.environ.get("DISPATCH_CLI_CHROMIUM")
    if named:
        return named
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def version(path: str) -> str:
    """Name and version of Chromium, such as ``Chromium 150.0.7871.100``."""
    done = subprocess.run([path, "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return " ".join(done.stdout.decode("utf-8", "replace").split()[:2])


class Chromium:
    """A running browser: commands and their answers, and what happened meanwhile, by tab."""

    def __init__(self, path: str) -> None:
        self._folder = tempfile.mkdtemp(prefix="dispatch-cli-chromium-")
        self._last = 0
        self._unread = b""
        self._happened: dict[str, deque[dict[str, Any]]] = {}
        theirs_in, ours_out = (_high(end) for end in os.pipe())
        ours_in, theirs_out = (_high(end) for end in os.pipe())
        log = os.open(Path(self._folder, "log"), os.O_WRONLY | os.O_CREAT, 0o600)
        actions = [(os.POSIX_SPAWN_DUP2, theirs_in, 3), (os.POSIX_SPAWN_DUP2, theirs_out, 4)]
        actions += [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)]  # type: ignore[list-item]
        actions += [(os.POSIX_SPAWN_DUP2, log, 1), (os.POSIX_SPAWN_DUP2, log, 2)]
        arguments = [path, *_FLAGS, f"--user-data-dir={self._folder}/profile", "about:blank"]
        self._process = os.posix_spawn(path, arguments, os.environ, file_actions=actions, setpgroup=0)
        for end in (theirs_in, theirs_out, log):
            os.close(end)
        self._to, self._from = ours_out, ours_in

    def send(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        """The answer to a command. session: the tab's, or none for the browser's own commands."""
        number = self._ask(method, session, parameters)
        until = time.monotonic() + SECONDS
        while True:
            message = self._next(until, method)
            if message.get("id") == number:
                if "error" in message:
                    raise DevToolsError(f"{method}: {message['error'].get('message')}")
                answer: dict[str, Any] = message["result"]
                return answer
            self._note(message)

    def happened(self, session: str) -> list[dict[str, Any]]:
        """Events of the protocol in a tab since this was last asked, in order."""
        events = self._happened.pop(session, ())
        return list(events)

    def close(self) -> None:
        """End the browser, and remove what it wrote."""
        with contextlib.suppress(DevToolsError, OSError):
            self.send("Browser.close")
        for _ in range(100):
            if os.waitpid(self._process, os.WNOHANG)[0]:
                break
            time.sleep(0.05)
        else:
            os.killpg(self._process, signal.SIGKILL)
            os.waitpid(self._process, 0)
        os.close(self._to)
        os.close(self._from)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _ask(self, method: str, session: str, parameters: dict[str, Any]) -> int:
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        _write(self._to, json.dumps(message).encode() + b"\0")
        return self._last

    def _note(self, found: dict[str, Any]) -> None:
        if "method" not in found:  # the answer to a command that nobody waits for
            return
        session = found.get("sessionId", "")
        self._happened.setdefault(session, deque()).append(found)
        if found["method"] == "Page.javascriptDialogOpening":  # it would stop the tab
            self._ask("Page.handleJavaScriptDialog", session, {"accept": False})

    def _next(self, until: float, waiting_for: str) -> dict[str, Any]:
        while b"\0" not in self._unread:
            if not select.select([self._from], [], [], max(0.0, until - time.monotonic()))[0]:
                raise DevToolsError(f"{waiting_for}: no answer in {SECONDS:g} s")
            read = os.read(self._from, 1 << 20)
            if not read:
                log = Path(self._folder, "log").read_text(encoding="utf-8", errors="replace")
                raise DevToolsError(f"{waiting_for}: Chromium has ended\n{log[-2000:]}")
            self._unread += read
        message, _, self._unread = self._unread.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer


def _high(end: int) -> int:
    """The same end of a pipe at a number that is neither 3 nor 4, which Chromium wants for itself."""
    moved = fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(end)
    return moved


def _write(end: int, data: bytes) -> None:
    while data:
        data = data[os.write(end, data) :]
