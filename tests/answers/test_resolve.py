"""Reports of simulated calls: what becomes of each key, the selections, the steps, where it is cut short."""

from __future__ import annotations

import random

import pytest

from dispatch_cli.answers.keys.outcomes import KeyStatus
from dispatch_cli.answers.resolve.report import ResolveReport, resolve_report
from dispatch_cli.answers.shared.notes import NoteKind
from dispatch_cli.api import load_state
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import Does
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.keys.expression import evaluate
from dispatch_cli.model.call import Context, TensorSpec
from dispatch_cli.model.names import OperatorName

DECLARATIONS = """\
dispatch: 1
operators:
  - func: demo::op(Tensor x, Tensor y) -> Tensor
    dispatch:
      CPU: op_cpu
      SparseCPU: op_sparse
      Autograd: op_autograd
      AutocastCPU: op_autocast
      Conjugate: fallthrough
  - func: demo::composite(Tensor x) -> Tensor
    dispatch: {CompositeImplicitAutograd: composite_math, SparseCPU: composite_sparse}
  - func: demo::python(Tensor x) -> Tensor
    dispatch: {CPU: python_cpu}
    python_dispatch: {CompositeImplicitAutograd: python_math}
"""


@pytest.fixture
def state(tmp_path_factory: pytest.TempPathFactory) -> State:
    path = tmp_path_factory.mktemp("resolve") / "a.yaml"
    path.write_text(DECLARATIONS, encoding="utf-8")
    return load_state([str(path)])


def report(state: State, operator: str, *tensors: str, contexts: tuple[str, ...] = ()) -> ResolveReport:
    specs, entered = [*map(TensorSpec.parse, tensors)], [*map(Context.parse, contexts)]
    call = simulate(state, OperatorName.parse(operator), specs, entered)
    return resolve_report(state, call)


def statuses(found: ResolveReport, stage: int = 0) -> list[tuple[str, KeyStatus, tuple[int, ...]]]:
    return [(outcome.key, outcome.status, outcome.steps) for outcome in found.selections[stage].keys]


def test_a_wrapper_and_a_kernel(state: State) -> None:
    answer = report(state, "demo::op", "cpu")
    assert statuses(answer) == [
        ("AutocastCPU", KeyStatus.EXCLUDED, ()),
        ("AutogradCPU", KeyStatus.RUNS, (1,)),
        ("ADInplaceOrView", KeyStatus.FALLS_THROUGH, ()),
        ("BackendSelect", KeyStatus.FALLS_THROUGH, ()),
        ("CPU", KeyStatus.RUNS, (2,)),
    ]
    outcomes = {outcome.key: outcome for outcome in answer.selections[0].keys}
    assert {key: (outcome.tensors, outcome.included) for key, outcome in outcomes.items()} == {
        "AutocastCPU": ((1,), False),
        "AutogradCPU": ((1,), False),
        "ADInplaceOrView": ((1,), True),
        "BackendSelect": ((), True),
        "CPU": ((1,), False),
    }
    assert [(row.kernel, row.source) for row in (outcomes["AutogradCPU"].entry, outcomes["AutocastCPU"].entry)] == [
        ("op_autograd", "Autograd"),
        ("op_autocast", "AutocastCPU"),
    ]
    assert [(step.number, step.hop.slot, step.hop.does) for step in answer.steps] == [
        (1, "AutogradCPU", Does.REDISPATCHES),
        (2, "CPU", Does.ENDS),
    ]
    assert answer.steps[0].hop.passes is not None
    assert [*answer.steps[0].hop.passes] == ["CPU"]
    assert (answer.fails, answer.notes) == (False, ())


def test_a_key_that_a_redispatch_leaves_out() -> None:
    """PyTorch's autograd kernels go on below all autograd keys, AutogradOther too (``after_autograd_keyset``)."""
    answer = report(load_state([], bases=["torch-2.15"]), "aten::add.Tensor", "cpu", "mkldnn")
    assert statuses(answer) == [
        ("AutocastCPU", KeyStatus.EXCLUDED, ()),
        ("AutogradCPU", KeyStatus.RUNS, (1,)),
        ("AutogradOther", KeyStatus.LEFT_OUT, ()),
        ("ADInplaceOrView", KeyStatus.FALLS_THROUGH, ()),
        ("BackendSelect", KeyStatus.FALLS_THROUGH, ()),
        ("MkldnnCPU", KeyStatus.RUNS, (2,)),
        ("CPU", KeyStatus.NOT_REACHED, ()),
    ]


def test_two_backends(state: State) -> None:
    answer = report(state, "demo::op", "cpu", "cuda sparse")
    assert statuses(answer) == [
        ("AutocastCUDA", KeyStatus.EXCLUDED, ()),
        ("AutocastCPU", KeyStatus.EXCLUDED, ()),
        ("AutogradCUDA", KeyStatus.RUNS, (1,)),
        ("AutogradCPU", KeyStatus.OTHER_BACKEND, ()),
        ("ADInplaceOrView", KeyStatus.FALLS_THROUGH, ()),
        ("BackendSelect", KeyStatus.FALLS_THROUGH, ()),
        ("SparseCUDA", KeyStatus.RUNS, (2,)),
        ("SparseCPU", KeyStatus.OTHER_BACKEND, ()),
        ("CUDA", KeyStatus.NOT_REACHED, ()),
        ("CPU", KeyStatus.OTHER_BACKEND, ()),
    ]
    # a set does not keep its pairs: neither tensor has these
    assert [outcome.tensors for outcome in answer.selections[0].keys if outcome.key in ("SparseCPU", "CUDA")] == [
        (),
        (),
    ]
    assert answer.fails


def test_no_tensors(state: State) -> None:
    answer = report(state, "demo::op")
    assert statuses(answer) == [
        ("ADInplaceOrView", KeyStatus.FALLS_THROUGH, ()),
        ("BackendSelect", KeyStatus.FALLS_THROUGH, ()),
        ("Undefined", KeyStatus.RUNS, (1,)),
    ]
    assert (answer.steps[0].hop.does, answer.steps[0].entry.kernel, answer.fails) == (Does.RAISES, None, True)


def test_a_key_set_that_is_given(state: State) -> None:
    given = evaluate(state.dispatcher.universe, "AutogradCPU | AutocastCPU | CPU")
    call = simulate(state, OperatorName.parse("demo::op"), (), (), given.keys)
    answer = resolve_report(state, call, keyset=given.text)
    assert statuses(answer) == [
        ("AutocastCPU", KeyStatus.RUNS, (1,)),
        ("AutogradCPU", KeyStatus.RUNS, (2,)),
        ("CPU", KeyStatus.RUNS, (3,)),
    ]
    assert {outcome.included for outcome in answer.selections[0].keys} == {False}


def test_a_call_anew_has_a_selection_of_its_own(state: State) -> None:
    answer = report(state, "demo::op", "cpu batched", "cpu", contexts=("vmap",))
    assert len(answer.selections) > 1
    assert [step.number for step in answer.steps] == [*range(1, len(answer.steps) + 1)]
    assert answer.selections[0].included.added == ("FuncTorchDynamicLayerBackMode", "FuncTorchDynamicLayerFrontMode")
    assert answer.selections[0].steps[-1].hop.does is Does.CALLS_ANEW
    assert answer.selections[1].keys[0].status is KeyStatus.EXCLUDED


def test_notes_are_about_slots_on_the_way(state: State) -> None:
    assert [note.kind for note in report(state, "demo::composite", "cpu sparse").notes] == [NoteKind.BYPASSED]
    assert report(state, "demo::composite", "cuda").notes == ()
    inside = report(state, "demo::composite", "cpu sparse", contexts=("inference_mode",))
    assert (inside.notes, inside.steps[-1].entry.kernel) == ((), "composite_sparse")


TENSORS = ("cpu", "cuda", "meta", "cpu sparse", "cuda quantized", "mkldnn", "cpu conj", "cpu fake", "cpu nested")
CONTEXTS = ("inference_mode", "no_grad", "autocast cpu", "vmap", "grad", "python_dispatcher", "mode=M", "exclude=CPU")


def test_every_key_has_one_fate(state: State) -> None:
    """Over random calls: each key once, highest first; what runs, falls through and is excluded as the trace has it."""
    rng = random.Random(11)
    dispatcher: Dispatcher = state.dispatcher
    slot, parts = dispatcher.universe.slot, dispatcher.universe.runtime_parts
    for _ in range(60):
        tensors = rng.sample(TENSORS, rng.randint(0, 2))
        contexts = tuple(rng.sample(CONTEXTS, rng.randint(0, 3)))
        specs = [*map(TensorSpec.parse, tensors)]
        call = simulate(state, OperatorName.parse("demo::op"), specs, [*map(Context.parse, contexts)])
        answer = resolve_report(state, call)
        assert [step.hop.slot for step in answer.steps] == [hop.slot for hop in call.hops]
        for stage in answer.selections:
            keys = [outcome.key for outcome in stage.keys]
            assert keys == sorted(set(keys), key=slot.__getitem__, reverse=True)
            assert {*stage.selection.keyset, *stage.selection.unmasked, *stage.selection.result} <= {*keys}
            slots = {step.hop.slot for step in stage.steps}
            assert {outcome.key for outcome in stage.keys if outcome.status is KeyStatus.RUNS} == slots
            for outcome in stage.keys:
                if outcome.status is KeyStatus.RUNS:
                    continue
                functionality = parts[outcome.key][0]
                assert (outcome.status is KeyStatus.EXCLUDED) == (functionality in stage.excluded.functionalities)
                if outcome.status is KeyStatus.FALLS_THROUGH:
                    assert outcome.entry.fallthrough
                    assert stage.selection.unmasked.has(functionality)
                    assert not stage.selection.result.has(functionality)
