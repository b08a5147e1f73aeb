"""What the README shows works, and its reference is the one that the code gives."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dispatch_cli.api import load_state
from tests.write_reference import README, with_reference

TEXT = README.read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.M | re.S)


def test_the_reference_is_up_to_date() -> None:
    assert with_reference(TEXT) == TEXT


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
