"""What the README shows works."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from pathlib import Path

import pytest

from dispatch_cli.api import load_state
from tests.cli.support import call, in_terminal

README = Path(__file__).parents[1] / "README.md"
TEXT = README.read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.M | re.S)


@pytest.mark.parametrize("text", blocks("yaml"))
def test_the_declarations_load(text: str, tmp_path: Path) -> None:
    path = tmp_path / "readme.yaml"
    path.write_text(text, encoding="utf-8")
    assert [str(name) for name in load_state([str(path)]).own_operators()]


@pytest.mark.parametrize("program", blocks("python"))
def test_the_programs_run(program: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(README.parent)
    exec(compile(program, "README.md", "exec"), {})
    line, text = next(
        (number, line)
        for number, line in enumerate(Path("examples/custom_library.yaml").read_text().splitlines(), start=1)
        if "norm2_math" in line
    )
    place = f"examples/custom_library.yaml:{line}:{text.index('norm2_math') + 1}"
    assert capsys.readouterr().out == f"Rule.MATH norm2_math {place}\n"


@pytest.mark.parametrize("text", blocks("text"))
def test_what_is_shown_is_what_is_printed(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every part between two signs of omission stands in the answer, in order, in a terminal of 110 columns."""
    monkeypatch.chdir(README.parent)
    command, _, shown = text.partition("\n")
    answer = in_terminal(110, *shlex.split(command.removeprefix("$ dispatch-cli ")), NO_COLOR="1").out
    parts = [part for part in shown.split("…\n") if part]
    assert parts
    for part in parts:
        assert part in answer
        answer = answer[answer.index(part) + len(part) :]


@pytest.mark.parametrize(("column", "base"), [(2, "torch-2.15"), (3, "torch-2.4")])
def test_what_the_checks_find_in_pytorch_is_what_the_table_says(column: int, base: str) -> None:
    rows = [line.split("|") for line in TEXT.splitlines() if re.match(r"\| `[a-z-]+`(?: \(info\))? \| \d", line)]
    said = {row[1].split("`")[1]: sum(map(int, re.findall(r"\d+", row[column]))) for row in rows}
    found = json.loads(call("check-invariants", "--base", base, "--no-config", "--format", "json").out)["findings"]
    assert Counter(one["check"] for one in found) == Counter(said)
