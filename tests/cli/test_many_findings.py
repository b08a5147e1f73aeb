"""A small file that is wrong at very many places: all are counted, some are listed, and every format says so."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli.answers.findings.report import findings_report
from dispatch_cli.api import load_state
from dispatch_cli.checks.running.listing import OF_GROUP, Limits
from tests.cli.support import Result, call

pytestmark = pytest.mark.usefixtures("many")

OPERATORS, GUARDS = 30, 6
BACKENDS = ("CPU", "CUDA", "XLA", "Meta", "HPU")
PER_GUARD = OPERATORS * len(BACKENDS)
ALL = GUARDS * PER_GUARD
"""Each guard is broken at each backend of each operator: every kernel has a name of its own."""


@pytest.fixture
def many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file, in the current folder. Every operator has a kernel at each of the backends, and guards want others."""
    lines = ["dispatch: 1", "operators:"]
    for number in range(OPERATORS):
        kernels = ", ".join(f"{key}: k{number}_{key}" for key in BACKENDS)
        lines += [f"- func: demo::op{number}(Tensor x) -> Tensor", f"  dispatch: {{{kernels}}}"]
    lines.append("guards:")
    keys = f"[{', '.join(BACKENDS)}]"
    lines += [f"- {{op: '*', key: {keys}, kernel: zz{number}}}" for number in range(GUARDS)]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "many.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def check(*args: str) -> Result:
    return call("check-invariants", "many.yaml", "--select", "guard", *args)


def report(*args: str) -> Any:
    return json.loads(check("--format", "json", *args).out)


def test_json_lists_some_and_counts_all() -> None:
    document = report()
    assert document["failed"]
    assert document["counts"]["error"] == ALL
    listed = Counter(finding["declared_at"]["line"] for finding in document["findings"])
    rest = {row["declared_at"]["line"]: row["findings"] for row in document["unlisted"]}
    assert len(listed) == GUARDS
    assert all(count <= OF_GROUP for count in listed.values())
    assert {line: listed[line] + rest.get(line, 0) for line in listed} == dict.fromkeys(listed, PER_GUARD)


def test_all_findings_lists_all() -> None:
    document = report("--full")
    assert len({finding["fingerprint"] for finding in document["findings"]}) == ALL
    assert document["unlisted"] == []


@pytest.mark.parametrize("format_", ["markdown", "html", "csv", "github", "junit"])
def test_every_format_says_how_many_are_not_listed(format_: str) -> None:
    """For each guard, and all together."""
    text = check("--format", format_).out
    more = [int(count) for count in re.findall(r": (\d+) more findings", text)]
    assert len(more) == GUARDS
    assert sum(more) + len(report()["findings"]) == ALL


def test_sarif_has_a_notification_for_those_that_are_not_listed() -> None:
    (log,) = json.loads(check("--format", "sarif").out)["runs"]
    notifications = log["invocations"][0]["toolExecutionNotifications"]
    listed = sum(len(result["properties"].get("findings", "1")) for result in log["results"])
    assert listed + sum(row["properties"]["findings"] for row in notifications) == ALL
    assert {row["associatedRule"]["id"] for row in notifications} == {"guard"}


def test_a_baseline_holds_all(many: Path) -> None:
    assert check("--baseline", "b.json", "--update-baseline").code == 0
    entries = json.loads((many / "b.json").read_text())["findings"]
    assert sum(entry.get("count", 1) for entry in entries) == ALL
    after = check("--baseline", "b.json", "--format", "json")
    assert after.code == 0
    assert json.loads(after.out)["baseline"]["known"] == ALL
    (many / "b.json").write_text(json.dumps({"schema_version": 1, "report": "baseline", "findings": entries[:-1]}))
    one_more = report("--baseline", "b.json")
    assert [finding["operator"] for finding in one_more["findings"]] == [entries[-1]["operator"]]


def test_suppressed_findings_are_listed_up_to_the_limit_and_counted(many: Path) -> None:
    with (many / "many.yaml").open("a") as file:
        file.write("suppress:\n- {checks: guard, op: 'demo::op1*', key: C*, reason: as it should be}\n")
    document = report()
    suppressed = 11 * 2 * GUARDS  # op1, op10 … op19; CPU and CUDA
    assert document["suppressed_count"] == suppressed
    assert document["counts"]["error"] == ALL - suppressed
    assert check().code == 1


def test_guards_counts_all_too() -> None:
    rows = json.loads(call("guards", "many.yaml", "--format", "json").out)["guards"]
    assert [row["broken_count"] for row in rows] == [PER_GUARD] * GUARDS


@pytest.mark.parametrize("guards", ["", "- {op: '*', key: CPU, rule: fallback}\n- {op: '*', key: XLA, kernel: zz}\n"])
def test_what_is_not_listed_is_counted_for_its_operator(many: Path, guards: str) -> None:
    """As many as there are where all are listed."""
    file = many / "many.yaml"
    file.write_text(file.read_text(encoding="utf-8") + guards, encoding="utf-8")
    state = load_state([str(file)])
    names = state.own_operators()
    whole = findings_report(state, names)
    listed = Counter(finding.finding.operator for finding in whole.findings if finding.finding.operator is not None)
    for limits in (Limits(), Limits(of_check=10, of_group=3)):
        cut = findings_report(state, names, limits=limits)
        assert len(cut.findings) < len(whole.findings)
        assert {name: sum(counts.values()) for name, counts in cut.affected.items()} == listed
