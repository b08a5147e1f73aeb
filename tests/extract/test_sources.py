"""Which file an ``#include`` means."""

from __future__ import annotations

import pytest

from dispatch_cli.extract.sources import MAX_ALIKE, Sources

HEADERS = frozenset({"src/core/macros.h", "src/gpu/macros.h", "src/gpu/core/other.h", "include/lib/api.h"})


@pytest.mark.parametrize(
    ("target", "including", "found"),
    [
        ("macros.h", "src/gpu/a.cu", "src/gpu/macros.h"),
        ("macros.h", "src/core/b.cpp", "src/core/macros.h"),
        ("core/macros.h", "src/gpu/a.cu", "src/core/macros.h"),
        ("../core/macros.h", "src/gpu/a.cu", "src/core/macros.h"),
        ("lib/api.h", "src/gpu/a.cu", "include/lib/api.h"),
        ("core/other.h", "src/x/y.cpp", "src/gpu/core/other.h"),
        ("acros.h", "src/core/b.cpp", None),
        ("../../macros.h", "src/core/b.cpp", None),
        ("torch/library.h", "src/core/b.cpp", None),
    ],
)
def test_a_header_is_found(target: str, including: str, found: str | None) -> None:
    """Beside the file, else where the end of its path says so, nearest to the file."""
    sources = Sources({}, headers=HEADERS)
    assert sources.find(target, including, quoted=True) == found
    if ".." not in target:
        assert sources.find(target, including, quoted=False) == found


def test_directories_of_headers_come_first() -> None:
    sources = Sources({}, headers=HEADERS, include=("src/core",))
    assert sources.find("macros.h", "src/gpu/a.cu", quoted=False) == "src/core/macros.h"
    assert sources.find("macros.h", "src/gpu/a.cu", quoted=True) == "src/gpu/macros.h"


def test_very_many_headers_of_one_name() -> None:
    headers = frozenset(f"{number}/a.h" for number in range(3 * MAX_ALIKE))
    assert Sources({}, headers=headers).find("a.h", "x/y.cpp", quoted=True) in headers
