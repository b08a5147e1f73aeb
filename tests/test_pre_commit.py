"""The hook for pre-commit: what it runs works, on the files that it is given."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.support import ROOT, call

(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
GOOD = "dispatch: 1\noperators:\n  - func: m::a(Tensor x) -> Tensor\n    dispatch: {CompositeImplicitAutograd: a}\n"


def test_it_has_what_pre_commit_asks_for() -> None:
    hook: dict[str, Any] = HOOK
    assert hook["id"] == "dispatch-cli"
    assert hook["language"] == "python"
    assert hook["require_serial"] is True, "the files are one history, so they go to one process"


@pytest.mark.parametrize(
    ("file", "chosen"),
    [
        ("dispatch.yaml", True),
        ("a/b/mylib.dispatch.yml", True),
        ("a/dispatch.json", True),
        ("a/xdispatch.yaml", False),
        (".github/workflows/ci.yaml", False),
        ("dispatch.yaml.j2", False),
    ],
)
def test_which_files_it_is_for(file: str, chosen: bool) -> None:
    assert (re.search(HOOK["files"], file) is not None) is chosen


@pytest.mark.parametrize(
    ("text", "code"), [(GOOD, 0), (GOOD.replace("func: m::a(Tensor x) -> Tensor", "name: m::a"), 1), ("x", 2)]
)
def test_its_entry_checks_files(text: str, code: int, tmp_path: Path) -> None:
    file = tmp_path / "dispatch.yaml"
    file.write_text(text, encoding="utf-8")
    program, *arguments = shlex.split(HOOK["entry"])
    assert program == "dispatch-cli"
    assert call(*arguments, str(file)).code == code
