"""Resolution of a user's ``REV:PATH``, and opening of its revision."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Sequence

from dispatch_cli.files import RevisionError, paths
from dispatch_cli.files.git import attempt, cleaned
from dispatch_cli.files.revision import RevisionTree
from dispatch_cli.model.problem import InputError, Problem

_A_FILE = re.compile(r"[A-Za-z]:[\\/]|[A-Za-z][A-Za-z0-9+.-]*://|\.{0,2}/")
"""Start of a text that is no revision: a drive of Windows, an address, a path that begins as one."""
_PARTS = re.compile(r"((?:\{[^{}]*\}|[^{}:])*):(.*)", re.DOTALL)
"""``REV:PATH``: the first colon outside of braces ends REV, as in git."""
_OBJECT = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
MAX_SHOWN = 200
"""Characters of a name that a message shows."""


def is_revision(text: str) -> bool:
    """True if a name means a file at a revision. A file of the working tree with that name is meant before one."""
    return not _A_FILE.match(text) and _PARTS.fullmatch(text) is not None and not os.path.lexists(text)


def resolve(names: Sequence[str]) -> tuple[str, ...]:
    """The names under which files can be read: of those at a revision, from the top of the repository.

    The revisions are opened; `paths.close_trees` closes them. Whether there are such files is not looked at. Errors:
    InputError for all revisions that cannot be read.
    """
    resolved: dict[str, str] = {}
    problems: list[Problem] = []
    for name in filter(is_revision, names):
        try:
            resolved[name] = _resolve(name)
        except RevisionError as error:  # noqa: PERF203
            problems.append(Problem(error.code, error.message, hint=error.hint))
    if problems:
        raise InputError(tuple(problems))
    return tuple(resolved[name] if name in resolved else paths.of_working_tree(name) for name in names)


def _resolve(text: str) -> str:
    match = _PARTS.fullmatch(text)
    assert match is not None, "the text is a revision's"
    revision, path = match.groups()
    tree = next((tree for tree in paths.TREES if tree.prefix == f"{revision}:"), None)
    if tree is None:
        tree = _open(revision, path, text[:MAX_SHOWN])
        paths.TREES.append(tree)
    if path in (posixpath.curdir, posixpath.pardir) or path.startswith(("./", "../")):
        path = posixpath.join(tree.here, path)
    return paths.normal(tree.prefix + path)


def absent(old: str, new: str) -> str | None:
    """The one of two names for one path, at least one of them at a revision, that no file has while the other has one.

    It is a file that was added since, or deleted. Both names are as `resolve` gives them.
    """
    if paths.tree_of(old) is paths.tree_of(new) or paths.parts(old) != paths.parts(new):
        return None
    missing = [name for name in (old, new) if not paths.exists(name)]
    return missing[0] if len(missing) == 1 else None


def _open(revision: str, path: str, shown: str) -> RevisionTree:
    """The tree of a revision. shown: what was asked for. Errors: RevisionError."""
    if revision and path.startswith(":"):
        hint = f"this looks like an operator: explain, resolve and history take it first, others as --op {shown}"
        raise RevisionError("file-not-found", f"there is no file {shown!r}", hint)
    message = f"there is no file {shown!r}, and no revision {revision[:MAX_SHOWN]!r} in this repository"
    hint = "`git branch --all` lists the branches; in CI, older commits may be missing (fetch-depth: 0)"
    if not revision or not revision.isprintable() or not path.isprintable():
        raise RevisionError("unknown-revision", message, "name the revision, as in HEAD:decl.yaml")
    code, prefix, error_text = attempt("rev-parse", "--show-prefix")
    if code:
        what = f"there is no file {shown!r}, and as REV:PATH it cannot be read"
        raise RevisionError("not-a-repository", f"{what}: {cleaned(error_text)}")
    code, output, error_text = attempt("rev-parse", "--verify", "--end-of-options", f"{revision}^{{tree}}")
    oid = output.decode("ascii", "replace").strip()
    if code or not _OBJECT.fullmatch(oid):
        why = "" if "Needed a single revision" in error_text else cleaned(error_text)
        raise RevisionError("unknown-revision", f"{message}: {why}" if why else message, hint)
    code, listed, error_text = attempt("ls-tree", "-r", "-t", "-z", "--full-tree", oid)
    if code:
        raise RevisionError("missing-object", f"the files of {revision} cannot be listed: {cleaned(error_text)}")
    return RevisionTree(revision, listed, os.fsdecode(prefix).removesuffix("\n").rstrip("/"))
