"""The table of the sixty reports and their texts belong together, and keep the rule of choice in `RULE.md`."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

from dispatch_cli.answers.errors.read import find_errors
from tests.reports.collected import COLLECTED

FOLDER = Path(__file__).parent
MOST_OF_PYTORCH, MOST_OF_ANOTHER = 20, 4


def rows(name: str = "sixty") -> list[dict[str, str]]:
    """The rows of a table."""
    with FOLDER.joinpath(f"{name}.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_every_text_is_in_the_table() -> None:
    texts = sorted(path.stem for path in FOLDER.joinpath("sixty").glob("*.txt"))
    assert sorted(row["name"] for row in rows()) == texts
    assert len(texts) == 60


def test_no_report_is_there_twice() -> None:
    earlier = {report.address for report in COLLECTED}
    addresses = [row["address"] for row in rows()]
    assert len(set(addresses)) == len(addresses)
    assert earlier.isdisjoint(addresses)


def test_no_repository_has_more_than_its_share() -> None:
    counts = Counter(row["repository"] for row in rows())
    assert len(counts) >= 15
    assert counts.pop("pytorch/pytorch") <= MOST_OF_PYTORCH
    assert max(counts.values()) <= MOST_OF_ANOTHER


def test_every_report_has_an_outcome() -> None:
    assert [row["name"] for row in rows() if not row["outcome"]] == []


def test_the_forty_continue_the_sixty() -> None:
    texts = sorted(path.stem for path in FOLDER.joinpath("forty").glob("*.txt"))
    assert sorted(row["name"] for row in rows("forty")) == texts
    assert len(texts) == 40
    assert {row["address"] for row in rows("forty")}.isdisjoint(row["address"] for row in rows())


def test_a_text_that_was_recognised_stays_so() -> None:
    """A text that was recognised when the verdicts were given stays so."""
    for name in ("sixty", "forty"):
        for row in rows(name):
            found = find_errors(FOLDER.joinpath(name, f"{row['name']}.txt").read_text(encoding="utf-8"))
            assert bool(found) is not row["verdict"].endswith("not recognised"), row["name"]
