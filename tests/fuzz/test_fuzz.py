"""A short fixed run of the fuzzer, and what it stands on. `python -m tests.fuzz` runs many more."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.support import Result
from tests.fuzz import verdict
from tests.fuzz.cases import case_in_folder, pairs, run_chunk

SEED = 20
COUNT = 1


@pytest.mark.slow
def test_a_fixed_run() -> None:
    counts = run_chunk(SEED, 1, COUNT * len(pairs()))
    assert counts.failures == []
    assert {*counts.cases} == {*pairs()}
    assert counts.answered.total() > counts.cases.total() / 2


def test_a_case_can_be_made_again() -> None:
    results = []
    for _ in range(2):
        with case_in_folder(SEED, 3) as case:
            files = {path.name: path.read_bytes() for path in Path.cwd().iterdir()}
            results.append((case, files))
    assert results[0] == results[1]


GOOD = Result(0, "x\n", "")


@pytest.mark.parametrize(
    ("format_", "result"),
    [
        ("text", replace(GOOD, code=3, err="internal error")),
        ("text", replace(GOOD, out="\x1b[31m")),
        ("text", replace(GOOD, out="a\u202eb")),
        ("text", replace(GOOD, err="\x07")),
        ("json", replace(GOOD, out="{")),
        ("csv", replace(GOOD, out="a,b\r\nc\r\n")),
        ("html", replace(GOOD, out="<p>x")),
        ("html", replace(GOOD, out="<script></script>")),
        ("markdown", replace(GOOD, out="a <b>c</b>")),
        ("markdown", replace(GOOD, out="[a](http://b)")),
        ("github", replace(GOOD, out="::error title=x::y\nz")),
        ("junit", replace(GOOD, out="<a>")),
        ("sarif", replace(GOOD, out='{"runs": []}')),
    ],
)
def test_what_is_wrong_is_seen(format_: str, result: Result) -> None:
    assert verdict.wrong(GOOD, "table", "text", False) is None
    assert verdict.wrong(result, "table", format_, False) is not None


def test_exit_codes_that_differ_are_seen() -> None:
    assert verdict.unequal({"json": 0, "text": 1}) is not None
    assert verdict.unequal({"json": 0, "text": 0, "csv": 2}) is None
