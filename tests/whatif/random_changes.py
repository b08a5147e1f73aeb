"""Random changes of a state."""

from __future__ import annotations

from random import Random

from dispatch_cli.engine.table.registration import Refused
from dispatch_cli.model.changes.change import Addition, Change, Removal, Reordering
from dispatch_cli.model.kernel import FakeImpl, Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.whatif.whatif import WhatIf


def random_change(dice: Random, tried: WhatIf, operators: list[OperatorName]) -> Change | None:
    """A change that may be refused; None where there is nothing to change."""
    universe = tried.state.dispatcher.universe
    operator = None if dice.random() < 0.1 else dice.choice(operators)
    there = tried.registrations(operator, python=operator is not None and dice.random() < 0.1)
    keys = sorted(key for key in universe.parseable if key in universe.slot or key in universe.aliases)
    kind = dice.choice(("add", "remove", "remove", "move"))
    if kind == "add":
        name = f"kernel_{dice.randrange(5)}"
        if operator is not None and dice.random() < 0.2:
            return Addition(operator, "Meta", Kernel(name, python=True, fake=FakeImpl(name)))
        kernel = dice.choice(
            (Kernel(name, name), Kernel("fallthrough", "fallthrough", fallthrough=True), Kernel("text of a dump"))
        )
        return Addition(operator, dice.choice(keys), kernel)
    if not there:
        return None
    if kind == "remove":
        return Removal(dice.choice(there).name)
    which = dice.choice(there).name
    target = dice.choice(tried.registrations(dice.choice((operator, operator, None))) or there).name
    before = dice.random() < 0.5
    return Reordering(which, target, not before)


def make_random_changes(dice: Random, tried: WhatIf, operators: list[OperatorName], most: int) -> None:
    """Make up to so many changes; some are undone."""
    for _ in range(dice.randrange(1, most + 1)):
        change = random_change(dice, tried, operators)
        if change is None:
            continue
        try:
            tried.apply(change)
        except Refused:
            continue
        if dice.random() < 0.1:
            tried.undo()
        elif dice.random() < 0.1 and tried.changes:
            try:
                tried.take_back(dice.randrange(len(tried.changes)) + 1)
            except Refused:
                continue
