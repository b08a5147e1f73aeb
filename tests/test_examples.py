"""The examples do what the comments at their heads say."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from dispatch_cli import load_state
from dispatch_cli.engine.dispatcher.dump import dump_registrations, dump_table
from tests.cli.support import ROOT, Result, call
from tests.support import load_recording

EXAMPLES = sorted((ROOT / "examples").rglob("*.yaml"))
LESSONS = [path for path in EXAMPLES if path.parent.name == "examples"]  # scenarios have tests of their own
COMMAND = re.compile(r"^#   dispatch-cli (.*?)(?: +\(exits with (\d)\))?$", re.M)


def commands() -> list[tuple[str, int]]:
    """Every command in a head, and the exit code that it names; 0 where it names none."""
    results = []
    for path in EXAMPLES:
        head = re.match(r"(?:#.*\n)*", path.read_text(encoding="utf-8"))
        assert head is not None
        named = COMMAND.findall(head[0])
        assert named, f"{path.name} says no command"
        assert any(str(path.relative_to(ROOT)) in text for text, _ in named)
        results += [(text, int(code or 0)) for text, code in named]
    return results


@pytest.mark.parametrize(("command", "code"), commands())
def test_a_command_of_a_head(command: str, code: int) -> None:
    result = call(*shlex.split(command))
    assert result.code == code
    assert (result.err if code == 2 else result.out).strip()


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_only_the_examples_of_mistakes_have_any(path: Path) -> None:
    codes = {"broken": 2, "stale": 1, "ambiguous": 1, "out_of_tree_backend": 1, "overlay": 1}
    codes["npu_native_functions"] = 1  # its operators are PyTorch's, and it can name no base
    codes["real_operators"] = 1  # PyTorch itself registers aten::bmm twice at CUDA
    assert call("check-invariants", str(path.relative_to(ROOT))).code == codes.get(path.stem, 0)


@pytest.mark.parametrize("path", ["examples/add.yaml", "examples/real_operators.yaml"])
def test_operators_of_pytorch_are_as_it_printed_them(path: str) -> None:
    dispatcher = load_state([path]).dispatcher
    printed = load_recording("2.15.0.state")["ops"]
    for name in dispatcher:
        texts = printed[str(name)]
        assert (dump_registrations(dispatcher, name), dump_table(dispatcher, name)) == (texts["dump"], texts["table"])
    assert len([*dispatcher]) == (ROOT / path).read_text(encoding="utf-8").count("- func: ") > 0


def test_the_broken_one_has_ten_mistakes_each_at_its_line() -> None:
    path = ROOT / "examples" / "broken.yaml"
    result = call("register", "examples/broken.yaml")
    places = re.findall(r"^examples/broken\.yaml:(\d+):(\d+): error\[([a-z-]+)\]: ", result.err, re.M)
    lines = path.read_text(encoding="utf-8").splitlines()
    numbered = {int(line.rpartition("# ")[2].split(".")[0]): i for i, line in enumerate(lines, 1) if "# " in line[1:]}
    assert [int(line) for line, _, _ in places] == [numbered[number] for number in range(1, 11)]
    assert [code for _, _, code in places] == [
        *("unknown-field", "bad-schema", "bad-schema", "unknown-dispatch-key", "unknown-dispatch-key"),
        *("duplicate-key", "bad-value", "wrong-type", "missing-field", "block-misuse"),
    ]
    assert result == Result(2, "", result.err)
    assert result.err.endswith("\n10 errors; nothing was done.\n")
