"""Checks that read Python functions and schemas: they warn of what PyTorch fails on, and of nothing else."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from tests import in_pytorch
from tests.capture.support import torch_python
from tests.checks.compiled_cases import CASES, REFUSED, TAKEN, custom, module
from tests.cli.support import call

CHECKS = "dropped-call,aliased-result,returned-argument,undeclared-write,function-signature,refused-registration"
INFERRED = [
    module(f"inferred{number}", custom(signature, "return x", None, "('x',)"))
    for number, signature in enumerate((*REFUSED, *TAKEN))
]


def warned(folder: Path, modules: list[str]) -> list[list[tuple[str, str]]]:
    """The checks that warn of each module, and their messages."""
    for number, text in enumerate(modules):
        (folder / f"case{number}.py").write_text(text, encoding="utf-8")
    report = json.loads(call("check-invariants", str(folder), "--select", CHECKS, "--format", "json").out)
    found: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for one in report["findings"]:
        if one["severity"] != "info":
            file = Path(one["declared_at"]["file"]).stem
            found[int(file.removeprefix("case"))].append((one["check"], one["message"]))
    return [found[number] for number in range(len(modules))]


def test_a_check_warns_of_what_fails(tmp_path: Path) -> None:
    modules = [module(f"case{number}", one.source) for number, one in enumerate(CASES)]
    found = dict(zip((one.name for one in CASES), warned(tmp_path, modules), strict=True))
    assert {name: [check for check, _ in checks] for name, checks in found.items()} == {
        one.name: [] if one.check is None else [one.check] for one in CASES
    }
    assert all((one.check is None) is (one.outcome == "same") for one in CASES)


def test_functions_without_a_schema_are_refused(tmp_path: Path) -> None:
    found = warned(tmp_path, INFERRED)
    assert [[check for check, _ in one] for one in found[: len(REFUSED)]] == [["refused-registration"]] * len(REFUSED)
    assert not any("refused-registration" in dict(one) for one in found[len(REFUSED) :])


@pytest.mark.live
def test_pytorch_fails_there(tmp_path: Path) -> None:
    cases = [
        (module(f"case{number}", one.source), f"case{number}", one.body, one.how) for number, one in enumerate(CASES)
    ]
    script = Path(__file__).with_name("live_compiled_cases.py")
    given = json.dumps({"cases": cases, "modules": INFERRED})
    outcomes, refusals = json.loads(in_pytorch.run([torch_python(), str(script)], given).stdout)
    assert dict(zip((one.name for one in CASES), outcomes, strict=True)) == {one.name: one.outcome for one in CASES}
    ours = [one[0][1].partition(": ")[2] for one in warned(tmp_path, INFERRED)[: len(REFUSED)]]
    for text, words in zip(refusals, ours, strict=False):
        start = words.partition(" unsupported type ")[0]  # PyTorch prints the type that Python makes of the annotation
        is_parsed = words.startswith("expected")  # the schema is refused, and its parser has a text of its own
        assert text is not None and (is_parsed or text.startswith(start)), (text, words)
    assert refusals[len(REFUSED) :] == [None] * len(TAKEN)
