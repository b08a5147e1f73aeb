"""The engine against the recordings: everything equal; and against a doctored one: exactly what was doctored."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli.crossref.answers import Answers, Compared, Disagreement, Probed
from dispatch_cli.crossref.compare import Count, compare, names_of
from dispatch_cli.crossref.incomplete import UNKNOWN_LINE, Difference, known
from dispatch_cli.crossref.recording import read
from dispatch_cli.crossref.replay import replay
from tests.cli.support import call, in_terminal
from tests.crossref.support import ADD, CONJ, DROPOUT, RELU, SILU, doctored, recording_of, written
from tests.support import RECORDINGS


@pytest.mark.parametrize(
    ("difference", "counts"),
    [
        (("MPS", UNKNOWN_LINE, "registered at MPSFallback.mm:90 [kernel]"), False),
        (("AutogradMPS", UNKNOWN_LINE, None), False),
        (("MPS", None, "registered at MPSFallback.mm:90 :: (none) [ boxed ]"), False),
        (("MPS", "add_mps :: (none) [ boxed unboxed ]", "registered at RegisterMPS_0.cpp:1 :: (…) [ boxed ]"), False),
        (("MPS", "add_mps [kernel]", "registered at RegisterMPS_0.cpp:1 [kernel]"), False),
        (("MPS", "add_mps [kernel]", "registered at RegisterMPS_0.cpp:1 [math kernel]"), True),
        (("MPS", "add_mps [kernel]", None), True),
        (("CPU", "one [kernel]", "other [kernel]"), True),
        (("AutogradMPS", None, "other [math kernel]"), True),
    ],
)
def test_only_what_is_known_can_differ(difference: Difference, counts: bool) -> None:
    assert list(known([difference], ("MPS", "SparseMPS"))) == [difference] * counts


CPU_KERNEL = "registered at aten/src/ATen/RegisterCPU.cpp:30455"
DEFAULT_KERNEL = "registered at aten/src/ATen/RegisterCompositeExplicitAutograd.cpp:8363 [default backend kernel]"
SILU_LINE = f"CPU (sleeping): {CPU_KERNEL} :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]"


def test_a_whole_recording_is_equal() -> None:
    """Every operator of PyTorch 2.4.1, every line of both dumps."""
    assert call("crossref", str(RECORDINGS / "torch-2.4.1.state.json.xz")).out == (
        "The engine and the recording of PyTorch 2.4.1+cu121\n"
        "                    Compared    Equal  Different\n"
        "Operators              3,563    3,563          ·\n"
        "Registration dumps     3,563    3,563          ·\n"
        "Table slots          463,190  463,190          ·\n"
        "\n"
        "Equal: 3,563 operators (torch-2.4)\n"
    )


def test_the_other_recording_is_equal() -> None:
    result = call("crossref", str(RECORDINGS / "torch-2.15.0.state.json.xz"), "--format", "json")
    assert (result.code, result.err) == (0, "")
    assert json.loads(result.out) == {
        "schema_version": 3,
        "report": "crossref",
        "universe": "torch-2.15",
        "source": "the recording of PyTorch 2.15.0+cu132",
        "equal": True,
        "counts": [
            {"part": "operator", "compared": 3624, "different": 0},
            {"part": "dump", "compared": 3624, "different": 0},
            {"part": "table", "compared": 3624 * 137, "different": 0},
        ],
        "python": None,
        "differences": [],
    }


DOCTORED = [
    *((CONJ, "table", key, DEFAULT_KERNEL, None) for key in ("HIP", "XLA", "MPS")),
    (ADD, "table", "CPU", f"{CPU_KERNEL} [kernel]", f"fallthrough {CPU_KERNEL} [kernel]"),
    (DROPOUT, "table", "line 1", "Undefined: …", "CPU: …"),
    (RELU, "registration", "Nowhere", "refused: could not parse dispatch key: Nowhere", "a kernel :: (none)"),
    (RELU, "dump", "Nowhere", None, "a kernel :: (none) [ boxed ]"),
    (RELU, "table", "XLA", None, "nobody [kernel]"),
    (SILU, "registration", "", "refused: the line cannot be parsed", SILU_LINE),
    (SILU, "operator", "", "no such operator", "registered"),
]
"""Operator, part, key, what the engine says, what the doctored recording says."""


def test_a_doctored_recording_in_json(tmp_path: Path) -> None:
    result = call("crossref", written(tmp_path, doctored()), "--format", "json")
    assert (result.code, result.err) == (1, "")
    columns = ("operator", "part", "key", "ours", "theirs")
    assert json.loads(result.out) == {
        "schema_version": 3,
        "report": "crossref",
        "universe": "torch-2.4",
        "source": "the recording of PyTorch 2.4.1+cu121",
        "equal": False,
        "counts": [
            {"part": "operator", "compared": 5, "different": 5},
            {"part": "dump", "compared": 4, "different": 1},
            {"part": "table", "compared": 4 * 130, "different": 6},
        ],
        "python": None,
        "differences": [
            {**dict(zip(columns, difference, strict=True)), "key": difference[2] or None} for difference in DOCTORED
        ],
    }


def test_a_doctored_recording_in_text(tmp_path: Path) -> None:
    result = call("crossref", written(tmp_path, doctored()))
    assert (result.code, result.err) == (1, "")
    rows = {
        CONJ: [("table", "HIP, XLA, MPS", DEFAULT_KERNEL, "-")],
        ADD: [("table", "CPU", f"{CPU_KERNEL} [kernel]", f"fallthrough {CPU_KERNEL} [kernel]")],
        DROPOUT: [("table", "line 1", "Undefined: …", "CPU: …")],
        RELU: [
            ("registration", "Nowhere", "refused: could not parse dispatch key: Nowhere", "a kernel :: (none)"),
            ("dump", "Nowhere", "-", "a kernel :: (none) [ boxed ]"),
            ("table", "XLA", "-", "nobody [kernel]"),
        ],
        SILU: [
            ("registration", "", "refused: the line cannot be parsed", SILU_LINE),
            ("operator", "", "no such operator", "registered"),
        ],
    }
    assert result.out == (
        "The engine and the recording of PyTorch 2.4.1+cu121\n"
        "                    Compared  Equal  Different\n"
        "Operators                  5      0          5\n"
        "Registration dumps         4      3          1\n"
        "Table slots              520    514          6\n"
        "\n"
        + "".join(f"{operator}\n{laid_out(own)}\n" for operator, own in rows.items())
        + "10 differences in 5 of 5 operators (torch-2.4)\n"
    )


def laid_out(rows: Sequence[tuple[str, ...]]) -> str:
    """Rows under their heads, in columns two blanks apart, two blanks from the left."""
    table = [("What", "Key", "The engine", "PyTorch"), *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in table)
    return "".join(f"  {line.rstrip()}\n" for line in lines)


def test_a_doctored_recording_in_csv(tmp_path: Path) -> None:
    result = call("crossref", written(tmp_path, doctored()), "--format", "csv")
    assert result.code == 1
    head, *rows = csv.reader(io.StringIO(result.out))
    assert head == ["operator", "part", "key", "ours", "theirs"]
    assert rows == [[cell or "" for cell in difference] for difference in DOCTORED]


def test_a_narrow_terminal_shortens_places_and_loses_no_line(tmp_path: Path) -> None:
    result = in_terminal(60, "crossref", written(tmp_path, doctored()), "--op", CONJ, NO_COLOR="1")
    assert (result.code, result.err) == (1, "")
    assert result.out == (
        "The engine and the recording of PyTorch 2.4.1+cu121\n"
        "                    Compared  Equal  Different\n"
        "Operators                  1      0          1\n"
        "Registration dumps         1      1          ·\n"
        "Table slots              130    127          3\n"
        "\n"
        "aten::_conj\n"
        "  What   Key            The engine                   PyTorch\n"
        "  table  HIP, XLA, MPS  registered at                -\n"
        "                        aten/sr…itAutograd.cpp:8363\n"
        "                        [default backend kernel]\n"
        "\n"
        "3 differences in 1 of 1 operator (torch-2.4)\n"
    )


@pytest.mark.parametrize(
    ("globs", "operators", "code"),
    [((RELU,), [RELU], 1), (("aten::silu", "aten::add"), [ADD, SILU], 1), (("aten::re*",), [RELU], 1)],
)
def test_only_the_operators_asked_for(globs: tuple[str, ...], operators: list[str], code: int, tmp_path: Path) -> None:
    arguments = [word for glob in globs for word in ("--op", glob)]
    result = call("crossref", written(tmp_path, doctored()), *arguments, "--format", "json")
    report = json.loads(result.out)
    assert result.code == code
    assert sorted({difference["operator"] for difference in report["differences"]}) == operators
    assert report["counts"][0]["compared"] == len(operators)


def test_an_operator_without_differences_exits_with_zero(tmp_path: Path) -> None:
    recording = recording_of((ADD, RELU))
    recording["ops"][RELU]["table"] = ""
    file = written(tmp_path, recording)
    assert call("crossref", file, "--op", ADD).code == 0
    assert call("crossref", file).code == 1


def probed(recording: dict[str, Any], directory: Path) -> Probed:
    answers = read(written(directory, recording))
    assert answers is not None
    return answers


def test_operators_that_only_one_of_the_two_has(tmp_path: Path) -> None:
    subject = replay(probed(recording_of((ADD, RELU)), tmp_path))
    answers = probed(recording_of((RELU, SILU)), tmp_path).answers
    comparison = compare(subject, answers, names_of(subject, answers))
    assert comparison.differences == (
        Disagreement(ADD, Compared.OPERATOR, None, "registered", "no such operator"),
        Disagreement(SILU, Compared.OPERATOR, None, "no such operator", "registered"),
    )
    assert comparison.counts == (
        Count(Compared.OPERATOR, 3, 2),
        Count(Compared.DUMP, 1, 0),
        Count(Compared.TABLE, 130, 0),
    )


def test_a_kernel_that_contradicts_its_schema_is_refused(tmp_path: Path) -> None:
    """A recording cannot have it; where one does, the refusal says why the dumps differ."""
    recording = recording_of((RELU,))
    dump = recording["ops"][RELU]["dump"]
    assert "schema: aten::relu(Tensor self) -> Tensor\n" in dump
    recording["ops"][RELU]["dump"] = dump.replace("(Tensor self) -> Tensor", "(Tensor self, int x) -> Tensor")
    subject = replay(probed(recording, tmp_path))
    assert {refusal.operator for refusal in subject.refusals} == {RELU}
    assert {str(refusal.ours).partition("\n")[0] for refusal in subject.refusals} == {
        "refused: Inferred operator schema for a C++ kernel function doesn't match the expected function schema."
    }
    assert [refusal.key for refusal in subject.refusals if refusal.key == "CPU"] == ["CPU"]


def test_the_white_space_of_a_dump_counts(tmp_path: Path) -> None:
    recording = recording_of((RELU,))
    ours = recording["ops"][RELU]["table"]
    recording["ops"][RELU]["table"] = ours + "\n"
    subject = replay(probed(recording, tmp_path))
    answers: Answers = probed(recording, tmp_path).answers
    assert compare(subject, answers, [RELU]).differences == (Disagreement(RELU, Compared.TABLE, None, None, ""),)
