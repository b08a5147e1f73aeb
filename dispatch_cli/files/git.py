"""git, as far as it reads: it runs nothing that a repository names, fetches nothing, and writes nothing.

A repository's configuration can name programs: for diffs, filters, text conversion, a monitor of files, hooks,
transports. Only ``rev-parse``, ``for-each-ref`` and ``cat-file`` without filters are called, which need none of them,
and no object is fetched. Objects are read as they are, without replacements (``refs/replace``), and asked for by their
ids, one line each on the standard input of one process.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

from dispatch_cli.files import RevisionError

PATIENCE = 10.0
"""Seconds that git may take for one answer."""
MAX_OBJECT = 64 << 20
"""Bytes of an object that is read."""
MAX_NAMES = 1000
"""Names of revisions among which one is looked for that is meant."""
MAX_MESSAGE = 500
"""Characters of what git says that are shown."""
_SET = {
    "GIT_ALLOW_PROTOCOL": "none",  # before GIT_NO_LAZY_FETCH was known, this kept a partial clone from fetching
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "LC_ALL": "C",
    "LANGUAGE": "",
}
_HEAD = re.compile(rb"[0-9a-f]{40,64} (?:blob|tree|commit|tag) (\d{1,15})")
_NOT_PRINTED = re.compile(r"[^ -~\u00a1-\ud7ff\ue000-\ufffd]+")


def executable() -> str:
    """Path of git. Errors: RevisionError."""
    path = shutil.which("git")
    if path is None or not os.path.isabs(path):  # noqa: PTH117 (one of the working directory is not taken)
        raise RevisionError("no-git", "git is not installed, or not in PATH", "install git to read files at a revision")
    return path


def _environment() -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_TRACE")}
    return own | _SET  # a trace would be in what git says of errors


def attempt(*arguments: str) -> tuple[int, str, str]:
    """A command of git: its exit code, what it prints, and what it says of errors. Errors: RevisionError."""
    program = executable()
    try:
        ended = subprocess.run(
            [program, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=_environment(),
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise RevisionError("git", f"git {arguments[0]} took more than {PATIENCE:.0f} seconds") from None
    except (OSError, ValueError) as error:
        raise RevisionError("no-git", f"git cannot be run: {cleaned(str(error))}") from None
    return ended.returncode, ended.stdout.decode("utf-8", "replace"), ended.stderr.decode("utf-8", "replace")


def cleaned(error_text: str) -> str:
    """Git's message of an error, in one line, without its marks and without control characters."""
    lines = (line.strip().removeprefix("fatal: ").removeprefix("error: ") for line in error_text.splitlines())
    return _NOT_PRINTED.sub(" ", "; ".join(filter(None, lines)))[:MAX_MESSAGE]


class Objects:
    """The objects of a repository, read by one ``git cat-file``, which is started when it is needed.

    After an answer that took too long, no other is waited for: an object may be a pipe, from which git reads forever.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._silent: RevisionError | None = None

    def content(self, name: str, most: int | None = None, what: str = "file") -> bytes:
        """The content of an object, at most `MAX_OBJECT` bytes, or *most*. Errors: RevisionError."""
        most = MAX_OBJECT if most is None else most
        answers = self._ask(name)
        line = answers.readline(1 << 20)
        match = _HEAD.fullmatch(line.rstrip())
        if line.endswith(b" missing\n"):
            message = f"the object {name[:12]} is not in this clone"
            raise RevisionError("missing-object", message, "a partial clone lacks what was not checked out")
        if match is None and line.endswith(b"\n"):
            raise RevisionError("git", f"git cat-file answers {cleaned(line[:100].decode('utf-8', 'replace'))!r}")
        if match is not None and int(match[1]) > most:
            self.close()  # so that the content is not read
            limit = f"{most >> 20} MiB" if most >> 20 else f"{most} bytes"
            raise RevisionError("too-large", f"the {what} is larger than {limit}")
        data = b"" if match is None else answers.read(int(match[1]) + 1)  # an end of line follows the content
        if not data.endswith(b"\n"):
            raise self._ended()
        return data[:-1]

    def _ask(self, name: str) -> IO[bytes]:
        """Ask for an object, and wait until the answer begins. Errors: RevisionError."""
        assert re.fullmatch("[0-9a-f]{40,64}", name), "objects are asked for by their ids"
        if self._silent is not None:
            raise self._silent
        process = self._started()
        assert process.stdin is not None and process.stdout is not None, "they are pipes"
        try:
            process.stdin.write(f"{name}\n".encode())
            process.stdin.flush()
        except OSError:
            raise self._ended() from None
        if os.name == "posix" and not select.select([process.stdout], [], [], PATIENCE)[0]:
            self.close()
            hint = "an object of the repository may be a pipe, or on a drive that does not answer"
            self._silent = RevisionError("git", f"git cat-file took more than {PATIENCE:.0f} seconds", hint)
            raise self._silent
        return process.stdout

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            command = [executable(), "cat-file", "--batch"]
            pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
            try:
                self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere, env=_environment())
            except OSError as error:
                raise RevisionError("no-git", f"git cannot be run: {cleaned(str(error))}") from None
        return self._process

    def _ended(self) -> RevisionError:
        self.close()
        return RevisionError("git", "git cat-file ended: the repository may be damaged (`git fsck` says more)")

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with suppress(OSError):  # what was not written yet
                process.communicate()


def first_colon(text: str) -> int:
    """End of ``REV`` in ``REV:PATH``: the first colon outside of braces, as git finds it; -1 for none."""
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign == "{") - (sign == "}")
        if sign == ":" and depth == 0:
            return at
    return -1


def is_name_of_object(text: str) -> bool:
    """True if git printed the id of one object."""
    return re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", text) is not None


def names_of_revisions() -> Sequence[str]:
    """Branches, those of remotes, and tags, to suggest one; none where git cannot tell. Errors: RevisionError."""
    ends = ("--format=%(refname:short)", f"--count={MAX_NAMES}")
    return attempt("for-each-ref", *ends, "refs/heads", "refs/remotes", "refs/tags")[1].splitlines()
