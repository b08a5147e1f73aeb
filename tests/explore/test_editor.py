"""Opening a place in each editor, and the messages where that is not possible."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from dispatch_cli.explore.editor import CannotOpen, editor_call, run_editor
from dispatch_cli.model.span import Span


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Span:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a b.yaml").write_text("dispatch: 1\n", encoding="utf-8")
    return Span("a b.yaml", 12, 3)


def editors(folder: Path, *names: str) -> dict[str, str]:
    """An environment in whose path there are such programs; each writes its arguments."""
    for name in names:
        program = folder / name
        program.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > "$0.said"\n', encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.parametrize(
    ("editor", "arguments", "in_terminal"),
    [
        ("vi", ("+12", "./a b.yaml"), True),
        ("nvim -u NONE", ("-u", "NONE", "+12", "./a b.yaml"), True),
        ("nano", ("+12", "./a b.yaml"), True),
        ("emacs -nw", ("-nw", "+12", "./a b.yaml"), True),
        ("code", ("--goto", "./a b.yaml:12:3"), False),
        ("code --wait", ("--wait", "--goto", "./a b.yaml:12:3"), True),
        ("subl", ("./a b.yaml:12:3",), False),
        ("hx", ("./a b.yaml:12:3",), True),
        ("kate", ("--line", "12", "./a b.yaml"), False),
        ("unheard-of", ("./a b.yaml",), True),
    ],
)
def test_each_editor_has_its_way(
    editor: str, arguments: tuple[str, ...], in_terminal: bool, place: Span, tmp_path: Path
) -> None:
    environment = {**editors(tmp_path, editor.split()[0]), "EDITOR": editor}
    call = editor_call(place, environment)
    assert (call.arguments[1:], call.in_terminal) == (arguments, in_terminal)
    if in_terminal:
        assert run_editor(call) == ""
        written = Path(f"{call.arguments[0]}.said").read_text(encoding="utf-8")
        assert written.splitlines() == [*arguments]


def test_visual_comes_first_and_no_shell_is_asked(place: Span, tmp_path: Path) -> None:
    environment = {**editors(tmp_path, "vi"), "EDITOR": "nano", "VISUAL": "vi $(touch owned) ; touch owned"}
    call = editor_call(place, environment)
    assert call.arguments[1:] == ("$(touch", "owned)", ";", "touch", "owned", "+12", "./a b.yaml")
    run_editor(call)
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize("there", ["vi", "nano", "sensible-editor"])
def test_without_a_variable_the_editor_that_is_there_is_taken(there: str, place: Span, tmp_path: Path) -> None:
    editors(tmp_path, there)
    call = editor_call(place, {"PATH": str(tmp_path)})
    assert call.arguments[0] == str(tmp_path / there)
    assert call.arguments[1].startswith("+12")


def test_a_file_is_no_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-c").write_text("", encoding="utf-8")
    call = editor_call(Span("-c", 1, 1), {**editors(tmp_path, "vi"), "EDITOR": "vi"})
    assert call.arguments[1:] == ("+1", "./-c")


@pytest.mark.parametrize(
    ("environment", "file", "said"),
    [
        ({"PATH": ""}, "a b.yaml", "No editor was found: give the name of one in EDITOR. The place is a b.yaml:12:3."),
        ({"EDITOR": "no-such-one"}, "a b.yaml", "The editor 'no-such-one' (in EDITOR) was not found."),
        ({"EDITOR": "vi '"}, "a b.yaml", "EDITOR is vi ', where a quotation mark has no end."),
        ({"VISUAL": 'vi "', "EDITOR": "vi"}, "a b.yaml", 'VISUAL is vi ", where a quotation mark has no end.'),
        ({"EDITOR": "vi"}, "gone.yaml", "gone.yaml is not there, so that gone.yaml:12:3 cannot be opened."),
        ({"EDITOR": "vi"}, "-", "This was read from standard input, which no editor can open."),
    ],
)
def test_what_cannot_be_opened_is_said(environment: dict[str, str], file: str, said: str, place: Span) -> None:
    with pytest.raises(CannotOpen) as why:
        editor_call(place._replace(file=file), environment)
    assert str(why.value).startswith(said)


LEND = "import sys; from dispatch_cli.explore.editor import *; print(run_editor(EditorCall((sys.argv[1],), True)))"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_an_interrupt_is_for_the_editor(tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nkill -INT $PPID\nexit 3\n", encoding="utf-8")
    editor.chmod(0o755)
    done = subprocess.run([sys.executable, "-c", LEND, editor], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"The editor ended with code 3.\n"), done.stderr
