"""Grids: codes, marks, legend, widths, and universes of other shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from dispatch_cli import universes
from dispatch_cli.answers.shared.slot_row import Before, TableRow
from dispatch_cli.answers.table.grid_document import code_of, document
from dispatch_cli.answers.table.report import OperatorTable, TableReport
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.universe import Universe
from dispatch_cli.render.text import text
from dispatch_cli.render.text_lines import Style
from tests.support import SOME_UNIVERSES

UNIVERSE = universes.load("torch-2.15")


def row(key: str, rule: Rule, **others: Any) -> TableRow:
    fields: dict[str, Any] = {"rule_number": 1, "kernel": "k", "fallthrough": False, "source": key, "blockers": ()}
    return TableRow(**{"key": key, "rule": rule, **fields, "core_fallback": False, "span": None, **others})


def shown(rows: Sequence[TableRow], width: int | None = None, universe: Universe = UNIVERSE) -> str:
    table = OperatorTable("a::b", "a::b() -> ()", None, tuple(rows))
    report = TableReport(universe.name, False, (), iter([table]))
    return "".join(text(document(report, width, universe=universe), Style(width)))


def test_every_answer_has_a_code_of_its_own() -> None:
    answers = [row("CPU", rule) for rule in Rule]
    answers.append(row("CPU", Rule.FALLBACK, core_fallback=True))
    answers.append(row("CPU", Rule.KERNEL, fallthrough=True))
    codes = [code_of(answer) for answer in answers]
    assert len({code.letter for code in codes}) == len({code.meaning for code in codes}) == len(answers)
    assert all(len(code.letter) == 1 and code.letter.isascii() for code in codes)


def test_a_fallthrough_is_one_whatever_put_it_there() -> None:
    letters = {code_of(row("CPU", rule, fallthrough=True)).letter for rule in (Rule.KERNEL, Rule.MATH, Rule.FALLBACK)}
    assert letters == {">"}


def test_the_legend_has_only_what_is_used() -> None:
    rows = [
        row("CPU", Rule.KERNEL, kernel="cpu"),
        row("CUDA", Rule.MISSING, kernel=None, stale=True, live_kernel="old"),
        row("AutogradCPU", Rule.MATH, kernel="math", before=Before(Rule.KERNEL, "was", False)),
        row("Python", Rule.FALLBACK, core_fallback=True, stale=True, before=Before(Rule.MISSING, None, False)),
    ]
    assert shown(rows) == (
        "a::b() -> ()\n"
        "\n"
        "         CPU  CUDA\n"
        "Dense    K    .!\n"
        "Autograd K→M*\n"
        "\n"
        ".→f#  Python\n"
        "\n"
        "Code  Meaning                                     Slots  Kernels\n"
        "K     kernel                                      1      cpu\n"
        "M     math kernel                                 1      math\n"
        ".     missing                                     1\n"
        "f     PyTorch's own fallback                      1\n"
        "!     stale: the live table holds something else  1\n"
        "*     changed: differs from the base              1\n"
        "#     stale and changed                           1\n"
        "\n"
        "Stale: a call at CUDA, Python runs what the live table holds, not this; see check-invariants.\n"
    )


def test_the_legend_names_a_few_kernels() -> None:
    rows = [row(key, Rule.KERNEL, kernel=f"k_{key}") for key in ("CPU", "CUDA", "XLA", "MPS", "Meta")]
    assert "K     kernel   5      k_CPU, k_CUDA, k_XLA and 2 more\n" in shown(rows)


def test_keys_that_are_not_per_backend_alone() -> None:
    assert shown([row("Python", Rule.KERNEL), row("Tracer", Rule.MISSING, kernel=None)]) == (
        "a::b() -> ()\n"
        "\n"
        "K  Python\n"
        ".  Tracer\n"
        "\n"
        "Code  Meaning  Slots  Kernels\n"
        "K     kernel   1      k\n"
        ".     missing  1\n"
    )


@pytest.mark.parametrize("name", SOME_UNIVERSES)
@pytest.mark.parametrize("width", [40, 60, 79, 80, 104, 200])
def test_every_width_has_room_and_every_slot(name: str, width: int) -> None:
    universe = universes.load(name)
    text = shown([row(key, Rule.KERNEL, stale=True, live_kernel="x") for key in universe.slots], width, universe)
    assert max(map(len, text.splitlines())) <= width
    lines = text.partition("Code  ")[0]
    per_backend = sum(map(len, universe.per_backend.values()))
    others = sum(line.startswith("K!") for line in lines.splitlines())
    assert lines.count("K!") == per_backend + others == per_backend + 1
    blocks = sum(line.startswith("Dense ") for line in text.splitlines())
    assert width == 79 or (blocks == 1) == (width >= 80)


def test_heads_that_would_be_the_same_stay_whole() -> None:
    names = {"PrivateUse1": "PrivateUnit1"}
    backends = tuple(names.get(backend, backend) for backend in UNIVERSE.backends)
    backends = tuple("ProtoUnit2" if backend == "PrivateUse2" else backend for backend in backends)
    backends = tuple("PrivateUnit2" if backend == "PrivateUse3" else backend for backend in backends)
    per_backend = {"Dense": backends}
    universe = replace(UNIVERSE, backends=backends, per_backend=per_backend)
    head = shown([row(key, Rule.KERNEL) for key in backends], 80, universe).splitlines()[2]
    assert head.split() == [
        *("CPU", "CUDA", "HIP", "XLA", "MPS", "IPU", "XPU", "HPU", "VE", "Lazy", "MTIA", "MAIA", "PU1"),
        *("ProtoUnit2",),
    ]


def test_colour_changes_nothing_but_colour() -> None:
    import re

    rows = [row(key, Rule.KERNEL, stale=True, live_kernel="x") for key in UNIVERSE.slots]
    table = OperatorTable("a::b", None, None, tuple(rows))
    blocks = [*document(TableReport("u", False, (), iter([table])), 80, universe=UNIVERSE)]
    colored, plain = ("".join(text(blocks, Style(80, color))) for color in (True, False))
    assert "\x1b[1;32mK" in colored
    without = re.sub(r"\x1b\[[0-9;]*m", "", colored)
    assert [line.rstrip() for line in without.splitlines()] == plain.splitlines()
