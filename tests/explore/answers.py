"""All answers of findings, keys, coverage, changes and versions, compared with what their commands print.

``python -m tests.explore.answers [SEED]``; a part of this is in the suite.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from click.testing import CliRunner

from dispatch_cli import api, bases
from dispatch_cli.cli import cli
from dispatch_cli.engine.coverage.answers import Service
from dispatch_cli.engine.coverage.backend import backend_keys
from dispatch_cli.explore.answers.changes import changes_answer, finding_answer, registrations_answer
from dispatch_cli.explore.answers.coverage import coverage_answer, served_so
from dispatch_cli.explore.answers.differences import ComparedStates, diff_answer, every_version, history_answer
from dispatch_cli.explore.answers.findings import findings_answer, state_before, state_to_check
from dispatch_cli.explore.answers.keys import key_answer, keys_answer, registered_answer
from dispatch_cli.explore.answers.sides import old_state, olds
from dispatch_cli.explore.answers.snapshot import snapshot
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.model.change import Removal
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import InputError
from dispatch_cli.render.data import json_text
from dispatch_cli.whatif.whatif import WhatIf

TRIED = (
    "examples/stale.yaml",
    "examples/overlay.yaml",
    "examples/out_of_tree_backend.yaml",
    "examples/scenarios/01_composite_override.yaml",
    "examples/custom_ops.yaml",
)
"""Files in which changes are tried."""


def sessions(chosen: random.Random) -> Iterator[Session]:
    """Over some embedded states, and over every example that can be loaded."""
    for name in chosen.sample(bases.names(), 3):
        yield Session(api.load_state((), bases=(name,)), ("--base", name))
    for path in sorted(Path("examples").rglob("*.yaml")):
        try:
            yield Session(api.load_state((str(path),)), (str(path),))
        except InputError:  # noqa: PERF203  (those that show what is refused)
            continue


def answers(session: Session, chosen: random.Random) -> Iterator[PaneAnswer | None]:
    """Some of all that can be asked of a session."""
    state = session.state
    universe, names = state.dispatcher.universe, state.dispatcher.names()
    yield findings_answer(session)
    yield keys_answer(session)
    for key in chosen.sample(sorted(universe.ids), 6):
        yield key_answer(session, key)
        yield registered_answer(session, key)
    for key in chosen.sample(backend_keys(universe), 3):
        yield coverage_answer(session, key)
        yield listed_coverage(session, key, chosen)
    yield registrations_answer(session, None, ())
    for name in chosen.sample(names, min(6, len(names))):
        owner = OperatorName.parse(name)
        there = [
            registration for python in (False, True) for registration in session.whatif.registrations(owner, python)
        ]
        yield registrations_answer(session, owner, there)
    old = chosen.choice(olds(session))
    states = ComparedStates(old_state(session, old, session.original), snapshot(state))
    yield diff_answer(session, old, None, states)
    for name in chosen.sample(names, min(6, len(names))):
        yield diff_answer(session, old, Spot(OperatorName.parse(name)), states)


def listed_coverage(session: Session, key: str, chosen: random.Random) -> PaneAnswer | None:
    """Coverage of a backend, of which keys choose the operators that are served in one way."""
    answer = coverage_answer(session, key)
    service = chosen.choice((None, *Service))
    return None if answer is None else served_so(answer, service)


def changed(chosen: random.Random) -> Iterator[PaneAnswer | None]:
    """Content of the view of changes for some that are tried: registrations, differences and findings."""
    for path in chosen.sample(TRIED, 2):
        with TemporaryDirectory() as folder:
            session = Session(api.load_state((path,)), (path,))
            tried = session.whatif = WhatIf(session.original, f"{folder}/what-if.yaml")
            own = session.original.own_operators()
            for owner in (*chosen.sample(own, min(2, len(own))), None):
                there = tried.registrations(owner)
                tried.apply(Removal(chosen.choice(there).name))
            tried.write()
            findings = tried.effect()
            yield changes_answer(session)
            for owner in (*own[:3], None):
                there = [] if owner is None else [*tried.registrations(owner), *tried.registrations(owner, python=True)]
                yield registrations_answer(session, owner, there)
            for is_new in (True, False):
                expected = findings.new if is_new else findings.gone
                for finding in chosen.sample(expected, min(3, len(expected))):
                    state = state_to_check(session) if is_new else state_before(session)
                    answer = finding_answer(session, finding, is_new, state)
                    assert any(row.finding.message == finding.message for row in answer.report.findings)
                    yield answer


def histories(chosen: random.Random) -> Iterator[PaneAnswer | None]:
    """Those of some operators."""
    versions = every_version()
    for name in chosen.sample(versions.operators(), 60):
        yield history_answer(Spot(OperatorName.parse(name)), versions)
    for name in chosen.sample(versions.higher_order_operators(), 10):
        yield history_answer(Spot(higher_order=name), versions)


def differs(answer: PaneAnswer) -> bool:
    """True if the command of an answer prints something else."""
    result = CliRunner().invoke(cli, [*answer.command, "--format", "json"])
    return result.exit_code not in (0, 1) or result.stdout != "".join(json_text(answer.report))


def main() -> int:
    """The exit code."""
    chosen = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    same: Counter[str] = Counter()
    wrong = []
    for pane_answers in (
        *(answers(session, chosen) for session in sessions(chosen)),
        changed(chosen),
        histories(chosen),
    ):
        for answer in pane_answers:
            if answer is None:
                same["no command"] += 1
            elif differs(answer):
                wrong.append(" ".join(answer.command))
            else:
                same[answer.command[0]] += 1
    print(", ".join(f"{count} {name}" for name, count in same.items()))
    print(f"{len(wrong)} differ", *wrong, sep="\n  ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
