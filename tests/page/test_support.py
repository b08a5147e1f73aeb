"""The support matrix of a page has the cells, the sentences and the commands of ``dispatch-cli support``."""

from __future__ import annotations

import json
import shlex

import pytest

from tests.cli.support import ROOT, call
from tests.page.node import needs_node, script_of
from tests.page.pages import page_of

pytestmark = needs_node

OPERATORS = "examples/custom_ops.yaml"
OF_CELL = ("verdict", "reason", "key", "kernel", "declared_at", "error", "call")


def test_the_matrix_is_that_of_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    with script_of(page_of(OPERATORS)) as script:
        answer = script.ask("data")["support"]
        assert answer["verdict"] in call("support", OPERATORS).out
        words = shlex.split(script.ask("command", "support"))[1:]
        report = json.loads(call(*words, "--format", "json").out)
        assert answer["heads"] == [[column["backend"], column["context"]] for column in report["columns"]]
        for (name, *numbers), row in zip(answer["rows"], report["operators"], strict=True):
            cells = [answer["answers"][number] for number in numbers]
            assert name == row["operator"]
            assert [{field: cell[field] for field in OF_CELL} for cell in cells] == row["cells"]
        commands = {
            script.ask("command", "call", name, answer["answers"][number]["call"])
            for name, *numbers in answer["rows"]
            for number in numbers
            if answer["answers"][number]["call"] is not None
        }
        assert {reason["command"] for reason in report["reasons"]} <= commands
        assert [reason["text"] for reason in answer["reasons"]] == [reason["text"] for reason in report["reasons"]]


def test_a_state_without_operators_of_its_own_has_no_matrix() -> None:
    with script_of(page_of("--base", "torch-2.15")) as script:
        assert script.ask("data")["support"] is None
