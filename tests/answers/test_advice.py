"""Advice is applied by machine, from its JSON, to random declarations: it does what it says, and earns no finding."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from dispatch_cli import universes
from dispatch_cli.answers.explain.trial import (
    ALIASED_RESULT,
    DROPPED_CALL,
    JUDGES,
    JUDGES_OF_FUNCTIONS,
    Trial,
)
from dispatch_cli.api import document_of_sources, load_state
from dispatch_cli.checks.all_checks import CHECKS
from dispatch_cli.model.changes.change import Action, Edit, Function, own_kernel
from dispatch_cli.model.names import OperatorName, Severity
from tests.answers.random_declarations import changed, declared
from tests.cli.support import call

DECLARATIONS = int(os.environ.get("DISPATCH_CLI_ADVICE", "6"))
"""Number of random declarations that are tried."""
SLOTS = 4
"""Slots that are asked about of each."""
SEED = 20261122
SERIOUS = ("warning", "error")


class Applied:
    """Declarations on disk, and what the commands say about them."""

    def __init__(self, folder: Path, document: dict[str, Any], name: str = "x.json") -> None:
        self.document = document
        self.path = folder / name
        self.path.write_text(json.dumps(document), encoding="utf-8")

    def explain(self, operator: str, key: str) -> dict[str, Any]:
        result = call("explain", operator, key, str(self.path), "--format", "json")
        assert result.code == 0, result.err
        answer: dict[str, Any] = json.loads(result.out)
        return answer

    def findings(self) -> list[dict[str, Any]]:
        """Findings of every check."""
        result = call("check-invariants", str(self.path), "--select", "all", "--format", "json")
        assert result.code in (0, 1), result.err
        rows: list[dict[str, Any]] = json.loads(result.out)["findings"]
        return rows


def serious(findings: list[dict[str, Any]], severities: tuple[str, ...] = SERIOUS) -> Counter[tuple[str, str, str]]:
    """The findings about operators, of severity warning and worse: check, operator, key.

    What is lacking for all operators of a backend, such as a fallback for autocast, is none of one operator's advice.
    """
    serious_findings = [
        finding for finding in findings if finding["severity"] in severities and finding["operator"] is not None
    ]
    return Counter((finding["check"], finding["operator"], finding["key"]) for finding in serious_findings)


def interesting(applied: Applied, operator: str, dice: random.Random) -> list[str]:
    """Slots to ask about: of every rule that the table has, and more that are missing or ambiguous."""
    result = call("table", str(applied.path), "--op", operator, "--full", "--format", "json")
    assert result.code == 0, result.err
    table = next(row for row in json.loads(result.out)["operators"] if row["operator"] == operator)
    dice.shuffle(table["entries"])
    by_rule: dict[str, list[str]] = {}
    for entry in table["entries"]:
        by_rule.setdefault(entry["rule"], []).append(entry["key"])
    noted = [key for note in table.get("notes", ()) for key in note["keys"][:2]]
    named = [key for key in registered(applied.document) if key in universes.load("torch-2.15").slot]
    picked = [dice.choice(slots) for slots in by_rule.values()] + noted + named
    picked = [key for key in picked if any(key in slots for slots in by_rule.values())]
    return list(dict.fromkeys(dice.sample(picked, min(SLOTS, len(picked)))))


def registered(document: dict[str, Any]) -> list[str]:
    keys = [key for entry in document.get("operators", ()) for key in entry["dispatch"]]
    return (
        keys
        + [f"{above}{key}" for key in keys for above in ("Autograd", "Autocast")]
        + [block.get("dispatch_key") for block in document.get("libraries", ())]
    )


def check_change(before: Applied, operator: str, change: dict[str, Any], folder: Path) -> None:
    """Apply a change and see what it promises."""
    after = Applied(folder, changed(before.document, change["edits"]), "after.json")
    fills = change["fills"]
    answer = after.explain(operator, fills["key"])
    assert (answer["answer"]["rule"], answer["answer"]["source"]) == (fills["rule"], fills["source"])
    assert answer["live"] is None
    # an autograd kernel at one key makes a warning of the info that another lacks one
    new = serious(after.findings()) - serious(before.findings(), severities=("info", *SERIOUS))
    assert not new, (change, before.document)
    assert not change["drops_calls"], "every operator of these declarations has a result"
    if change["declarations"] is not None:
        added = yaml.safe_load(change["declarations"])
        pairs = [(operator["name"], key) for operator in added.get("operators", ()) for key in operator["dispatch"]]
        pairs += [(None, key) for key in added.get("fallbacks", ())]
        edits = [(edit["operator"], edit["key"]) for edit in change["edits"] if edit["action"] != "remove"]
        assert Counter(pairs) == Counter(edits)


def test_advice_holds(tmp_path: Path) -> None:
    dice = random.Random(SEED)
    counts: Counter[str] = Counter()
    for _ in range(DECLARATIONS):
        document, operator = declared(dice)
        before = Applied(tmp_path, document)
        for key in interesting(before, operator, dice):
            for advice in before.explain(operator, key)["advice"]:
                counts["advice"] += 1
                kind = advice["kind"]
                counts[f"{kind}: {'changes' if advice['changes'] else advice['manual'] or 'note'}"] += 1
                for change in advice["changes"]:
                    counts["changes"] += 1
                    check_change(before, operator, change, tmp_path)
    print(dict(sorted(counts.items())))
    assert counts["changes"] > DECLARATIONS


SKIPPED = [
    # live, the wrapper at CompositeImplicitAutograd calls itself without end
    ("below-key", None),
    (None, []),
    (False, [[("register", "CPU", "same-as")]]),
    (
        "other-operators",
        [
            [("register", "CPU", "same-as")],
            [
                ("remove", "Autograd", None),
                ("remove", "CompositeExplicitAutograd", None),
                ("register", "CompositeImplicitAutograd", "same-as"),
            ],
        ],
    ),
]


@pytest.mark.parametrize(("goes", "expected"), SKIPPED)
def test_a_wrapper_is_no_composite_kernel(goes: str | bool | None, expected: list[Any] | None, tmp_path: Path) -> None:
    """A kernel that inference mode skips is advised elsewhere only if it is known to do all the work."""
    autograd = "op_autograd" if goes is None else {"kernel": "op_autograd", "redispatches": goes}
    kernels = {"CompositeExplicitAutograd": "op_kernel", "Autograd": autograd}
    operators = [{"func": "demo::op(Tensor x) -> Tensor", "dispatch": kernels}]
    before = Applied(tmp_path, {"dispatch": 1, "operators": operators})
    notes = before.explain("demo::op", "AutogradCPU")["advice"]
    assert [finding["kind"] for finding in notes] == ([] if expected is None else ["skipped"])
    for advice in notes:
        edits = [
            [(edit["action"], edit["key"], edit.get("function")) for edit in change["edits"]]
            for change in advice["changes"]
        ]
        assert edits == expected
        for change in advice["changes"]:
            check_change(before, "demo::op", change, tmp_path)


@pytest.mark.parametrize("key", ["NestedTensorXPU", "SparseXPU"])
def test_no_alias_key_of_somebody_elses_operator(key: str, tmp_path: Path) -> None:
    operators = [{"name": "aten::bmm", "dispatch": {"XPU": "bmm_xpu"}}]
    before = Applied(tmp_path, {"dispatch": 1, "extends": ["torch-2.15"], "operators": operators})
    aliases = universes.load("torch-2.15").aliases
    notes = before.explain("aten::bmm", key)["advice"]
    assert notes != []
    for advice in notes:
        for change in advice["changes"]:
            assert not {edit["key"] for edit in change["edits"]} & aliases.keys()
            check_change(before, "aten::bmm", change, tmp_path)


def test_fixes_of_findings_hold(tmp_path: Path) -> None:
    """A fix makes its finding go away, and leads to no other."""
    dice, tried = random.Random(SEED), 0
    for _ in range(DECLARATIONS):
        document, _ = declared(dice)
        findings = Applied(tmp_path, document).findings()
        for finding in findings:
            if finding["fix"]:
                after = Applied(tmp_path, changed(document, finding["fix"]), "after.json").findings()
                subject = (finding["check"], finding["operator"], finding["key"])
                assert subject not in [(left["check"], left["operator"], left["key"]) for left in after]
                assert not serious(after) - serious(findings), (finding, document)
                tried += 1
    assert tried > DECLARATIONS // 4


def test_a_fake_kernel_of_an_operator_without_results(tmp_path: Path) -> None:
    """PyTorch 2.13 removes its compiled calls with a fake kernel alone, and keeps them if a write is declared."""
    advised = []
    for schema in ("m::op(Tensor x) -> ()", "m::op(Tensor(a!) x) -> ()", "m::op(Tensor x) -> Tensor"):
        document = {"dispatch": 1, "operators": [{"func": schema, "dispatch": {"CPU": "a", "CUDA": "b"}}]}
        first = Applied(tmp_path, document).explain("m::op", "Meta")["advice"][0]["changes"][0]
        advised.append(([edit["key"] for edit in first["edits"]], first["drops_calls"]))
    assert advised[:2] == [(["Meta"], True), (["Meta"], False)]
    assert advised[2][0][0] == "Meta" and not advised[2][1]


NOT_BROUGHT_ABOUT = {
    "dangling-implementation": "nothing is tried for an operator without a definition: no call of it works",
    "refused-registration": "a change that PyTorch refuses is not tried on",
    "unread-sources": "of files",
    "foreign-alias-kernel": "a kernel at an alias key is proposed to the library that defines the operator",
    "no-autocast-fallback": "looks at whole files alone",
    "higher-order-mode": "of operators of another kind",
    "higher-order-autograd": "of operators of another kind",
    "drift-missing": "of a built library",
    "drift-undeclared": "of a built library",
    "drift-different": "of a built library",
    "guard": "a judge where there are guards",
    "unmatched-guard": "a guard names operators and keys, and these stay",
    "unused-suppression": "looks at whole files alone",
    "broken-promise": "a judge where there are promises",
}
"""Checks that find nothing new that is serious after a change of an operator's kernels, and the reason."""


def test_every_check_that_a_change_can_break_judges_it() -> None:
    """A new check has to be a judge, or to be listed with the reason why it need not be."""
    serious_checks = {check.id for check in CHECKS if check.severity is not Severity.INFO}
    judges = {*JUDGES, *JUDGES_OF_FUNCTIONS, ALIASED_RESULT, DROPPED_CALL}
    assert judges | NOT_BROUGHT_ABOUT.keys() == serious_checks
    assert judges.isdisjoint(NOT_BROUGHT_ABOUT)


def test_an_own_fallthrough_over_a_kernel_of_pytorch_can_be_removed(tmp_path: Path) -> None:
    """The registration that goes is the one of the file, not the one of the state below it."""
    operators = [{"name": "aten::bmm", "dispatch": {"CUDA": {"fallthrough": True}}}]
    before = Applied(tmp_path, {"dispatch": 1, "extends": ["torch-2.15"], "operators": operators})
    (advice,) = before.explain("aten::bmm", "CUDA")["advice"]
    edits = [[(edit["action"], edit["key"]) for edit in change["edits"]] for change in advice["changes"]]
    assert edits == [[("remove", "CUDA")], [("remove", "CUDA"), ("register", "CUDA")]]
    for change in advice["changes"]:
        check_change(before, "aten::bmm", change, tmp_path)


def test_a_guard_judges_advice(tmp_path: Path) -> None:
    operators = [{"func": "m::op(Tensor x) -> Tensor", "dispatch": {"CPU": "a", "CUDA": "b"}}]
    document: dict[str, Any] = {"dispatch": 1, "operators": operators}
    guarded = {**document, "guards": [{"op": "m::op", "key": "Meta", "not": "kernel"}]}
    advised = []
    for declarations in (document, guarded):
        (advice,) = Applied(tmp_path, declarations).explain("m::op", "Meta")["advice"]
        advised.append([[edit["key"] for edit in change["edits"]] for change in advice["changes"]])
    assert advised[0] == [["Meta"], *advised[1]]


WRITES = """
import torch
lib = torch.library.Library("m", "DEF")
lib.define("op(Tensor x) -> Tensor")
def composite(x):
    x.add_(1)
    return x * 2
lib.impl("op", composite, "CompositeImplicitAutograd")
"""


def test_a_function_is_judged_where_a_change_registers_it(tmp_path: Path) -> None:
    """A composite kernel may write to its argument, and a kernel for a backend may not, unless the schema says so."""
    source = tmp_path / "source.py"
    source.write_text(WRITES, encoding="utf-8")
    state = load_state([document_of_sources([str(source)])])
    trial, name = Trial(state, OperatorName.parse("m::op")), OperatorName.parse("m::op")
    checks = []
    for edit in (
        Edit(Action.REGISTER, name, "CPU", Function.SAME, "CompositeImplicitAutograd", "composite"),
        own_kernel(name, "CPU"),
    ):
        with trial.after([edit]) as after:
            finding = trial.new_finding(after)
            checks.append(None if finding is None else finding.check)
    assert checks == ["undeclared-write", "math-kernel-displaced"]
