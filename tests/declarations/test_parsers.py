"""PyYAML's parser in Python gives what its C parser gives."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dispatch_cli.declarations import yaml_reader
from dispatch_cli.declarations.loader import load
from dispatch_cli.declarations.python_parser import PythonParser
from tests.declarations.helpers import refused, shown, write
from tests.declarations.test_problems import CASES, TEN_MISTAKES

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
    monkeypatch.setattr(yaml_reader, "make_parser", PythonParser)
    assert load([path]) == by_libyaml
    assert len(by_libyaml.steps) == 12


@pytest.mark.parametrize("text", [*(case.split("----\n")[0] for case in CASES.values()), TEN_MISTAKES])
def test_problems(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, text)
    by_libyaml = shown(tmp_path, refused(path))
    monkeypatch.setattr(yaml_reader, "make_parser", PythonParser)
    assert shown(tmp_path, refused(path)) == by_libyaml


def test_the_python_parser_is_used_where_there_is_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml._yaml", None)
    assert isinstance(yaml_reader.make_parser("a: b"), PythonParser)
