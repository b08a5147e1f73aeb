"""Reports of others: the answer tells the cause that the thread found, before any rule is named."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from dispatch_cli.answers.errors.read import find_errors
from tests.cli.support import call
from tests.reports.table import TEXTS, Report, reports

MOST_OF_PYTORCH, MOST_OF_ANOTHER = 20, 4
SIZES = {
    str(at): size
    for at, size in enumerate(
        (60, *[40] * 4, 30, 38, 40, 30, 27, *[40] * 8, 50, 45, *[40] * 5, *[45] * 16),
        start=2,
    )
}
TOLD = [report for report in reports() if report.says]


def answer(report: Report) -> str:
    """Notes before the rules in turn."""
    result = call("explain", "--from-error", str(report.file))
    assert (result.code, result.err) == (0, "")
    return result.out.partition("\n  #  Rule")[0]


def test_every_text_has_its_report() -> None:
    assert sorted(report.name for report in reports()) == sorted(path.stem for path in TEXTS.glob("*.txt"))
    assert len({report.address for report in reports()}) == len(reports())
    assert Counter(report.round for report in reports() if report.round != "1") == SIZES
    assert [report.name for report in reports() if not report.outcome] == []


@pytest.mark.parametrize("number", SIZES)
def test_no_repository_has_more_than_its_share(number: str) -> None:
    counts = Counter(report.repository for report in reports() if report.round == number)
    assert len(counts) >= 15
    assert counts.pop("pytorch/pytorch") <= MOST_OF_PYTORCH
    assert max(counts.values()) <= MOST_OF_ANOTHER


def test_a_text_that_was_recognised_stays_so() -> None:
    for report in reports():
        if not report.verdict.endswith("not recognised"):
            assert find_errors(report.file.read_text(encoding="utf-8")), report.name


@pytest.mark.parametrize("report", TOLD, ids=[report.name for report in TOLD])
def test_the_answer_tells_the_cause_that_the_thread_found(report: Report) -> None:
    text = answer(report)
    missing = [part for part in report.says.split(" && ") if re.search(part, text) is None]
    assert missing == [], text
    lines = text.splitlines()
    user = lines.index("What you can do:")
    assert user >= 2
    authors = [at for at, line in enumerate(lines) if line == "What the author of the operator can do:"]
    assert all(user < at for at in authors)
    assert all(len(line) < 500 for line in lines[: user + 1])
    data = json.loads(call("explain", "--from-error", str(report.file), "--format", "json").out)
    assert all(sentence in text for sentence in (*(fact["text"] for fact in data["facts"]), *data["user"]))
    assert data["user"]


def test_what_helps_is_a_list_in_every_format() -> None:
    report = next(report for report in reports() if report.name == "torchvision_nms")
    for format_, item in (("text", "- "), ("markdown", "- "), ("html", "<p>&bull; ")):
        out = call("explain", "--from-error", str(report.file), "--format", format_).out
        assert f"\n{item}Install a build of torchvision for CUDA" in out
