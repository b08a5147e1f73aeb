"""Answers about registrations with conditions: what is shown, which are chosen, and what is said of it."""

from __future__ import annotations

import json

import pytest

from tests.cli.support import call

FILE = "tests/cli/conditions.yaml"
SHOWN = "note: shown for: CUDA_VERSION >= 12000, HAS_PYTHON, not defined(USE_ROCM)"


@pytest.fixture(autouse=True)
def _in_the_project(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    monkeypatch.chdir(request.config.rootpath)


@pytest.mark.parametrize(
    "line",
    [
        ("table", FILE, "--op", "mylib::scale"),
        ("register", FILE, "--op", "mylib::scale"),
        ("explain", "mylib::scale", "CUDA", FILE),
        ("resolve", "mylib::scale", FILE, "--tensor", "cuda"),
    ],
)
def test_an_answer_says_for_which_conditions_it_holds(line: tuple[str, ...]) -> None:
    result = call(*line)
    assert SHOWN in result.err
    assert "scale_cuda" in result.out
    chosen = call(*line, "--when", "USE_ROCM")
    assert "defined(USE_ROCM)" in chosen.err
    assert "not defined(USE_ROCM)" not in chosen.err
    assert "scale_hip" in chosen.out
    assert "scale_cuda" not in chosen.out


@pytest.mark.parametrize(
    ("choice", "when"),
    [
        ("CUDA_VERSION=11080", "not CUDA_VERSION >= 12000"),
        ("CUDA_VERSION=undefined", "not CUDA_VERSION >= 12000"),
        ("CUDA_VERSION >= 12000=0", "not CUDA_VERSION >= 12000"),
        ("CUDA_VERSION >= 12000", "CUDA_VERSION >= 12000"),
        ("HAS_PYTHON=false", "not HAS_PYTHON"),
    ],
)
def test_names_and_atoms_are_chosen(choice: str, when: str) -> None:
    result = call("table", FILE, "--op", "mylib::scale", "--when", choice)
    assert result.code == 0
    assert when in result.err.partition("shown for: ")[2].partition(";")[0].split(", ")


def test_a_choice_of_what_is_in_no_condition_is_refused() -> None:
    result = call("table", FILE, "--when", "USE_ROCMM")
    assert result.code == 2
    assert "no condition of a registration mentions 'USE_ROCMM'" in result.err
    assert "did you mean USE_ROCM?" in result.err
    assert call("table", FILE, "--when", "=1").code == 2


def test_findings_say_it_in_every_format() -> None:
    when = "defined(USE_ROCM) and not CUDA_VERSION >= 12000"
    for format_ in ("text", "markdown", "csv", "sarif", "github", "junit"):
        out = (
            call("check-invariants", FILE, "--format", format_, "--severity", "info")
            .out.replace("&gt;", ">")
            .replace("\\", "")
        )
        assert f"(when {when})" in " ".join(out.split())
    report = json.loads(call("check-invariants", FILE, "--format", "json").out)
    assert when in [finding["when"] for finding in report["findings"]]
    assert report["conditions"]["operators"] == 1
    assert report["conditions"]["capped"] == []
    assert report["unknown_schemas"] == ["mylib::sized"]


def test_the_conditions_of_registrations_are_fields() -> None:
    report = json.loads(call("register", FILE, "--format", "json").out)
    kernels = {row["kernel"]: row["when"] for operator in report["operators"] for row in operator["kernels"]}
    assert kernels == {
        "scale_cpu": "CUDA_VERSION >= 12000",
        "scale_cuda": "not defined(USE_ROCM)",
        "scale_autograd": "not defined(USE_ROCM)",
        "sized": None,
    }
    assert [row["when"] for row in report["fallbacks"]] == ["defined(FALLBACK)"]
