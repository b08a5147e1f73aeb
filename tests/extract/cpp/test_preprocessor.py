"""The preprocessor against a compiler where there is one, and what it refuses."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from dispatch_cli.extract.cpp.preprocessor.tokens import string_value, tokens_of
from dispatch_cli.extract.sources import Sources
from dispatch_cli.extract.work import OverWork
from dispatch_cli.model.sources.extracted import SourceKind
from tests.extract.cases import cases
from tests.extract.test_cases import FOLDER, tokens

STANDARD = {case.name: case for case in cases(FOLDER / "cpp_standard.txt")}


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not here")
@pytest.mark.parametrize("name", STANDARD)
def test_macros_are_replaced_as_a_compiler_does(name: str) -> None:
    command = ["g++", "-E", "-P", "-std=c++20", "-x", "c++", "-"]
    text = STANDARD[name].files["a.cpp"]
    theirs = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    ours = [json.loads(line.partition(" ")[2]) for line in STANDARD[name].expected.splitlines() if line]
    assert [token.replace("\\\n", "") for token in ours] == [token.text for token in tokens_of(theirs)]


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ('"a\\n\\"b\\\\"', 'a\n"b\\'),
        ('R"ab(x)" )a")ab"', 'x)" )a"'),
        ('u8"\\x41\\102"', "\\x41\\102"),
        ('"one \\\ntwo"', "one two"),
    ],
)
def test_values_of_literals(literal: str, value: str) -> None:
    (token,) = tokens_of(literal)
    assert string_value(token) == value


def read(folder: Path, text: str) -> None:
    """Make all tokens of a text."""
    path = folder / "a.cpp"
    path.write_text(text, encoding="utf-8")
    for _ in tokens(Sources({SourceKind.CPP: [str(path)]}, frozenset((str(path),)))):
        pass


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"#define A{n} A{n + 1} A{n + 1}\n" for n in range(40)) + "A0\n",
        "#define f(x) " + "x" + "\n" + "f(" * 200 + "1" + ")" * 200 + "\n",
    ],
    ids=["growing", "arguments"],
)
def test_what_exceeds_a_bound_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(OverWork):
        read(tmp_path, text)


def test_arguments_that_do_not_end_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OverWork, match="is missing"):
        read(tmp_path, "#define f(x) x\nf(1, 2\n")


def test_a_file_that_includes_itself_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OverWork):
        read(tmp_path, '#include "a.cpp"\n')
