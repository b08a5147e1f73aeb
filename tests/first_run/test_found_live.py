"""The mistakes of examples/found.md, in programs of a few lines: what is found in them, and what PyTorch does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import in_pytorch
from tests.capture.support import torch_python
from tests.cli.support import call
from tests.extract.cases import cases

pytestmark = pytest.mark.live

OUTCOMES = """
import json
def outcome(expression):
    try:
        eval(expression)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "works"
print(json.dumps([outcome(expression) for expression in EXPRESSIONS]))
"""


MISTAKES = {case.name: case.files for case in cases(Path(__file__).with_name("mistakes.txt"))}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str, tmp_path: Path) -> None:
    parts = MISTAKES[name]
    python = torch_python()
    program = tmp_path / "program.py"
    program.write_text(parts["registers"], encoding="utf-8")
    assert parts["finding"].strip() in call("check-invariants", "--config", "none", str(program)).out
    helpers = parts.get("helpers", "")
    first = helpers.partition("\n")[0]
    if "backend_registration" in first and in_pytorch.run([python, "-c", first], check=False).returncode:
        pytest.skip("this PyTorch has no backends in Python")
    fails, error = parts["fails"].splitlines()
    expressions = f"EXPRESSIONS = {[fails, parts['works'].strip()]!r}\n"
    program.write_text(parts["registers"] + helpers + expressions + OUTCOMES, encoding="utf-8")
    failed, worked = json.loads(in_pytorch.run([python, str(program)]).stdout)
    assert failed.startswith(error)
    assert worked == "works"
