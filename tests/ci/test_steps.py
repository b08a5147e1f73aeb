"""The GitHub Action, the GitLab recipe and the workflow for GitHub Pages do what they say: their steps are carried out.

dispatch-cli is that of this Python; ``python -m tests.ci.steps`` installs it as well, as `.ci/run` does.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from tests.ci.steps import ACTION, OWNED, PAGES, Job, be_hostile, run_action, run_pages, run_recipe
from tests.crossref.support import python_that_answers
from tests.crossref.test_drift import answer

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="the steps are for bash")]

GOOD = """\
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor # dispatch-cli: ignore[no-fake-kernel] not compiled
    dispatch: {CPU: op_cpu, XLA: op_xla, AutocastCPU: fallthrough, Autograd: op_autograd}
suppress:
  - {checks: no-autocast-fallback, reason: nobody uses autocast on XLA}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with declarations and a stand-in for a Python with PyTorch; dispatch-cli is there already."""
    program = f'#!/bin/sh\nexec "{sys.executable}" -m dispatch_cli "$@"\n'
    for place in ("temp/dispatch-cli/bin", "environment/bin"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "dispatch-cli").write_text(program, encoding="utf-8")
        (tmp_path / place / "dispatch-cli").chmod(0o755)
    (tmp_path / "declarations").mkdir()
    (tmp_path / "declarations" / "good.yaml").write_text(GOOD, encoding="utf-8")
    python_that_answers(answer(), tmp_path)
    return tmp_path


def action(folder: Path, **inputs: str) -> Job:
    return run_action(folder, inputs, skipped=("Install",))


def test_the_action_passes(folder: Path) -> None:
    job = action(folder, files="declarations/*.yaml")
    assert (job.code, job.out) == (0, "")
    assert [step.name for step in job.steps] == ["Check the declarations"]
    assert job.summary.startswith("## dispatch-cli check-invariants\n\n2 suppressed\n\nAll checks passed: 1 operator, ")


def test_the_action_fails_for_findings_and_says_where(folder: Path) -> None:
    text = GOOD.replace(", Autograd: op_autograd", "")
    (folder / "bad.yaml").write_text(text, encoding="utf-8")
    job = action(folder, files="bad.yaml", sarif="out.sarif", arguments="--fail-on info")
    assert [(step.name, step.code) for step in job.steps] == [("Write SARIF", 0), ("Check the declarations", 1)]
    assert job.code == 1
    assert "file=bad.yaml,line=4,col=" in job.out
    assert "title=no-autograd-kernel::" in job.out
    run = json.loads((folder / "out.sarif").read_text(encoding="utf-8"))["runs"][0]
    assert {result["ruleId"] for result in run["results"]} == {"no-autograd-kernel"}
    assert "| no-autograd-kernel | info | 1 |" in job.summary
    assert "| info | bad.yaml:4:" in job.summary
    assert action(folder, files="bad.yaml", arguments="--fail-on error").code == 0


def test_the_action_finds_drift_after_a_failed_check(folder: Path) -> None:
    text = GOOD.replace("XLA: op_xla", "CUDA: op_cuda").replace(
        " # dispatch-cli: ignore[no-fake-kernel] not compiled", ""
    )
    (folder / "a.yaml").write_text(text, encoding="utf-8")
    job = action(
        folder,
        files="a.yaml",
        arguments="--select no-fake-kernel --fail-on info",
        python="./python",
        **{"import": "demo"},
    )
    assert [(step.name, step.code) for step in job.steps] == [
        ("Check the declarations", 1),
        ("Compare them with the built library", 1),
    ]
    assert job.code == 1
    assert "title=no-fake-kernel::" in job.steps[0].out
    titles = {line.split("title=")[1].split("::")[0] for line in job.steps[1].out.splitlines()}
    assert titles == {"drift-missing", "drift-undeclared"}
    heads = [line for line in job.summary.splitlines() if line.startswith("## ")]
    assert heads == ["## dispatch-cli check-invariants", "## dispatch-cli crossref"]
    assert "| error | a.yaml:4:" in job.summary


def test_names_in_the_inputs_are_no_commands(folder: Path) -> None:
    job = action(folder, files="$(touch owned) `touch owned`;touch owned", arguments="$(touch owned)")
    assert job.code == 2
    assert not (folder / "owned").exists()


def test_the_action_has_no_expression_in_a_script() -> None:
    text = ACTION.read_text(encoding="utf-8")
    assert "${{" not in "".join(part.partition("\n    - name:")[0] for part in text.split("run: |")[1:])


def test_installing_runs_nothing_of_the_checkout(tmp_path: Path) -> None:
    """There is nothing to install, so that the steps end with what pip itself says.

    `tests.ci.steps` looks at the same of the action and the recipe.
    """
    be_hostile(tmp_path)
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    job = run_pages(tmp_path, {"DISPATCH_CLI": str(nothing)})
    assert not (tmp_path / OWNED).exists()
    assert job.code == 1
    assert "Neither 'setup.py' nor 'pyproject.toml' found" in job.steps[0].err


def test_reports_in_the_checkout_are_not_those_of_the_job(folder: Path) -> None:
    (folder / "drift.junit.xml").write_text("forged", encoding="utf-8")
    (folder / "dispatch.junit.xml").symlink_to("declarations/good.yaml")
    job = run_recipe(folder, {"DISPATCH_FILES": "declarations/*.yaml"}, installed=folder / "environment")
    assert job.code == 0
    assert not (folder / "drift.junit.xml").exists()
    assert (folder / "declarations" / "good.yaml").read_text(encoding="utf-8") == GOOD
    ElementTree.parse(folder / "dispatch.junit.xml")


@pytest.mark.slow
def test_the_workflow_writes_the_page_that_it_publishes(folder: Path) -> None:
    program = folder / "temp" / "dispatch-cli" / "bin" / "dispatch-cli"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m dispatch_cli "$@"\n', encoding="utf-8")
    job = run_pages(folder, {"DISPATCH_FILES": "declarations/*.yaml"}, skipped=("Install",))
    assert (job.code, job.out) == (0, ""), job.steps[0].err
    workflow = yaml.safe_load(PAGES.read_text(encoding="utf-8"))["jobs"]
    steps = [step for job in workflow.values() for step in job["steps"] if "uses" in step]
    used = {step["uses"].partition("@")[0]: step.get("with", {}) for step in steps}
    assert [*used] == ["actions/checkout", "actions/upload-pages-artifact", "actions/deploy-pages"]
    published = Path(used["actions/upload-pages-artifact"]["path"].replace("${{ runner.temp }}", str(folder / "temp")))
    files = {path.relative_to(published).as_posix() for path in published.rglob("*.html")}
    assert files == {"index.html"}
    assert workflow["deploy"]["permissions"] == {"pages": "write", "id-token": "write"}
