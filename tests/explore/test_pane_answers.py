"""Answers of findings, keys, coverage and versions equal what the commands that they name print."""

from __future__ import annotations

import random
from pathlib import Path
from shutil import copy

import click
import pytest
from click.testing import CliRunner

from dispatch_cli import api
from dispatch_cli.cli import cli
from dispatch_cli.cli.explore import check_setup
from dispatch_cli.cli.explore import command as explore
from dispatch_cli.cli.options import SourceOptions, load_state
from dispatch_cli.explore.answers.changes import registrations_answer
from dispatch_cli.explore.answers.differences import (
    ComparedStates,
    Old,
    diff_answer,
    every_version,
    history_answer,
    old_state,
    olds,
)
from dispatch_cli.explore.answers.findings import findings_search
from dispatch_cli.explore.background import snapshot
from dispatch_cli.explore.panes.coverage import coverage_answer, overview_answer
from dispatch_cli.explore.panes.keys import key_answer, keys_answer, registered_answer
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.model.changes.change import Addition
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import backend_keys
from tests.explore.support import assert_prints

pytestmark = pytest.mark.slow

EXAMPLES = Path("examples")
FILE = "scenarios/01_composite_override.yaml"
SEED = 15


def loaded(*files: str, base: str | None = None) -> Session:
    arguments = (*files, *(("--base", base) if base else ()))
    return Session(api.load_state(files, bases=(base,) if base else ()), arguments)


@pytest.fixture(params=[FILE, None])
def session(request: pytest.FixtureRequest) -> Session:
    """Over files, and over an embedded state alone."""
    return loaded(base="torch-2.15") if request.param is None else loaded(str(EXAMPLES / request.param))


def test_findings(session: Session) -> None:
    assert_prints(findings_search(session)(None))


def test_keys(session: Session) -> None:
    assert_prints(keys_answer(session))
    universe = session.state.dispatcher.universe
    for key in random.Random(SEED).sample(sorted(universe.ids), 3):
        assert_prints(key_answer(session, key))
        assert_prints(registered_answer(session, key))


def test_coverage(session: Session) -> None:
    assert_prints(overview_answer(session))
    keys = backend_keys(session.state.dispatcher.universe)
    for key in ("PrivateUse1", *random.Random(SEED).sample(keys, 1)):
        assert_prints(coverage_answer(session, key))


def test_registrations_and_fallbacks(session: Session) -> None:
    fallbacks = registrations_answer(session, None, ())
    assert fallbacks is not None and len(fallbacks.report.fallbacks) > 30
    assert_prints(fallbacks)
    names = session.state.own_operators() or [OperatorName.parse(name) for name in session.state.dispatcher.names()]
    for owner in random.Random(SEED).sample(names, min(3, len(names))):
        there = [
            registration for python in (False, True) for registration in session.whatif.registrations(owner, python)
        ]
        assert_prints(registrations_answer(session, owner, there))


def test_differences(session: Session) -> None:
    known = olds(session)
    if session.source == ("--base", "torch-2.15"):
        known = random.Random(SEED).sample(known, 1)
    state = snapshot(session.state)
    for old in known[:1]:
        states = ComparedStates(old_state(session, old, session.original), state)
        assert_prints(diff_answer(session, old, None, states))
        names = session.state.dispatcher.names()
        for name in random.Random(SEED).sample(names, min(2, len(names))):
            assert_prints(diff_answer(session, old, Spot(OperatorName.parse(name)), states))
        for operator in session.state.higher_order_operators[:1]:
            assert_prints(diff_answer(session, old, Spot(higher_order=operator.name), states))


def test_history() -> None:
    versions = every_version()
    for name in random.Random(SEED).sample(versions.operators(), 3):
        assert_prints(history_answer(Spot(OperatorName.parse(name)), versions))
    assert history_answer(Spot(OperatorName.parse("my::own")), versions) is None
    assert history_answer(Spot(higher_order="cond"), versions) is None


def test_with_what_is_being_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file that is named has what is being tried, once it is written."""
    (tmp_path / EXAMPLES / FILE).parent.mkdir(parents=True)
    copy(EXAMPLES / FILE, tmp_path / EXAMPLES / FILE)
    monkeypatch.chdir(tmp_path)
    session = loaded(str(EXAMPLES / FILE))
    name = OperatorName.parse("aten::to.dtype")
    session.whatif.apply(Addition(name, "AutogradPrivateUse1", Kernel("tried")))
    effect = session.whatif.search()()
    session.whatif.write()
    answer = findings_search(session)(None)
    assert_prints(answer)
    assert_prints(findings_search(session, original=True)(None))
    plain = loaded(str(EXAMPLES / FILE))
    before = {finding.fingerprint for finding in findings_search(plain)(None).report.findings}
    new = [entry.finding.message for entry in answer.report.findings if entry.fingerprint not in before]
    assert sorted(finding.message for finding in effect.new) == sorted(new) != []
    assert_prints(coverage_answer(session, "PrivateUse1"))
    assert_prints(registered_answer(session, "AutogradPrivateUse1"))
    first = olds(session)[0]
    assert first == Old(None)
    states = ComparedStates(old_state(session, first, session.original), session.state)
    answer_of_diff = diff_answer(session, first, None, states)
    assert_prints(answer_of_diff)
    assert answer_of_diff is not None
    assert answer_of_diff.report.counts.registrations_added == 1


def test_findings_over_an_assumed_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Registrations that another PyTorch may accept are as mild as in the command, with changes on trial, too."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "my"\nversion = "1"\ndependencies = ["torch~=2.7.1"]\n')
    (tmp_path / "my.cpp").write_text(
        'TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("addmm.dtype", &addmm); m.impl("mm", &mm); }\n'
        'TORCH_LIBRARY_FRAGMENT(aten, m) { m.def("mm(Tensor x) -> Tensor"); }\n'
    )
    with click.Context(explore):
        session = Session(load_state(SourceOptions((".",), (), None, ())), (".",))
    findings = assert_prints(findings_search(session, original=True)(None))["findings"]
    severities = {finding["check"]: finding["severity"] for finding in findings}
    assert severities["dangling-implementation"] == "info" and severities["refused-registration"] == "warning"
    session.whatif.apply(Addition(OperatorName.parse("aten::mm"), "AutogradPrivateUse1", Kernel("tried")))
    session.whatif.write()
    assert_prints(findings_search(session)(None))


def test_what_the_project_says_of_the_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its settings, guards and baseline count as for the command."""
    (tmp_path / "decl.yaml").write_text((EXAMPLES / FILE).read_text())
    (tmp_path / "guards.yaml").write_text(
        "dispatch: 1\nguards:\n  - {op: aten::to.dtype, key: PrivateUse1, rule: math}\n"
    )
    (tmp_path / "pyproject.toml").write_text(
        '[tool.dispatch-cli]\nignore = ["no-autocast-fallback"]\nguards = ["guards.yaml"]\n'
        'baseline = "known.json"\nfail-on = "error"\n'
    )
    monkeypatch.chdir(tmp_path)
    known = CliRunner().invoke(cli, ["check-invariants", "decl.yaml", "--update-baseline", "--select", "guard"])
    assert known.exit_code == 0, known.stderr
    session = loaded("decl.yaml")
    session.checks = check_setup(SourceOptions(("decl.yaml",), (), None, ()))
    answer = findings_search(session)(None)
    assert_prints(answer)
    assert answer.report.baseline.known == 2
    assert "no-autocast-fallback" not in {check.id for check in answer.report.checks}
