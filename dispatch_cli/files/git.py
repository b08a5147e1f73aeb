"""git, as far as it reads: it runs nothing that a repository names, fetches nothing, and writes nothing.

A repository's configuration can name programs: for diffs, filters, text conversion, a monitor of files, hooks,
transports. Only ``rev-parse``, ``for-each-ref`` and ``cat-file`` without filters are called, which need none of them;
and what could start one is switched off besides. Objects are read as they are, without replacements
(``refs/replace``), and asked for by their ids, one line each on the standard input of one process.
"""

from __future__ import annotations

import os
import re
import selectors
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress

from dispatch_cli.files.paths import RevisionError

PATIENCE = 10.0
"""Seconds that git may take for one answer."""
MAX_OBJECT = 64 << 20
"""Bytes of an object that is read."""
MAX_MESSAGE = 500
"""Characters of what git says that are shown."""
_OPTIONS = (
    "--no-pager",
    "--literal-pathspecs",
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "protocol.allow=never"),
)
_SET = {
    "GIT_ALLOW_PROTOCOL": "none",  # before GIT_NO_LAZY_FETCH was known, this kept a partial clone from fetching
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
    "LANGUAGE": "",
}
_UNSET = re.compile(r"GIT_(TRACE.*|EXTERNAL_DIFF|SSH.*|PROXY_COMMAND|ASKPASS|EDITOR|REDIRECT_.*)|SSH_ASKPASS")
_HEAD = re.compile(rb"[0-9a-f]{40,64} (?:blob|tree|commit|tag) (\d{1,15})")
_NOT_PRINTED = re.compile(r"[^ -~\u00a1-\ud7ff\ue000-\ufffd]+")


def executable() -> str:
    """Path of git. Errors: RevisionError."""
    path = shutil.which("git")
    if path is None or not os.path.isabs(path):  # noqa: PTH117 (one of the working directory is not taken)
        raise RevisionError("no-git", "git is not installed, or not in PATH", "install git to read files at a revision")
    return path


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not _UNSET.fullmatch(name)} | _SET


def ask(*arguments: str) -> str:
    """Output of a command of git. Errors: RevisionError with git's message."""
    code, out, error_text = attempt(*arguments)
    if code:
        raise RevisionError("git", f"git cannot tell: {cleaned(error_text) or f'it ended with {code}'}")
    return out


def attempt(*arguments: str) -> tuple[int, str, str]:
    """A command of git: its exit code, what it prints, and what it says of errors. Errors: RevisionError."""
    program = executable()
    try:
        ended = subprocess.run(
            [program, *_OPTIONS, *arguments],
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
        self._waiting: selectors.BaseSelector | None = None
        self._rest = b""
        self._silent: RevisionError | None = None

    def content(self, name: str, most: int | None = None, what: str = "file") -> bytes:
        """The content of an object, at most `MAX_OBJECT` bytes, or *most*. Errors: RevisionError."""
        most = MAX_OBJECT if most is None else most
        size = self._size(name)
        if size > most:
            self.close()  # so that the content is not read
            limit = f"{most >> 20} MiB" if most >> 20 else f"{most} bytes"
            raise RevisionError("too-large", f"the {what} is larger than {limit}")
        answer = bytearray()
        while len(answer) <= size:
            answer += self._some()
        self._rest = bytes(answer[size + 1 :])  # an end of line follows the content
        return bytes(answer[:size])

    def _size(self, name: str) -> int:
        """Size of an object, from the first line of the answer about it."""
        assert re.fullmatch("[0-9a-f]{40,64}", name), "objects are asked for by their ids"
        if self._silent is not None:
            raise self._silent
        process = self._started()
        assert process.stdin is not None, "it is a pipe"
        try:
            process.stdin.write(f"{name}\n".encode())
            process.stdin.flush()
        except OSError:
            raise self._ended() from None
        answer = b""
        while b"\n" not in answer:
            answer += self._some()
            if len(answer) > 1 << 20:
                raise self._ended()
        line, _, self._rest = answer.partition(b"\n")
        if match := _HEAD.fullmatch(line):
            return int(match[1])
        if line.endswith(b" missing"):
            message = f"the object {name[:12]} is not in this clone"
            raise RevisionError("missing-object", message, "a partial clone lacks what was not checked out")
        raise RevisionError("git", f"git cat-file answers {cleaned(line[:100].decode('utf-8', 'replace'))!r}")

    def _some(self) -> bytes:
        """The next bytes, at least one."""
        if self._rest:
            data, self._rest = self._rest, b""
            return data
        process = self._started()
        assert process.stdout is not None, "it is a pipe"
        if self._waiting is not None and not self._waiting.select(PATIENCE):
            self.close()
            hint = "an object of the repository may be a pipe, or on a drive that does not answer"
            self._silent = RevisionError("git", f"git cat-file took more than {PATIENCE:.0f} seconds", hint)
            raise self._silent
        data = os.read(process.stdout.fileno(), 1 << 20)
        if not data:
            raise self._ended()
        return data

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            program = executable()
            try:
                self._process = subprocess.Popen(
                    [program, *_OPTIONS, "cat-file", "--batch"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env=_environment(),
                )
            except OSError as error:
                raise RevisionError("no-git", f"git cannot be run: {cleaned(str(error))}") from None
            if os.name == "posix":
                self._waiting = selectors.DefaultSelector()
                assert self._process.stdout is not None, "it is a pipe"
                self._waiting.register(self._process.stdout, selectors.EVENT_READ)
        return self._process

    def _ended(self) -> RevisionError:
        self.close()
        return RevisionError("git", "git cat-file ended: the repository may be damaged (`git fsck` says more)")

    def close(self) -> None:
        """End the process."""
        if self._waiting is not None:
            self._waiting.close()
        process, self._process, self._waiting, self._rest = self._process, None, None, b""
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        process.wait()


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


def names_of_revisions(most: int = 1000) -> Sequence[str]:
    """Branches, those of remotes, and tags, to suggest one. Errors: RevisionError."""
    ends = ("--format=%(refname:short)", f"--count={most}")
    return ask("for-each-ref", *ends, "refs/heads", "refs/remotes", "refs/tags").splitlines()
