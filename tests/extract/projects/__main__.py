"""Prints the table of figures; the test of the projects says what differs."""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

from dispatch_cli.audit import audit
from dispatch_cli.model.sources.extracted import SourceKind
from tests.extract.projects.compare import compare, compare_tables
from tests.extract.projects.live import load_live, rows_of
from tests.extract.projects.project import PROJECTS, Project, available, extract, sources_of, unpacked

COLUMNS = (
    "project | found | right place | extra | if | definitions | equal | extra | not understood | audit | slots | s"
)


def main() -> None:
    """Compare the projects that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.extract.projects")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--unpacked", type=Path, help="a folder with the unpacked archives")
    options = parser.parse_args()
    print(COLUMNS)
    for project in PROJECTS:
        if not options.names or project.name in options.names:
            _run(project, options.unpacked)
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MB at most")


def _run(project: Project, folder: Path | None) -> None:
    archives = available()
    assert archives is not None
    with unpacked(project, folder) as root:
        sources = sources_of(project, root)
        start = time.perf_counter()
        extractions = extract(project, sources)
        seconds = time.perf_counter() - start
        accounted = frozenset().union(*(extraction.accounted for extraction in extractions))
        files = [*sources.files[SourceKind.CPP], *(sources.files[SourceKind.PYTHON] if project.python else [])]
        unaccounted = audit(files, sources.read, accounted)
        live = load_live(archives, project)
        result = compare(live, rows_of(extractions), root, project.python)
        tables = compare_tables(project, extractions, live)
        print(
            f"{project.name} | {result.found} of {result.live} | {result.placed} of {result.with_place} | "
            f"{len(result.unconditional)} | {len(result.conditional)} | "
            f"{result.definitions - len(result.missing_definitions)} of {result.definitions} | {result.equal} | "
            f"{len(result.extra_definitions)} | {sum(len(extraction.not_understood) for extraction in extractions)} | "
            f"{len(unaccounted)} | {tables.slots - len(tables.different):,} of {tables.slots:,} | {seconds:.2f}"
        )


if __name__ == "__main__":
    main()
