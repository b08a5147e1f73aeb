"""Errors and warnings that live PyTorch printed are understood, however the text was treated since."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from dispatch_cli.answers.errors.messages import MESSAGES
from dispatch_cli.answers.errors.read import find_errors
from tests.answers.errors.test_read import TREATMENTS
from tests.cli.support import call
from tests.support import load_recording

VERSIONS = ("2.4.1", "2.13.0", "2.15.0")
RECORDED = [(version, message) for version in VERSIONS for message in load_recording(f"{version}.messages")["messages"]]
SHORT = ("first_line", "without_table")
"""Treatments that leave the first line only, which of some warnings names no operator."""


GONE = "not explained"


def understood(text: str, one: dict[str, Any]) -> bool:
    return any(error.kind == one["kind"] and one["operator"] in (None, error.operator) for error in find_errors(text))


@pytest.mark.parametrize("treatment", [t for t in TREATMENTS if t.__name__ not in SHORT], ids=lambda one: one.__name__)
@pytest.mark.parametrize("version", VERSIONS)
def test_every_text_is_understood(version: str, treatment: Callable[[str], str]) -> None:
    missed = [
        one["case"]
        for recorded, one in RECORDED
        if recorded == version and one["kind"] != GONE and not understood(_treated(treatment, one["text"]), one)
    ]
    assert missed == []


def _treated(treatment: Callable[[str], str], text: str) -> str:
    """Text after a treatment; `message` gets it as it is: a traceback begins otherwise than that of a slot."""
    return text if treatment.__name__ == "message" else treatment(text)


def test_how_many_there_are() -> None:
    explained = [version for version, one in RECORDED if one["kind"] != GONE]
    counts = {version: explained.count(version) for version in VERSIONS}
    assert counts["2.13.0"] > 80
    assert min(counts.values()) > 60


def test_what_is_not_explained_is_not_taken_for_something_else() -> None:
    taken = [(one["case"], find_errors(one["text"])) for _, one in RECORDED if one["kind"] == GONE]
    assert [case for case, errors in taken if not all(MESSAGES[error.kind].general for error in errors)] == []


def test_each_is_answered() -> None:
    """With a meaning, or facts; never with a refusal."""
    for version, message in RECORDED:
        if version == "2.13.0" and message["kind"] != GONE:
            result = call("explain", "--from-error", "-", "--format", "json", stdin=message["text"].encode())
            assert (result.code, result.err) == (0, ""), message["case"]
            report = json.loads(result.out)
            assert report["report"] == "error"
            assert report["means"] or report["facts"], message["case"]
            assert report["user"] or report["author"], message["case"]


@pytest.mark.parametrize(
    "text",
    [
        "TypeError: f() got an unexpected keyword argument 'x'",
        "AttributeError: 'Model' object has no attribute 'forward'",
        "ModuleNotFoundError: No module named 'torch'",
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)",
        "RuntimeError: CUDA error: out of memory",
        "NotImplementedError: 'save' not implemented for 'Widget'",
        "ImportError: libfoo.so.12: cannot open shared object file: No such file or directory",
        "ValueError: could not convert string to float: 'abc'",
        "KeyError: 'CPU'",
        "jupyter: kernel 'python3' not found",
        "ValueError: 'xml' is a reserved namespace",
        "ImportError: libx.so: undefined symbol: THREAD_pool_init",
        "OSError: no file or library of torch.compile is there",
        "the operator of the service is not registered; all tensors moved",
        "def fallback(key): raise KeyError(f'{key} is not supported')",
        "the CPU backend is available for these models; the schema is in the namespace mylib::",
    ],
)
def test_other_texts_are_not_taken_for_one_of_them(text: str) -> None:
    for treatment in TREATMENTS:
        if treatment.__name__ not in ("message", *SHORT):
            assert find_errors(treatment(text)) == []
