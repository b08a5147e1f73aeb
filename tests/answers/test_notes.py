"""Notes below a table: each kind of note where it belongs, and not where it nearly does.

The facts are those of the rules: which alias covers what, what yields to what, where a call without tensors ends.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Protocol

import pytest

from dispatch_cli.answers.shared.notes import Note, NoteKind
from dispatch_cli.answers.table.report import table_report
from dispatch_cli.api import load_state
from dispatch_cli.model.names import OperatorName

MATH, DEFAULT = "CompositeImplicitAutograd", "CompositeExplicitAutograd"
NON_FUNCTIONAL = "CompositeExplicitAutogradNonFunctional"
NESTED = tuple(
    f"NestedTensor{backend}"
    for backend in (
        *("CPU", "CUDA", "HIP", "XLA", "MPS", "IPU", "XPU", "HPU", "VE", "Lazy", "MTIA", "MAIA"),
        *("PrivateUse1", "PrivateUse2", "PrivateUse3", "Meta"),
    )
)


class NotesOf(Protocol):
    """A function from registrations to the notes on the operator's table."""

    def __call__(
        self,
        *keys: str,
        schema: str = ...,
        fallbacks: dict[str, str] | None = ...,
        shown: frozenset[str] | None = ...,
    ) -> tuple[Note, ...]: ...


@pytest.fixture
def notes_of(tmp_path: Path) -> NotesOf:
    """A function from registrations to the notes on the operator's table."""

    def notes(
        *keys: str,
        schema: str = "demo::op(Tensor x) -> Tensor",
        fallbacks: dict[str, str] | None = None,
        shown: frozenset[str] | None = None,
    ) -> tuple[Note, ...]:
        operator = {"func": schema, "dispatch": {key: f"k_{key}" for key in keys}}
        declared = {"dispatch": 1, "fallbacks": fallbacks or {}, "operators": [operator]}
        path = tmp_path / "x.json"
        path.write_text(json.dumps(declared), encoding="utf-8")
        (table,) = table_report(load_state([str(path)]), [OperatorName("demo::op")], shown).operators
        return table.notes

    return notes


class Declared(Protocol):
    """A function from the text of a file to the notes on demo::op's table."""

    def __call__(self, text: str, *, universe: str | None = ...) -> tuple[Note, ...]: ...


@pytest.fixture
def declared(tmp_path: Path) -> Declared:
    """A function from the text of a file to the notes on demo::op's table."""

    def notes(text: str, *, universe: str | None = None) -> tuple[Note, ...]:
        path = tmp_path / "x.yaml"
        path.write_text(text, encoding="utf-8")
        state = load_state([str(path)], universe=universe)
        (table,) = table_report(state, [OperatorName("demo::op")], None).operators
        return table.notes

    return notes


def test_a_backend_kernel_displaces_the_math_kernel(notes_of: NotesOf) -> None:
    assert notes_of("CPU", "CUDA", MATH) == (
        Note(NoteKind.DISPLACED, ("AutogradCPU",), ("CPU",)),
        Note(NoteKind.DISPLACED, ("AutogradCUDA",), ("CUDA",)),
    )
    # AutogradMTIA has no backend set, and tensors of HIP carry AutogradOther: the math kernel stays, and comes first
    assert notes_of("MTIA", "HIP", MATH) == (
        Note(NoteKind.BYPASSED, ("AutogradOther",), ("HIP",)),
        Note(NoteKind.BYPASSED, ("AutogradMTIA",), ("MTIA",)),
    )
    # an autograd kernel settles it, and without a math kernel there is nothing to displace
    assert notes_of("CPU", "AutogradCPU", MATH) == ()
    assert notes_of("CPU") == ()


def test_an_ambiguous_slot_names_the_culprits(notes_of: NotesOf) -> None:
    assert notes_of("FPGA", "MkldnnCPU", MATH) == (Note(NoteKind.AMBIGUOUS, ("AutogradOther",), ("FPGA", "MkldnnCPU")),)
    assert notes_of("FPGA", "AutogradOther", MATH) == ()


def test_a_sparse_kernel_is_bypassed(notes_of: NotesOf) -> None:
    assert notes_of("AutogradOther", "SparseCPU", "QuantizedCPU", "SparseHIP", MATH) == (
        Note(NoteKind.BYPASSED, ("AutogradCPU",), ("SparseCPU", "QuantizedCPU"), "CPU"),
    )
    # tensors of SparseHIP carry AutogradOther, which is ambiguous then
    assert notes_of("SparseHIP", MATH) == (Note(NoteKind.AMBIGUOUS, ("AutogradOther",), ("SparseHIP",)),)
    assert notes_of("AutogradOther", "AutogradCPU", "SparseCPU", MATH) == ()
    assert notes_of("CPU", "AutogradCPU", "AutogradOther", "SparseCPU", MATH) == ()
    assert notes_of("SparseCPU") == ()


def test_a_declared_fallback_that_an_alias_comes_before(notes_of: NotesOf) -> None:
    fallbacks = {"PrivateUse1": "mine"}
    keys = frozenset({"PrivateUse1"})
    assert notes_of(DEFAULT, fallbacks=fallbacks, shown=keys) == (
        Note(NoteKind.SHADOWED, ("PrivateUse1",), (DEFAULT,), "mine"),
    )
    assert notes_of("CPU", fallbacks=fallbacks, shown=keys) == ()
    assert notes_of("PrivateUse1", fallbacks=fallbacks, shown=keys) == ()
    # PyTorch's own fallbacks are there to be overridden
    assert notes_of("Autograd", shown=frozenset({"AutogradCPU"})) == ()


def test_an_ambiguous_slot_comes_before_a_fallback(declared: Declared) -> None:
    """The slot has no kernel of the operator, but it is the math kernel that made it ambiguous."""
    text = """dispatch: 1
fallbacks: none
libraries:
  - {kind: DEF, namespace: demo, define: ["op(Tensor x) -> Tensor"]}
  - {kind: IMPL, namespace: demo, dispatch_key: FPGA, impl: {op: k_fpga}}
  - {kind: IMPL, namespace: demo, dispatch_key: CompositeImplicitAutograd, impl: {op: k_math}}
  - {kind: IMPL, namespace: _, dispatch_key: AutogradOther, fallback: mine}
"""
    assert declared(text) == (
        Note(NoteKind.AMBIGUOUS, ("AutogradOther",), ("FPGA",)),
        Note(NoteKind.SHADOWED, ("AutogradOther",), (MATH,), "mine"),
    )


def test_a_fallback_that_a_stale_table_still_asks_is_not_called_unasked(declared: Declared) -> None:
    text = """dispatch: 1
fallbacks: none
libraries:
  - {kind: DEF, namespace: demo, define: ["op(Tensor x) -> Tensor"]}
  - {kind: IMPL, namespace: _, dispatch_key: FuncTorchBatched, fallback: mine}
  - {kind: IMPL, namespace: demo, dispatch_key: FuncTorchBatchedDecomposition, impl: {op: k}}
"""
    shadowed = Note(NoteKind.SHADOWED, ("FuncTorchBatched",), ("FuncTorchBatchedDecomposition",), "mine")
    assert declared(text, universe="torch-2.15") == (shadowed,)
    assert declared(text, universe="torch-2.4") == ()


@pytest.mark.parametrize(
    ("schema", "keys", "culprits"),
    [
        ("demo::op(int[] size) -> Tensor", ("CPU", "CUDA"), ("CPU", "CUDA")),
        ("demo::op() -> (Tensor, Tensor)", ("CPU",), ("CPU",)),
        ("demo::op(bool asTensor) -> Tensor", ("SparseCPU", "AutogradCPU"), ("SparseCPU", "AutogradCPU")),
        # modes bring these keys without any tensor
        (
            "demo::op(int[] size) -> Tensor",
            ("MkldnnCPU", "Tracer", "Python", "AutogradOther"),
            ("MkldnnCPU", "AutogradOther"),
        ),
        ("demo::op(int[] size) -> Tensor", ("Tracer", "Python"), None),
        ("demo::op(int[] size) -> Tensor", ("CPU", "BackendSelect"), None),
        ("demo::op(int[] size) -> Tensor", ("CPU", "ADInplaceOrView"), None),
        ("demo::op(int[] size) -> Tensor", ("CPU", MATH), None),
        ("demo::op(int[] size) -> Tensor", ("CPU", DEFAULT), None),
        ("demo::op(int[] size) -> Tensor", ("CPU", NON_FUNCTIONAL), None),
        ("demo::op(Tensor[] xs) -> Tensor", ("CPU",), None),
        ("demo::op(Tensor? x) -> Tensor", ("CPU",), None),
        ("demo::op(int[] size) -> Tensor", ("Autograd",), None),
    ],
)
def test_a_factory_ends_at_undefined(
    notes_of: NotesOf, schema: str, keys: tuple[str, ...], culprits: tuple[str, ...] | None
) -> None:
    notes = [note for note in notes_of(*keys, schema=schema) if note.kind is NoteKind.UNREACHABLE]
    assert notes == ([] if culprits is None else [Note(NoteKind.UNREACHABLE, ("Undefined",), culprits)])


def test_a_factory_whose_backend_select_falls_through_or_is_empty(declared: Declared) -> None:
    text = """dispatch: 1
operators:
  - func: demo::op() -> Tensor
    dispatch: {CPU: k, BackendSelect: fallthrough}
"""
    assert declared(text) == (Note(NoteKind.UNREACHABLE, ("Undefined",), ("CPU",)),)
    # then a call fails at BackendSelect, or at ADInplaceOrView, before it comes to Undefined
    assert declared(text.replace("operators:", "fallbacks: none\noperators:")) == ()


@pytest.mark.parametrize(
    ("shown", "found"), [("Undefined", True), ("CPU", True), ("CUDA", False), ("BackendSelect", False)]
)
def test_a_factory_among_the_shown_keys(notes_of: NotesOf, shown: str, found: bool) -> None:
    notes = notes_of("CPU", schema="demo::op() -> Tensor", shown=frozenset({shown}))
    assert notes == ((Note(NoteKind.UNREACHABLE, ("Undefined",), ("CPU",)),) if found else ())


def test_notes_are_about_shown_keys(notes_of: NotesOf) -> None:
    keys = ("CPU", "CUDA", "SparseCUDA", "QuantizedXPU", MATH)
    displaced = Note(NoteKind.DISPLACED, ("AutogradCUDA",), ("CUDA",))
    bypassed = Note(NoteKind.BYPASSED, ("AutogradXPU",), ("QuantizedXPU",), "XPU")
    ambiguous = Note(NoteKind.AMBIGUOUS, ("AutogradOther",), ("QuantizedXPU", "SparseCUDA"))
    assert notes_of(*keys, shown=frozenset({"AutogradCUDA"})) == (displaced,)
    assert notes_of(*keys, shown=frozenset({"AutogradXPU", "XPU"})) == (bypassed,)
    assert notes_of(*keys, shown=frozenset({"AutogradOther"})) == (ambiguous,)
    assert notes_of(*keys, shown=frozenset({"CPU", "SparseCUDA", "AutogradMPS"})) == ()


def test_what_an_alias_does_not_cover(notes_of: NotesOf) -> None:
    assert notes_of(DEFAULT) == (Note(NoteKind.UNCOVERED, NESTED, (DEFAULT,)),)
    keys = frozenset({"XLA", "Lazy", "SparseXPU", "NestedTensorXPU", "XPU", "QuantizedXPU", "Fake", "AutogradHIP"})
    assert notes_of(NON_FUNCTIONAL, shown=keys) == (
        Note(NoteKind.UNCOVERED, ("XLA", "Lazy", "SparseXPU", "NestedTensorXPU"), (NON_FUNCTIONAL,)),
    )
    both = notes_of(DEFAULT, NON_FUNCTIONAL, shown=frozenset({"SparseXPU", "NestedTensorXPU"}))
    assert both == (Note(NoteKind.UNCOVERED, ("NestedTensorXPU",), (NON_FUNCTIONAL, DEFAULT)),)
    # a slot that the math kernel would fill is displaced, not uncovered
    displaced = notes_of(MATH, DEFAULT, shown=frozenset({"NestedTensorXPU"}))
    assert displaced == (Note(NoteKind.DISPLACED, ("NestedTensorXPU",), (DEFAULT,)),)
    assert notes_of(MATH) == ()
    assert notes_of("CPU", "Autograd") == ()
