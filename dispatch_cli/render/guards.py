"""The guards of a state for machines, and guards as a declaration file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dispatch_cli.checks.catalogue.guard import wants_text
from dispatch_cli.model.guard import Guard
from dispatch_cli.render.machine import Sheet, json_document, place_text, span_data
from dispatch_cli.report.guards import SCHEMA_VERSION, GuardRow, GuardsReport

FEW = 4
"""So many operators or keys are named; of more the first and the last."""
_PLAIN = re.compile(r"[A-Za-z_]\w*(?:::\w+)*(?:\.\w+)?", re.ASCII)
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off"})
"""Words that are no texts in YAML without quotes."""


def verdict(row: GuardRow) -> str:
    """What came of a guard, in a word or two."""
    if row.unmatched:
        return "guards nothing"
    return "holds" if row.holds else "broken"


def title(guard: Guard) -> str:
    """What a guard says, in one line; long lists by their ends."""
    keys = "" if not guard.keys else f" at {_ends(guard.keys)}"
    return f"{_ends(guard.ops)}{keys}: {wants_text(guard)}"


def _ends(texts: Sequence[str]) -> str:
    return ", ".join(texts) if len(texts) <= FEW else f"{texts[0]} … {texts[-1]} ({len(texts)})"


def guards_json(report: GuardsReport) -> Iterator[str]:
    """Every guard, and what is not as it wants it."""
    head = {
        "schema_version": SCHEMA_VERSION,
        "report": "guards",
        "universe": report.universe,
        "repeated": report.repeated,
    }
    return json_document(head, "guards", map(_data, report.rows))


def _data(row: GuardRow) -> dict[str, Any]:
    guard = row.guard
    call = guard.call
    return {
        "op": list(guard.ops),
        "key": list(guard.keys),
        "wants": {want.field.value: list(want.texts) for want in guard.wants},
        "call": call
        and {
            "tensors": list(map(str, call.tensors)),
            "contexts": list(map(str, call.contexts)),
            **call.options._asdict(),
        },
        "reason": guard.reason,
        "place": span_data(guard.span),
        "through": [span_data(span) for span in guard.through],
        "verdict": verdict(row).replace(" ", "-"),
        "operators": row.operators,
        "slots": row.slots,
        "unmatched": [glob for _, glob in row.unmatched],
        "broken": [
            {"operator": str(one.operator), "keys": list(one.keys), "wanted": one.wanted, "found": one.found}
            for one in row.broken
        ],
    }


def guards_sheet(report: GuardsReport) -> Sheet:
    """One row per guard."""
    rows = (
        (
            verdict(row),
            title(row.guard),
            str(row.operators),
            str(row.slots),
            str(len(row.broken)),
            place_text(row.guard.span),
        )
        for row in report.rows
    )
    return Sheet(("verdict", "guard", "operators", "slots", "broken", "declared at"), rows)


def guards_yaml(guards: Iterable[Guard]) -> Iterator[str]:
    """A declaration file that has nothing but guards; what it is checked with says which universe."""
    yield "# What held when `dispatch-cli guards --record` wrote this.\n"
    yield "dispatch: 1\n"
    empty = True
    for guard in guards:
        yield ("guards:\n" if empty else "") + _guard(guard)
        empty = False
    if empty:
        yield "guards: []\n"


def _guard(guard: Guard) -> str:
    fields = [("op", _scalars(guard.ops)), ("key", _scalar(", ".join(guard.keys)))]
    fields += [(want.field.value, _scalars(want.texts)) for want in guard.wants]
    return "  - " + "    ".join(f"{name}: {value}\n" for name, value in fields)


def _scalars(texts: Sequence[str]) -> str:
    return _scalar(texts[0]) if len(texts) == 1 else f"[{', '.join(map(_scalar, texts))}]"


def _scalar(text: str) -> str:
    """A text as YAML: without quotes where it can be nothing else, else as JSON has it."""
    plain = _PLAIN.fullmatch(text) is not None and text.lower() not in _WORDS
    return text if plain else json.dumps(text, ensure_ascii=False)
