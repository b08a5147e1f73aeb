"""Whatever sources say, the document that is made of them can be read."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest

from dispatch_cli.capture.write import yaml_text
from dispatch_cli.declarations.loader import load
from dispatch_cli.extract.document import document
from dispatch_cli.extract.readable import is_readable, readable
from dispatch_cli.extract.run import SourceRun, run
from dispatch_cli.model.condition import And, Atom, Condition, Not, Or, negated
from dispatch_cli.model.declarations import Define
from dispatch_cli.model.extracted import CustomOperator, Extraction, NotUnderstood
from dispatch_cli.model.span import Span
from dispatch_cli.model.worlds import exclude_each_other
from tests.cli.support import call
from tests.extract.random_extractions import RandomSources
from tests.fuzz.hostile import TREES, write

HOSTILE = (
    "", " ", "(", ")", ")(", "a and b", "and", "not", "or not", "x" * 3000, "a\x1b[31m", "a\u2028b", "'", '"', "a  b",
    "\x9b", "\udcff", "not a", "(" * 60 + "a" + ")" * 60, "#", ": - ? {", "a::b::c", "a.b.c", "é", "true", "~", "1e9",
)  # fmt: skip
BODY = 'TORCH_LIBRARY(my, m) { frob(m); m.def("a(Tensor x) -> Tensor"); }'


class HostileSources(RandomSources):
    """Extractions with any text in them."""

    def text(self) -> str:
        return self.dice.choice((*HOSTILE, super().text()))

    def perhaps(self, text: str | None) -> str | None:  # type: ignore[override]
        value = super().perhaps(text)
        return self.dice.choice(HOSTILE) if self.dice.random() < 0.1 else value  # type: ignore[return-value]

    def at(self) -> Span:
        file = self.dice.choice(["a.cpp", "a and b.cpp", "a) (b.cpp", "a\x1b.cpp", "\udcff.py", "a:1:2"])
        return super().at()._replace(file=file)

    def when(self) -> tuple[Condition, ...]:
        return (*super().when(), *(self.condition(2) for _ in range(self.dice.choice([0, 0, 1, 2]))))

    def condition(self, depth: int) -> Condition:
        kind = self.dice.choice([Atom, Atom, Not, And, Or]) if depth else Atom
        if kind is Atom:
            return Atom(self.dice.choice((*HOSTILE, "A", "B == 1")))
        if kind is Not:
            return Not(self.condition(depth - 1))
        return kind((self.condition(depth - 1), self.condition(depth - 1)))  # type: ignore[no-any-return]


@pytest.mark.slow
def test_a_document_is_always_accepted(tmp_path: Path) -> None:
    sources = HostileSources(random.Random(7))
    steps = 0
    for number in range(300):
        data = document(readable([sources.extraction(), sources.extraction()]))
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps(data))
        steps += len(load([str(file)]).steps)
    assert steps > 300


def written(tmp_path: Path, text: str, name: str = "a.cpp") -> SourceRun:
    """The run over a source, whose document can be read."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    result = run([str(tmp_path / name)])
    for suffix, content in (("json", json.dumps(result.document)), ("yaml", "".join(yaml_text(result.document)))):
        file = tmp_path / f"written.{suffix}"
        file.write_text(content, encoding="utf-8")
        load([str(file)])
    return result


@pytest.mark.parametrize(
    "expression",
    [
        "", "((((", 'foo(")") ) )', "(1", ")(", "and or not", "\x1b[31m", "!" * 400 + "A", "1?" * 300,
        "A && " * 400 + "A",
        "(" * 60 + "A" + ")" * 60, 'foo(a and b) or not bar and "x and" == (y or z)', "A ? B : " * 80 + "C",
        "(" * 24 + "A ?B:C)" + "?B:C)" * 23,
    ],
)  # fmt: skip
def test_any_condition_can_be_read(expression: str, tmp_path: Path) -> None:
    result = written(tmp_path, f"#if {expression}\n{BODY}\n#else\n{BODY.replace('my', 'other')}\n#endif\n")
    assert result.definitions == 2 and len(result.not_understood) == 2
    first, other = (entry.when for entry in result.not_understood)
    assert all(map(is_readable, (*first, *other))) and exclude_each_other(first, other)


def test_a_registration_with_a_control_character_is_left_out(tmp_path: Path) -> None:
    result = written(tmp_path, 'TORCH_LIBRARY(my, m) { m.def("a(Tensor x) -> ()"); m.impl("x\u009b", f); }\n')
    assert result.definitions == 1 and [gap.why for gap in result.not_understood] == ["it has the character U+009B"]


@pytest.mark.skipif(os.name == "nt", reason="names of POSIX")
def test_a_file_whose_name_cannot_be_written_is_left_out(tmp_path: Path) -> None:
    for name in (b"\x1b[31m.cpp", b"\xff.cpp", b"good.cpp", b"\xff.py"):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text(
            BODY if name.endswith(b"p") else "import torch\n"
        )
    result = run([str(tmp_path)])
    assert result.definitions == 1 and len(result.left_out) == 3
    json.dumps(result.document).encode("utf-8")


def test_many_branches_are_numbered_and_exclude_each_other(tmp_path: Path) -> None:
    lines = ["#if X0", BODY]
    for number in range(1, 250):
        lines += [f"#elif X{number} == {number}", BODY]
    result = written(tmp_path, "\n".join([*lines, "#else", BODY, "#endif"]))
    whens = [gap.when for gap in result.not_understood]
    assert len(whens) == 251 and len(json.dumps(result.document)) < 500_000
    assert all(exclude_each_other(whens[a], whens[b]) for a, b in [(0, 30), (19, 20), (20, 21), (100, 250)])
    assert negated(Atom("X0")) in whens[250] and str(whens[250][-1]).startswith("branch 251 of #if at ")


def test_a_registration_whose_condition_cannot_be_written_is_left_out() -> None:
    at, when = Span("a.cpp", 1, 1), (Atom("c"), Not(Atom("a and b")))
    operator = CustomOperator("my::f", "my::f(Tensor x) -> Tensor", "f", at, when)
    (extraction,) = readable([Extraction((operator,), (NotUnderstood(at, "x", "y", when),))])
    assert extraction.found == ()
    assert [(gap.why, gap.when) for gap in extraction.not_understood] == [
        ("y", when[:1]),
        ("its condition cannot be written", when[:1]),
    ]


def test_a_schema_on_several_lines_is_one_on_a_line(tmp_path: Path) -> None:
    """PyTorch reads white space in a schema, line breaks included, as a blank."""
    schema = 'a(\n\t\tTensor x,\n  str y="b  c"\n) -> Tensor'
    python = f'import torch\nlib = torch.library.Library("my", "DEF")\nlib.define("""\n  {schema}\n""")\n'
    cpp = f'TORCH_LIBRARY(my, m) {{ m.def(R"({schema})"); }}'
    for source, name in ((python, "a.py"), (cpp, "a.cpp")):
        result = written(tmp_path, source, name)
        assert (result.definitions, result.not_understood) == (1, ())
        (defined,) = (step.schema for step in load([str(tmp_path / "written.json")]).steps if isinstance(step, Define))
        assert str(defined) == 'my::a(Tensor x, str y="b  c") -> Tensor'


# YAML of torchgen and build files that ask for very much: where a bound ends the reading, that is said.


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(name: str) -> SourceRun:
    write(TREES[name].files(TREES[name].size), ".")
    return run(["src"])


def bounds(found: SourceRun) -> list[tuple[str, int]]:
    return [(gap.at.file, gap.at.line) for gap in found.not_understood if gap.bound]


@pytest.mark.parametrize(
    ("name", "file", "line"),
    [
        ("aliases that double", "src/native_functions.yaml", 18),
        ("aliases that double, of a backend", "src/xla_native_functions.yaml", 17),
        ("lists in each other", "src/native_functions.yaml", 4),
        ("mappings in each other", "src/native_functions.yaml", 4),
    ],
)
def test_yaml_that_is_too_large_or_too_deep_is_a_bound(name: str, file: str, line: int) -> None:
    extraction = read(name)
    assert bounds(extraction) == [(file, line)]
    assert extraction.definitions == 2  # of the other files
    result = call("check-invariants", "src")
    assert result.code == 1
    assert f"{file}:{line}:" in result.out
    assert call("check-invariants", file).code == 2
