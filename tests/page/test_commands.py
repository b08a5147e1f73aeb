"""Texts that a page puts on the clipboard and into links, texts of files stay texts there; and its support matrix."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from dispatch_cli.page.commands import quoted
from dispatch_cli.render.printed import safe
from tests.cli.support import call
from tests.page.support import Script, needs_node, page_of, script_of

pytestmark = needs_node

HIGHER_ORDER = ("!about", "!start", "--output=zz", "\\';touch pwned;#\u200b", "a!b", "star*")
HOSTILE = (
    *HIGHER_ORDER,
    "",
    "-x",
    "plain text",
    "it's",
    "'\"'",
    "\\",
    "\\'\u200b; touch pwned #",
    "\\\\'\u200b; touch pwned #",
    "'; touch pwned; '\n",
    "$(touch pwned)",
    "`touch pwned`",
    "`touch pwned`\x1b",
    "${IFS}\x85",
    "line\nline\r\n\ttab\n",
    "\x01\x02\x1b]0;title\x07\x7f\x80\x85\x9f",
    "\u200b0\u2028f\u202ea\ufeff",
    "\U000e0041f",
    "日本語 '\u200b' 👩‍🚀",
    "undecodable \udcff\udc80f.yaml",
    "\udcff",
    "é\udce9",
    "\\x41\u200b\\u0041\\101\\c?",
    "!event !! \u200b!$",
    "* ? [a] ~ # & | > < ; ( ) { }",
)


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Script]:
    folder = tmp_path_factory.mktemp("commands")
    file = folder / "own.yaml"
    higher = "".join(f"- name: {json.dumps(name)}\n  dispatch: {{CPU: k}}\n" for name in HIGHER_ORDER)
    names = ("a::b", "a::b.out", "a::bc", "a::only.x")
    operators = "".join(f"- func: {name}(Tensor x) -> Tensor\n  dispatch: {{CPU: k}}\n" for name in names)
    file.write_text(f"dispatch: 1\noperators:\n{operators}higher_order_operators:\n{higher}", encoding="utf-8")
    page = folder / "page.html"
    result = call("page", str(file), "-o", str(page))
    assert result.code == 0, result.err
    with script_of(page) as page_script:
        yield page_script


@pytest.mark.parametrize("locale", ["C.UTF-8", "C"])
def test_a_shell_reads_every_text_as_it_is_and_runs_nothing(tmp_path: Path, locale: str) -> None:
    every = [*HOSTILE, *(f"{text}{other}" for text in HOSTILE for other in ("\u200b", "\\", "'", "\\'\x1b"))]
    words = [*map(quoted, every)]
    assert all(text.isascii() or text.isprintable() for text in words)
    run = subprocess.run(
        ["bash", "--norc", "-c", "\n".join(f"printf '%s\\0' {text}" for text in words)],
        capture_output=True,
        check=True,
        cwd=tmp_path,
        env={"LC_ALL": locale, "PATH": os.environ["PATH"]},
    )
    assert run.stderr == b""
    assert run.stdout.split(b"\0")[:-1] == [text.encode("utf-8", "surrogateescape") for text in every]
    assert [*tmp_path.iterdir()] == []


def test_a_name_is_no_option_of_a_command(script: Script) -> None:
    for is_glob in (True, False):
        assert script.ask("word", "--output=zz", is_glob) == "higher_order::--output=zz"
    assert script.ask("command", "rows", script.ask("word", "--output=zz")) == (
        "dispatch-cli table own.yaml --op higher_order::--output=zz --view rows"
    )
    assert script.ask("word", "star*") == "'higher_order::star[*]'"


@pytest.mark.parametrize(
    ("name", "chosen"),
    [("a::b", "a::b.default"), ("a::b.out", "a::b.out"), ("a::bc", "a::bc"), ("a::only.x", "a::only.x")],
)
def test_a_command_chooses_one_operator_beside_its_overloads(script: Script, name: str, chosen: str) -> None:
    for view in ("rows", "grid", "register"):
        words = shlex.split(script.ask("command", view, script.ask("word", name)))
        assert words[words.index("--op") + 1] == chosen


def test_no_name_makes_a_link_of_a_view(script: Script) -> None:
    for name in map(safe, HIGHER_ORDER):
        link = script.ask("link", name, "CPU")
        assert not link.startswith("#!")
        target = script.ask("target", link)
        assert (target["name"], target["key"], target["entry"]["name"]) == (name, "CPU", name)
    assert script.ask("link", "!about") == "#%21about"
    assert script.ask("target", "#!about") == {"view": "about", "argument": None}


OPERATORS = "examples/custom_ops.yaml"


def test_the_matrix_is_that_of_the_command() -> None:
    with script_of(page_of(OPERATORS)) as script:
        support = script.ask("data")["support"]
        words = shlex.split(script.ask("command", "support"))[1:]
        printed, report = call(*words).out, json.loads(call(*words, "--format", "json").out)
        assert support["blocks"][0][1] == printed.splitlines()[0]
        for row in report["operators"]:
            for at, cell in enumerate(row["cells"]):
                title, name, number = support["calls"][f"{at},{row['operator']}"]
                column = report["columns"][at]
                assert title.startswith(f"{name} on {column['backend']}, {column['context']}: ")
                assert name == row["operator"]
                assert (support["answers"][number]["options"] is None) is (cell["call"] is None)
        commands = {
            script.ask("command", "call", script.ask("word", name, False), support["answers"][number]["options"])
            for _, name, number in support["calls"].values()
            if support["answers"][number]["options"] is not None
        }
        assert {reason["command"] for reason in report["reasons"]} <= commands
        paragraphs = [text for kind, text, *_ in support["blocks"] if kind == "prose"]
        assert all(any(reason["text"] in text for text in paragraphs) for reason in report["reasons"])
