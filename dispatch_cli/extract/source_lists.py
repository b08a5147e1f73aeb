"""Sources that no build has, as the lists of build files say."""

from __future__ import annotations

import re
from fnmatch import fnmatch

from dispatch_cli.declarations.source import MAX_SOURCE_BYTES, SourceError, read_plain
from dispatch_cli.extract.kinds import is_build_script
from dispatch_cli.extract.left_out import Walked
from dispatch_cli.files import paths
from dispatch_cli.model.sources.extracted import SourceKind

_COMMENT = re.compile(r"#[^\n]*")
_SOURCE_NAME = re.compile(r"[\w./+*-]+\.(?:c|cc|cpp|cxx|cu|hip|mm|mu|mlu|sycl|\w{1,2}\*)(?![\w.])")


def unlisted(walked: Walked) -> list[str]:
    """The files that register in the namespace of an extension, and that no build has, as its lists of sources say.

    No build file names such a file or has a pattern for it, nor does a Python file, which could build it when it runs;
    and a build file in a folder above names others of them.
    """
    python = walked.files.get(SourceKind.PYTHON, ())
    words = {name: _source_names(name) for name in (*walked.builds, *filter(is_build_script, python))}
    naming = {file: [name for name, those in words.items() if _has_file(those, file)] for file in walked.extensions}
    folders = {paths.absolute(paths.folder_of(name)) for names in naming.values() for name in names}
    unnamed = [
        file
        for file, names in naming.items()
        if not (names or file in walked.named or folders.isdisjoint(paths.above(paths.folder_of(file))))
    ]
    others = frozenset(name for file in python if unnamed for name in _source_names(file))
    return [file for file in unnamed if not _has_file(others, file)]


def _source_names(file: str) -> frozenset[str]:
    """The names of C++ files in a text, as they end the paths of these; with ``*`` for any text."""
    try:
        text = _COMMENT.sub("", read_plain(file, MAX_SOURCE_BYTES).decode("utf-8", "replace"))
    except SourceError:
        return frozenset()
    return frozenset(word.lstrip("./") for word in _SOURCE_NAME.findall(text))


def _has_file(names: frozenset[str], file: str) -> bool:
    parts = paths.inside(file).split("/")
    return any("/".join(parts[start:]) in names for start in range(len(parts))) or any(
        fnmatch(file, f"*{name}") for name in names if "*" in name
    )
