"""Every kind of mistake, and the whole of what is said about it: ``problems.txt`` has a section for each."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from yaml import SafeLoader

from dispatch_cli.declarations import yaml_reader
from dispatch_cli.declarations.loader import load
from dispatch_cli.model.span import cut_start
from tests.declarations.helpers import refused, shown, write

SECTIONS = (Path(__file__).parent / "problems.txt").read_text(encoding="utf-8").split("==== ")[1:]
CASES = {section.split("\n", 1)[0]: section.split("\n", 1)[1] for section in SECTIONS}


@pytest.mark.parametrize("name", CASES)
def test_problem(name: str, tmp_path: Path) -> None:
    text, expected = CASES[name].split("----\n")
    assert shown(tmp_path, refused(write(tmp_path, text))) == expected


def test_problems_come_by_file_in_reading_order_then_by_place(tmp_path: Path) -> None:
    base = write(tmp_path, "dispatch: 1\nlibraries: x\nfoo: 1\n", "base.yaml")
    first = write(tmp_path, "dispatch: 1\nfoo: 1\nextends: [./base.yaml]\nguards: x\n", "first.yaml")
    second = write(tmp_path, "guards: x\n", "second.yaml")
    assert [str(problem.span).replace(f"{tmp_path}/", "") for problem in refused(second, first, base)] == [
        *("second.yaml:1:1", "second.yaml:1:9", "first.yaml:2:1", "first.yaml:4:9", "./base.yaml:2:12"),
        *("./base.yaml:3:1",),
    ]


def test_a_hundred_problems_are_shown_and_the_rest_counted(tmp_path: Path) -> None:
    keys = "".join(f"  K{number}: x\n" for number in range(250))
    problems = refused(write(tmp_path, f"dispatch: 1\nfallbacks:\n{keys}"))
    assert len(problems) == 101
    assert problems[99].message == "could not parse dispatch key: K99"
    assert (problems[100].code, problems[100].message) == ("more-problems", "and 150 more problems in this file")


@pytest.mark.parametrize("before", [0, 119, 120, 121, 160, 1000])
def test_a_snippet_is_cut_so_that_the_column_can_be_found_again(before: int, tmp_path: Path) -> None:
    text = f"{{dispatch: 1, {' ' * before}foo: 1}}{' ' * 500}\n"
    (problem,) = refused(write(tmp_path, text))
    assert problem.span is not None
    assert problem.line_text is not None
    assert len(problem.line_text) <= 160
    assert problem.line_text[problem.span.column - 1 - cut_start(problem.span.column) :].startswith("foo: 1}")


def test_a_mistake_behind_an_alias_is_said_once(tmp_path: Path) -> None:
    text = "dispatch: 1\noperators:\n  - {name: m::a, dispatch: &d {Foo: x}}\n  - {name: m::b, dispatch: *d}\n"
    (problem,) = refused(write(tmp_path, text))
    assert problem.message == "could not parse dispatch key: Foo"


# PyYAML's parser in Python gives what its C parser gives.


GOOD = """\
# A comment.
dispatch: 1
operators:
- func: >-
    m::a(Tensor x)
    -> Tensor
  tags: ["a\\u0062", 'c''d', e f]
  dispatch: &d {CPU: a, "CUDA": "b", 'Meta': c d}
- name: m::b   # indented differently
  dispatch: *d

libraries:
  - {kind: IMPL, namespace: m, impl: {a: [x, {kernel: y, dispatch_key: XLA}]}}
"""


@pytest.mark.parametrize("breaks", ["\n", "\r\n", "\r"])
def test_good_files(breaks: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, GOOD.replace("\n", breaks))
    by_libyaml = load([path])
    monkeypatch.setattr(yaml_reader, "make_parser", SafeLoader)
    assert load([path]) == by_libyaml
    assert len(by_libyaml.steps) == 12


@pytest.mark.parametrize("text", [case.split("----\n")[0] for case in CASES.values()])
def test_problems(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, text)
    by_libyaml = shown(tmp_path, refused(path))
    monkeypatch.setattr(yaml_reader, "make_parser", SafeLoader)
    assert shown(tmp_path, refused(path)) == by_libyaml


def test_the_python_parser_is_used_where_there_is_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml._yaml", None)
    assert isinstance(yaml_reader.make_parser("a: b"), SafeLoader)
