"""Whatever is done to a good file, it loads or it is refused."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from dispatch_cli.declarations.loader import load
from dispatch_cli.model.problem import InputError
from tests.declarations.test_format import EVERY_FIELD
from tests.declarations.test_parsers import GOOD

PIECES = st.sampled_from(
    [*":-?[]{}&*!|>'\"%@`#,\t\n \0\\", "<<: ", "&a ", "*a", "!!str ", "--- ", "\n- ", ": ", "null", "[[", "\ud7ff"]
) | st.text(max_size=4)
EDIT = st.tuples(st.integers(0, 10_000), st.integers(0, 12), PIECES)


def mutated(text: str, edits: list[tuple[int, int, str]]) -> str:
    """*text* with pieces of it replaced."""
    for start, length, piece in edits:
        at = start % (len(text) + 1)
        text = text[:at] + piece + text[at + length :]
    return text


def outcome(content: bytes) -> int:
    """The number of problems of a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.yaml"
        path.write_bytes(content)
        try:
            load([str(path)])
        except InputError as error:
            for problem in error.problems:
                assert problem.span is not None
                assert problem.span.line >= 1
                assert problem.span.column >= 1
                assert problem.line_text is None or len(problem.line_text) <= 160
            return len(error.problems)
        return 0


@settings(deadline=None, max_examples=300)
@given(st.sampled_from([GOOD, EVERY_FIELD]), st.lists(EDIT, min_size=1, max_size=6))
def test_mutated_texts(text: str, edits: list[tuple[int, int, str]]) -> None:
    assert outcome(mutated(text, edits).encode("utf-8", "surrogatepass")) <= 101


@settings(deadline=None, max_examples=200)
@given(st.sampled_from([GOOD, EVERY_FIELD]), st.lists(st.tuples(st.integers(0, 10_000), st.binary(max_size=3))))
def test_mutated_bytes(text: str, edits: list[tuple[int, bytes]]) -> None:
    content = text.encode()
    for start, piece in edits:
        at = start % (len(content) + 1)
        content = content[:at] + piece + content[at + len(piece) :]
    assert outcome(content) <= 101
