"""A terminal of 80 columns and 24 lines shows first what was asked for."""

from __future__ import annotations

import json

import pytest

from tests.cli.support import call, in_terminal

LINES = 24


def screen(*args: str) -> tuple[list[str], int]:
    """Screen of a terminal when a command has ended, and the number of lines printed; the last line is the prompt's."""
    result = in_terminal(80, *args, NO_COLOR="1")
    lines = (result.err + result.out).splitlines()
    return lines[1 - LINES :], len(lines)


def test_the_first_table_of_the_readme_fits() -> None:
    lines, count = screen("table", "examples/add.yaml")
    assert count < LINES
    assert lines[0].startswith("aten::add.Tensor(")
    assert any(line.startswith("CPU +12 ") and "Register<Key>" in line for line in lines)
    assert "Without a row: 40 missing, 10 fallthrough, 11 fallback" in "\n".join(lines)


def test_the_counts_and_the_rows_are_all_slots() -> None:
    """The brief table of each operator has every slot once."""
    names = ["aten::add.Tensor", "aten::to.dtype", "aten::randn", "aten::linalg_svd"]
    for name in names:
        report = json.loads(call("table", "--base", "torch-2.15", "--op", name, "--format", "json").out)
        slots = len(report["operators"][0]["entries"])
        lines = call("table", "--base", "torch-2.15", "--op", name).out.splitlines()
        rows = lines[lines.index("", 1) + 2 :]
        rows = rows[: rows.index("")]
        counted = next(line for line in lines if line.startswith("Without a row: ")).partition(" (--full")[0]
        numbers = [int(part.split()[0]) for part in counted.removeprefix("Without a row: ").split(", ")]
        assert sum(map(_keys_of, rows)) + sum(numbers) == slots, name


def _keys_of(row: str) -> int:
    """The number of keys of a row, whose first column ends before two blanks."""
    keys = row.split("  ")[0]
    listed, _, more = keys.partition(" and ")
    return len(listed.split(", ")) + (int(more.split()[0]) if more else 0)


def test_no_column_is_as_wide_as_a_generated_path() -> None:
    lines = call("table", "--base", "torch-2.15", "--op", "aten::add.Tensor").out.splitlines()
    assert not any("/build/aten/src/ATen/" in line for line in lines)
    assert max(len(line) for line in lines) <= 140
    assert "/build/aten/src/ATen/" in call("table", "--base", "torch-2.15", "--op", "aten::add.Tensor", "--full").out


def test_rows_and_slots_can_be_listed() -> None:
    table = ("table", "--base", "torch-2.15", "--op", "aten::add.Tensor")
    slots = len(json.loads(call(*table, "--format", "json").out)["operators"][0]["entries"])
    assert len(call(*table, "--full").out.splitlines()) > slots
    assert "\nMissing, 40: XLA, Lazy" in call(*table, "--view", "rows").out
    assert len(call(*table, "--format", "csv").out.splitlines()) == slots + 1


@pytest.mark.parametrize(
    ("args", "verdict"),
    [
        (
            ("explain", "aten::to.dtype", "AutogradPrivateUse1", "examples/scenarios/01_composite_override.yaml"),
            "AutogradPrivateUse1 holds nothing (rule 10, missing).",
        ),
        (
            ("resolve", "aten::add.Tensor", "--tensor", "cuda", "--tensor", "cpu"),
            "The call ends in RegisterCUDA_0.cpp:2405 at CUDA (rule 1, kernel).",
        ),
        (("check-invariants", "examples/stale.yaml"), "34 errors, 5 warnings, 1 info"),
        (
            ("coverage", "PrivateUse1", "--base", "torch-2.15", "--tag", "core"),
            "PrivateUse1: 159 of 193 operators are served",
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_the_verdict_is_the_last_thing(args: tuple[str, ...], verdict: str) -> None:
    lines, count = screen(*args)
    assert count < LINES or any(line.startswith(verdict) for line in lines[-2:]), lines[-3:]


def test_a_short_answer_has_its_verdict_once() -> None:
    args = ("resolve", "mylib::norm", "examples/scenarios/10_sparse_bypass.yaml", "--tensor", "meta")
    result = in_terminal(80, *args, NO_COLOR="1")
    assert len(result.out.splitlines()) < LINES
    assert result.out.count("The call ends in") == 1
