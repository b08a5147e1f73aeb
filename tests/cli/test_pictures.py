"""Calls as pictures: they say what the JSON says, and no name in them is more than text."""

from __future__ import annotations

import json
import re
from collections import Counter
from html import unescape
from xml.etree import ElementTree

import pytest

from tests.cli.support import ROOT, call

_TEXT = "{http://www.w3.org/2000/svg}text"
_CALLS = (
    ("aten::add.Tensor", "--tensor", "cuda batched requires_grad", "--context", "vmap", "--tensor", "cuda"),
    ("aten::add.Tensor", "--tensor", "cpu sparse requires_grad", "--tensor", "cpu"),
    ("aten::ones", "--argument", "device=cuda"),
    ("mine::scale", str(ROOT / "tests/explore/layouts/operators.yaml"), "--tensor", "hip"),
    ("aten::linear", "--tensor", "cpu", "--context", "autocast cpu"),
)


def texts_of(svg: str) -> list[str]:
    """The texts of a picture, from the top; it is XML, without scripts and addresses."""
    root = ElementTree.fromstring(svg)
    assert not [node for node in root.iter() if node.tag.endswith(("script", "image", "foreignObject"))]
    assert not [name for node in root.iter() for name in node.attrib if name.startswith("on") or name.endswith("href")]
    return [node.findtext("{*}title") or "".join(node.itertext()) for node in root.iter(_TEXT)]  # a long one has both


@pytest.mark.parametrize("arguments", _CALLS)
def test_a_picture_has_each_key_and_each_kernel_in_turn(arguments: tuple[str, ...]) -> None:
    report = json.loads(call("resolve", *arguments, "--format", "json").out)
    picture = call("resolve", *arguments, "--format", "svg").out
    texts = texts_of(picture)
    keys = [key for stage in report["selections"] for key in stage["keys"]]
    names = {key["key"] for key in keys}
    assert [text for text in texts if text in names][: len(keys)] == [key["key"] for key in keys]
    runs = [key for key in keys if key["status"] == "runs"]
    assert runs
    steps = [step for stage in report["selections"] for step in stage["steps"]]
    assert picture.count("<path ") == len(steps) - 1, "an arrow between each two steps"
    assert ('class="bad"' in picture) is (report["end"]["kind"] == "error")


@pytest.mark.parametrize("arguments", _CALLS)
def test_text_html_and_svg_say_the_same(arguments: tuple[str, ...]) -> None:
    """The page has the same picture, with the same texts; the text has each key and what becomes of it."""
    alone = texts_of(call("resolve", *arguments, "--format", "svg").out)
    page = call("resolve", *arguments, "--format", "html").out
    inside = re.findall("<svg.*?</svg>", page, re.DOTALL)
    assert [texts_of(node) for node in inside] == [[text for text in alone if text != arguments[0]]]
    assert ElementTree.fromstring(inside[0]).findtext("{*}title", "").startswith(f"The way of {arguments[0]}: ")
    printed = " ".join(call("resolve", *arguments).out.split())
    report = json.loads(call("resolve", *arguments, "--format", "json").out)
    at = 0
    for stage in report["selections"]:
        for key in stage["keys"]:
            at = alone.index(key["key"], at) + 1
            if key["status"] == "runs" or (key["status"] != "not-reached" and stage is report["selections"][0]):
                status = alone[at]
                assert f"{key['key']} " in printed
                assert status.partition(":")[0] in printed or status.startswith("The call fails")


_MATRICES = (
    ("table", "--base", "torch-2.15", "--op", "aten::abs", "--view", "grid"),
    ("table", str(ROOT / "examples/overlay.yaml"), "--op", "aten::to.dtype", "--view", "grid"),
    ("support", str(ROOT / "examples/custom_ops.yaml")),
    ("coverage", "--op", "aten::*relu*"),
    ("history", "aten::*relu*"),
)


def words_of(texts: list[str]) -> Counter[str]:
    return Counter(word.strip(",") for text in texts for word in text.split() if word.strip(","))


@pytest.mark.parametrize("arguments", _MATRICES)
def test_each_word_of_a_matrix_is_in_text_html_and_svg(arguments: tuple[str, ...]) -> None:
    """Each head, label, mark and meaning, as often as the picture has it."""
    drawn = words_of(texts_of(call(*arguments, "--format", "svg").out))
    assert drawn.total() > 40
    page = call(*arguments, "--format", "html").out
    body = re.sub("<(style|script).*?</\\1>", "", page, flags=re.DOTALL)
    body = unescape(re.sub("<[^>]*>", " ", re.sub("</?span[^>]*>", "", body)))
    for shown in (call(*arguments).out, body):
        assert not drawn - words_of([shown])
