"""Slots that changes emptied: what a call gets to that worked before, and fails."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from dispatch_cli.api import load_state
from dispatch_cli.checks.check import Finding
from dispatch_cli.checks.text import backend_keys
from dispatch_cli.model.names import OperatorName
from tests.checks.helpers import findings
from tests.cli.support import call

ID = "emptied-slot"
OVERLAY = "dispatch: 1\nextends: torch-2.15\nchanges:\n"
REMOVES = '  - remove: {operator: "%s", dispatch_key: "%s"}\n'
SCHEMAS = (
    "op(Tensor x) -> Tensor",
    "op_(Tensor(a!) x) -> Tensor(a!)",
    "op.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
)
KEYS = (
    *("CPU", "CUDA", "SparseCPU", "PrivateUse1", "Autograd", "AutogradCPU", "Meta"),
    *("CompositeImplicitAutograd", "CompositeExplicitAutograd"),
)


def written(folder: Path, text: str, name: str = "own.yaml") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def raises(file: str, operator: str, tensors: int, *more: str) -> bool:
    """True if a call with CPU tensors ends with an error."""
    report = call("resolve", operator, file, *("--tensor", "cpu") * tensors, *more, "--format", "json")
    return bool(json.loads(report.out)["end"]["kind"] == "error")


def slots(items: tuple[Finding, ...]) -> set[tuple[str, str]]:
    return {slot for finding in items for slot in finding.slots}


@pytest.mark.parametrize("seed", range(30))
def test_random_removals(seed: int, tmp_path: Path) -> None:
    """The slots of backends that have a kernel in the table before the changes, and none after."""
    dice = Random(seed)
    has = {schema: dice.sample(KEYS, dice.randint(1, 5)) for schema in SCHEMAS}
    gone = {schema: dice.sample(keys, dice.randint(0, len(keys))) for schema, keys in has.items()}
    lines = [
        f"- func: lib::{schema}\n  dispatch: {{{', '.join(f'{key}: k_{key}' for key in keys)}}}\n"
        for schema, keys in has.items()
    ]
    before = load_state([written(tmp_path, f"dispatch: 1\noperators:\n{''.join(lines)}", "before.yaml")])
    changes = "".join(REMOVES % (f"lib::{schema.partition('(')[0]}", key) for schema in gone for key in gone[schema])
    own = written(tmp_path, f"dispatch: 1\nextends: before.yaml\nchanges:\n{changes or '  []'}")
    after = load_state([own])
    keys = backend_keys(before.dispatcher.universe)

    def is_empty(state: object, name: OperatorName, key: str) -> bool:
        entry = state.dispatcher.table(name)[key]  # type: ignore[attr-defined]
        return entry.kernel is None or (key == "Meta" and entry.rule.value == "fallback")  # which raises

    expected = {
        (str(name), key)
        for name in (OperatorName.parse(f"lib::{schema.partition('(')[0]}") for schema in SCHEMAS)
        for key in keys
        if is_empty(after, name, key) and not is_empty(before, name, key)
    }
    alone = findings(after, select=ID)
    assert {slot for slot in slots(alone) if slot[1] in keys} == expected
    assert all(finding.span is not None and finding.span.file == own for finding in alone)
    together = findings(after)
    emptied = slots(tuple(finding for finding in together if finding.check == ID))
    others = tuple(
        finding for finding in together if finding.check != ID and finding.span is not None and finding.span.file == own
    )
    assert emptied <= slots(alone) <= emptied | slots(others)
    assert emptied.isdisjoint(slots(others))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "operator", "tensors", "check", "severity"),
    [
        (REMOVES % ("aten::abs.out", "CPU"), "aten::abs.out", 2, ID, "warning"),
        (REMOVES % ("aten::mul.out", "CPU"), "aten::mul.out", 3, "sibling-disagreement", "warning"),
        (REMOVES % ("aten::add.out", "CPU"), "aten::add.out", 3, "sibling-disagreement", "warning"),
        ("  - remove: {fallback: BackendSelect}\n", "aten::mul.Tensor", 2, ID, "error"),
        ("  - remove: {fallback: AutogradCPU}\n", "_c10d_functional::all_reduce", 1, ID, "warning"),
    ],
)
def test_calls_of_pytorch_that_fail(
    changes: str, operator: str, tensors: int, check: str, severity: str, tmp_path: Path
) -> None:
    """They are found where all is checked, and where the operator alone is."""
    own = written(tmp_path, OVERLAY + changes)
    assert not raises(written(tmp_path, "dispatch: 1\nextends: torch-2.15\n", "base.yaml"), operator, tensors)
    assert raises(own, operator, tensors)
    for options in ((), ("--op", operator)):
        result = call("check-invariants", own, *options, "--format", "json")
        reported = [finding for finding in json.loads(result.out)["findings"] if finding["check"] in (check, ID)]
        wanted = {(ID if options else check, severity, 4)}
        assert {
            (finding["check"], finding["severity"], finding["declared_at"]["line"]) for finding in reported
        } == wanted
        assert result.code == 1


@pytest.mark.slow
def test_calls_under_autocast(tmp_path: Path) -> None:
    """Another check says so of all operators; where one is asked for, this one does."""
    own = written(tmp_path, f"{OVERLAY}  - remove: {{fallback: AutocastCPU}}\n")
    assert raises(own, "aten::mul.Tensor", 2, "--context", "autocast cpu")
    assert not raises(own, "aten::mul.Tensor", 2)
    for options, check in (((), "no-autocast-fallback"), (("--op", "aten::mul.Tensor"), ID)):
        reported = json.loads(call("check-invariants", own, *options, "--format", "json").out)["findings"]
        assert [(finding["check"], finding["severity"]) for finding in reported] == [(check, "warning")]


@pytest.mark.slow
def test_how_many_operators_a_fallback_served(tmp_path: Path) -> None:
    """Those that take tensors and have, in dumps of PyTorch 2.15, the fallback there and a kernel of the backend."""
    key, count = "AutogradCPU", 258
    state = load_state([written(tmp_path, f"{OVERLAY}  - remove: {{fallback: {key}}}\n")])
    (finding,) = findings(state, select=ID)
    assert f"without the backend fallback at {key}, {count} operators have nothing there" in finding.message
    assert len(finding.slots) == count
    others = {finding.operator for finding in findings(state) if finding.check == "no-autograd-kernel"}
    (finding,) = (finding for finding in findings(state) if finding.check == ID)
    assert len(others) + len(finding.slots) == count


def test_an_operator_without_any_kernel(tmp_path: Path) -> None:
    text = "dispatch: 1\noperators:\n- {func: lib::f(Tensor x) -> Tensor, dispatch: {CPU: a, CUDA: b}}\nchanges:\n"
    (finding,) = findings(
        load_state([written(tmp_path, text + "".join(REMOVES % ("lib::f", key) for key in ("CPU", "CUDA")))])
    )
    assert (finding.check, finding.severity.value) == (ID, "error")
    assert finding.message == 'lib::f has nothing at CPU, CUDA any more: a call that gets there raises "Could not run"'


def test_a_slot_that_another_check_reports(tmp_path: Path) -> None:
    """A gap that changes made weighs more than one that was always there: it is a warning."""
    own = written(tmp_path, OVERLAY + REMOVES % ("aten::mm.out", "CPU"))
    results = findings(load_state([own]))
    assert [(finding.check, finding.severity.value) for finding in results] == [("sibling-disagreement", "warning")]


def test_what_goes_on_as_before(tmp_path: Path) -> None:
    """Another fallback, a kernel that fills the slot, and keys that the calls of the operator never have."""
    text = OVERLAY + REMOVES % ("aten::mul.Tensor", "Tracer") + "  - remove: {fallback: AutogradCPU}\n"
    text += "fallbacks: {AutogradCPU: other}\noperators:\n"
    text += "- {func: lib::none(int x) -> int, dispatch: {CompositeExplicitAutograd: a}}\n"
    assert findings(load_state([written(tmp_path, text)]), select=ID) == ()
