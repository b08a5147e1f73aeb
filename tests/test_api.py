"""Loading and running files in one go."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.api import load_state
from dispatch_cli.model.problem import InputError


def test_mistakes_of_reading_and_refusals_come_together_in_order_of_place(tmp_path: Path) -> None:
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"
    first.write_text(
        "dispatch: 1\n"
        "operators:\n"
        "  - func: a::b(Tensor x) -> Tensor\n"
        "    dispatch: {CPU: {kernel: k, signature: '(Tensor x, int y) -> Tensor'}}\n"
        "  - func: a::c(Tensr x) -> Tensor\n"
        "  - func: a::b(Tensor x) -> Tensor\n",
        encoding="utf-8",
    )
    second.write_text("dispatch: 1\noperatorz: []\nfallbacks: {AutogradCPU: mine}\n", encoding="utf-8")
    with pytest.raises(InputError) as raised:
        load_state([str(first), str(second)])
    assert [
        (Path(problem.span.file).name, problem.span.line, problem.span.column, problem.code)
        for problem in raised.value.problems
        if problem.span is not None
    ] == [
        ("first.yaml", 4, 16, "signature-mismatch"),
        ("first.yaml", 5, 16, "bad-schema"),
        ("first.yaml", 6, 11, "duplicate-definition"),
        ("second.yaml", 2, 1, "unknown-field"),
        ("second.yaml", 3, 13, "duplicate-fallback"),
    ]


def test_thousands_of_refusals_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("dispatch: 1\noperators:\n" + "  - func: a::b() -> ()\n" * 1_000, encoding="utf-8")
    with pytest.raises(InputError) as raised:
        load_state([str(path)])
    assert len(raised.value.problems) == 101
    assert raised.value.problems[-1].message == "and 899 more registrations are refused"


@pytest.mark.parametrize(
    ("text", "bases", "found"),
    [
        ("extends: [torch-2.4, torch-2.15]\n", (), ("several-states", 2, 22)),
        ("extends: [torch-2.15]\n", ("torch-2.4",), ("several-states", 2, 11)),
        ("universe: torch-2.4\nextends: [torch-2.15]\n", (), ("universe-conflict", 3, 11)),
    ],
)
def test_states_that_do_not_go_together_are_shown_where_they_are_extended(
    text: str, bases: tuple[str, ...], found: tuple[str, int, int], tmp_path: Path
) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(f"dispatch: 1\n{text}", encoding="utf-8")
    with pytest.raises(InputError) as raised:
        load_state([str(file)], bases=bases)
    (problem,) = raised.value.problems
    assert problem.span is not None
    assert (problem.code, problem.span.line, problem.span.column) == found


@pytest.mark.parametrize(
    ("name", "more", "hint"),
    [
        ("aten::add.Tensor", "", "to load PyTorch's own operators, add extends: [torch-2.15]"),
        ("mylib::add", "", None),
        ("aten::add.Tensor", "  - func: aten::mine(Tensor x) -> Tensor\n", None),
        ("aten::add.Tensor", "universe: torch-2.4\n", "to load PyTorch's own operators, add extends: [torch-2.4]"),
    ],
)
def test_the_state_that_is_not_extended_is_named(name: str, more: str, hint: str | None, tmp_path: Path) -> None:
    """Only where no operator of that namespace is there: otherwise the name is more likely misspelt."""
    path = tmp_path / "x.yaml"
    path.write_text(f"dispatch: 1\noperators:\n  - name: {name}\n    fake: f\n{more}", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_state([str(path)])
    (problem,) = caught.value.problems
    assert (problem.code, problem.hint) == ("unknown-operator", hint)


def test_a_custom_operator_without_functions(tmp_path: Path) -> None:
    """``custom_op`` with ``device_types=()``: in a live PyTorch 2.13 it has kernels at Meta and Autograd alone."""
    path = tmp_path / "x.yaml"
    text = "dispatch: 1\noperators:\n  - custom_op: m::f(Tensor x) -> Tensor\n    kernels: {}\n"
    path.write_text(text, encoding="utf-8")
    dispatcher = load_state([str(path)]).dispatcher
    (name,) = dispatcher
    assert set(dispatcher.operator(name).kernels) == {"Meta", "Autograd"}
