"""Which characters are harmful in a text, and how quickly that is found."""

from __future__ import annotations

import re
import sys

from dispatch_cli.model.quoting import CONTROL, HARMFUL, UNSEEN, has_harmful


def test_every_harmful_character_is_found_and_no_other() -> None:
    """The quick ways of finding them agree with the classes that say which they are."""
    text = "".join(map(chr, range(sys.maxunicode + 1)))
    harmful = set(re.findall(f"[{CONTROL}{UNSEEN}]", text))
    assert len(harmful) > 6_000
    assert set(re.findall(HARMFUL, text)) == harmful
    assert {sign for sign in text if has_harmful(sign)} == harmful


def test_they_are_found_wherever_they_are() -> None:
    for sign in ("\x1b", "\r", "\x7f", "\x9b", "\u202e", "\U000e0041"):
        for text in ("{}", "CPU: {}kernel\n", "a\n\tb{}", "été{}", "{}🚀"):
            assert has_harmful(text.format(sign))
            assert not has_harmful(text.format(""))
