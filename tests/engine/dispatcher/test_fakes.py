"""Fake implementations: what PyTorch refuses, and which one is active."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli import universes
from dispatch_cli.api import load_state
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.dispatcher.fakes import active_fake
from dispatch_cli.engine.table.registration import Refused, Registration
from dispatch_cli.model.kernel import FakeImpl, Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import InputError
from dispatch_cli.model.schema.parser import parse_schema
from dispatch_cli.model.universe import Universe
from tests.engine.live_cases import LiveCase, Side, answers_to

NAME = OperatorName("fakes::op")
Steps = list[list[Any]]
Answer = tuple[list[str], str | None, int]

NO_META = (
    "We should not register a meta kernel directly to the operator 'OP', because it has a CompositeImplicitAutograd "
    "kernel in core. Instead we should let the operator decompose, and ensure that we have meta kernels for the base "
    "ops that it decomposes into."
)


def predicted(universe: Universe, steps: Steps) -> Answer:
    dispatcher = Dispatcher(universe)
    dispatcher.define(parse_schema(f"{NAME}(Tensor x) -> Tensor"), "here")
    registered: dict[str, Registration] = {}

    def take(kind: str, name: str, *rest: Any) -> str:
        try:
            if kind == "drop":
                if name in registered:
                    dispatcher.drop(registered.pop(name))
            else:
                fake = FakeImpl(name, "FILE:1", rest[0]) if kind == "fake" else None
                kernel = Kernel(name, python=True, fake=fake)
                registered[name] = dispatcher.implement(NAME, "Meta" if fake else rest[0], kernel)
        except Refused as refused:
            return str(refused).replace("FILE:1", "SOURCE").replace(str(NAME), "OP")
        return ""

    errors = [take(*step) for step in steps]
    operator = dispatcher.operator(NAME)
    active = active_fake(operator)
    return errors, active.kernel.debug if active is not None else None, len(operator.kernels.get("Meta", ()))


def test_an_operator_that_is_not_there() -> None:
    dispatcher = Dispatcher(universes.load("torch-2.15"))
    with pytest.raises(Refused, match=r"^operator fakes::op does not exist$"):
        dispatcher.implement(NAME, "Meta", Kernel("a", python=True, fake=FakeImpl("a")))


def _wrong(side: Side, sequences: Any, answers: Any) -> list[str]:
    wrong = []
    for steps, (errors, active, metas) in zip(sequences, answers, strict=True):
        live = ([re.sub(r"fakes::op\d+", "OP", error) for error in errors], active, metas)
        if live != (ours := predicted(side.universe, steps)):
            wrong.append(f"{steps}: {live}, ours: {ours}")
    return wrong


CASE = LiveCase(answers_to("fakes"), _wrong)


PYTHON = "{kernel: m, python: true}"


@pytest.mark.parametrize(
    ("dispatch", "refused"),
    [
        (f"{{CompositeImplicitAutograd: a, Meta: {PYTHON}}}", True),
        (f"{{Meta: {PYTHON}, CompositeImplicitAutograd: a}}", False),
        ("{CompositeImplicitAutograd: a, Meta: m}", False),
    ],
)
@pytest.mark.parametrize("universe", ["torch-2.4", "torch-2.15"])
def test_library_impl_at_meta(tmp_path: Path, universe: str, dispatch: str, refused: bool) -> None:
    """``Library.impl`` of live PyTorch 2.4.1, 2.13.0 and 2.15.0 said so; C++ refuses none of them."""
    file = tmp_path / "a.yaml"
    file.write_text(
        f"dispatch: 1\nuniverse: {universe}\noperators:\n"
        f'  - func: "m::op(Tensor x) -> Tensor"\n    dispatch: {dispatch}\n'
    )
    if not refused:
        load_state([str(file)])
        return
    with pytest.raises(InputError) as caught:
        load_state([str(file)])
    (problem,) = caught.value.problems
    assert problem.message == NO_META.replace("OP", "m::op")
    assert problem.span is not None
    assert (problem.span.line, len(problem.related)) == (5, 1)


def test_a_snapshot_holds_what_was_registered(tmp_path: Path) -> None:
    """The registrations in a capture of PyTorch's own operators may have come in any order."""
    file = tmp_path / "a.yaml"
    file.write_text(
        "dispatch: 1\nuniverse: torch-2.15\nsnapshot: true\noperators:\n"
        '  - func: "m::op(Tensor x) -> Tensor"\n'
        f"    dispatch: {{CompositeImplicitAutograd: a, Meta: {PYTHON}}}\n"
    )
    load_state([str(file)])
