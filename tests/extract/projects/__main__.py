"""Prints the table of figures, and with ``--list`` what differs."""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

from dispatch_cli.audit import audit
from dispatch_cli.model.extracted import SourceKind
from tests.extract.projects.compare import Comparison, compare, compare_tables
from tests.extract.projects.live import load_live, rows_of
from tests.extract.projects.project import PROJECTS, Project, available, extract, sources_of, unpacked

COLUMNS = (
    "project | found | right place | extra | if | definitions | equal | extra | not understood | audit | slots | s | "
    "most of a budget"
)


def main() -> None:
    """Compare the projects that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.extract.projects")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--unpacked", type=Path, help="a folder with the unpacked archives")
    parser.add_argument("--list", action="store_true", help="also list what differs")
    options = parser.parse_args()
    print(COLUMNS)
    for project in PROJECTS:
        if not options.names or project.name in options.names:
            _run(project, options.unpacked, options.list)
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MB at most")


def _run(project: Project, folder: Path | None, with_list: bool) -> None:
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
        ours = rows_of(extractions)
        live = load_live(archives, project)
        result = compare(live, ours, root, project.python)
        tables = compare_tables(project, extractions, live)
        part, most = sources.work.greatest()
        print(
            f"{project.name} | {result.found} of {result.live} | {result.placed} of {result.with_place} | "
            f"{len(result.unconditional)} | {len(result.conditional)} | "
            f"{result.definitions - len(result.missing_definitions)} of {result.definitions} | {result.equal} | "
            f"{len(result.extra_definitions)} | {sum(len(extraction.not_understood) for extraction in extractions)} | "
            f"{len(unaccounted)} | {tables.slots - len(tables.different):,} of {tables.slots:,} | {seconds:.2f} | "
            f"{part:.1%} {most.removeprefix(f'{root}/') or 'of the run'}"
        )
        if with_list:
            _list(result, root)
            for text in ours.undecided:
                print("  undecided:", text)
            for operator, key, one_answer, other in tables.different:
                print(f"  slot: {operator} {key}: {one_answer} from the sources, {other} live")
            for extraction in extractions:
                for statement in extraction.not_understood:
                    print(f"  not understood: {_short(statement.at, root)}: {statement.why} | {statement.text}")
                print("  missing names:", extraction.missing)
            for place in unaccounted:
                print(f"  not accounted for: {_short(place.at, root)}: {place.text}")


def _short(at: object, root: Path) -> str:
    return str(at).removeprefix(f"{root}/")


def _list(result: Comparison, root: Path) -> None:
    for live in result.missing:
        print(f"  missing: {live.operator} {live.key} {live.place or ('Python' if live.python else 'no place')}")
    for live, rows in result.misplaced:
        print(f"  place: {live.operator} {live.key} {live.place}, here {[_short(row.at, root) for row in rows]}")
    for row in (*result.unconditional, *result.conditional):
        when = f" when {' and '.join(map(str, row.when))}" if row.when else ""
        print(f"  extra: {row.operator} {row.key} {_short(row.at, root)}{when}")
    for row in result.not_boxed:
        print(f"  not a fallthrough: {row.operator} {row.key} {_short(row.at, root)}")
    for name in result.missing_definitions:
        print(f"  missing definition: {name}")
    for name, text, schemas in result.different:
        print(f"  schema: {name}\n     live {text}")
        for schema in schemas:
            print(f"     here {schema.schema} {_short(schema.at, root)}")
    for definition in result.extra_definitions:
        print(f"  extra definition: {definition.operator} {_short(definition.at, root)}")


if __name__ == "__main__":
    main()
