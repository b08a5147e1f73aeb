"""The GitHub Action, the GitLab recipe and the workflow for GitHub Pages, carried out step by step as runners do it.

usage: python -m tests.ci.steps    (installs dispatch-cli as the two say, from this checkout)
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).parents[2]
ACTION = ROOT / "action.yml"
RECIPE = ROOT / "examples" / "ci" / "dispatch-cli.gitlab-ci.yml"
PAGES = ROOT / "examples" / "ci" / "dispatch-cli.pages.yml"
_BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail")
"""A step's shell, as runners start it."""
OWNED = "owned"
"""The file that a module of `be_hostile` makes when it runs."""
_INPUT = re.compile(r"\$\{\{ inputs\.(\w+) \}\}")


class Ran(NamedTuple):
    """A step that ran: its name, exit code, and what it wrote."""

    name: str
    code: int
    out: str
    err: str


class Job(NamedTuple):
    """A job: its exit code, the steps that ran, and the page that GitHub shows of it."""

    code: int
    steps: tuple[Ran, ...]
    summary: str = ""

    @property
    def out(self) -> str:
        """Standard output of all steps."""
        return "".join(step.out for step in self.steps)


def run_action(folder: Path, inputs: Mapping[str, str], skipped: Sequence[str] = (), source: Path = ROOT) -> Job:
    """Carry out the steps of the action in a folder, as a runner does; those whose name begins so are skipped.

    ``$RUNNER_TEMP`` is the folder ``temp`` in it.
    source: the action's own files. Errors: ValueError for what a runner would not understand.
    """
    action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    known = action["inputs"]
    if unknown := [name for name in inputs if name not in known]:
        raise ValueError(f"the action has no input {unknown}")
    values = {name: inputs.get(name, one.get("default", "")) for name, one in known.items()}
    summary = folder / "temp" / "summary.md"
    summary.parent.mkdir(exist_ok=True)
    summary.touch()
    runner = {
        "RUNNER_TEMP": str(folder / "temp"),
        "GITHUB_ACTION_PATH": str(source),
        "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_ACTIONS": "true",
    }
    ran: list[Ran] = []
    for step in action["runs"]["steps"]:
        failed = any(step.code for step in ran)
        if step["name"].startswith(tuple(skipped) or ("-",)) or not _is_due(step.get("if"), values, failed):
            continue
        if step["shell"] != "bash":
            raise ValueError(f"{step['shell']} is not a shell that is known here")
        variables = {name: _with_inputs(text, values) for name, text in step.get("env", {}).items()}
        if "${{" in step["run"]:
            raise ValueError("an expression in a script is an injection of what it stands for")
        ran.append(_run(step["name"], step["run"], folder, {**runner, **variables}))
    return Job(next((step.code for step in ran if step.code), 0), tuple(ran), summary.read_text(encoding="utf-8"))


def _with_inputs(text: str, values: Mapping[str, str]) -> str:
    filled = _INPUT.sub(lambda match: values[match[1]], text)
    if "${{" in filled:
        raise ValueError(f"the expression in {text!r} is not known here")
    return filled


def _is_due(condition: str | None, values: Mapping[str, str], failed: bool) -> bool:
    """True if a step runs: without a status function only when none before it has failed."""
    text = (condition or "").removeprefix("${{").removesuffix("}}")
    parts = [part.strip() for part in text.split("&&") if part.strip()]
    due = not failed
    if "!cancelled()" in parts:
        parts.remove("!cancelled()")
        due = True
    for part in parts:
        match = re.fullmatch(r"inputs\.(\w+) != ''", part)
        if match is None:
            raise ValueError(f"the condition {part!r} is not known here")
        due = due and values[match[1]] != ""
    return due


def run_recipe(folder: Path, variables: Mapping[str, str], installed: Path | None = None) -> Job:
    """Carry out the GitLab job in a folder: one script of all its lines, as a runner makes it.

    installed: an environment that has dispatch-cli; without it, it is installed.
    """
    job: dict[str, Any] = yaml.safe_load(RECIPE.read_text(encoding="utf-8"))["dispatch-cli"]
    if unknown := [name for name in variables if name not in job["variables"]]:
        raise ValueError(f"the recipe has no variable {unknown}")
    start = job["before_script"] if installed is None else [f"environment={shlex.quote(os.fspath(installed))}"]
    lines = [*start, *job["script"]]
    temporary = folder / "temp"
    temporary.mkdir(exist_ok=True)
    values = {**job["variables"], **variables, "CI": "true", "TMPDIR": str(temporary)}
    ran = _run("dispatch-cli", "\n".join(lines), folder, values)
    return Job(ran.code, (ran,))


def run_pages(folder: Path, variables: Mapping[str, str], skipped: Sequence[str] = ()) -> Job:
    """Carry out the workflow's job that writes the pages; steps whose name begins so are skipped.

    Its ``$RUNNER_TEMP`` is the folder ``temp``. Errors: ValueError for what a runner would not understand.
    """
    job: dict[str, Any] = yaml.safe_load(PAGES.read_text(encoding="utf-8"))["jobs"]["build"]
    temporary = folder / "temp"
    temporary.mkdir(exist_ok=True)
    ran: list[Ran] = []
    for step in job["steps"]:
        if "run" not in step or step["name"].startswith(tuple(skipped) or ("-",)):
            continue
        if step["shell"] != "bash" or "${{" in step["run"]:
            raise ValueError("a step of the workflow is a script for bash without expressions")
        values = {**job["env"], **variables, "RUNNER_TEMP": str(temporary)}
        ran.append(_run(step["name"], step["run"], folder, values))
        if ran[-1].code:
            break
    return Job(ran[-1].code, tuple(ran))


def _run(name: str, script: str, folder: Path, variables: Mapping[str, str]) -> Ran:
    with tempfile.NamedTemporaryFile("w", suffix=".sh", delete=False) as file:
        file.write(script)
    try:
        done = subprocess.run(
            [*_BASH, file.name],
            cwd=folder,
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=600,
        )
    finally:
        Path(file.name).unlink()
    return Ran(name, done.returncode, done.stdout, done.stderr)


def be_hostile(folder: Path) -> None:
    """Put modules in a checkout that end whatever imports them, instead of Python's own or the program's."""
    program = f"import os\nopen({os.fspath(folder / OWNED)!r}, 'w').close()\nos._exit(7)\n"
    for name in ("venv", "ensurepip", "pip", "dispatch_cli", "click", "yaml"):
        (folder / name).mkdir()
        for module in ("__init__.py", "__main__.py"):
            (folder / name / module).write_text(program, encoding="utf-8")
    for name in ("json", "typing", "sitecustomize", "usercustomize", "tomllib"):
        (folder / f"{name}.py").write_text(program, encoding="utf-8")
    programs = folder / ".dispatch-cli" / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    for name in ("python", "dispatch-cli"):
        if not (programs / name).exists():
            (programs / name).write_text(f"#!/bin/sh\n: > '{folder / OWNED}'\n", encoding="utf-8")
            (programs / name).chmod(0o755)


def main() -> int:
    """Run both whole, with the example declarations, where a pull request wants to be run; say how they end.

    Nothing of the checkout may run, either while they install.
    """
    with tempfile.TemporaryDirectory() as directory:
        be_hostile(Path(directory))
        action = run_action(Path(directory), {"files": str(ROOT / "examples" / "custom_library.yaml")})
        owned = (Path(directory) / OWNED).exists()
    with tempfile.TemporaryDirectory() as directory:
        be_hostile(Path(directory))
        files = {"DISPATCH_CLI": str(ROOT), "DISPATCH_FILES": str(ROOT / "examples" / "custom_library.yaml")}
        recipe = run_recipe(Path(directory), files)
        owned = owned or (Path(directory) / OWNED).exists()
    for name, job in (("action.yml", action), (RECIPE.name, recipe)):
        print(f"{name}: exit code {job.code}")
        for step in job.steps:
            print(f"  {step.name}: {step.code}\n{step.out}{step.err if step.code else ''}", end="")
    passed = "All checks passed" in action.summary and "All checks passed" in recipe.out
    return 0 if action.code == recipe.code == 0 and passed and not owned else 1


if __name__ == "__main__":
    sys.exit(main())
