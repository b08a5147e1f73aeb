"""Output in pieces: what begins a line, or belongs together, is known across them."""

from __future__ import annotations

import pytest

from dispatch_cli.render.printed import printed

LONG = 1 << 20


@pytest.mark.parametrize("before", [LONG + 1, LONG + 62, LONG + 63, LONG + 64, LONG + 65, 1_100_000])
@pytest.mark.parametrize("command", ["::error::x", "##[error]x"])
@pytest.mark.parametrize("cut", [0, 1, 2, 5])
def test_a_command_behind_a_megabyte_of_blanks(before: int, command: str, cut: int) -> None:
    chunks = [" " * before + command[:cut], command[cut:], " " * 80, "\n"]
    text = "".join(printed(chunks))
    assert command[:3] not in text
    assert text.endswith("x" + " " * 80 + "\n")


def test_what_follows_a_long_text_is_no_command() -> None:
    assert "".join(printed(["x" * 1_100_000, "::error::x\n"])).endswith("x::error::x\n")
