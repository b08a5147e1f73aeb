"""Templates take a time in proportion to the text, however often it repeats their words."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest

from dispatch_cli.answers.errors.messages import MESSAGES
from dispatch_cli.answers.errors.template import expression

LENGTH = 50_000
SECONDS = 1.0
"""Of processor time, for a text of that length; where parts were tried again and again, some took minutes."""


def beginnings(template: str) -> Iterator[str]:
    """A text that begins as the template does, up to each of its holes."""
    plain = template.replace("[[", "").replace("]]", "")
    for hole in [*re.finditer(r"\{[\w*]+\}", plain), None]:
        text = re.sub(r"\{[\w*]+\}", "x", plain if hole is None else plain[: hole.start()])
        if text.strip():
            yield text


@pytest.mark.parametrize("kind", [kind for kind, message in MESSAGES.items() if message.templates])
def test_words_that_are_repeated_take_linear_time(kind: str) -> None:
    slow = []
    for template in MESSAGES[kind].templates:
        pattern = re.compile(expression(template))
        for text in dict.fromkeys(f"{text}{end}" for text in beginnings(template) for end in ("", "\n")):
            begin = time.process_time()
            for _ in pattern.finditer(text * (LENGTH // len(text))):
                pass
            if time.process_time() - begin > SECONDS:
                slow.append((template, text))
    assert slow == []
