"""Resolution of a user's ``REV:PATH``, and opening of its revision."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Sequence

from dispatch_cli.files import paths
from dispatch_cli.files.git import Objects, attempt, cleaned, first_colon, is_name_of_object, names_of_revisions
from dispatch_cli.files.paths import RevisionError
from dispatch_cli.files.revision import RevisionTree
from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.model.text.suggest import suggestion

_A_FILE = re.compile(r"[A-Za-z]:[\\/]|[A-Za-z][A-Za-z0-9+.-]*://|\.{0,2}/")
"""Start of a text that is no revision: a drive of Windows, an address, a path that begins as one."""
MAX_SHOWN = 200
"""Characters of a name that a message shows."""


def is_revision(text: str) -> bool:
    """True if a name means a file at a revision. A file of the working tree with that name is meant before one."""
    if ":" not in text or _A_FILE.match(text) or first_colon(text) < 0:
        return False
    try:
        return not os.path.lexists(text)
    except ValueError:  # a NUL character
        return True


def resolve(names: Sequence[str], must_exist: bool = True) -> tuple[str, ...]:
    """The names under which files can be read: of those at a revision, from the top of the repository.

    The revisions are opened; `paths.close_trees` closes them. must_exist: whether a file that is not at its revision is
    an error. Errors: InputError for all that cannot be read.
    """
    resolved: dict[str, str] = {}
    problems: list[Problem] = []
    for name in filter(is_revision, names):
        try:
            resolved[name] = _resolve(name, must_exist)
        except RevisionError as error:  # noqa: PERF203
            problems.append(Problem(error.code, error.message, hint=error.hint))
    if problems:
        raise InputError(tuple(problems))
    return tuple(resolved[name] if name in resolved else paths.of_working_tree(name) for name in names)


def _resolve(text: str, must_exist: bool) -> str:
    at = first_colon(text)
    revision, path = text[:at], text[at + 1 :]
    _check(revision, path)
    tree = next((tree for tree in paths.trees() if tree.prefix == f"{revision}:"), None)
    if tree is None:
        tree = _open(revision, text)
        paths.add_tree(tree)
    if path in (posixpath.curdir, posixpath.pardir) or path.startswith(("./", "../")):
        path = posixpath.join(tree.here, path)
    name = paths.normal(tree.prefix + path)
    _check_there(name, revision, text, must_exist)
    return name


def absent(old: str, new: str) -> str | None:
    """The one of two names for one path, at least one of them at a revision, that no file has while the other has one.

    It is a file that was added since, or deleted. Both names are as `resolve` gives them.
    """
    if paths.tree_of(old) is paths.tree_of(new) or paths.relative(old) != paths.relative(new):
        return None
    missing = [name for name in (old, new) if not paths.exists(name)]
    return missing[0] if len(missing) == 1 else None


def _check(revision: str, path: str) -> None:
    """Errors: RevisionError for what no revision or path is."""
    if path.startswith(":") and revision:
        name = f"{revision}:{path}"[:MAX_SHOWN]
        hint = f"this looks like an operator: explain, resolve and history take it first, others as --op {name}"
        raise RevisionError("file-not-found", f"there is no file {name!r}", hint)
    if not revision:
        hint = "name the revision, as in HEAD:decl.yaml"
        message = "there is no revision before the colon, and git's index is not read"
        raise RevisionError("unknown-revision", message, hint)
    if not revision.isprintable() or not path.isprintable():
        raise RevisionError("unknown-revision", "the revision or the path has characters that are not for printing")


def _open(revision: str, text: str) -> RevisionTree:
    """The tree of a revision. Errors: RevisionError."""
    code, prefix, error_text = attempt("rev-parse", "--show-prefix")
    if code:
        what = f"there is no file {text[:MAX_SHOWN]!r}, and as REV:PATH it cannot be read"
        raise RevisionError("not-a-repository", f"{what}: {cleaned(error_text)}")
    code, output, error_text = attempt("rev-parse", "--verify", "--end-of-options", f"{revision}^{{tree}}")
    oid = output.strip()
    if code or not is_name_of_object(oid):
        raise _unknown(revision, text, error_text)
    return RevisionTree(revision, oid, prefix.removesuffix("\n").rstrip("/"), Objects())


def _unknown(revision: str, text: str, error_text: str) -> RevisionError:
    """The error for a revision that git does not know."""
    shown = revision[:MAX_SHOWN]
    message = f"there is no file {text[:MAX_SHOWN]!r}, and no revision {shown!r} in this repository"
    if "Needed a single revision" not in error_text and error_text.strip():
        message = f"{message}: {cleaned(error_text)}"
    names = names_of_revisions()
    remote = next((name for name in names if name.partition("/")[2] == revision), None)
    hint = f"did you mean {remote}?" if remote is not None else suggestion(revision, tuple(names))
    if hint is None and attempt("rev-parse", "--is-shallow-repository")[1].strip() == "true":
        hint = "this clone is shallow: fetch more, such as by git fetch --unshallow (in CI: fetch-depth: 0)"
    return RevisionError("unknown-revision", message, hint)


def _check_there(name: str, revision: str, text: str, must_exist: bool) -> None:
    """Errors: RevisionError where the file or folder cannot be read; must_exist: also where there is none."""
    try:
        paths.mode(name)
    except (FileNotFoundError, NotADirectoryError):
        if not must_exist:
            return
        path = paths.inside(name)
        raise RevisionError("file-not-found", f"{path} is not in {revision}", _hint(name)) from None
    except RevisionError:
        raise
    except OSError as error:
        raise RevisionError("unreadable-file", f"{text} cannot be read: {(error.strerror or '').lower()}") from None


def _hint(name: str) -> str | None:
    """Hint for a file that is not there at a revision."""
    if os.path.lexists(paths.relative(name)):
        return "the working tree has it: it is new since then, or has another name there"
    try:
        names = [entry.name for entry in paths.each_entry(paths.folder_of(name))]
    except OSError:
        return None
    return suggestion(posixpath.basename(paths.inside(name)), sorted(names))
