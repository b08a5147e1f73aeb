"""git, as far as it reads: it runs nothing that a repository names, fetches nothing, and writes nothing.

A repository's configuration can name programs: for diffs, filters, text conversion, a monitor of files, hooks,
transports. Only ``rev-parse``, ``ls-tree``, and ``cat-file`` without filters are called, which need none of them, and
no object is fetched. Objects are read as they are, without replacements (``refs/replace``), and asked for by their ids,
one line each on the standard input of one process.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Timer

from dispatch_cli.files import RevisionError

PATIENCE = 10.0
"""Seconds that git may take for one answer."""
MAX_OUTPUT = 64 << 20
"""Bytes of one object, or of one list of files: that of the largest repositories has some 60 MiB."""
MAX_ERRORS = 500
"""Bytes of what git says of errors that are read."""
_SET = {
    "GIT_ALLOW_PROTOCOL": "none",  # before GIT_NO_LAZY_FETCH was known, this kept a partial clone from fetching
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "LC_ALL": "C",
    "LANGUAGE": "",
}
_HEAD = re.compile(rb"[0-9a-f]{40,64} (?:blob|tree|commit|tag) (\d{1,15})\n")


def _start(*arguments: str, errors: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """Start a command of git. Errors: RevisionError."""
    path, pipe = shutil.which("git"), subprocess.PIPE
    if path is None or not os.path.isabs(path):  # noqa: PTH117 (one of the working directory is not taken)
        raise RevisionError("no-git", "git is not installed, or not in PATH", "install git to read files at a revision")
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_TRACE")}  # it goes to errors
    try:
        return subprocess.Popen([path, *arguments], stdin=pipe, stdout=pipe, stderr=errors, env=own | _SET)
    except (OSError, ValueError) as error:
        raise RevisionError("no-git", f"git cannot be run: {cleaned(str(error))}") from None


@contextmanager
def _in_time(process: subprocess.Popen[bytes], command: str) -> Iterator[None]:
    """End git where it takes too long. Errors: RevisionError then."""
    timer = Timer(PATIENCE, process.kill)
    timer.start()
    try:
        yield
    finally:
        is_late = not timer.is_alive()
        timer.cancel()
        if is_late:
            hint = "an object of the repository may be a pipe, or on a drive that does not answer"
            raise RevisionError("git", f"git {command} took more than {PATIENCE:.0f} seconds", hint)


def attempt(*arguments: str) -> tuple[int, bytes, str]:
    """A command of git: its exit code, what it prints, and what it says of errors. Errors: RevisionError."""
    process = _start(*arguments, errors=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None, "they are pipes"
    with _in_time(process, arguments[0]), process:
        output = process.stdout.read(MAX_OUTPUT + 1)
        if len(output) > MAX_OUTPUT:
            process.kill()
            raise RevisionError("too-large", f"git {arguments[0]} prints more than {MAX_OUTPUT >> 20} MiB")
        error_text = process.stderr.read(MAX_ERRORS).decode("utf-8", "replace")
    return process.returncode, output, error_text


def cleaned(error_text: str) -> str:
    """Git's message of an error, in one line and without its marks."""
    lines = (line.strip().removeprefix("fatal: ").removeprefix("error: ") for line in error_text.splitlines())
    return "; ".join(filter(None, lines))


class Objects:
    """The objects of a repository, read by one ``git cat-file``, which is started when it is needed.

    After an answer that took too long, no other is waited for: an object may be a pipe, from which git reads forever.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._late: RevisionError | None = None

    def content(self, oid: str) -> bytes:
        """The content of an object. Errors: RevisionError."""
        assert re.fullmatch("[0-9a-f]{40,64}", oid), "objects are asked for by their ids"
        if self._late is not None:
            raise self._late
        process = self._process = self._process or _start("cat-file", "--batch")
        assert process.stdin is not None and process.stdout is not None, "they are pipes"
        try:
            with _in_time(process, "cat-file"):
                with suppress(OSError):  # it has ended
                    process.stdin.write(f"{oid}\n".encode())
                    process.stdin.flush()
                line = process.stdout.readline(1 << 20)
                match = _HEAD.fullmatch(line)
                size = 0 if match is None else int(match[1])
                data = b"" if match is None or size > MAX_OUTPUT else process.stdout.read(size + 1)
        except RevisionError as error:
            self._late = error
            self.close()
            raise
        if line.endswith(b" missing\n"):
            message = f"the object {oid[:12]} is not in this clone"
            raise RevisionError("missing-object", message, "a partial clone lacks what was not checked out")
        if data.endswith(b"\n"):  # an end of line follows the content
            return data[:-1]
        self.close()
        if size > MAX_OUTPUT:
            raise RevisionError("too-large", f"the file is larger than {MAX_OUTPUT >> 20} MiB")
        raise RevisionError("git", "git cat-file ended: the repository may be damaged (`git fsck` says more)")

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with suppress(OSError):  # what was not written yet
                process.communicate()
