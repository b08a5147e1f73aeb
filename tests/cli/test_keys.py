"""``dispatch-cli keys``: machine formats whole, exit codes, problems, and paths of universes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.support import call
from tests.support import UNIVERSE_OF, load_recording


def data(*args: str, code: int = 0) -> Any:
    result = call("keys", *args, "--format", "json")
    assert (result.code, result.err) == (code, "")
    return json.loads(result.out)


@pytest.mark.parametrize("version", UNIVERSE_OF)
def test_a_universe_as_recorded(version: str) -> None:
    """The answer for machines has what was recorded from a live PyTorch."""
    recorded = load_recording(f"{version}.state")["universe"]
    report = data("--universe", UNIVERSE_OF[version])
    assert (report["schema_version"], report["report"], report["universe"]) == (4, "keys", UNIVERSE_OF[version])
    assert [row["functionality"] for row in reversed(report["functionalities"])] == recorded["functionality"]
    per_backend = {row["functionality"]: row["keys"] for row in report["functionalities"] if row["per_backend"]}
    assert per_backend == recorded["per_backend"]
    assert {alias["alias"]: alias["covers"] for alias in report["aliases"]} == recorded["alias"]
    assert [key["key"] for key in report["keys"]] == recorded["runtime"]
    assert [key["slot"] for key in report["keys"]] == [*range(1, len(recorded["runtime"]) + 1)]
    assert {key["key"]: key["id"] for key in report["keys"]} == {k: recorded["ids"][k] for k in recorded["runtime"]}
    assert {key["key"] for key in report["keys"] if key["parseable"]} == {*recorded["parseable"]} & {
        *recorded["runtime"]
    }
    assert report["devices"] == {k: v for k, v in recorded["device_key"].items() if not v.startswith("ERR")}


@pytest.mark.parametrize("version", UNIVERSE_OF)
def test_every_key_as_recorded(version: str) -> None:
    recorded = load_recording(f"{version}.state")["universe"]
    assert len(recorded["ids"]) > 100
    for key, number in [*recorded["ids"].items()][::3]:
        report = data(key, "--universe", UNIVERSE_OF[version])
        assert (report["key"], report["id"]) == (key, number)
        assert report["parseable"] == (key in recorded["parseable"] or key == "Undefined")
        assert report["in_autogradother_backends"] == (key in recorded["autogradother_backends"])
        assert report["autograd_backends"] == recorded["autograd_backends"].get(key, [])
        if key in recorded["runtime"]:
            covering = {alias for alias, covered in recorded["alias"].items() if key in covered}
            assert {row["alias"] for row in report["filled_by"]} == covering
            assert report["full_after"] == recorded["full_after"][report["functionality"]]
        elif key in recorded["alias"]:
            assert report["keys"] == recorded["alias"][key]


def test_problems_come_together() -> None:
    lines = call("keys", "CPPU | FULL_AFTER(Pithon) | 0x4000000000000000").err.splitlines()
    assert [line.partition("]:")[0] for line in lines if "error[" in line] == [
        "argument:1:1: error[unknown-dispatch-key",
        "argument:1:19: error[unknown-dispatch-key",
        "argument:1:29: error[key-expression",
    ]
