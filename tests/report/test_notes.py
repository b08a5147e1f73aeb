"""What is said below a table: each kind of note where it belongs, and not where it nearly does.

The facts are those of the rules: which alias covers what, what yields to what, where a call without tensors ends.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Protocol

import pytest

from dispatch_cli.api import load_state
from dispatch_cli.model.names import OperatorName
from dispatch_cli.report.notes import Note, NoteKind
from dispatch_cli.report.table import table_report

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
        (table,) = table_report(load_state([str(path)]), [OperatorName("demo::op")], shown).tables()
        return table.notes

    return notes


def test_a_backend_kernel_displaces_the_math_kernel(notes_of: NotesOf) -> None:
    assert notes_of("CPU", "CUDA", MATH) == (
        Note(NoteKind.DISPLACED, ("AutogradCPU",), ("CPU",)),
        Note(NoteKind.DISPLACED, ("AutogradCUDA",), ("CUDA",)),
    )
    # these backends have no set of their own: the math kernel stays
    assert notes_of("MTIA", "HIP", MATH) == ()
    # an autograd kernel settles it, and without a math kernel there is nothing to displace
    assert notes_of("CPU", "AutogradCPU", MATH) == ()
    assert notes_of("CPU") == ()


def test_an_ambiguous_slot_names_the_culprits(notes_of: NotesOf) -> None:
    assert notes_of("FPGA", "MkldnnCPU", MATH) == (Note(NoteKind.AMBIGUOUS, ("AutogradOther",), ("FPGA", "MkldnnCPU")),)
    assert notes_of("FPGA", "AutogradOther", MATH) == ()


def test_a_sparse_kernel_is_bypassed(notes_of: NotesOf) -> None:
    assert notes_of("AutogradOther", "SparseCPU", "QuantizedCPU", "SparseHIP", MATH) == (
        Note(NoteKind.BYPASSED, ("AutogradCPU",), ("SparseCPU", "QuantizedCPU"), "CPU"),
        Note(NoteKind.BYPASSED, ("AutogradHIP",), ("SparseHIP",), ""),
    )
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


@pytest.mark.parametrize(
    ("schema", "keys", "found"),
    [
        ("demo::op(int[] size) -> Tensor", ("CPU", "CUDA"), True),
        ("demo::op() -> Tensor", ("CPU",), True),
        ("demo::op(int[] size) -> Tensor", ("CPU", "BackendSelect"), False),
        ("demo::op(int[] size) -> Tensor", ("CPU", MATH), False),
        ("demo::op(int[] size) -> Tensor", ("CPU", DEFAULT), False),
        ("demo::op(Tensor[] xs) -> Tensor", ("CPU",), False),
        ("demo::op(Tensor? x) -> Tensor", ("CPU",), False),
        ("demo::op(int[] size) -> Tensor", ("Autograd",), False),
    ],
)
def test_a_factory_ends_at_undefined(notes_of: NotesOf, schema: str, keys: tuple[str, ...], found: bool) -> None:
    kinds = {note.kind for note in notes_of(*keys, schema=schema)}
    assert (NoteKind.UNREACHABLE in kinds) is found


def test_what_an_alias_does_not_cover(notes_of: NotesOf) -> None:
    assert notes_of(DEFAULT) == (Note(NoteKind.UNCOVERED, NESTED, (DEFAULT,)),)
    keys = frozenset({"XLA", "Lazy", "SparseXPU", "NestedTensorXPU", "XPU", "QuantizedXPU", "Fake", "AutogradHIP"})
    assert notes_of(NON_FUNCTIONAL, shown=keys) == (
        Note(NoteKind.UNCOVERED, ("XLA", "Lazy", "SparseXPU", "NestedTensorXPU"), (NON_FUNCTIONAL,)),
    )
    assert notes_of(MATH) == ()
    assert notes_of("CPU", "Autograd") == ()
