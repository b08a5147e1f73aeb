"""Time of the templates of error texts on texts that repeat their words, for one length and for twice as much.

Usage: ``python -m tests.benchmarks.templates``. A template whose time grows with the square of the text takes four
times as long for twice as much: those above `MOST` are shown, and the exit code is 1 if there are any.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator

from dispatch_cli.answers.errors.messages import MESSAGES
from dispatch_cli.answers.errors.template import expression

LENGTH = 25_000
LEAST = 0.01
"""Seconds of processor time; a template that takes less for the longer text is not looked at."""
MOST = 3.0


def beginnings(template: str) -> Iterator[str]:
    """Texts that begin as the template does, up to each of its holes."""
    plain = template.replace("[[", "").replace("]]", "")
    for hole in [*re.finditer(r"\{[\w*]+\}", plain), None]:
        text = re.sub(r"\{[\w*]+\}", "x", plain if hole is None else plain[: hole.start()])
        if text.strip():
            yield text


def seconds(pattern: re.Pattern[str], text: str, length: int) -> float:
    """Processor time of all matches in a text that is repeated up to a length."""
    repeated = text * (length // len(text))
    begin = time.process_time()
    for _ in pattern.finditer(repeated):
        pass
    return time.process_time() - begin


def main() -> int:
    """Measure all templates."""
    count, slow = 0, []
    for message in MESSAGES.values():
        for template in message.templates:
            count += 1
            pattern = re.compile(expression(template))
            for text in dict.fromkeys(f"{text}{end}" for text in beginnings(template) for end in ("", "\n")):
                longer = seconds(pattern, text, 2 * LENGTH)
                if longer > LEAST and (ratio := longer / max(seconds(pattern, text, LENGTH), 1e-9)) > MOST:
                    slow.append((ratio, longer, text))
    for ratio, longer, text in sorted(slow, reverse=True):
        print(f"{ratio:5.1f} x for twice as much, {longer:.3f} s: {text!r}")
    print(f"{count} templates, {len(slow)} beginnings above {MOST} x")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
