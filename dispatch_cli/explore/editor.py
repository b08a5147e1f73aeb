"""The user's editor, which opens places in files."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from dispatch_cli.files import paths
from dispatch_cli.model.span import Span

_PLUS = (
    *("sensible-editor", "editor", "vi", "vim", "nvim", "view", "ex", "elvis", "gvim", "mvim", "ne", "mg", "joe"),
    *("less", "more", "emacs", "emacsclient", "micro", "kak", "gedit", "nano", "pico"),
)
"""Editors that take ``+LINE FILE``."""
_BEHIND = ("subl", "sublime_text", "hx", "helix", "zed", "zeditor")
"""Editors that take ``FILE:LINE:COLUMN``."""
_GOTO = ("code", "code-insiders", "codium", "vscodium", "cursor", "windsurf")
"""Editors that take ``--goto FILE:LINE:COLUMN``."""
_LINE = ("kate", "mate", "idea", "pycharm", "clion")
"""Editors that take ``--line LINE FILE``."""
_USUAL = ("sensible-editor", "editor", "vi", "vim", "nvim", "nano", "emacs", "micro", "hx")
"""Editors that are looked for where no variable names one."""
_OWN_WINDOW = (*_GOTO, *_LINE, "subl", "sublime_text", "zed", "zeditor", "gedit", "gvim", "mvim")
"""Editors with a window of their own, which leave the terminal as it is."""


class CannotOpen(Exception):
    """The reason for which a place cannot be opened, as a sentence for the user."""


class EditorCall(NamedTuple):
    """A program and its arguments. in_terminal: it takes the terminal until it ends."""

    arguments: tuple[str, ...]
    in_terminal: bool


def editor_call(span: Span, environment: Mapping[str, str]) -> EditorCall:
    """Command that opens a place, by VISUAL and EDITOR, else with an editor that there is. No shell runs anything.

    Errors: CannotOpen.
    """
    variable = "VISUAL" if environment.get("VISUAL") else "EDITOR"
    path = environment.get("PATH")
    named = environment.get(variable) or next((program for program in _USUAL if shutil.which(program, path=path)), "")
    file = _existing(span)
    try:
        words = shlex.split(named)
    except ValueError:
        raise CannotOpen(f"{variable} is {named}, where a quotation mark has no end. The place is {span}.") from None
    if not words:
        raise CannotOpen(f"No editor was found: give the name of one in EDITOR. The place is {span}.")
    program = shutil.which(words[0], path=path)
    if program is None:
        raise CannotOpen(f"The editor {words[0]!r} (in {variable}) was not found. The place is {span}.")
    name = Path(words[0]).name.removesuffix(".exe").lower()
    in_terminal = name not in _OWN_WINDOW or "--wait" in words
    return EditorCall((program, *words[1:], *_arguments(name, file, span)), in_terminal)


def _arguments(name: str, file: str, span: Span) -> tuple[str, ...]:
    """The file, and where in it, as that editor takes it; only the file where its way is not known."""
    behind = f"{file}:{span.line}:{span.column}"
    if name in _PLUS:
        return f"+{span.line}", file
    if name in _LINE:
        return "--line", str(span.line), file
    if name in _GOTO:
        return "--goto", behind
    return (behind if name in _BEHIND else file,)


def _existing(span: Span) -> str:
    """The file of a place; one that an editor cannot take for an option. Errors: CannotOpen."""
    if span.file in ("", "-", "<stdin>"):
        raise CannotOpen("This was read from standard input, which no editor can open.")
    file = Path(span.file)
    if not file.is_file():
        if paths.tree_of(span.file) is not None:
            raise CannotOpen(f"{span.file} is at a git revision, which no editor can open.")
        raise CannotOpen(f"{span.file} is not there, so that {span} cannot be opened.")
    return span.file if file.is_absolute() else os.path.join(".", span.file)  # noqa: PTH118  (Path drops the dot)


def run_editor(call: EditorCall) -> str:
    """Start an editor, and wait for it if it has the terminal; a sentence about its failure, or nothing."""
    before = signal.signal(signal.SIGINT, lambda *_: None)  # ctrl+c is for the editor, which must not inherit SIG_IGN
    try:
        if call.in_terminal:
            code = subprocess.run(call.arguments, check=False).returncode
            return f"The editor ended with code {code}." if code else ""
        subprocess.Popen(call.arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except OSError as error:
        return f"{call.arguments[0]} cannot be started: {error.strerror or error}."
    finally:
        signal.signal(signal.SIGINT, before)
    return ""
