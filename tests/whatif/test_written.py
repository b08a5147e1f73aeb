"""Written files say the same as the changes that were tried."""

from __future__ import annotations

import resource
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from dispatch_cli.answers.findings.baseline import Entry
from dispatch_cli.answers.findings.report import findings_report
from dispatch_cli.api import load_state
from dispatch_cli.checks.all_checks import CHECKS
from dispatch_cli.checks.check import Finding
from dispatch_cli.checks.running.run import run_checks
from dispatch_cli.checks.view import View
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.table import answer
from dispatch_cli.model import read_files
from dispatch_cli.model.changes.change import Addition, RegistrationName, Removal
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.whatif.whatif import WhatIf
from dispatch_cli.whatif.written import CannotSave
from tests.whatif.random_changes import make_random_changes

ADD = OperatorName.parse("aten::add.Tensor")
ROOT = Path(__file__).parents[2]
EXAMPLES = [ROOT / "examples" / name for name in ("custom_library.yaml", "stale.yaml", "out_of_tree_backend.yaml")]


@pytest.fixture(autouse=True)
def no_file_has_been_read() -> None:
    """As when a command starts: what other tests have read in this process does not count."""
    read_files.start()


def seen(state: State, operators: list[OperatorName]) -> list[object]:
    """Everything that a state answers of some operators, but for places in the file of changes."""
    results: list[object] = []
    for name in operators:
        if name not in state.dispatcher:
            results.append((name, None))
            continue
        table, stale = state.dispatcher.table(name), state.dispatcher.stale_slots(name)
        results.append((name, [answer(entry)[:3] for entry in table.values()]))
        results.append({key: (answer(one.live)[:3], one.cause.came) for key, one in stale.items()})
        results.append([kernel[:3] for kernel in state.python_kernels(name)])
    there = [name for name in operators if name in state.dispatcher]
    view = View(state, there, frozenset(there))
    results.append(Counter(map(Entry.of, run_checks(view, CHECKS, CHECKS).findings)))
    return results


@pytest.mark.parametrize("seed", range(2))
def test_over_pytorch(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    dice = Random(seed)
    tried = WhatIf(load_state([], bases=["torch-2.15"]))
    operators = [OperatorName.parse(name) for name in dice.sample(tried.original.dispatcher.names(), 3)]
    make_random_changes(dice, tried, operators, 6)
    assert tried.write() == "whatif.yaml"
    loaded = load_state(["whatif.yaml"], bases=["torch-2.15"])
    assert seen(loaded, operators) == seen(tried.state, operators)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.name))
def test_over_examples(path: Path, tmp_path: Path) -> None:
    dice = Random(path.name)
    tried = WhatIf(load_state([str(path)]))
    operators = tried.original.own_operators()[:8]
    make_random_changes(dice, tried, operators, 6)
    loaded = load_state([str(path), tried.write(str(tmp_path / "changes.yaml"))])
    assert seen(loaded, operators) == seen(tried.state, operators)


@pytest.mark.parametrize("file", ["01_composite_override.yaml", "08_ambiguous.yaml"])
def test_findings_are_where_the_checks_have_them(file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that end, at the places in the files; those that come, at the places in the file that is written."""
    path = str(ROOT / "examples/scenarios" / file)
    monkeypatch.chdir(tmp_path)
    before = load_state([path])
    tried = WhatIf(before)
    (operator,) = before.own_operators()[:1]
    tried.apply(Removal(tried.registrations(operator)[-1].name), Addition(operator, "CPU", Kernel("k", "k")))
    effect = tried.search()()
    assert effect.gone
    assert set(effect.gone) <= set(checked([path]))
    assert set(effect.new) <= set(checked([path, tried.write()]))


def checked(files: list[str], bases: tuple[str, ...] = ()) -> list[Finding]:
    """Findings of `check-invariants`."""
    state = load_state(files, bases=bases)
    report = findings_report(state, state.own_operators())
    return [finding.finding for finding in report.findings]


def test_only_what_was_written_here_is_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tried = WhatIf(load_state([], bases=["torch-2.15"]))
    tried.apply(Removal(RegistrationName(ADD, "CPU")))
    tried.write()
    tried.apply(Removal(RegistrationName(ADD, "ZeroTensor")))
    tried.write()
    assert "ZeroTensor" in Path("whatif.yaml").read_text(encoding="utf-8")
    with Path("whatif.yaml").open("a", encoding="utf-8") as file:
        file.write("# what I found\n")
    tried.undo()
    with pytest.raises(CannotSave, match="the file was changed since it was written here"):
        tried.write()
    assert Path("whatif.yaml").read_text(encoding="utf-8").endswith("# what I found\n")


def test_a_full_disk_leaves_what_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tried = WhatIf(load_state([], bases=["torch-2.15"]))
    tried.apply(Removal(RegistrationName(ADD, "CPU")))
    file = Path(tried.write())
    file.chmod(0o600)
    before = file.read_text(encoding="utf-8")
    tried.apply(Removal(RegistrationName(ADD, "ZeroTensor")))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, hard))
    try:
        with pytest.raises(CannotSave, match="cannot write"):
            tried.write()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert file.read_text(encoding="utf-8") == before
    assert [path.name for path in Path().iterdir()] == ["whatif.yaml"]
    tried.write()
    assert "ZeroTensor" in file.read_text(encoding="utf-8")
    assert file.stat().st_mode & 0o777 == 0o600
