"""Files of the session: they are opened in the editor, and read again where they have changed."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from textual.app import App, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.events import AppFocus

from dispatch_cli.explore.session import CannotRead, Session
from dispatch_cli.explore.views.pane import Pane
from dispatch_cli.files import paths
from dispatch_cli.model.span import Span

Stamp = tuple[int, int] | None
"""Time when a file was last written, and its size; None if it is not there."""
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


class FilesApp(App[None]):
    """An application that opens files of its session in the editor, and reads them again."""

    session: Session
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5", "read_again", "Read the files again", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._stamps: dict[str, Stamp] = {}

    def on_mount(self) -> None:
        self.call_after_refresh(self.note_files)

    def files_read(self, other_keys: bool) -> Any:
        """Everything is shown anew. other_keys: the state has another universe."""
        raise NotImplementedError

    def on_pane_open_place(self, message: Pane.OpenPlace) -> None:
        """Open a place in the editor; then files are read again that were changed there."""
        message.stop()
        file = message.span.file
        self._stamps.setdefault(file, stamp_of(file))
        try:
            call = editor_call(message.span, os.environ)
            with self.suspend() if call.in_terminal else nullcontext():
                failure = run_editor(call)
        except (CannotOpen, SuspendNotSupported) as why:
            self.notify(str(why), title="Not opened", severity="warning")
            return
        if failure:
            self.notify(failure, severity="warning")
        if self.changed_files():
            self.action_read_again()

    # files that have changed since they were read

    def note_files(self) -> None:
        """Remember how the files are now."""
        self._stamps = {name: stamp_of(name) for name in self.session.files_read}

    def changed_files(self) -> list[str]:
        """Files that are not as they were noted."""
        return [name for name, stamp in self._stamps.items() if stamp_of(name) != stamp]

    def on_app_focus(self, _: AppFocus) -> None:
        """The user comes back from another window: say which files have changed."""
        if changed := self.changed_files():
            more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
            self.notify(f"{changed[0]}{more} changed on disk: f5 reads the files again", severity="warning")

    def action_read_again(self) -> None:
        """Read the files again. Changes on trial stay where they can still be made."""
        universe = self.session.original.dispatcher.universe
        self.clear_notifications()
        try:
            left_out = self.session.read_again()
        except CannotRead as error:
            if error.problems:
                from dispatch_cli.explore.views.screens import problems_screen

                self.push_screen(problems_screen(error.problems))
            else:
                self.notify(str(error), severity="warning")
            return
        self.note_files()
        self.files_read(other_keys=self.session.original.dispatcher.universe != universe)
        self.notify("The files were read again.")
        if left_out:
            from dispatch_cli.explore.switch import change_text

            texts = "\n".join(map(change_text, left_out))
            self.notify(
                f"These changes on trial cannot be made any more:\n{texts}", title="Left out", severity="warning"
            )


def stamp_of(file: str) -> Stamp:
    """Current stamp of a file."""
    try:
        stat = Path(file).stat()
    except (OSError, ValueError):
        return None
    return stat.st_mtime_ns, stat.st_size


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
