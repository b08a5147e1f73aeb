"""The audit of sources: what it leaves out and what it costs. Its findings are in ``cases/``."""

from __future__ import annotations

import pytest

from dispatch_cli.audit import audit
from dispatch_cli.declarations.source import SourceError
from dispatch_cli.model.span import Span
from tests.ends import counted, ends

BLOCK = 'TORCH_LIBRARY_IMPL(mylib, CPU, m) {\n  m.impl("f", f);  \n}\n'


def test_what_is_accounted_for_is_left_out() -> None:
    (place,) = audit(["a.cpp"], lambda _: BLOCK, frozenset({("a.cpp", 1), ("b.cpp", 2)}))
    assert (place.at, place.text) == (Span("a.cpp", 2, 5), 'm.impl("f", f);')


def test_a_file_that_cannot_be_read_is_left_out() -> None:
    def read(file: str) -> str:
        if file == "a.cpp":
            raise SourceError(file, "is not a regular file")
        return 'm.impl("f", f);'

    assert [place.at.file for place in audit(["a.cpp", "b.cpp"], read, frozenset())] == ["b.cpp"]


def test_lines_of_python_are_counted_as_python_does() -> None:
    text = 'import torch\n\x0c\rlib.define("b() -> ()")\n'
    assert [place.at.line for place in audit(["a.py"], lambda _: text, frozenset())] == [3]


def steps(text: str, file: str) -> int:
    with counted() as count:
        audit([file], lambda _: text, frozenset())
    return count[0]


@pytest.mark.parametrize(
    "unit",
    ["{ m.impl(", "#if A\n{", 'R"x(', '"""', "/*", "'", "py::", "m.def(1);\n", "#define A m.impl(1)\n", "\\\n", "a.b."],
)
@pytest.mark.parametrize("file", ["a.cpp", "a.py"])
def test_the_work_grows_with_the_text(unit: str, file: str) -> None:
    assert steps(unit * 800, file) <= 4.5 * steps(unit * 200, file) + 200


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("a.py", "# impl\n" * 100_000),
        ("a.py", "from torch.library import (impl\n" * 50_000),
        ("a.cpp", "TORCH_LIBRARY" * 30_000),
        ("a.cpp", "/*" + " x" * 150_000 + "*/ m" + '.def("a()", f)' * 30_000),
        ("a.cpp", "TORCH_LIBRARY\n" + "#define A \\\n" * 30_000),
    ],
)
def test_long_texts_take_no_time(file: str, text: str) -> None:
    with ends():
        audit([file], lambda _: text, frozenset())


def test_a_long_chain_of_macros_takes_few_looks() -> None:
    chain = "".join(f"#define M{number} M{number + 1}\n" for number in range(300))
    text = f'{chain}#define M300 m.impl("f", &f)\nTORCH_LIBRARY(my, m) {{ M0; }}\n'
    reads: list[str] = []

    def read(file: str) -> str:
        reads.append(file)
        return text

    assert [place.at.line for place in audit(["a.cpp"], read, frozenset({("a.cpp", 302)}))] == [301]
    assert len(reads) < 50
