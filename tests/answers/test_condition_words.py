"""Conditions in the sentence of a finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.answers.shared.condition_words import when_words
from dispatch_cli.declarations.source import read
from dispatch_cli.model.span import Span

SOURCE = """\
import torch
for op in operators:
    if 'a' in op.tags:
        pass
    else:
        register(op)
if (ns + "::b" in
        known):
    pass
"""


@pytest.mark.parametrize(
    ("when", "words"),
    [
        ("defined(WITH_CUDA) and not CUDA_VERSION >= 12000", "when defined(WITH_CUDA) and not CUDA_VERSION >= 12000"),
        ("torch.cuda.is_available()", "when torch.cuda.is_available()"),
        ("not 'a' in op.tags", "under a condition at a.py:3"),
        ("not (defined(A) or 'a' in op.tags)", "when not defined(A), and under a condition at a.py:3"),
        ("ns + '::b' in known", "under a condition"),
        ("in.cpp is in the build, not b.cpp", "when in.cpp is in the build, not b.cpp"),
        ("not (b.cpp is in the build)", "when not (b.cpp is in the build)"),
        ("'a' in op.ta…", "under a condition"),
        ("((", "when (("),
    ],
)
def test_an_expression_is_named_by_its_place(
    when: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(SOURCE, encoding="utf-8")
    read("a.py")
    assert when_words(when, Span("a.py", 6, 9)) == words
