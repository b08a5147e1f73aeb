"""Make an embedded state from captured declarations, for ``dispatch_cli.bases.regenerate``.

usage: python -m dispatch_cli.bases.build --common STATE OUT

It writes what the blocks of all states have in common, from the operators of one; all states must be made anew then.
"""

from __future__ import annotations

import json
import sys
import zlib
from pathlib import Path
from typing import Any

from dispatch_cli import bases
from dispatch_cli.bases import MAGIC, Base, common_text
from dispatch_cli.bases.operators import record_of
from dispatch_cli.model.captured import DEFAULT_ALIAS_ANALYSIS
from dispatch_cli.model.declarations import Declarations, Define, Implement
from dispatch_cli.model.fake_tensor import NO_FAKE_RULES, FakeRules
from dispatch_cli.model.kernel import Kernel

BLOCK_SIZE = 64
"""Operators per block: enough that compression finds what they share, few enough that one costs little."""
COMMON_BYTES = 1 << 15
"""Bytes of the common text: as many as zlib looks back."""


def build(declarations: Declarations, build_name: str) -> bytes:
    """The bytes of a state file."""
    records: dict[str, list[Any]] = {}
    kernels = 0
    for step in declarations.steps:
        if isinstance(step, Define):
            kind = step.alias_analysis.value if step.alias_analysis else DEFAULT_ALIAS_ANALYSIS
            record = records.setdefault(str(step.schema.name), _empty())
            record[:4] = [str(step.schema), step.debug or "", kind, list(step.tags)]
        elif isinstance(step, Implement):
            kernels += 1
            record = records.setdefault(str(step.operator), _empty())
            record[4].append([step.dispatch_key, *_kernel(step.kernel)])
    for python_kernel in declarations.python_kernels:
        record = records.setdefault(str(python_kernel.operator), _empty())
        record[5].append([python_kernel.dispatch_key, python_kernel.kernel])
    for rule in declarations.fake_rules:
        records.setdefault(str(rule.operator), _empty()).append(_fake_rules(rule.rules))
    names = sorted(records)
    body = bytearray()
    places = [
        _append(body, [records[name] for name in names[first : first + BLOCK_SIZE]])
        for first in range(0, len(names), BLOCK_SIZE)
    ]
    higher_order = {
        "operators": list(map(record_of, declarations.higher_order_operators)),
        "modes": [mode.name for mode in declarations.modes if mode.supports_higher_order_operators],
    }
    higher_order_place = _append(body, higher_order)
    universe = declarations.universe
    head = {
        "name": universe.name,
        "universe": universe.name,
        "torch": universe.torch,
        "git": universe.git,
        "build": build_name,
        "operators": len(names),
        "kernels": kernels,
        "higher_order_operators": len(declarations.higher_order_operators),
        "block_size": BLOCK_SIZE,
        "names": names,
        "offsets": places,
        "higher_order_offset": higher_order_place,
    }
    packed = zlib.compress(_text(head), 9)
    return MAGIC + len(packed).to_bytes(4, "big") + packed + bytes(body)


def _empty() -> list[Any]:
    return [None, "", "FROM_SCHEMA", [], [], []]


def _kernel(kernel: Kernel) -> list[Any]:
    flags = "f" * kernel.fallthrough + "b" * kernel.boxed + "u" * kernel.unboxed
    fields = [kernel.debug, None if kernel.signature is None else str(kernel.signature), flags, kernel.python]
    more: list[Any] = [None if kernel.redispatches is None else kernel.redispatches.data]
    more.append(None if kernel.fake is None else [kernel.fake.function, kernel.fake.source])
    more.append(None if kernel.wraps is None else [kernel.wraps.kind.value, *kernel.wraps[1:]])
    while more and more[-1] is None:
        more.pop()
    return [*fields, *more]


def _fake_rules(rules: FakeRules) -> list[Any]:
    """The fields up to the last one that says something."""
    fields = [*rules]
    while fields and fields[-1] == NO_FAKE_RULES[len(fields) - 1]:
        fields.pop()
    return fields


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
