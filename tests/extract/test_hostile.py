"""YAML of torchgen and build files that ask for very much: where a bound ends the reading, that is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.extract import work
from dispatch_cli.extract.run import SourceRun, run
from tests.cli.support import call
from tests.fuzz.hostile_cpp import write
from tests.fuzz.hostile_trees import TREES


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(name: str) -> SourceRun:
    write(TREES[name].files(TREES[name].size), ".")
    return run(["src"])


def bounds(found: SourceRun) -> list[tuple[str, int]]:
    return [(gap.at.file, gap.at.line) for gap in found.not_understood if gap.bound]


@pytest.mark.parametrize(
    ("name", "file", "line"),
    [
        ("aliases that double", "src/native_functions.yaml", 18),
        ("aliases that double, of a backend", "src/xla_native_functions.yaml", 17),
        ("lists in each other", "src/native_functions.yaml", 4),
        ("mappings in each other", "src/native_functions.yaml", 4),
    ],
)
def test_yaml_that_is_too_large_or_too_deep_is_a_bound(name: str, file: str, line: int) -> None:
    extraction = read(name)
    assert bounds(extraction) == [(file, line)]
    assert extraction.definitions == 2  # of the other files
    result = call("check-invariants", "src")
    assert result.code == 1
    assert f"{file}:{line}:" in result.out
    assert call("check-invariants", file).code == 2


def test_the_work_on_many_packages_grows_with_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each package asks which namespaces its Python files name an operator in."""
    spent = []
    budgets: list[work.WorkBudget] = []
    init = work.WorkBudget.__init__
    monkeypatch.setattr(work.WorkBudget, "__init__", lambda self: (budgets.append(self), init(self))[1])
    for count in (100, 200, 400):
        budgets.clear()
        write(TREES["uses of one operator"].files(count), str(count))
        run([f"{count}/src"])
        spent.append(sum(sum(budget.spent.values()) for budget in budgets))
    assert spent[2] - spent[1] <= 2.7 * (spent[1] - spent[0]), spent
