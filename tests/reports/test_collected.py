"""Reports of others: the answer tells the cause that the thread found, before any rule is named."""

from __future__ import annotations

import json
import re

import pytest

from tests.cli.support import call
from tests.reports.collected import COLLECTED, TEXTS, Collected


def answer(report: Collected) -> str:
    """What is said before the rules in turn."""
    result = call("explain", "--from-error", str(report.file))
    assert (result.code, result.err) == (0, "")
    return result.out.partition("\n  #  Rule")[0]


def test_every_text_has_its_report() -> None:
    assert sorted(one.name for one in COLLECTED) == sorted(path.stem for path in TEXTS.glob("*.txt"))
    assert len({one.address for one in COLLECTED}) == len(COLLECTED) == 42


@pytest.mark.parametrize("report", COLLECTED, ids=[one.name for one in COLLECTED])
def test_the_answer_tells_the_cause_that_the_thread_found(report: Collected) -> None:
    text = answer(report)
    missing = [one for one in report.says if re.search(one, text) is None]
    assert missing == [], text


@pytest.mark.parametrize("report", COLLECTED, ids=[one.name for one in COLLECTED])
def test_the_order_is_what_is_so_then_the_user_then_the_author(report: Collected) -> None:
    lines = answer(report).splitlines()
    user = lines.index("What you can do:")
    assert user >= 3
    authors = [at for at, line in enumerate(lines) if line == "What the author of the operator can do:"]
    assert all(user < at for at in authors)
    assert all(len(line) < 500 for line in lines[: user + 1])


@pytest.mark.parametrize("report", COLLECTED, ids=[one.name for one in COLLECTED])
def test_the_same_as_data(report: Collected) -> None:
    result = call("explain", "--from-error", str(report.file), "--format", "json")
    data = json.loads(result.out)
    text = answer(report)
    for said in (*(fact["text"] for fact in data["facts"]), *data["user"]):
        assert said in text
    assert data["user"]


def test_what_helps_is_a_list_in_every_format() -> None:
    report = next(one for one in COLLECTED if one.name == "torchvision_nms")
    for format_, item in (("text", "- "), ("markdown", "- "), ("html", "<p>&bull; ")):
        out = call("explain", "--from-error", str(report.file), "--format", format_).out
        assert f"\n{item}Install a build of the package for CUDA" in out
