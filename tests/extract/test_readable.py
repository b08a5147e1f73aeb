"""Whatever sources say, the document that is made of them can be read."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli.capture.write import yaml_text
from dispatch_cli.declarations.loader import load
from dispatch_cli.declarations.tree import ExtractedDocument
from dispatch_cli.extract.document import document
from dispatch_cli.extract.readable import is_readable, readable
from dispatch_cli.extract.run import SourceRun, run
from dispatch_cli.model.conditions.condition import And, Atom, Condition, Not, Or, parse_condition
from dispatch_cli.model.conditions.worlds import exclude_each_other
from dispatch_cli.model.declarations import LibraryKind, NotUnderstood
from dispatch_cli.model.problem import InputError
from dispatch_cli.model.sources.extracted import (
    CustomOperator,
    Extracted,
    ExtractedBlock,
    ExtractedDefinition,
    ExtractedFallback,
    ExtractedKernel,
    Extraction,
    FunctionRole,
    OperatorFunction,
    Unknown,
)
from dispatch_cli.model.span import Span
from tests.cli.support import call
from tests.fuzz.hostile import TREES, write

HOSTILE = (
    "", " ", "(", ")", ")(", "a and b", "and", "not", "or not", "x" * 3000, "a\x1b[31m", "a\u2028b", "'", '"', "a  b",
    "\x9b", "\udcff", "not a", "(" * 60 + "a" + ")" * 60, "#", ": - ? {", "a::b::c", "a.b.c", "é", "true", "~", "1e9",
)  # fmt: skip
BODY = 'TORCH_LIBRARY(my, m) { frob(m); m.def("a(Tensor x) -> Tensor"); }'


OPERATORS = ("m::a", "m::a.out", "m::b", "n::c")
KEYS = ("CPU", "CUDA", "AutogradCPU", "CompositeImplicitAutograd", "NoSuchKey")
TEXTS = (*HOSTILE, "f", "ns::g<float, 1>", "[](auto x) { return x; }", "12", "fallthrough", "x: y #z")
FILES = ("a.cpp", "b.py", "C:/x y.cu", "a and b.cpp", "a) (b.cpp", "a\x1b.cpp", "\udcff.py", "a:1:2")


class RandomSources:
    """Makes extractions, with any text in them. *dice* decides."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice

    def extraction(self) -> Extraction:
        """Some blocks with what is in them, some Python functions, some that is not understood."""
        results: list[Extracted] = []
        for _ in range(self.dice.randrange(4)):
            block = self.block()
            results += [block, *(self.member(block) for _ in range(self.dice.randrange(4)))]
        results += [self.function() for _ in range(self.dice.randrange(5))]
        missed = [NotUnderstood(self.at(), self.dice.choice(TEXTS), "no\nreason", self.when())]
        return Extraction(tuple(results), tuple(missed * self.dice.randrange(2)))

    def block(self) -> ExtractedBlock:
        kind = self.dice.choice([*LibraryKind])
        key = self.dice.choice([None, *KEYS]) if kind is LibraryKind.IMPL else None
        return ExtractedBlock(kind, self.dice.choice(["m", "n", "_"]), self.perhaps(key), self.at(), self.when())

    def member(self, block: ExtractedBlock) -> Extracted:
        name, when = self.dice.choice(OPERATORS), (*block.when, *self.when())
        match self.dice.randrange(3):
            case 0:
                schema = self.dice.choice([None, f"{name}(Tensor x) -> Tensor", f"{name}(Tensr"])
                return ExtractedDefinition(block, self.perhaps(name) or "m::a", schema, self.at(), when)
            case 1:
                key, falls = self.perhaps(self.dice.choice([None, *KEYS])), self.dice.random() < 0.2
                return ExtractedKernel(block, name, key, self.dice.choice(TEXTS), self.at(), when, falls)
            case _:
                key = self.perhaps(self.dice.choice(KEYS)) or "CPU"
                return ExtractedFallback(block, key, self.dice.choice(TEXTS), self.at(), when)

    def function(self) -> Extracted:
        name, at, when = self.dice.choice(OPERATORS), self.at(), self.when()
        if self.dice.random() < 0.4:
            schema = self.dice.choice([None, f"{name}(Tensor x) -> Tensor"])
            return CustomOperator(name, schema, "made", at, when, self.dice.choice([None, (), ("cpu", "cuda")]))
        role = self.dice.choice([*FunctionRole])
        devices = {FunctionRole.KERNEL: ("cpu",), FunctionRole.AUTOCAST: ("cuda",), FunctionRole.PY_IMPL: ("CPU",)}
        return OperatorFunction(role, name, "function", at, when, devices.get(role, ()), dtype="float16")

    def perhaps(self, text: str | None) -> Any:
        kind = self.dice.random()
        return Unknown("EXPRESSION") if kind < 0.05 else self.dice.choice(HOSTILE) if kind < 0.15 else text

    def at(self) -> Span:
        return Span(self.dice.choice(FILES), self.dice.randrange(1, 99), self.dice.randrange(1, 9))

    def when(self) -> tuple[Condition, ...]:
        return tuple(self.condition(2) for _ in range(self.dice.choice([0, 0, 0, 1, 2, 3])))

    def condition(self, depth: int) -> Condition:
        kind = self.dice.choice([Atom, Atom, Not, And, Or]) if depth else Atom
        if kind is Atom:
            return Atom(self.dice.choice((*HOSTILE, "A", "B == 1", 'D == "cuda"')))
        if kind is Not:
            return Not(self.condition(depth - 1))
        return kind((self.condition(depth - 1), self.condition(depth - 1)))  # type: ignore[no-any-return]


@pytest.mark.slow
def test_a_document_is_accepted_and_says_the_same_in_a_file(tmp_path: Path) -> None:
    """Also what cannot be used is the same: the problems that are findings, and those that are not."""
    sources = RandomSources(random.Random(7))
    steps = 0
    for number in range(200):
        data = document([readable(sources.extraction()), readable(sources.extraction())])
        file = tmp_path / f"{number}.{sources.dice.choice(['json', 'yaml'])}"
        text = json.dumps(data) if file.suffix == ".json" else "".join(yaml_text(data))
        file.write_text(text, encoding="utf-8")
        directly, from_file = load([ExtractedDocument("the sources", data)]), load([str(file)])
        empty = {"files": (), "refused": ()}
        assert from_file._replace(**empty) == directly._replace(**empty)
        codes = [[(problem.code, problem.span) for problem in one.refused] for one in (from_file, directly)]
        assert codes[0] == codes[1]
        steps += len(directly.steps)
    assert steps > 300


def test_a_place_outside_the_project_is_not_shown(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text("")
    shown = {}
    for path in (project / "inside.cpp", tmp_path / "outside.cpp"):
        path.write_text("the line\n")
        file = project / f"{path.stem}.yaml"
        file.write_text(f"dispatch: 1\noperators:\n- {{func: 'm::f(', at: '{path}:1:1'}}\n")
        with pytest.raises(InputError) as caught:
            load([str(file)])
        (problem,) = caught.value.problems
        assert problem.span is not None
        assert problem.span.file == str(path)
        shown[path.stem] = problem.line_text
    assert shown == {"inside": "the line", "outside": None}


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
    whens = (entry.get("when", []) for entry in result.document["not_understood"])
    first, other = (tuple(map(parse_condition, [when] if isinstance(when, str) else when)) for when in whens)
    assert all(map(is_readable, (*first, *other))) and exclude_each_other(first, other)


def test_a_registration_with_a_control_character_is_left_out(tmp_path: Path) -> None:
    result = written(tmp_path, 'TORCH_LIBRARY(my, m) { m.def("a(Tensor x) -> ()"); m.impl("x\u009b", f); }\n')
    assert result.definitions == 1 and [why for _, _, why in result.not_understood] == ["it has the character U+009B"]


@pytest.mark.skipif(os.name == "nt", reason="names of POSIX")
def test_a_file_whose_name_cannot_be_written_is_left_out(tmp_path: Path) -> None:
    for name in (b"\x1b[31m.cpp", b"\xff.cpp", b"good.cpp", b"\xff.py"):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text(
            BODY if name.endswith(b"p") else "import torch\n"
        )
    result = run([str(tmp_path)])
    assert result.definitions == 1 and len(result.left_out) == 3
    json.dumps(result.document).encode("utf-8")


def test_a_registration_whose_condition_cannot_be_written_is_left_out() -> None:
    at, when = Span("a.cpp", 1, 1), (Atom("c"), Not(Atom("a and b")))
    operator = CustomOperator("my::f", "my::f(Tensor x) -> Tensor", "f", at, when)
    extraction = readable(Extraction((operator,), (NotUnderstood(at, "x", "y", when),)))
    assert extraction.items == ()
    assert [(gap.why, gap.when) for gap in extraction.not_understood] == [
        ("y", when[:1]),
        ("its condition cannot be written", when[:1]),
    ]


# YAML of torchgen and build files that ask for very much: where a bound ends the reading, that is said.


@pytest.mark.parametrize(
    ("name", "file", "line"),
    [
        ("aliases that double", "src/native_functions.yaml", 18),
        ("aliases that double, of a backend", "src/xla_native_functions.yaml", 17),
        ("lists in each other", "src/native_functions.yaml", 4),
        ("mappings in each other", "src/native_functions.yaml", 4),
    ],
)
def test_yaml_that_is_too_large_or_too_deep_is_a_bound(
    name: str, file: str, line: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(TREES[name].files(TREES[name].size), ".")
    extraction = run(["src"])
    places = [entry["at"] for entry in extraction.document["not_understood"] if entry.get("bound")]
    assert [at.rsplit(":", 1)[0] for at in places] == [f"{file}:{line}"]
    assert extraction.definitions == 2  # of the other files
    result = call("check-invariants", "src")
    assert result.code == 1
    assert f"{file}:{line}:" in result.out
    assert call("check-invariants", file).code == 2
