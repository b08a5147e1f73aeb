"""Calls that do not return: what is known to have run, in every format."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cli.support import call
from tests.trace.support import PLAIN, Writer

OF_RESIZE = ("AutogradCPU", "ADInplaceOrView", "CPU")


class Case(NamedTuple):
    """A call of ``x.resize_as_(y)`` where x requires a gradient, and what is shown of it.

    seen: its kernels, where they were observed: slot, key set, whether it raised. ended: True where it raised, None
    where its end is not recorded.
    """

    seen: Sequence[tuple[str, int, bool]]
    ended: bool | None
    keys: tuple[str, ...]
    text: str


AUTOGRAD, VIEW = ("AutogradCPU", 85899411457, True), ("ADInplaceOrView", 17179934721, True)
"""As in a live PyTorch 2.13, and as it would be."""
CASES = {
    "as in PyTorch": Case((AUTOGRAD,), True, OF_RESIZE[:1], "AutogradCPU raised"),
    "the second one raises": Case((AUTOGRAD, VIEW), True, OF_RESIZE[:2], "AutogradCPU → ADInplaceOrView raised"),
    "the first one raises, after the second one": Case(
        (AUTOGRAD, (*VIEW[:2], False), ("CPU", 65537, False)),
        True,
        OF_RESIZE,
        "AutogradCPU → ADInplaceOrView → CPU raised",
    ),
    "not observed": Case((), True, OF_RESIZE[:1], "AutogradCPU → … raised"),
    "unfinished": Case((), None, OF_RESIZE[:1], "AutogradCPU → … unfinished"),
    "returned": Case((), False, OF_RESIZE, "AutogradCPU → ADInplaceOrView → CPU"),
}


def recorded(case: Case, folder: Path) -> str:
    writer = Writer()
    writer.call("aten::resize_as_", tensors=(PLAIN, PLAIN), grads=(True, False), ends=False)
    for slot, keys, raised in case.seen:
        writer.add("k", 0, slot, keys, raised)
    if case.ended is not None:
        writer.end(raised=case.ended)
    file = folder / "f.trace"
    file.write_text(writer.text(), encoding="utf-8")
    return str(file)


def said(file: str, *options: str) -> str:
    result = call("trace", file, *options)
    assert result.code == 0, result.err
    return result.out


def answer(file: str, *options: str) -> Any:
    return json.loads(said(file, *options, "--format", "json"))


@pytest.mark.parametrize("name", CASES)
def test_every_format_shows_what_is_known_to_have_run(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    file, only = recorded(case, tmp_path), ("--op", "aten::resize_as_")
    report = answer(file, *only)
    (row,) = report["threads"][0]["rows"]
    (line,) = csv.DictReader(said(file, *only, "--format", "csv").splitlines())
    (total,) = report["operators"][0]["paths"]
    shown = {
        "json": [kernel["key"] for kernel in row["path"]["kernels"]],
        "csv": line["kernels"].split(),
        "table": total["keys"],
    }
    assert shown == {format_: [*case.keys] for format_ in shown}
    assert f"  {case.text}\n" in said(file, *only)
    assert report["counts"]["different"] == 0
    ends = {True: ("raised", "error"), None: ("unfinished", "not-known"), False: ("returned", "kernel")}
    assert (total["ended"], line["end"]) == ends[case.ended] == (total["ended"], row["path"]["end"])
    assert [kernel["observed"] for kernel in row["path"]["kernels"]] == [
        True,
        *[bool(case.seen)] * (len(case.keys) - 1),
    ]
    is_vague = "…" in case.text and case.ended
    assert ("The call raised, at AutogradCPU or after that" in said(file, "--explain", "0")) == bool(is_vague)
