"""Files that mean harm: one located problem each, soon, and never another exception."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from yaml import SafeLoader

from dispatch_cli.declarations import loader
from dispatch_cli.declarations.loader import load
from dispatch_cli.model import budget
from tests.declarations.helpers import refused, write

HEAD = b"dispatch: 1\n"
BOMB = HEAD + b"a: &a [x,x,x,x,x,x,x,x,x,x]\n"
BOMB += b"".join(b"%c: &%c [%s]\n" % (c, c, b",".join([b"*%c" % (c - 1)] * 10)) for c in range(98, 118))

FILES: dict[str, tuple[bytes, str, str]] = {
    "alias bomb": (BOMB, "6:32", "too-large"),
    "alias in itself": (HEAD + b"operators: &a [*a]\n", "2:16", "yaml-alias"),
    "alias of nothing": (HEAD + b"operators: *a\n", "2:12", "yaml-alias"),
    "open lists": (HEAD + b"operators: " + b"[" * 20_000, "", "too-deep"),
    "lists": (b"[" * 900 + b"]" * 900, "1:65", "too-deep"),
    "open mappings": (b"{a: " * 20_000, "1:257", "too-deep"),
    "dashes": (b"- " * 20_000, "1:129", "too-deep"),
    "indentation": (b"\n".join(b" " * i + b"a:" for i in range(2_000)), "65:65", "too-deep"),
    "python object": (HEAD + b"operators: !!python/object/apply:os.system [ls]\n", "2:12", "yaml-tag"),
    "own tag": (b"!mine {dispatch: 1}\n", "1:1", "yaml-tag"),
    "binary tag": (HEAD + b"operators: !!binary aGk=\n", "2:12", "yaml-tag"),
    "tag directive": (b"%TAG !a! b\n---\ndispatch: !a!c 1\n", "3:11", "yaml-tag"),
    "tag directives": (b"%TAG !a! b\n" * 1_000 + b"---\n" + HEAD, "2:1", "yaml-syntax"),
    "NUL": (HEAD + b"operators: [\0]\n", "2:13", "control-character"),
    "terminal escape": (HEAD + b"# \x1b[31m\n", "2:3", "control-character"),
    "Latin-1": (HEAD + "# é".encode("latin-1"), "2:3", "not-utf8"),
    "a compiled library": (b"\x7fELF\x02\x01\x01" + bytes(17) + b"\xd0\x10", "1:1", "binary-file"),
    "half of UTF-16": (b"\xff\xfea", "1:1", "not-utf8"),
    "byte order mark inside": (HEAD + b"# \xef\xbb\xbf\n", "2:3", "control-character"),
    "merge conflict": (HEAD + b"<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> x\n", "2:1", "merge-conflict"),
    "two documents": (HEAD + b"---\n" + HEAD, "2:1", "several-documents"),
    "list as key": (b"? [a, b]\n: 1\n", "1:3", "key-not-text"),
    "mapping as key": (b"{{a: 1}: 1}\n", "1:2", "key-not-text"),
    "empty key": (b"{dispatch: 1, '': 1}\n", "1:15", "key-not-text"),
    "merge key": (HEAD + b"<<: {operators: []}\n", "2:1", "yaml-merge-key"),
    "long text": (HEAD + b"operators: " + b"a" * ((1 << 20) + 1), "2:12", "too-large"),
    "long name": (HEAD + b'"' + b"a" * 900 + b'": 1\n', "2:1", "unknown-field"),
    "long schema": (HEAD + b'operators: [{func: "a::b(' + b"Tensor[] " * 20_000 + b')"}]', "2:65557", "bad-schema"),
    "deep schema": (HEAD + b'operators: [{func: "a::b(Tensor' + b"[]" * 9_000 + b' x) -> ()"}]', "2:26", "bad-schema"),
    "gzip bomb": (gzip.compress(b"\n" * (65 << 20), 1), "1:1", "too-large"),
    "damaged gzip": (gzip.compress(HEAD * 100)[:-9], "1:1", "unreadable-file"),
    "tab": (HEAD + b"operators:\n\t- name: a::b\n", "3:1", "yaml-syntax"),
    "open quote": (HEAD + b"operators: 'x\n", "2:12", "yaml-syntax"),
    "open bracket": (HEAD + b"operators: [x\n", "2:12", "yaml-syntax"),
    "colon in a text": (HEAD + b"universe: a: b\n", "2:12", "yaml-syntax"),
    "empty": (b"", "1:1", "empty-file"),
    "comments only": (b"# nothing\n---\n# nothing\n", "1:1", "empty-file"),
    "huge version": (b"%YAML 1." + b"9" * 5_000 + b"\n---\n", "", "yaml-syntax"),
    "huge escape": (HEAD + b'operators: "\\UFFFFFFFF"\n', "", "yaml-syntax"),
    "surrogate": (HEAD + b'fallbacks: {CPU: "\\ud800"}\n', "", ""),
}
"""Name → the file, the place of its problem and the problem's code; empty where the two parsers differ."""


@pytest.fixture(params=["libyaml", "python"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both of PyYAML's parsers."""
    if request.param == "python":
        monkeypatch.setattr("dispatch_cli.declarations.yaml_reader.make_parser", SafeLoader)
    return str(request.param)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.usefixtures("parser")
def test_hostile_file(name: str, tmp_path: Path) -> None:
    content, place, code = FILES[name]
    path = write(tmp_path, content)
    problems = refused(path)
    assert len(problems) == 1
    (problem,) = problems
    assert problem.span is not None
    assert problem.span.file == path
    if place:
        assert str(problem.span) == f"{path}:{place}"
    if code:
        assert problem.code == code
    assert len(problem.message) < 400


@pytest.mark.usefixtures("parser")
def test_many_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MAX_THINGS", 10_000)
    monkeypatch.setattr(loader, "MAX_THINGS", 10_000)
    (problem,) = refused(write(tmp_path, b"[" + b"[]," * 20_000 + b"]"))
    assert problem.message.startswith("the file has more than 10000 values, counting aliases and lists of keys")
    assert (problem.span.line, problem.span.column) == (1, 29_999)  # type: ignore[union-attr]


def test_files_of_one_run_share_what_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "MAX_THINGS", 60)
    operator = b"operators: [{func: 'm::a%d() -> ()'}]\n"
    files = [write(tmp_path, HEAD + operator % number, f"{number}.yaml") for number in range(9)]
    assert len(load(files[:3]).steps) == 6
    assert "or the files together have" in refused(*files)[0].message
