"""Globs match what Python's ``fnmatch`` matches, in steps that grow with their length."""

from __future__ import annotations

import random
import re
from fnmatch import translate

from dispatch_cli.model.glob import closed, glob_pattern, is_glob

SIGNS = "[]]![a-b*?"


def test_they_match_what_fnmatch_matches() -> None:
    choose = random.Random(7)
    tried = 0
    for _ in range(4000):
        glob = "".join(choose.choices(SIGNS, k=choose.randrange(10)))
        try:
            judge = re.compile(translate(glob))
        except re.error:
            continue
        for _ in range(5):
            text = "".join(choose.choices("[]!a-b", k=choose.randrange(5)))
            assert (glob_pattern(glob).match(text) is None) is (judge.match(text) is None), (glob, text)
            tried += 1
    assert tried > 10_000


def test_brackets_that_nothing_closes_are_sets_of_one() -> None:
    assert closed("a[b[c]d[[") == "a[b[c]d[[][[]"
    assert closed("[[]][") == "[[]][[]"
    assert closed("[]" * 3) == "[][]" + "[[]]"
    assert glob_pattern("[" * 50_000).match("[" * 50_000)


def test_what_is_a_glob() -> None:
    assert [is_glob(text) for text in ("aten::add", "aten::*", "a?", "[a]")] == [False, True, True, True]
