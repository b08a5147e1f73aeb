"""Higher-order operators: the answers of two PyTorch versions about their own, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dispatch_cli import api, bases
from dispatch_cli.crossref.compare import resolve_answer
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.python.higher_order import HigherOrderTable, Slot, merged
from dispatch_cli.model.higher_order import HigherOrderImpl, HigherOrderOperator, ImplKind
from dispatch_cli.model.problem import InputError
from tests.support import UNIVERSE_OF, load_recording


@pytest.mark.parametrize(("version", "count"), [("2.4.1", 24), ("2.15.0", 48)])
def test_every_answer_is_as_recorded(version: str, count: int) -> None:
    """Every operator of the embedded state at every key: what ``resolve_key`` chooses, and which keys fall through."""
    recording = load_recording(f"{version}.higher_order")
    base = bases.load(UNIVERSE_OF[version])
    fallbacks = Dispatcher(base.universe).fallback_bits
    assert tuple(recording["slots"]) == base.universe.slots
    assert [operator.name for operator in base.higher_order_operators] == sorted(recording["answers"])
    assert len(recording["answers"]) == count
    for operator in base.higher_order_operators:
        table = HigherOrderTable(base.universe, operator, fallbacks)
        answer = recording["answers"][operator.name]
        assert list(map(resolve_answer, base.universe.slots, table.decisions)) == answer["resolved"]
        reached = [key for key in base.universe.runtime if not table.falls_through(key)]
        assert sorted(reached) == answer["reached"]


def test_what_a_call_finds() -> None:
    state = api.load_state([], bases=["torch-2.15"])
    operator = state.higher_order_operator("call_torchbind")
    assert operator is not None
    table = state.higher_order_table(operator)
    entries = {
        key: table.entry(key) for key in ("CPU", "Undefined", "Python", "BackendSelect", "Conjugate", "AutocastHPU")
    }
    assert {key: entry.slot for key, entry in entries.items()} == {
        "CPU": Slot.IMPL,
        "Undefined": Slot.IMPL,
        "Python": Slot.MODES,
        "BackendSelect": Slot.FALLTHROUGH,
        "Conjugate": Slot.NO_IMPL,
        "AutocastHPU": Slot.MISSING,
    }
    # As live PyTorch 2.13.0 and 2.15.0 word it.
    assert entries["Conjugate"].error == (
        "could not find kernel for HigherOrderOperator call_torchbind at dispatch key DispatchKey.Conjugate "
        "(resolved from DispatchKey.Conjugate)"
    )
    assert (
        entries["AutocastHPU"].error
        == "could not find kernel for call_torchbind at dispatch key DispatchKey.AutocastHPU"
    )


def rule(name: str, kernel: str) -> HigherOrderImpl:
    return HigherOrderImpl(ImplKind.MODE, name, kernel)


def test_a_later_operator_takes_the_place_of_an_earlier_one_or_adds_to_it() -> None:
    first = HigherOrderOperator("a", (rule("M", "x"),), side_effect=True)
    other = HigherOrderOperator("b")
    second = HigherOrderOperator("a", (rule("N", "y"),))
    assert merged((first, other, second)) == (second, other)
    adding = second._replace(adds=True)
    assert merged((first, other, adding)) == (
        HigherOrderOperator("a", (rule("M", "x"), rule("N", "y")), side_effect=True),
        other,
    )


Write = Callable[[str], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(text: str) -> str:
        file = tmp_path / "x.yaml"
        file.write_text(f"dispatch: 1\n{text}", encoding="utf-8")
        return str(file)

    return write


REFUSED = {
    # Each text is PyTorch's, as live 2.13.0 prints it; a class stands without its module.
    "two derivatives": (
        "higher_order_operators:\n  - {name: a, dispatch: {Autograd: x}, autograd: y}\n",
        [("Trying to override a python impl for DispatchKey.Autograd on operator a", 3, 50, (3, 26))],
    ),
    "functionalize in its three places": (
        "higher_order_operators:\n  - {name: a, modes: {FunctionalTensorMode: x}, functionalize: y}\n",
        [("<class 'FunctionalTensorMode'> already registered in python_key_table", 3, 64, (3, 23))],
    ),
    "a transform": (
        "higher_order_operators:\n  - {name: a, functionalize: y, transforms: {Functionalize: x}}\n",
        [("TransformType.Functionalize already registered in functorch_table", 3, 46, (3, 30))],
    ),
    "the Python key": (
        "higher_order_operators:\n  - {name: a, dispatch: {Python: x}}\n",
        [("Please register a mode for the DispatchKey.Python key instead.", 3, 26, None)],
    ),
    "added": (
        "higher_order_operators:\n  - {name: a, modes: {M: x}}\n  - {name: a, add: true, modes: {M: y, N: z}}\n",
        [("<class 'M'> already registered in python_key_table", 4, 34, (3, 23))],
    ),
    "Python kernels of operators": (
        "operators:\n  - {func: m::f(Tensor x) -> Tensor, python_dispatch: {Meta: x, Python: y}}\n"
        "  - {name: m::f, python_dispatch: {Meta: z}}\n",
        [
            ("Please register a mode for the DispatchKey.Python key instead.", 3, 65, None),
            ("Trying to override a python impl for DispatchKey.Meta on operator m::f", 4, 36, (3, 56)),
        ],
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str, write: Write) -> None:
    text, expected = REFUSED[name]
    with pytest.raises(InputError) as caught:
        api.load_state([write(text)])
    results = []
    for problem in caught.value.problems:
        assert problem.span is not None
        places = [place.span for place in problem.related if place.span is not None]
        earlier = (places[0].line, places[0].column) if places else None
        results.append((problem.message, problem.span.line, problem.span.column, earlier))
    assert results == expected
