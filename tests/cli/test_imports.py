"""Modules that a command does not need are not imported."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from dispatch_cli.answers.explain.trial import JUDGES
from dispatch_cli.cli import _COMMANDS
from tests.cli.support import ROOT, environment

SCRIPT = """
import json, sys
from dispatch_cli.cli import main
for arguments in json.loads(sys.argv[1]):
    try:
        main(arguments)
    except SystemExit as stop:
        assert not stop.code, (arguments, stop.code)
print(*sorted(sys.modules), file=sys.stderr)
"""


def imported(*runs: tuple[str, ...]) -> set[str]:
    """The modules of a process that runs these commands, one after the other."""
    command = [sys.executable, "-c", SCRIPT, json.dumps(runs)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env=environment())
    return set(done.stderr.split())


def packages(modules: set[str]) -> set[str]:
    """The packages of ours, and those of others that are not the standard library's.

    A command of an answer, and the folders that it is in, count as `dispatch_cli.cli`.
    """
    ours = {".".join(module.split(".")[:2]) for module in modules if module.startswith("dispatch_cli")}
    if all(
        ROOT.joinpath(*module.split(".")).is_dir() or "command" in module for module in modules if ".answers" in module
    ):
        ours.discard("dispatch_cli.answers")
    return ours | ({module.split(".")[0] for module in modules} & {"click", "rich", "yaml", "jsonschema_rs", "torch"})


@pytest.mark.parametrize("runs", [[("--version",), ("-h",)], [(command, "--help") for command in _COMMANDS]])
def test_help_and_version_import_click_alone(runs: list[tuple[str, ...]]) -> None:
    assert packages(imported(*runs)) == {"dispatch_cli", "dispatch_cli.cli", "click"}


def test_machine_formats_do_not_import_rich() -> None:
    runs = (("table", "-k", "CPU", "--format", format_) for format_ in ("json", "csv", "markdown", "raw"))
    assert "rich" not in imported(*runs)


def test_a_table_of_an_embedded_operator_imports_little() -> None:
    """Every module costs each run some 0.1 ms; no more of ours are to come."""
    modules = imported(("table", "--base", "torch-2.15", "--op", "aten::add.Tensor"))
    assert modules.isdisjoint({"csv", "difflib", "gzip", "yaml"})
    ours = [module for module in modules if module.startswith("dispatch_cli")]
    assert [module for module in ours if "higher_order" in module or ".checks" in module] == []
    assert len(ours) <= 50


def test_a_slot_that_needs_no_advice_is_explained_without_checks_calls_and_error_texts() -> None:
    modules = imported(("explain", "aten::add.Tensor", "CPU"))
    parts = (".checks", ".engine.call", ".answers.errors", ".trial", ".adviser")
    ours = [module for module in modules if module.startswith("dispatch_cli")]
    assert [module for module in ours if any(part in module for part in parts)] == []
    assert len(ours) <= 70


def test_advice_is_judged_by_the_checks_that_it_can_break() -> None:
    """And without what only a run of checks needs, with its suppressions, conditions, guards and formats."""
    modules = imported(("explain", "aten::max_unpool2d", "PrivateUse1"))
    ours = [module for module in modules if module.startswith("dispatch_cli")]
    checks = {module.rpartition(".")[2].replace("_", "-") for module in ours if ".checks.catalogue." in module}
    assert checks == set(JUDGES)
    parts = (
        "checks.run",
        "checks.guarding",
        "engine.variants",
        "answers.findings",
        "engine.support.verdicts",
        "engine.support.columns",
    )
    assert [module for module in ours if any(part in module for part in parts)] == []
    assert len(ours) <= 119
