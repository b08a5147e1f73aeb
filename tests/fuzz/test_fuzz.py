"""A short fixed run of the fuzzer, and what it stands on. `python -m tests.fuzz` runs many more."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import DEFAULT, patch

import click
import pytest

from tests.cli.support import Result
from tests.fuzz import documents, verdict
from tests.fuzz.arguments import command_line, commands, formats
from tests.fuzz.cases import case_in_folder, pairs, run_chunk
from tests.fuzz.inputs import Inputs

SEED = 20
COUNT = 2


def test_a_fixed_run() -> None:
    counts = run_chunk(SEED, 1, COUNT * len(pairs()), memory_every=100)
    assert counts.failures == []
    assert {*counts.cases} == {*pairs()}
    assert counts.answered.total() > counts.cases.total() / 2
    assert counts.measured == COUNT * len(pairs()) // 100 and counts.greatest > (10, "")


def test_a_case_can_be_made_again() -> None:
    results = []
    for _ in range(2):
        with case_in_folder(SEED, 3) as case:
            files = {path.name: path.read_bytes() for path in Path.cwd().iterdir()}
            results.append((case, files))
    assert results[0] == results[1]


NEVER_GIVEN = {"--help", "--all-versions"}
"""A stand-in answers at once, and is named with --python. All versions take half a minute."""
OF_A_PROGRAM = {"-m", "--python", "--last"}
"""Options of ``trace`` that run a program, or are about another one than the recording."""


class Named(Inputs):
    """Names files and writes none, which takes most of the time of a case."""

    def declarations(self) -> str:
        """Declarations that have an operator."""
        self.operators = {"demo::op": 1}
        return "a.yaml"

    def _named(self, *_answer: str) -> str:
        return "x"

    sources = universe = guards = baseline = settings = error_text = recording = trace = python = _named


@pytest.mark.parametrize("command", commands())
def test_every_option_is_given(command: str, tmp_path: Path) -> None:
    taken = {option.opts[0] for option in commands()[command].params if isinstance(option, click.Option)}
    missing = taken - NEVER_GIVEN - {"--format"} - (OF_A_PROGRAM if command == "trace" else set())
    with patch.multiple("tests.fuzz.built", library=DEFAULT, answers=DEFAULT):
        for number in range(2_000):
            if not missing:
                return
            named = Named(random.Random(number), tmp_path)
            missing -= {*command_line(command, formats(command)[number % len(formats(command))], named)}
    assert missing == set()


def test_every_field_is_made() -> None:
    """The fields of each record of the format, by its JSON Schema."""
    dice, fields_made = random.Random(SEED), set()
    make_record = documents._make_record

    def noting(dice: random.Random, one: documents.Schema, depth: int) -> dict[str, Any]:
        record = make_record(dice, one, depth)
        fields_made.update((id(one), name) for name in record)
        return record

    properties = documents.schema()["properties"]
    top = {(id(documents.schema()), name) for name in properties}
    wanted = {(id(record), name) for record in _records(documents.schema()) for name in record["properties"]} - top
    assert len(wanted) > 100
    with patch.object(documents, "_make_record", noting):
        for _ in range(100):
            for name, value in properties.items() if wanted - fields_made else ():
                documents.make(dice, value, name)
    assert wanted - fields_made == set()
    fields: set[str] = set()
    for _ in range(300):
        fields |= {*documents.document(dice, False)} if not fields >= {*properties} else set()
    assert fields >= {*properties}


def _records(one: Any) -> Iterator[documents.Schema]:
    if isinstance(one, dict):
        if isinstance(one.get("properties"), dict):
            yield one
        for below in one.values():
            yield from _records(below)
    elif isinstance(one, list):
        for below in one:
            yield from _records(below)


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


def test_formats_that_differ_are_seen() -> None:
    data = Result(0, '{"report": "table", "key": "CPU"}', "")
    assert verdict.unequal({"json": data, "text": replace(GOOD, code=1)}) is not None
    assert verdict.unequal({"json": data, "csv": Result(0, "key\r\nCUDA\r\n", "")}) is not None
    assert verdict.unequal({"json": data, "csv": Result(0, "key\r\nCPU\r\n", "")}) is None


def test_checks_that_differ_are_seen() -> None:
    findings = [{"check": "guard", "severity": "warning"}, {"check": "no-fake-kernel", "severity": "info"}]
    answer = {"report": "findings", "fail_on": "error", "findings": findings}
    data = Result(1, json.dumps(answer), "")
    right = Result(1, "::warning title=guard::x\n::notice title=no-fake-kernel::x\n", "")
    wrong = Result(1, "::warning title=guards::x\n", "")
    assert verdict.unequal({"json": data, "github": right}) is None
    assert "guards" in str(verdict.unequal({"json": data, "github": wrong}))
    passed, failed = (Result(1, f"<a><b>{text}</b></a>", "") for text in ("", '<failure type="guard"/>'))
    assert verdict.unequal({"json": data, "junit": passed}) is None
    assert "guard" in str(verdict.unequal({"json": data, "junit": failed}))
