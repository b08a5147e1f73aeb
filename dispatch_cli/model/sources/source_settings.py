"""Settings of a project file or the command line for reading sources."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dispatch_cli.model.conditions.condition import Condition

_NAME = r"[A-Za-z_$][\w$]*"
_MACRO = re.compile(_NAME, re.ASCII)
_PARAMETERS = rf"\(\s*(?:{_NAME}(?:\s*,\s*{_NAME})*)?(?:(?:(?<!\(),)?\s*\.\.\.)?\s*\)"
_DEFINED = re.compile(rf"{_NAME}(?:{_PARAMETERS})?", re.ASCII)


class FileSettings(NamedTuple):
    """Settings for some files.

    globs: as in ``.gitignore``. defines: macros, with their parameters if they have some, and their values.
    undefines: macros that are not defined. values: what names of Python stand for. when: what holds where the files are
    in the build.
    """

    globs: tuple[str, ...]
    defines: tuple[tuple[str, str], ...] = ()
    undefines: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    when: tuple[Condition, ...] = ()


class SourceSettings(NamedTuple):
    """Settings from one place, for all files and for some.

    every: what holds for all files; it has no globs and no conditions. files: what holds for some, the later the
    stronger. include: directories of headers, as they can be opened from here. exclude: globs of files to leave out.
    codegen_backends: those for which torchgen made code; None where nothing is said. derivatives: a file.
    folder: from which globs are read; None for the working directory. tests: whether folders of tests, benchmarks and
    examples are read, too; None where nothing is said.
    """

    every: FileSettings = FileSettings(())
    files: tuple[FileSettings, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    codegen_backends: tuple[str, ...] | None = None
    derivatives: str | None = None
    folder: str | None = None
    tests: bool | None = None


NO_SOURCE_SETTINGS = SourceSettings()
"""Settings where nothing is said."""


def macro_name(text: str) -> str:
    """The name of a macro. Errors: ValueError."""
    if _MACRO.fullmatch(text) is None:
        raise ValueError("a macro has a name such as USE_CUDA, without parameters")
    return text


def definition(text: str) -> tuple[str, str]:
    """A macro and its value of ``NAME=VALUE``, or of ``NAME``, whose value is 1; a macro with parameters is named with
    them, as in ``MIN(a,b)=VALUE``. Errors: ValueError."""
    name, equals, value = text.partition("=")
    if "\n" in value:
        raise ValueError("the value of a macro is one line")
    if _DEFINED.fullmatch(name) is None:
        raise ValueError("a macro has a name such as USE_CUDA, or a name and parameters such as MIN(a,b)")
    return name, value if equals else "1"


def assignment(text: str) -> tuple[str, str]:
    """A name of Python and its value, of ``NAME=VALUE``. Errors: ValueError."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ValueError("it must be NAME=VALUE, such as current_platform.dispatch_key=CUDA")
    return name.strip(), value.strip()
