"""All answers of findings, keys, coverage and versions, compared with what their commands print.

``python -m tests.explore.answers [SEED]``; a part of this is in the suite.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from click.testing import CliRunner

from dispatch_cli import api, bases
from dispatch_cli.cli import cli
from dispatch_cli.engine.coverage.backend import backend_keys
from dispatch_cli.explore.answers.coverage import coverage_answer
from dispatch_cli.explore.answers.differences import ComparedStates, diff_answer, every_version, history_answer
from dispatch_cli.explore.answers.findings import findings_answer
from dispatch_cli.explore.answers.keys import key_answer, keys_answer, registered_answer
from dispatch_cli.explore.answers.sides import old_state, olds
from dispatch_cli.explore.answers.snapshot import snapshot
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import InputError
from dispatch_cli.render.data import json_text


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
        yield coverage_answer(session, key, chosen.random() < 0.5)
    old = chosen.choice(olds(session))
    states = ComparedStates(old_state(session, old, session.original), snapshot(state))
    yield diff_answer(session, old, None, states)
    for name in chosen.sample(names, min(6, len(names))):
        yield diff_answer(session, old, Spot(OperatorName.parse(name)), states)


def histories(chosen: random.Random) -> Iterator[PaneAnswer | None]:
    """Those of some operators."""
    versions = every_version()
    for name in chosen.sample(versions.operators(), 60):
        yield history_answer(Spot(OperatorName.parse(name)), versions)
    for name in chosen.sample(versions.higher_order_operators(), 10):
        yield history_answer(Spot(higher_order=name), versions)


def differs(answer: PaneAnswer) -> bool:
    """Whether the command of an answer prints something else."""
    result = CliRunner().invoke(cli, [*answer.command, "--format", "json"])
    return result.exit_code not in (0, 1) or result.stdout != "".join(json_text(answer.report))


def main() -> int:
    """The exit code."""
    chosen = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    same: Counter[str] = Counter()
    wrong = []
    for found in (*(answers(one, chosen) for one in sessions(chosen)), histories(chosen)):
        for answer in found:
            if answer is None or answer.why_not:
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
