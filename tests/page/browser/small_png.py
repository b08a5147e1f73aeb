"""PNG pictures of at most 256 colours, which are a third as large as those that Chromium writes."""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Iterator

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
COLOURS = 256

Colour = tuple[int, int, int]


def small_png(picture: bytes) -> bytes:
    """The same picture with its most frequent colours; others become the nearest of these.

    picture: a PNG of 8 bits per channel, in RGB or RGBA, not interlaced.
    """
    chunks = list(_chunks(picture))
    width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", dict(chunks)[b"IHDR"])
    if depth != 8 or kind not in (2, 6) or interlaced:
        raise ValueError("not a picture in RGB")
    size = 3 if kind == 2 else 4
    data = zlib.decompress(b"".join(body for name, body in chunks if name == b"IDAT"))
    rows = [[*zip(row[0::size], row[1::size], row[2::size], strict=True)] for row in _rows(data, width * size, size)]
    counts = Counter(pixel for row in rows for pixel in row)
    palette = [colour for colour, _ in counts.most_common(COLOURS)]
    number = {colour: palette.index(_nearest(colour, palette)) for colour in counts}
    lines = b"".join(b"\0" + bytes(number[pixel] for pixel in row) for row in rows)
    return _SIGNATURE + b"".join(
        (
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            _chunk(b"PLTE", bytes(channel for colour in palette for channel in colour)),
            _chunk(b"IDAT", zlib.compress(lines, 9)),
            _chunk(b"IEND", b""),
        )
    )


def _chunks(picture: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(_SIGNATURE)
    while at < len(picture):
        (length,) = struct.unpack_from(">I", picture, at)
        yield picture[at + 4 : at + 8], picture[at + 8 : at + 8 + length]
        at += 12 + length


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def _rows(data: bytes, length: int, size: int) -> Iterator[bytes]:
    """The rows as they were before PNG's filters. size: bytes of a pixel."""
    above = bytes(length)
    for start in range(0, len(data), length + 1):
        row = bytearray(data[start + 1 : start + 1 + length])
        kind = data[start]
        for at in range(length if kind else 0):
            left = row[at - size] if at >= size else 0
            corner = above[at - size] if at >= size else 0
            row[at] = (row[at] + _predicted(kind, left, above[at], corner)) & 255
        above = bytes(row)
        yield above


def _predicted(kind: int, left: int, up: int, corner: int) -> int:
    if kind == 1:
        return left
    if kind == 2:
        return up
    if kind == 3:
        return (left + up) // 2
    guess = left + up - corner
    return min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]


def _nearest(colour: Colour, palette: list[Colour]) -> Colour:
    return min(palette, key=lambda other: sum((one - two) ** 2 for one, two in zip(colour, other, strict=True)))
