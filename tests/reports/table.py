"""Public reports of errors: `reports.tsv`, and what people pasted in ``texts/``.

`RULE.md` says how they were chosen, and what the columns mean.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent
TEXTS = FOLDER / "texts"


class Report(NamedTuple):
    """A report.

    round: the collection that it is from. version: of PyTorch, where the report states it. outcome: what the thread
    found. says: regular expressions, joined by ``&&``; an answer that tells the cause has all of them. verdict: of the
    first run, and, after "then", of the run after repairs.
    """

    round: str
    name: str
    address: str
    repository: str
    version: str
    outcome: str
    says: str
    verdict: str

    @property
    def file(self) -> Path:
        """The file of its text."""
        return TEXTS / f"{self.name}.txt"


@cache
def reports() -> tuple[Report, ...]:
    """All reports, in the order in which they were collected."""
    with FOLDER.joinpath("reports.tsv").open(encoding="utf-8", newline="") as file:
        return tuple(Report(**row) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
