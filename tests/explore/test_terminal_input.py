"""Input from a terminal, byte by byte: pasted texts are no keys, and signs that are typed stand in the line."""

from __future__ import annotations

import os
import random
import sys
from types import SimpleNamespace

import pytest
from textual.drivers import linux_driver
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Event, Key, Paste
from textual.message import Message
from textual.pilot import Pilot

from dispatch_cli.explore.app import ExploreApp, run
from dispatch_cli.explore.session import Session
from dispatch_cli.explore.terminal_input import LONGEST, TerminalInput, one_line, read_with_own_parser
from tests.explore.support import drive, newest, until

START, END = "\x1b[200~", "\x1b[201~"
HOSTILE = "re\x1b\t\tlu\x1b[A\x1bq\x1b[31m\x03\x1b"


def events(*parts: str) -> list[Event]:
    """Events from input that a terminal sends in parts."""
    parser = TerminalInput()
    return [event for part in parts for event in parser.feed(part) if isinstance(event, Event)]


def said(*parts: str) -> list[tuple[str, str | None]]:
    return [
        (event.key, event.character) if isinstance(event, Key) else ("paste", event.text)
        for event in events(*parts)
        if isinstance(event, Key | Paste)
    ]


def test_nothing_in_a_pasted_text_is_a_key() -> None:
    assert said(f"a{START}{HOSTILE}{END}b") == [("a", "a"), ("paste", "re lu[Aq[31m"), ("b", "b")]
    assert said(f"{START}{END}b") == [("paste", ""), ("b", "b")]
    assert said(f"{START}{START}x{END}b") == [("paste", "[200~x"), ("b", "b")]


@pytest.mark.parametrize("seed", range(20))
def test_a_paste_in_parts_is_the_same(seed: int) -> None:
    chance = random.Random(seed)
    sent = f"\x1b[A{START}{HOSTILE}{END}\x1b[Bq{START}one\ttwo{END}\x1b[200{START}\x1b[20{END}"
    whole = said(sent)
    assert [text for kind, text in whole if kind == "paste"] == ["re lu[Aq[31m", "one two", "[20"]
    cuts = sorted(chance.sample(range(1, len(sent)), chance.randrange(1, 30)))
    assert said(*(sent[first:last] for first, last in zip([0, *cuts], [*cuts, len(sent)], strict=True))) == whole


def test_a_long_paste_is_cut_and_the_keys_behind_it_are_heard() -> None:
    received = said(f"{START}{'x' * 5000}", *["y" * 4096] * 500, f"{END}b")
    assert [(kind, len(text or "")) for kind, text in received] == [("paste", LONGEST), ("b", 1)]


def test_a_mark_that_was_begun_and_not_ended_in_time_begins_no_paste(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = TerminalInput()
    assert not [*parser.feed("\x1b[20")]
    monkeypatch.setattr("textual._parser.get_time", lambda: float("inf"))
    assert [*parser.tick()]
    assert [event.character for event in parser.feed("0~ab") if isinstance(event, Key)] == [*"0~ab"]


def test_signs_and_keys_with_alt_are_told_apart() -> None:
    for sign in "¡™£¢∞§¶•ªº\N{EN DASH}≠é":
        ((_, character),) = said(sign)
        assert character == sign
    for sign in "0123456789-=":
        ((key, character),) = said(f"\x1b{sign}")
        assert key.startswith("alt+")
        assert character is None
    assert said("\x1b[A", "\x1bf") == [("up", None), ("ctrl+right", None)]


def test_a_line_of_a_text() -> None:
    assert one_line("\n\taten::add\r\n\taten::mul\r\n") == "aten::add aten::mul"
    assert one_line(" sparse ") == " sparse "
    assert one_line("a\u202eb\u200bc\x9b1md\x00") == "abc1md"


def test_what_is_pasted_and_typed_in_the_search() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        for event in events(f"/{START}{HOSTILE}{END}£§ªº"):
            app.post_message(event)
        await until(pilot, lambda: app.operators.input.value == "re lu[Aq[31m£§ªº")
        assert app.focused is app.operators.input
        app.operators.input.value = ""
        app.post_message(Paste("\taten::relu\t"))
        await until(pilot, lambda: app.operators.input.value == "aten::relu")

    drive(Session(newest(), ("--base", "torch-2.15")), steps)


def test_the_driver_of_the_terminal_reads_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linux_driver, "XTermParser", linux_driver.XTermParser)  # as it is afterwards
    reading, writing = os.pipe()
    os.write(writing, f"{START}\x1b\t{END}q".encode())
    driver = object.__new__(LinuxDriver)
    results: list[Message] = []
    turns = iter([False, True])
    vars(driver).update(
        fileno=reading,
        _debug=False,
        exit_event=SimpleNamespace(is_set=lambda: next(turns)),
        process_message=results.append,
    )
    read_with_own_parser(LinuxDriver)
    driver.run_input_thread()
    os.close(reading)
    os.close(writing)
    assert [event.key for event in results if isinstance(event, Key)] == ["q"]


def test_a_textual_without_these_parts_is_used_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "textual._xterm_parser", None)
    monkeypatch.delitem(sys.modules, "dispatch_cli.explore.terminal_input")
    monkeypatch.setattr(ExploreApp, "run", lambda self: self.exit(return_code=3))
    assert run(Session(newest(), ("--base", "torch-2.15"))) == 3
