"""The calls of a recorded program in a page: they are those that `trace` prints."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli.page import trace as page_trace
from tests.cli.support import call
from tests.once import once
from tests.page.support import Script, needs_node, page_of, script_of
from tests.page.test_write import data_of
from tests.trace.support import Writer, every
from tests.trace.test_recording import REAL

pytestmark = needs_node
OWN = REAL.with_name("own.trace")


def written(folder: Path, file: Path) -> Path:
    page = folder / "page.html"
    result = call("page", "--trace", str(file), "-o", str(page))
    assert result.code == 0, result.err
    return page


@pytest.fixture(scope="module", params=["own", pytest.param("by hand", marks=pytest.mark.slow)])
def recorded(request: pytest.FixtureRequest) -> Path:
    if request.param == "own":
        return OWN
    trace_folder = once("every-trace", lambda folder: (folder / "every.trace").write_text(every(), encoding="utf-8"))
    return trace_folder / "every.trace"


@pytest.fixture(scope="module")
def script(recorded: Path) -> Iterator[Script]:
    with script_of(page_of("--trace", str(recorded))) as page_script:
        yield page_script


@pytest.fixture(scope="module")
def printed(recorded: Path) -> Any:
    result = call("trace", str(recorded), "--format", "json")
    assert result.code == 0, result.err
    return json.loads(result.out)


def test_lines_findings_and_counts_are_those_of_the_command(script: Script, printed: Any) -> None:
    shown = script.ask("trace")
    rows = [(thread["name"], row) for thread in printed["threads"] for row in thread["rows"]]
    assert len(shown["rows"]) == len(rows)
    assert not shown["more"]
    for page_row, (thread, row) in zip(shown["rows"], rows, strict=True):
        assert page_row["thread"] == thread
        for field in ("number", "level", "times", "all", "operator", "forward", "forwards", "raised", "unfinished"):
            assert page_row[field] == row[field], (field, row)
        assert page_row["time"] == row["microseconds"]
        kernels = [] if row["path"] is None else row["path"]["kernels"]
        assert page_row["key"] == (kernels[0]["key"] if kernels else None)
        text = "".join(text for text, _ in page_row["kernels"])
        assert text.endswith("(calls again)") or all(kernel["key"] in text for kernel in kernels)
        place = row["place"]
        assert page_row["place"] == (place and [Path(place["file"]).name, place["line"], place["function"]])
    fields = ("kind", "operator", "key", "first", "more_places")
    findings = [tuple(finding[field] for field in fields) for finding in shown["findings"]]
    assert findings == [tuple(finding[field] for field in fields) for finding in printed["findings"]] != []
    for operator in printed["operators"]:
        assert script.ask("callsOf", operator["operator"]) == operator["calls"]
        assert sum(row["all"] for row in script.ask("traceRows", operator["operator"])) == operator["calls"]


def test_commands(script: Script, recorded: Path) -> None:
    assert script.ask("command", "trace", None) == f"dispatch-cli trace {recorded.name}"
    assert script.ask("command", "trace-call", "3") == f"dispatch-cli trace {recorded.name} --explain 3"
    assert script.ask("command", "trace", "aten::linear").startswith(
        f"dispatch-cli trace {recorded.name} --op aten::lin"
    )
    assert script.ask("command", "page") == f"dispatch-cli page --trace {recorded.name}"
    assert script.ask("command", "explore") == f"dispatch-cli explore --trace {recorded.name}"
    base = recorded.name if recorded == OWN else "torch-2.13"
    assert script.ask("command", "changes") == f"dispatch-cli table --base {base}"


def test_a_long_trace_is_cut_and_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_trace, "MOST_LINES", 7)
    with script_of(written(tmp_path, OWN)) as page_script:
        shown = page_script.ask("trace")
    assert shown["more"]
    assert len(shown["rows"]) == 7
    assert shown["counts"]["calls"] == 38


def test_folders_of_the_program_are_not_in_the_page(tmp_path: Path) -> None:
    writer = Writer(argv=["/secret/folder/train.py"], directory="/secret/folder")
    writer.call("aten::relu")
    writer.add_small_state()
    text = writer.text().replace("/home/me", "/secret/other/deep/er/place")
    (tmp_path / "t.trace").write_text(text, encoding="utf-8")
    data = json.dumps(data_of(written(tmp_path, tmp_path / "t.trace").read_text(encoding="utf-8")))
    assert "secret" not in data
    assert str(tmp_path) not in data
    assert "er/place/train.py" in data


def test_bad_recordings_are_refused_as_by_trace(tmp_path: Path) -> None:
    (tmp_path / "bad.trace").write_text('{"dispatch_cli_trace":1,"torch":"2.13"}\n["c",5]\n')
    results = [call(*command, str(tmp_path / "bad.trace")) for command in (("trace",), ("page", "--trace"))]
    assert [result.code for result in results] == [2, 2]
    assert results[0].err == results[1].err
    assert call("page", "--trace", str(OWN), "-k", "CPU").code == 2
