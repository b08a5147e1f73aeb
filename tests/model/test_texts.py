"""Texts: globs, names, what is quoted, and debug texts of kernels."""

from __future__ import annotations

import random
import re
from fnmatch import translate

import pytest

from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.text.debug_text import is_placed, source_file
from dispatch_cli.model.text.glob import glob_pattern
from dispatch_cli.model.text.quoting import CONTROL, HARMFUL, UNSEEN, has_harmful

SIGNS = "[]]![a-b*?"


def test_they_match_what_fnmatch_matches() -> None:
    choose = random.Random(7)
    tried = 0
    for _ in range(800):
        glob = "".join(choose.choices(SIGNS, k=choose.randrange(10)))
        try:
            judge = re.compile(translate(glob))
        except re.error:
            continue
        for _ in range(5):
            text = "".join(choose.choices("[]!a-b", k=choose.randrange(5)))
            assert (glob_pattern(glob).match(text) is None) is (judge.match(text) is None), (glob, text)
            tried += 1
    assert tried > 2_000


def test_many_brackets_stand_for_themselves() -> None:
    assert glob_pattern("[" * 9_000).match("[" * 9_000)


# Operator names, as PyTorch writes them.


def test_what_names_an_operator_in_python() -> None:
    names = {
        "aten::add.Tensor": "aten::add.Tensor",
        "aten.add.Tensor": "aten::add.Tensor",
        "aten.relu.default": "aten::relu",
        "torch.ops.aten.add.Tensor": "aten::add.Tensor",
        "aten::relu.default": "aten::relu",
        "demo::x.": "demo::x",
        "call_torchbind": "call_torchbind",
    }
    assert {text: str(OperatorName.parse_printed(text)) for text in names} == names


# Which characters are harmful in a text, and how quickly that is found.


def test_every_harmful_character_is_found_and_no_other() -> None:
    """The quick ways of finding them agree with the classes that say which they are."""
    text = "".join(map(chr, (*range(0x10000), *range(0xE0000, 0xE1000))))
    harmful = set(re.findall(f"[{CONTROL}{UNSEEN}]", text))
    assert len(harmful) > 2_000
    assert set(re.findall(HARMFUL, text)) == harmful
    assert {sign for sign in (*text[::17], *harmful) if has_harmful(sign)} == harmful


# The source file that a debug text names.


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ("registered at aten/src/ATen/RegisterCPU_0.cpp:30798 [kernel]", "RegisterCPU.cpp"),
        ("registered at /build/torch/csrc/autograd/VariableTypeManual.cpp:407", "VariableTypeManual.cpp"),
        ("registered at C:\\build\\ops.cpp:12", "ops.cpp"),
        ("registered at main:ops.cpp:12", "ops.cpp"),
        ("registered at main:csrc/ops.cpp:12", "ops.cpp"),
        ("lambda at csrc/ops.cpp:3:48", "ops.cpp"),
        ("lambda at HEAD~1:ops.cpp:3:48", "ops.cpp"),
        ("registered at /dev/null:228", None),
        ("ops.cpp:12", None),
    ],
)
def test_the_file_is_named_without_its_folder_revision_line_and_shard(text: str, file: str | None) -> None:
    assert source_file(text) == file
    assert is_placed(text) is text.startswith(("registered", "lambda"))
