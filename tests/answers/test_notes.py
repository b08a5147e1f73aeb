"""Notes below a table: each kind of note where it belongs, and not where it nearly does.

The facts are those of the rules: which alias covers what, what yields to what, where a call without tensors ends.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dispatch_cli.answers.shared.notes import Note, NoteKind
from dispatch_cli.answers.table.report import table_report
from dispatch_cli.api import load_state
from dispatch_cli.model.names import OperatorName

MATH, DEFAULT = "CompositeImplicitAutograd", "CompositeExplicitAutograd"
NON_FUNCTIONAL = "CompositeExplicitAutogradNonFunctional"
SHOWN = frozenset({"XLA", "Lazy", "SparseXPU", "NestedTensorXPU", "XPU", "QuantizedXPU", "Fake", "AutogradHIP"})
UNARY, FACTORY = "demo::op(Tensor x) -> Tensor", "demo::op(int[] size) -> Tensor"


def notes_of(
    folder: Path, keys: tuple[str, ...], schema: str = UNARY, shown: frozenset[str] | None = None
) -> tuple[Note, ...]:
    """The notes on the table of an operator with kernels at these keys, over a fallback at PrivateUse1."""
    operator = {"func": schema, "dispatch": {key: f"k_{key}" for key in keys}}
    path = folder / "x.json"
    path.write_text(json.dumps({"dispatch": 1, "fallbacks": {"PrivateUse1": "mine"}, "operators": [operator]}))
    (table,) = table_report(load_state([str(path)]), [OperatorName("demo::op")], shown).operators
    return table.notes


@pytest.mark.parametrize(
    ("keys", "notes"),
    [
        (
            ("CPU", "CUDA", MATH),
            (
                Note(NoteKind.DISPLACED, ("AutogradCPU",), ("CPU",)),
                Note(NoteKind.DISPLACED, ("AutogradCUDA",), ("CUDA",)),
            ),
        ),
        # AutogradMTIA has no backend set, and tensors of HIP carry AutogradOther: the math kernel comes first
        (
            ("MTIA", "HIP", MATH),
            (
                Note(NoteKind.BYPASSED, ("AutogradOther",), ("HIP",)),
                Note(NoteKind.BYPASSED, ("AutogradMTIA",), ("MTIA",)),
            ),
        ),
        # an autograd kernel settles it, and without a math kernel there is nothing to displace
        (("CPU", "AutogradCPU", MATH), ()),
        (("CPU",), ()),
        (("FPGA", "MkldnnCPU", MATH), (Note(NoteKind.AMBIGUOUS, ("AutogradOther",), ("FPGA", "MkldnnCPU")),)),
        (("FPGA", "AutogradOther", MATH), ()),
        (
            ("AutogradOther", "SparseCPU", "QuantizedCPU", "SparseHIP", MATH),
            (Note(NoteKind.BYPASSED, ("AutogradCPU",), ("SparseCPU", "QuantizedCPU"), "CPU"),),
        ),
        (("AutogradOther", "AutogradCPU", "SparseCPU", MATH), ()),
        (("SparseCPU",), ()),
    ],
)
def test_what_comes_before_what(keys: tuple[str, ...], notes: tuple[Note, ...], tmp_path: Path) -> None:
    others = (note for note in notes_of(tmp_path, keys) if note.kind is not NoteKind.SHADOWED)
    assert tuple(others) == notes


@pytest.mark.parametrize(
    ("keys", "shown", "notes"),
    [
        ((DEFAULT,), "PrivateUse1", (Note(NoteKind.SHADOWED, ("PrivateUse1",), (DEFAULT,), "mine"),)),
        (("CPU",), "PrivateUse1", ()),
        (("PrivateUse1",), "PrivateUse1", ()),
        (("Autograd",), "AutogradCPU", ()),  # PyTorch's own fallbacks are there to be overridden
        (("CPU", "CUDA", MATH), "AutogradCUDA", (Note(NoteKind.DISPLACED, ("AutogradCUDA",), ("CUDA",)),)),
        (("CPU", "CUDA", MATH), "CPU", ()),
        # a slot that the math kernel would fill is displaced, not uncovered
        ((MATH, DEFAULT), "NestedTensorXPU", (Note(NoteKind.DISPLACED, ("NestedTensorXPU",), (DEFAULT,)),)),
        ((DEFAULT,), "NestedTensorXPU", (Note(NoteKind.UNCOVERED, ("NestedTensorXPU",), (DEFAULT,)),)),
    ],
)
def test_notes_are_about_shown_keys(keys: tuple[str, ...], shown: str, notes: tuple[Note, ...], tmp_path: Path) -> None:
    assert notes_of(tmp_path, keys, shown=frozenset({shown})) == notes


def test_what_an_alias_does_not_cover(tmp_path: Path) -> None:
    uncovered = Note(NoteKind.UNCOVERED, ("XLA", "Lazy", "SparseXPU", "NestedTensorXPU"), (NON_FUNCTIONAL,))
    assert notes_of(tmp_path, (NON_FUNCTIONAL,), shown=SHOWN) == (uncovered,)
    assert notes_of(tmp_path, (MATH,), shown=SHOWN) == ()


@pytest.mark.parametrize(
    ("schema", "keys", "culprits"),
    [
        (FACTORY, ("CPU", "CUDA"), ("CPU", "CUDA")),
        ("demo::op(bool asTensor) -> Tensor", ("SparseCPU", "AutogradCPU"), ("SparseCPU", "AutogradCPU")),
        # modes bring these keys without any tensor
        (FACTORY, ("MkldnnCPU", "Tracer", "Python", "AutogradOther"), ("MkldnnCPU", "AutogradOther")),
        (FACTORY, ("Tracer", "Python"), None),
        (FACTORY, ("CPU", "BackendSelect"), None),
        (FACTORY, ("CPU", MATH), None),
        (FACTORY, ("CPU", NON_FUNCTIONAL), None),
        ("demo::op(Tensor[] xs) -> Tensor", ("CPU",), None),
        ("demo::op(Tensor? x) -> Tensor", ("CPU",), None),
    ],
)
def test_a_factory_ends_at_undefined(
    schema: str, keys: tuple[str, ...], culprits: tuple[str, ...] | None, tmp_path: Path
) -> None:
    notes = [note for note in notes_of(tmp_path, keys, schema) if note.kind is NoteKind.UNREACHABLE]
    assert notes == ([] if culprits is None else [Note(NoteKind.UNREACHABLE, ("Undefined",), culprits)])
