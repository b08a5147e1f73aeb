"""A finding has one place: the column that every format says is where its word is underlined."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.support import ROOT, call, process

FILES = sorted(
    str(path.relative_to(ROOT))
    for path in (*Path(ROOT, "examples").rglob("*.yaml"), Path(ROOT, "tests/checks/planted/library.yaml"))
    if path.name != "broken.yaml"
)
UNDERLINED = re.compile(r"^(\S+):(\d+):(\d+): \w+\[.*\n +\2 \| (.*)\n +\| ( *)\^+$", re.M)
Place = tuple[str, int, int]


def places_in_json(text: str) -> list[Place]:
    places = (finding["declared_at"] for finding in json.loads(text)["findings"])
    return [(place["file"], place["line"], place["column"]) for place in places if place is not None]


def underlined(text: str) -> list[Place]:
    """Places in the files that the carets mark."""
    places = []
    for file, line, column, shown, before in UNDERLINED.findall(text):
        whole = Path(file).read_text(encoding="utf-8").split("\n")[int(line) - 1]
        start = whole.index(shown) + len(before) + 1
        assert start == int(column), (file, line)
        places.append((file, int(line), start))
    return places


def places_for_ci(args: tuple[str, ...]) -> tuple[set[Place], set[Place]]:
    results = json.loads(call(*args, "--format", "sarif").out)["runs"][0]["results"]
    physical = [
        place["physicalLocation"] for result in results for place in result["locations"] if "physicalLocation" in place
    ]
    regions = ((place["artifactLocation"]["uri"], place["region"]) for place in physical)
    annotations = re.findall(
        r"^::\w+ file=([^,]+),line=(\d+),col=(\d+)", call(*args, "--format", "github", "--severity", "info").out, re.M
    )
    return (
        {(file, region["startLine"], region["startColumn"]) for file, region in regions},
        {(file, int(line), int(column)) for file, line, column in annotations},
    )


@pytest.mark.parametrize("file", FILES[::2])
def test_every_format_says_the_place_that_is_underlined(file: str) -> None:
    args = ("check-invariants", file, "--select", "all")
    places = places_in_json(call(*args, "--format", "json").out)
    sarif, github = places_for_ci(args)
    assert set(underlined(call(*args, "--full", "--severity", "info").out)) == set(places) == sarif == github


ON_ONE_LINE = {
    "guard": ('guards: [{op: "m::f", key: CUDA, rule: kernel}, {op: "m::f", key: CUDA, kernel: x}]', "CUDA"),
    "unmatched-guard": (
        'guards: [{op: "m::g", key: CUDA, rule: kernel}, {op: "m::g", key: CUDA, kernel: x}]',
        "m::g",
    ),
    "unused-suppression": (
        'suppress: [{checks: [guard], op: "m::f", reason: a}, {checks: [guard], op: "m::f", reason: b}]',
        "guard",
    ),
    "higher-order-mode": (
        "higher_order_operators: [{name: twice, dispatch: {CPU: a}}, {name: twice_more, dispatch: {CPU: a}}, "
        "{name: more, dispatch: {CPU: a}}]",
        "twice|twice_more|more",
    ),
}


@pytest.mark.parametrize("check", ON_ONE_LINE)
def test_the_place_is_that_of_the_word_in_its_own_entry(
    check: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    line, word = ON_ONE_LINE[check]
    head = "dispatch: 1\noperators:\n  - {func: m::f(Tensor x) -> Tensor, dispatch: {CPU: a}}\n"
    Path("x.yaml").write_text(f"{head}{line}\n", encoding="utf-8")
    args = ("check-invariants", "x.yaml", "--select", f"{check},guard")
    places = places_in_json(call(*args, "--format", "json").out)
    expected = [("x.yaml", 4, match.start() + 1) for match in re.finditer(rf"\b({word})\b", line)]
    assert places == expected
    assert underlined(call(*args).out) == places
    sarif, github = places_for_ci(args)
    assert sarif == github == set(places)


# A library with seven planted mistakes, checked as a CI job would: each is found, and where it is.


FOLDER = "tests/checks/planted"
PLANTED = re.compile(r"# planted: ([\w-]+)$", re.M)


def planted() -> set[tuple[str, int]]:
    """The checks that the comments name, and their lines."""
    lines = Path(ROOT, FOLDER, "library.yaml").read_text(encoding="utf-8").splitlines()
    matches = ((PLANTED.search(line), number) for number, line in enumerate(lines, start=1))
    return {(match[1], number) for match, number in matches if match is not None}


def test_each_mistake_is_found_by_the_check_meant_for_it() -> None:
    run = process("check-invariants", f"{FOLDER}/library.yaml", "--format", "json")
    findings = json.loads(run.out)["findings"]
    assert len(planted()) == 7
    assert {(finding["check"], finding["declared_at"]["line"]) for finding in findings} == planted()
    assert len(findings) == 7
    assert run.code == 1


def test_without_the_mistakes() -> None:
    run = process("check-invariants", f"{FOLDER}/library.fixed.yaml", "--select", "all", "--format", "json")
    assert (json.loads(run.out)["findings"], run.code) == ([], 0)
