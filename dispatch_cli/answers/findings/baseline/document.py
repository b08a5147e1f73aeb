"""A baseline as a file: JSON, a line for each entry, sorted, so that a version control system shows what changes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from dispatch_cli.answers.findings.baseline.report import SCHEMA_VERSION, Entry


def baseline_json(entries: Mapping[Entry, int]) -> Iterator[str]:
    """The whole file."""
    yield f'{{\n  "schema_version": {SCHEMA_VERSION},\n  "report": "baseline",\n  "findings": ['
    for position, entry in enumerate(sorted(entries, key=lambda entry: entry.order)):
        fields = {name: value for name, value in entry._asdict().items() if value}
        if entries[entry] > 1:
            fields["count"] = entries[entry]
        yield ("," if position else "") + "\n    " + json.dumps(fields)
    yield "\n  ]\n}\n" if entries else "]\n}\n"
