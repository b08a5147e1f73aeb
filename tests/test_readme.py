"""Commands and outputs in the README are true."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from dispatch_cli.api import load_state
from tests.cli.support import call
from tests.readme_commands import commands
from tests.write_screenshot import COMMANDS, path_of, picture

README = Path(__file__).parents[1] / "README.md"
TEXT = README.read_text(encoding="utf-8")
FORMAT, CHECKS = ((README.parent / name).read_text(encoding="utf-8") for name in ("FORMAT.md", "CHECKS.md"))


def blocks(language: str, text: str = TEXT) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def test_the_readme_is_short() -> None:
    assert len(TEXT.splitlines()) <= 250


@pytest.mark.parametrize("text", blocks("yaml") + blocks("yaml", FORMAT))
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


def test_sources_are_read_as_shown(tmp_path: Path) -> None:
    """The commands of one section, as they are written; the others run where the project is checked as a whole."""
    section = TEXT[TEXT.index("\n## Read your sources") : TEXT.index("\n## Why this kernel")]
    shutil.copytree(README.parent / "examples", tmp_path / "examples")
    script = "\n".join(commands(section))
    assert script.count("dispatch-cli ") >= 4
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=tmp_path, env=environment, check=False)
    assert done.returncode == 0
    assert load_state([str(tmp_path / "extension.yaml")]).own_operators()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_picture_is_what_is_printed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(README.parent)
    assert f"(examples/{name}.svg)" in TEXT
    assert path_of(name).read_text(encoding="utf-8") == picture(name)


@pytest.mark.parametrize(("column", "base"), [(2, "torch-2.15"), (3, "torch-2.4")])
def test_what_the_checks_find_in_pytorch_is_what_the_table_says(column: int, base: str) -> None:
    rows = [line.split("|") for line in CHECKS.splitlines() if re.match(r"\| `[a-z-]+`(?: \(info\))? \| \d", line)]
    expected = {row[1].split("`")[1]: sum(map(int, re.findall(r"\d+", row[column]))) for row in rows}
    findings = json.loads(call("check-invariants", "--base", base, "--config", "none", "--format", "json").out)[
        "findings"
    ]
    assert Counter(finding["check"] for finding in findings) == Counter(expected)


def test_the_first_run_prints_what_is_shown() -> None:
    """Word by word: lines break where the terminal ends."""
    (shown,) = blocks("text")
    answer = call("check-invariants", "examples/backend")
    assert answer.code == 1
    assert shown.split() == (answer.err + answer.out).split()
