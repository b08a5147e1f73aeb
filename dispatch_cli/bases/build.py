"""Make an embedded state from what a probe found in a PyTorch, for ``dispatch_cli.bases.regenerate``.

usage: python -m dispatch_cli.bases.build --common STATE OUT

It writes what the blocks of all states have in common, from the operators of one; all states must be made anew then.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dispatch_cli import bases
from dispatch_cli.bases import KERNELS, MAGIC, Base, common_text
from dispatch_cli.bases.operators import captured_record, record_of
from dispatch_cli.capture.document import higher_order_operator

BLOCK_SIZE = 64
"""Operators per block: enough that compression finds what they share, few enough that one costs little."""
COMMON_BYTES = 1 << 15
"""Bytes of the common text: as many as zlib looks back."""


def build(captured: Mapping[str, Any]) -> bytes:
    """The bytes of a state file. captured: what `dispatch_cli.capture.probe` writes."""
    records = {operator["name"]: captured_record(operator) for operator in captured["operators"]}
    names = sorted(records)
    body = bytearray()
    places = [
        _append(body, [records[name] for name in names[first : first + BLOCK_SIZE]])
        for first in range(0, len(names), BLOCK_SIZE)
    ]
    higher_order = {
        "operators": [record_of(higher_order_operator(operator)) for operator in captured["higher_order_operators"]],
        "modes": captured["modes"],
    }
    higher_order_place = _append(body, higher_order)
    universe = captured["universe"]
    head = {
        "name": universe["name"],
        "universe": universe["name"],
        "torch": universe["torch"],
        "git": universe["git"],
        "build": universe["torch"].partition("+")[2] or "unknown",
        "operators": len(names),
        "kernels": sum(len(record[KERNELS]) for record in records.values()),
        "higher_order_operators": len(captured["higher_order_operators"]),
        "block_size": BLOCK_SIZE,
        "names": names,
        "offsets": places,
        "higher_order_offset": higher_order_place,
    }
    packed = zlib.compress(_text(head), 9)
    return MAGIC + len(packed).to_bytes(4, "big") + packed + bytes(body)


def _append(body: bytearray, data: Any) -> list[int]:
    packer = zlib.compressobj(9, zdict=common_text())
    packed = packer.compress(_text(data)) + packer.flush()
    body += packed
    return [len(body) - len(packed), len(packed)]


def _text(data: Any) -> bytes:
    return json.dumps(data, separators=(",", ":")).encode()


def common(base: Base) -> bytes:
    """Records from all over a state, as many as zlib can use."""
    records = [_text(base.record(name)) for name in base.names]
    step = sum(map(len, records)) // COMMON_BYTES
    return b",".join(records[step // 2 :: step])[-COMMON_BYTES:]


if __name__ == "__main__":
    Path(sys.argv[3]).write_bytes(common(bases.load(sys.argv[2])))
