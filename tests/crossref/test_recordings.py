"""The engine against the recordings: everything equal; and against a doctored one: exactly what was doctored."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from dispatch_cli.crossref.answers import Compared
from dispatch_cli.crossref.compare import UNKNOWN_LINE, Count, Difference, compare, known, names_of
from dispatch_cli.crossref.replay import replay
from tests.cli.support import call
from tests.crossref.support import (
    ADD,
    CONJ,
    DROPOUT,
    RELU,
    SILU,
    answer_of,
    doctored,
    python_that_answers,
    recording_of,
)
from tests.support import load_recording


@pytest.mark.parametrize(
    ("difference", "counts"),
    [
        (("MPS", UNKNOWN_LINE, "registered at MPSFallback.mm:90 [kernel]"), False),
        (("AutogradMPS", UNKNOWN_LINE, None), False),
        (("MPS", None, "registered at MPSFallback.mm:90 :: (none) [ boxed ]"), False),
        (("MPS", "add_mps [kernel]", "registered at RegisterMPS_0.cpp:1 [kernel]"), False),
        (("MPS", "add_mps [kernel]", "registered at RegisterMPS_0.cpp:1 [math kernel]"), True),
        (("CPU", "one [kernel]", "other [kernel]"), True),
    ],
)
def test_only_what_is_known_can_differ(difference: Difference, counts: bool) -> None:
    assert list(known([difference], ("MPS", "SparseMPS"))) == [difference] * counts


CPU_KERNEL = "registered at aten/src/ATen/RegisterCPU.cpp:30455"
DEFAULT_KERNEL = "registered at aten/src/ATen/RegisterCompositeExplicitAutograd.cpp:8363 [default backend kernel]"
SILU_LINE = f"CPU (sleeping): {CPU_KERNEL} :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]"


def test_a_recording_is_equal() -> None:
    """Every line of both dumps of a part of the operators; of a live PyTorch all are compared."""
    recording = recording_of(tuple(load_recording("2.15.0.state")["ops"])[::10], "2.15.0")
    answers = answer_of(recording)
    subject = replay(answers)
    comparison = compare(subject, answers, names_of(subject, answers))
    operators = len(recording["ops"])
    assert comparison.differences == ()
    assert comparison.counts[:3] == (
        Count(Compared.OPERATOR, operators, 0),
        Count(Compared.DUMP, operators, 0),
        Count(Compared.TABLE, operators * 137, 0),
    )


DOCTORED = [
    *((CONJ, "table", key, DEFAULT_KERNEL, None) for key in ("HIP", "XLA", "MPS")),
    (ADD, "table", "CPU", f"{CPU_KERNEL} [kernel]", f"fallthrough {CPU_KERNEL} [kernel]"),
    (DROPOUT, "table", "line 1", "Undefined: …", "CPU: …"),
    (RELU, "table", "XLA", None, "nobody [kernel]"),
    (SILU, "registration", "", "refused: the line cannot be parsed", SILU_LINE),
    (SILU, "operator", "", "no such operator", "registered"),
]
"""Operator, part, key, what the engine says, what the doctored recording says."""


def test_a_doctored_recording(tmp_path: Path) -> None:
    result = call("crossref", "--python", python_that_answers(answer_of(doctored()), tmp_path), "--format", "csv")
    assert (result.code, result.err) == (1, "")
    head, *rows = csv.reader(io.StringIO(result.out))
    assert head == ["operator", "part", "key", "ours", "theirs"]
    assert rows == [[cell or "" for cell in difference] for difference in DOCTORED]
