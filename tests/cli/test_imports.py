"""Modules that a command does not need are not imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dispatch_cli.cli import _COMMANDS
from tests.cli.support import ROOT, environment

SCRIPT = """
import sys
from dispatch_cli.cli import main
try:
    main(sys.argv[1:])
except SystemExit as stop:
    assert not stop.code, stop.code
print(*sorted(sys.modules), file=sys.stderr)
"""


def imported(*args: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *args], capture_output=True, text=True, check=True, cwd=ROOT, env=environment()
    )
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


@pytest.mark.parametrize("args", [("--help",), ("--version",), ()])
def test_help_and_version_import_click_alone(args: tuple[str, ...]) -> None:
    assert packages(imported(*(args or ("-h",)))) == {"dispatch_cli", "dispatch_cli.cli", "click"}


@pytest.mark.parametrize("command", _COMMANDS)
def test_the_help_of_a_command_imports_no_engine(command: str) -> None:
    assert packages(imported(command, "--help")) == {"dispatch_cli", "dispatch_cli.cli", "click"}


@pytest.mark.parametrize("format_", ["json", "csv", "markdown", "raw"])
def test_machine_formats_do_not_import_rich(format_: str) -> None:
    assert "rich" not in imported("table", "-k", "CPU", "--format", format_)


def test_a_table_of_an_embedded_operator_imports_little() -> None:
    """Every module costs each run some 0.1 ms; no more of ours are to come."""
    modules = imported("table", "--base", "torch-2.15", "--op", "aten::add.Tensor")
    assert modules.isdisjoint({"csv", "difflib", "gzip", "yaml"})
    ours = [module for module in modules if module.startswith("dispatch_cli")]
    assert [module for module in ours if "higher_order" in module or ".checks" in module] == []
    assert len(ours) <= 57


def test_a_slot_that_needs_no_advice_is_explained_without_checks_calls_and_error_texts() -> None:
    modules = imported("explain", "aten::add.Tensor", "CPU")
    parts = (".checks", ".engine.call", ".answers.errors", ".trial", ".adviser")
    assert [
        module for module in modules if module.startswith("dispatch_cli") and any(part in module for part in parts)
    ] == []
    assert ".checks" in "".join(imported("explain", "aten::add.Tensor", "NestedTensorXPU"))
