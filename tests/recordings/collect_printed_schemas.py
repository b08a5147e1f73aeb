"""Collect schemas and signatures as PyTorch printed them for the operators of real libraries.

usage: python -m tests.recordings.collect_printed_schemas OUT.json.xz LIBRARY.live.json.xz...

Each LIBRARY-VERSION.live.json.xz says what a live PyTorch held once that library was imported: {"torch": version,
"definitions": {operator: {"schema": …}}, "registrations": [[operator, key, inactive, debug, signature], …]}.
"""

import json
import lzma
import sys
from pathlib import Path


def main(out: str, files: list[str]) -> None:
    """Read all, write one file; places in a build machine's folders are left out."""
    results = {}
    for file in sorted(files):
        with lzma.open(file, "rt") as opened:
            data = json.load(opened)
        results[Path(file).name.removesuffix(".live.json.xz")] = {
            "torch": data["torch"],
            "schemas": [definition["schema"] for _, definition in sorted(data["definitions"].items())],
            "signatures": sorted({entry[4] for entry in data["registrations"]} - {"(none)"}),
        }
    with lzma.open(out, "wt") as opened:
        json.dump(results, opened)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
