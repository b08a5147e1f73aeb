"""Operators that files only change are the files' own; what the changes bring about is found at the change."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from dispatch_cli.answers.shared.operator_list import own_names
from dispatch_cli.api import load_state
from dispatch_cli.checks.check import Finding
from dispatch_cli.model.names import OperatorName
from tests.checks.helpers import findings, library_of
from tests.cli.support import call

REMOVES = '  - remove: {operator: "%s", dispatch_key: "%s"}\n'
OVERLAY = "dispatch: 1\nextends: torch-2.15\nchanges:\n"
MUL = "aten::mul.Tensor"
KEYS = ("CPU", "CUDA", "PrivateUse1", "SparseCPU", "Autograd", "AutogradCPU", "Meta", "CompositeImplicitAutograd")


def written(folder: Path, text: str, name: str = "own.yaml") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def about(finding: Finding) -> tuple[str, str | None, str]:
    return finding.check, finding.operator, finding.subject


def matters(finding: Finding) -> set[tuple[object, ...]]:
    """Subjects of a finding: its check with each slot that it is about."""
    return {(finding.check, what) for what in finding.about}


@pytest.mark.parametrize("seed", range(6))
def test_random_removals(seed: int, tmp_path: Path) -> None:
    """Removals bring about the findings that files without these kernels have, and files with them have not."""
    dice = Random(seed)
    schemas = (
        "op(Tensor x) -> Tensor",
        "op_(Tensor(a!) x) -> Tensor(a!)",
        "op.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
    )
    has = {schema: dice.sample(KEYS, dice.randint(1, 5)) for schema in schemas}
    gone = {schema: dice.sample(keys, dice.randint(0, len(keys))) for schema, keys in has.items()}

    def file(leaves_out: bool) -> str:
        lines = []
        for schema, keys in has.items():
            kernels = [f"{key}: k_{key}" for key in keys if not (leaves_out and key in gone[schema])]
            lines.append(f"- func: lib::{schema}\n  dispatch: {{{', '.join(kernels)}}}\n")
        return "dispatch: 1\noperators:\n" + "".join(lines)

    before, after = (load_state([written(tmp_path, file(emptied), f"{emptied}.yaml")]) for emptied in (False, True))
    changes = "".join(REMOVES % (f"lib::{schema.partition('(')[0]}", key) for schema in gone for key in gone[schema])
    own = written(tmp_path, f"dispatch: 1\nextends: False.yaml\nchanges:\n{changes or '  []'}")
    state = load_state([own])
    assert {str(operator) for operator in state.own_operators()} == {
        f"lib::{schema.partition('(')[0]}" for schema, keys in gone.items() if keys
    }
    was, became = findings(before), findings(after)
    there = {what: finding for finding in sorted(was, key=lambda row: -row.severity.rank) for what in matters(finding)}
    results = [finding for finding in findings(state) if finding.span is not None and finding.span.file == own]

    def is_worse(finding: Finding) -> bool:
        return any(what not in there or there[what].severity.rank > finding.severity.rank for what in matters(finding))

    kinds = {(*about(finding), finding.key): finding for finding in became}
    assert {(*about(finding), finding.key) for finding in results} == {
        kind for kind, one in kinds.items() if is_worse(one)
    }
    for finding in results:
        line = Path(own).read_text(encoding="utf-8").splitlines()[finding.span.line - 1]
        assert "remove" in line
        assert OperatorName.parse(finding.operator or "").name.rstrip("_") == "lib::op"


@pytest.mark.slow
def test_a_removed_kernel_of_pytorch(tmp_path: Path) -> None:
    own = written(tmp_path, OVERLAY + REMOVES % (MUL, "Autograd"))
    state = load_state([own])
    assert own_names(state) == {MUL}
    results = findings(state)
    assert [finding.check for finding in results] == ["no-autograd-kernel"]
    assert (results[0].span.file, results[0].span.line, results[0].span.column) == (own, 4, 5)  # type: ignore[union-attr]
    assert results[0].severity.value == "error"
    for more in ((), ("--op", MUL), ("--op", "aten::mul*")):
        result = call("check-invariants", own, "--format", "json", *more)
        report = json.loads(result.out)
        assert result.code == 1
        assert [finding["check"] for finding in report["findings"]] == ["no-autograd-kernel"], more
    assert "1 error in 1 operator; checked: 6 operators" in call("check-invariants", own).out
    other = call("check-invariants", own, "--op", "aten::add.Tensor", "--format", "json")
    assert (other.code, json.loads(other.out)["findings"]) == (0, [])


@pytest.mark.slow
def test_a_removed_fallback(tmp_path: Path) -> None:
    """It is of no operator; what comes of it is found, of whatever operator."""
    own = written(tmp_path, f"{OVERLAY}  - remove: {{fallback: AutogradCPU}}\n  - remove: {{fallback: AutocastCPU}}\n")
    state = load_state([own])
    assert state.own_operators() == []
    results = findings(state)
    assert {(finding.check, finding.span.line if finding.span else 0) for finding in results} == {
        ("no-autograd-kernel", 4),
        ("no-autocast-fallback", 5),
    }
    empty = state.dispatcher
    for finding in results:
        if finding.operator is not None:
            assert empty.table(OperatorName.parse(finding.operator))["AutogradCPU"].kernel is None


LIB = "dispatch: 1\noperators:\n"
F = '- {func: "lib::f(Tensor x) -> Tensor", dispatch: {CPU: a, CUDA: b, Autograd: g, Meta: m}}\n'
F_ = '- {func: "lib::f_(Tensor(a!) x) -> Tensor(a!)", dispatch: {%s, ADInplaceOrView: v, Autograd: g, Meta: m}}\n'


@pytest.mark.parametrize("kernels", ["CPU: a", "CPU: a, CUDA: b"])
def test_a_further_slot_of_a_finding(kernels: str, tmp_path: Path) -> None:
    """The form lacks a kernel at CPU now, whether or not it lacked one at CUDA before."""
    written(tmp_path, LIB + F + F_ % kernels, "mid.yaml")
    own = written(tmp_path, "dispatch: 1\nextends: mid.yaml\nchanges:\n" + REMOVES % ("lib::f_", "CPU"))
    (finding,) = findings(load_state([own]), select="sibling-disagreement")
    assert (finding.severity.value, finding.span and finding.span.line) == ("warning", 4)
    assert " CPU" in finding.message


def test_drift_of_a_kernel_that_is_left_out(tmp_path: Path) -> None:
    """The library registers it all the same."""
    base = load_state((), bases=["torch-2.15"])
    name = OperatorName.parse(MUL)
    library = library_of(base, "lib")
    kernels = {key: one._replace(imported=False) for key, one in library.operators[MUL].kernels.items()}
    library = library._replace(operators={MUL: library.operators[MUL]._replace(kernels=kernels, python=())})
    own = written(tmp_path, OVERLAY + REMOVES % (MUL, "Autograd"))
    (finding,) = findings(load_state([own]), MUL, select="drift-undeclared", built=library)
    assert (finding.operator, finding.key, finding.span and finding.span.line) == (str(name), "Autograd", 4)
    assert "the declarations leave it out" in finding.message
