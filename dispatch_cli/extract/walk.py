"""The files of a run: what is in the paths that were named, by kind, and what is left out and why."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dispatch_cli.declarations import source
from dispatch_cli.declarations.project import within
from dispatch_cli.extract import kinds
from dispatch_cli.extract.given_names import MARK
from dispatch_cli.extract.left_out import (
    UNNAMED,
    Exclusion,
    Ignored,
    LeftOut,
    Walked,
    WhyLeftOut,
    is_of_tests,
    reason_of_folder,
)
from dispatch_cli.files import Entry, RevisionError, paths
from dispatch_cli.files.ignore_rules import IgnoreList, is_left_out
from dispatch_cli.files.paths import is_in
from dispatch_cli.model import read_files
from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.model.sources.extracted import SourceKind

MAX_FOLDERS = 200
"""Maximum depth of nested folders."""
MAX_ENTRIES = 1_000_000
"""Files and folders of a run."""
_REASONS = {"too-large": WhyLeftOut.TOO_LARGE, "binary-file": WhyLeftOut.BINARY}
"""Reasons to leave out a file or a folder that cannot be read, by the codes of errors."""


def walk(
    paths: Sequence[str], exclude: Sequence[Exclusion] = (), allow_outside: bool = False, with_tests: bool = False
) -> Walked:
    """Look through files and directories.

    allow_outside: as for declarations. with_tests: folders of tests, benchmarks and examples are read wherever they
    are. Errors: InputError for what was named and cannot be used.
    """
    walker = _Walker(exclude, with_tests)
    problems = []
    for path in paths:
        try:
            _check_inside(path, allow_outside)
            walker.add(path)
        except source.SourceError as error:  # noqa: PERF203
            problems.append(Problem(error.code, error.message, hint=error.hint))
    if problems:
        raise InputError(tuple(problems))
    return walker.result()


def _check_inside(path: str, allow_outside: bool) -> None:
    """Refuse a path that is a link out of its project. Errors: SourceError."""
    if paths.is_folder(path):
        folder = within(paths.join(path, "x"), allow_outside)  # of what is in it
        if folder == paths.real(path):
            return
    else:
        folder = within(path, allow_outside)
    source.check_inside(path, folder)


def _content(path: str) -> bytes:
    """All of a file of code, or the beginning of another one. Errors: SourceError."""
    is_code = kinds.is_code(path)
    most = source.MAX_SOURCE_BYTES if is_code else kinds.HEAD_BYTES
    data = (source.read_plain if is_code else source.read_start)(path, most)
    if b"\0" in data:
        raise source.SourceError("binary-file", f"{path} is a binary file", source.BINARY_HINT)
    return data


class _Folder(NamedTuple):
    """A folder that is looked through.

    parts: of its path below the repository. lists: the rules that hold above it. with_tests: folders of tests in it are
    read.
    """

    path: str
    parts: tuple[str, ...]
    lists: tuple[IgnoreList, ...]
    depth: int
    with_tests: bool


class _Walker:
    def __init__(self, exclude: Sequence[Exclusion], with_tests: bool) -> None:
        self._exclude = exclude
        self._with_tests = with_tests
        self._files: dict[str, SourceKind] = {}
        self._headers: set[str] = set()
        self._left_out: dict[str, LeftOut] = {}
        self._named: set[str] = set()
        self._templates: list[str] = []
        self._naming: list[str] = []
        self._entries = 0

    def add(self, path: str) -> None:
        """Look through one path that was named. Errors: SourceError."""
        if paths.is_folder(path):
            self._add_folder(paths.normal(path))
        else:
            self._add_named(path)

    def result(self) -> Walked:
        files: dict[SourceKind, list[str]] = {}
        for name, kind in self._files.items():
            if kind is not SourceKind.CPP or name in self._named or not kinds.is_header(name):
                files.setdefault(kind, []).append(name)
        left_out = tuple(self._left_out[path] for path in sorted(self._left_out))
        templates, naming = tuple(self._templates), tuple(self._naming)
        return Walked(files, frozenset(self._headers), left_out, frozenset(self._named), templates, naming)

    def _add_named(self, path: str) -> None:
        source.check(path)
        name = paths.normal(path)
        if self._excluded(name, False, named=True):
            self._leave_out(name, WhyLeftOut.EXCLUDED)
            return
        data = _content(path)
        text = data.decode("utf-8", "replace")
        kind = kinds.kind_of_named(name, text)
        if kind is None:
            hint = "such files are C++, Python, YAML of torchgen, or declarations (which begin with dispatch: 1)"
            raise source.SourceError("not-a-source", f"{path} is not a file that says what is registered", hint)
        self._named.add(name)
        self._left_out.pop(name, None)
        self._take(name, kind, data, text)

    def _add_folder(self, path: str) -> None:
        ignored = self._ignored = Ignored(path)
        root = paths.real(path)
        try:
            next(paths.each_entry(path), None)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise source.SourceError("unreadable-file", f"{path} cannot be read: {reason}") from None
        self._left_out.pop(path, None)
        with_tests = self._with_tests or is_of_tests(os.path.basename(paths.inside(paths.absolute(path))))  # noqa: PTH119
        waiting = [_Folder(path, ignored.parts(path), ignored.above, 0, with_tests)]
        while waiting:
            waiting += reversed(list(self._look_into(waiting.pop(), ignored, root)))

    def _look_into(self, folder: _Folder, ignored: Ignored, root: str) -> Iterator[_Folder]:
        """Take the files of a folder; the folders in it, in order."""
        try:
            entries = sorted(paths.each_entry(folder.path), key=lambda entry: entry.name)
        except RevisionError as error:
            self._leave_out(folder.path, _REASONS.get(error.code, WhyLeftOut.UNREADABLE), True, error.message)
            return
        except OSError as error:
            self._leave_out(folder.path, WhyLeftOut.UNREADABLE, True, (error.strerror or "").lower())
            return
        names = {entry.name for entry in entries}
        name = os.path.basename(paths.inside(folder.path))  # noqa: PTH119
        reason = reason_of_folder(name, names) if folder.depth else None
        if reason is not None:
            if name not in UNNAMED:
                self._leave_out(folder.path, reason, True)
            return
        if folder.depth and not folder.with_tests and is_of_tests(name):
            self._leave_out(folder.path, WhyLeftOut.TESTS, True)
            return
        lists = (*folder.lists, *(ignored.rules(folder.path) if ".gitignore" in names else ()))
        for entry in entries:
            self._entries += 1
            if self._entries > MAX_ENTRIES:
                raise source.SourceError("too-large", f"there are more than {MAX_ENTRIES} files and directories")
            path = paths.normal(paths.join(folder.path, entry.name))
            parts = (*folder.parts, entry.name)
            if stat.S_ISDIR(entry.mode):
                if self._is_left_out(path, parts, lists, True):
                    continue
                if folder.depth >= MAX_FOLDERS:
                    self._leave_out(path, WhyLeftOut.TOO_DEEP, True)
                    continue
                yield _Folder(path, parts, lists, folder.depth + 1, folder.with_tests)
            else:
                self._look_at(entry, path, folder, lists, root)

    def _is_left_out(self, path: str, parts: tuple[str, ...], lists: tuple[IgnoreList, ...], is_folder: bool) -> bool:
        name = parts[-1]
        ignored = bool(lists) and is_left_out(lists, parts, is_folder)
        if ignored and (is_folder or os.fsencode("/".join(parts)) not in self._ignored.tracked):
            if name not in UNNAMED:
                self._leave_out(path, WhyLeftOut.IGNORED, is_folder)
            return True
        if self._excluded(path, is_folder):
            self._leave_out(path, WhyLeftOut.EXCLUDED, is_folder)
            return True
        return False

    def _look_at(self, entry: Entry, path: str, folder: _Folder, lists: tuple[IgnoreList, ...], root: str) -> None:
        """Take a file of a folder, if it is a source."""
        parts = (*folder.parts, entry.name)
        if stat.S_ISLNK(entry.mode):
            self._look_at_link(path, root)
            return
        is_regular = stat.S_ISREG(entry.mode)
        if is_regular and kinds.is_template(entry.name):
            if not self._is_left_out(path, parts, lists, False):
                self._templates.append(path)
            return
        if is_regular and not (kinds.is_code(entry.name) or kinds.is_data(entry.name)):
            return
        if self._is_left_out(path, parts, lists, False):
            return
        if not is_regular:
            self._leave_out(path, WhyLeftOut.NOT_A_FILE)
            return
        if path not in self._files:
            self._read(path, folder.with_tests)

    def _look_at_link(self, path: str, root: str) -> None:
        """A link is not followed: where it leads to is looked at by its own name, or is not part of the run."""
        target = paths.real(path)
        if target == root or (is_in(target, root) and (paths.is_file(target) or paths.is_folder(target))):
            return
        is_folder = paths.is_folder(path) or (paths.tree_of(path) is not None and "." not in paths.parts(path)[-1])
        if is_folder or kinds.is_code(path):
            self._leave_out(path, WhyLeftOut.LINK, is_folder)

    def _read(self, path: str, with_tests: bool) -> None:
        try:
            data = _content(path)
        except source.SourceError as error:
            reason = _REASONS.get(error.code, WhyLeftOut.UNREADABLE)
            self._leave_out(path, reason, detail=error.message.rpartition(": ")[2])
            return
        text = data.decode("utf-8", "replace")
        kind = kinds.kind_in_directory(path, text)
        if kind is SourceKind.CPP and not with_tests and kinds.GTEST in text:
            self._leave_out(path, WhyLeftOut.TESTS)
        elif kind is SourceKind.DECLARATIONS and kinds.is_extracted(text):
            self._leave_out(path, WhyLeftOut.EXTRACTED)
            read_files.forget(path)
        elif kind is not None:
            self._take(path, kind, data, text)

    def _take(self, path: str, kind: SourceKind, data: bytes, text: str) -> None:
        if not path.isprintable():  # no declaration could name it
            self._leave_out(path, WhyLeftOut.NAME)
            return
        if kind is SourceKind.CPP and kinds.is_filled_in(text):
            self._templates.append(path)
            return
        self._files.setdefault(path, kind)
        if kind is SourceKind.CPP:
            self._headers.add(path)
        if kind in (SourceKind.CPP, SourceKind.PYTHON) and MARK in data and path not in self._naming:
            self._naming.append(path)

    def _excluded(self, path: str, is_folder: bool, named: bool = False) -> bool:
        return any(
            rule.rules.covers(path, rule.folder, is_folder)
            for rule in self._exclude
            if rule.folder is None or not named
        )

    def _leave_out(self, path: str, reason: WhyLeftOut, is_folder: bool = False, detail: str = "") -> None:
        if path not in self._files:
            self._left_out.setdefault(path, LeftOut(path, reason, is_folder, detail))
