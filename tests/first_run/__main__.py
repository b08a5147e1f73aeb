"""Print the figures of `check-invariants .`, without settings, over checkouts of public projects.

usage: python -m tests.first_run FOLDER

FOLDER has a checkout OWNER+NAME of each project in projects.tsv, at the commit that stands there. Processor seconds and
memory are those of the whole process, with nothing kept of earlier runs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

PROJECTS = Path(__file__).with_name("projects.tsv")
COMMAND = (sys.executable, "-m", "dispatch_cli", "check-invariants", ".", "--format", "json")
SEVERITIES = ("error", "warning", "info")


def projects() -> list[str]:
    """The names of the projects, as OWNER/NAME."""
    lines = PROJECTS.read_text("utf-8").splitlines()
    return [line.partition("\t")[0] for line in lines if not line.startswith("#")]


def row(folder: Path) -> tuple[str, ...]:
    """Seconds, megabytes, exit code, operators, and findings by severity of one project."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "DISPATCH_CLI_CACHE_DIR": "none"}
    with subprocess.Popen(
        COMMAND, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None, "it is a pipe"
        text = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    report = json.loads(text)
    seconds = used.ru_utime + used.ru_stime
    counts = (f"{report['counts'][severity]:,}" for severity in SEVERITIES)
    return f"{seconds:.1f}", f"{used.ru_maxrss // 1024}", str(process.returncode), f"{report['operators']:,}", *counts


def main(folder: Path) -> None:
    """Print a row for each project that is there."""
    print("| project | s | MB | exit | operators | errors | warnings | infos |\n|---|---|---|---|---|---|---|---|")
    for name in projects():
        checkout = folder / name.replace("/", "+")
        if checkout.is_dir():
            print("|", " | ".join((name, *row(checkout))), "|", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
