"""Project files: what they say, where they are looked for, and that whatever is in them is a mistake at the worst."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dispatch_cli.declarations.loader import load
from dispatch_cli.declarations.project import find_project, read_project
from dispatch_cli.model.problem import InputError
from dispatch_cli.model.settings import CheckSettings, Named, Selector
from dispatch_cli.model.severity import Severity
from dispatch_cli.model.span import Span
from dispatch_cli.model.support import Promise, SupportContext

TEXT = """\
[project]
name = "x"  # select

[tool.dispatch-cli]
select = ["DC1, guard", "stale"]
ignore = "DC101"
fail-on = "info"
baseline = "known.json"
guards = ["a.yaml", "/b.yaml"]

[tool.dispatch-cli.severity]
guard = "warning"
"""


def test_what_a_project_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.toml").write_text(TEXT, encoding="utf-8")
    assert read_project(Path("p.toml"), allow_outside=True) == CheckSettings(
        select=(
            Selector("DC1", Span("p.toml", 5, 12)),
            Selector("guard", Span("p.toml", 5, 12)),
            Selector("stale", Span("p.toml", 5, 26)),
        ),
        ignore=(Selector("DC101", Span("p.toml", 6, 11)),),
        severities=((Selector("guard", Span("p.toml", 12, 1)), Severity.WARNING),),
        fail_on=Severity.INFO,
        baseline=Named("known.json", Span("p.toml", 8, 13)),
        guards=(Named("a.yaml", Span("p.toml", 9, 12)), Named("/b.yaml", Span("p.toml", 9, 22))),
    )


def test_a_project_that_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    for text in ("", "[tool]\n", "[tool.other]\nselect = 1\n", "tool = 1\n"):
        path.write_text(text, encoding="utf-8")
        assert read_project(path) == CheckSettings()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[tool.dispatch-cli]\n", True),
        ("[ tool . 'dispatch-cli' ]\n", True),
        ('[tool."dispatch-cli".severity]\n', True),
        ("[tool]\ndispatch-cli = {select = 'DC1'}\n", True),
        ("tool.dispatch-cli.select = 'DC1'\n", True),
        ("[[tool.dispatch-cli]]\n", True),
        ("[tool]\ndispatch-cli = 3\n", True),
        ("[tool.dispatch-cli\nselect = 'DC1'\n", True),
        ("# [tool.dispatch-cli]\n", False),
        ("[project]\nname = 'dispatch-cli'\n", False),
        ("[project\ndependencies = ['dispatch-cli']\n", False),
        ("tool = 'dispatch-cli'\n", False),
    ],
)
def test_which_file_speaks_of_this_program(text: str, found: bool, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert (find_project(inner) == tmp_path / "pyproject.toml") is found


def test_the_nearest_file_counts(tmp_path: Path) -> None:
    inner = tmp_path / "a"
    inner.mkdir()
    for folder in (tmp_path, inner):
        (folder / "pyproject.toml").write_text("[tool.dispatch-cli]\n", encoding="utf-8")
    assert find_project(inner) == inner / "pyproject.toml"
    (inner / "pyproject.toml").write_text("[tool.other]\n", encoding="utf-8")
    assert find_project(inner) == tmp_path / "pyproject.toml"
    (inner / "pyproject.toml").unlink()
    (inner / "pyproject.toml").mkdir()
    with pytest.raises(InputError, match="is a directory"):
        find_project(inner)


pieces = st.sampled_from(
    [
        "[tool.dispatch-cli]",
        "\n",
        "select",
        "=",
        "[",
        "]",
        "'",
        '"',
        "{",
        "}",
        "severity",
        ".",
        "guard",
        "1",
        ",",
        "é",
        "\0",
        "#",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(pieces, st.text(max_size=3)), max_size=30), st.integers(0, len(TEXT)))
def test_any_text_is_settings_or_a_located_mistake(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str], cut: int
) -> None:
    path = tmp_path_factory.mktemp("project") / "pyproject.toml"
    text = TEXT[:cut] + "".join(parts) + TEXT[cut:]
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    try:
        read_project(path)
    except InputError as error:
        assert all(problem.message for problem in error.problems)


LONG_KEY = ".".join("a" * 50_000)
LONG_KEYS = (
    f"{LONG_KEY} = 1",
    f'"=".{LONG_KEY} = 1',
    f"'#'.{LONG_KEY} = 1",
    f'"\\"#".{LONG_KEY} = 1',
    " . ".join(["'a.'", '"=,#"'] * 9) + " = 1",
    f"x = {{{LONG_KEY} = 1}}",
    f"x = {{a = 1, b = [{{{LONG_KEY} = 1}}]}}",
    f'x = ["""#\n""""", \'\'\'"\'\'\', {{{LONG_KEY} = 1}}]',
    f"[{LONG_KEY}]",
    f"[[ 'a' . {LONG_KEY} ]]",
    ".".join(['"' + "b" * 500 + '"', *"a" * 15] * 9) + " = 1",
)
"""Ways to write a key of very many parts."""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("select = " + "[" * 5_000 + "]" * 5_000, "tables and lists nest too deeply"),
        ("a = " + "{a=" * 3_000 + "1" + "}" * 3_000, "tables and lists nest too deeply"),
        *((text, "a key has more than 16 dotted parts") for text in LONG_KEYS),
        ("select = " + "9" * 5_000, "a number has too many digits"),
        ("[tool" + " " * 200_000 + "x]", "Expected ']' at the end of a table declaration"),
        (" " * 200_000 + "[", None),
    ],
)
def test_a_project_that_means_harm(text: str, message: str | None, tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(f"[tool.dispatch-cli]\n{text}\n", encoding="utf-8")
    assert find_project(tmp_path) == path
    with pytest.raises(InputError) as refused:
        read_project(path)
    (problem,) = refused.value.problems
    assert problem.span is not None
    assert problem.span.line in (2, 3)
    assert message is None or problem.message == message
    assert len(problem.message) < 200
    assert len(problem.line_text or "") <= 160


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("select = []", "select takes a string or a list of strings, not an empty list"),
        ('select = ["guard", ","]', "select has an empty check id in ','"),
        ('ignore = "guard,,stale-live-table"', "ignore has an empty check id in 'guard,,stale-live-table'"),
    ],
)
def test_selections_that_select_nothing(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(f"[tool.dispatch-cli]\n{text}\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_project(path)
    assert caught.value.problems[0].message == message
    assert caught.value.problems[0].span == Span(str(path), 2, 1)


def test_nothing_can_be_ignored(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text("[tool.dispatch-cli]\nignore = []\nguards = []\n", encoding="utf-8")
    assert read_project(path).ignore == ()


def test_a_project_file_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text("[tool.dispatch-cli]\n" + "#" * (5 << 20), encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_project(path)
    assert refused.value.problems[0].code == "too-large"


def test_promises_of_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("pyproject.toml")
    text = '[tool.dispatch-cli]  # support\nsupport = [{op = "a::*", backends = ["cpu", "cdua"], contexts = "eager"}]\n'
    path.write_text(f'{text}[[tool.dispatch-cli.x]]\nop = "a::*"', encoding="utf-8")
    with pytest.raises(InputError) as refused:
        load([], universe="torch-2.15", guards=["pyproject.toml"])
    assert [str(problem.span) for problem in refused.value.problems] == ["pyproject.toml:2:45"]
    path.write_text(text.replace("cdua", "NPU"), encoding="utf-8")
    (named,) = read_project(path).guards
    loaded = load([], universe="torch-2.15", guards=[named.text], privateuse1="npu")
    span = Span("pyproject.toml", 2, 13)
    assert loaded.promises == (Promise(("a::*",), ("CPU", "PrivateUse1"), (SupportContext.EAGER,), None, span),)


@pytest.mark.parametrize(
    "text",
    [
        "tool = 1",
        "tool.dispatch-cli = 1",
        "tool.dispatch-cli.support = 3",
        "[tool.dispatch-cli]\nsupport=[[1],{op=2}]",
        "=",
    ],
)
def test_promises_that_are_none(text: str, tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(text, encoding="utf-8")
    try:
        assert not load([], universe="torch-2.15", guards=[str(path)]).promises
    except InputError as error:
        assert all(problem.span is not None for problem in error.problems)
