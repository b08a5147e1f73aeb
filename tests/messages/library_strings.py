"""The strings in the read-only data of a shared library (64-bit ELF, as PyTorch's for Linux)."""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Iterator
from pathlib import Path

_STRING = re.compile(rb"(?<=\0)[\t\n\x20-\x7e]{8,3000}(?=\0)")


def strings(path: Path) -> Iterator[str]:
    """Every printable string of 8 characters or more, once. Errors: ValueError for what is no such library."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data[:5] != b"\x7fELF\x02":
            raise ValueError(f"{path} is no 64-bit ELF file")
        (offset,) = struct.unpack_from("<Q", data, 0x28)
        size, count, names = struct.unpack_from("<HHH", data, 0x3A)
        sections = [struct.unpack_from("<IIQQQQ", data, offset + size * number) for number in range(count)]
        seen: set[bytes] = set()
        for name, _, _, _, start, length in sections:
            at = sections[names][4] + name
            if data[at : at + 7] == b".rodata":
                seen.update(_STRING.findall(data[start : start + length]))
    yield from sorted(text.decode() for text in seen)
