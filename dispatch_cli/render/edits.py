"""Changes of declarations for machines, and as what is to be written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from dispatch_cli.model.edit import Action, Edit, Function
from dispatch_cli.render.machine import span_data

_PLAIN = re.compile(r"[A-Za-z_][\w.]*(?:::?[A-Za-z_][\w.]*)*")
_WORDS = frozenset({"fallthrough", "true", "false", "yes", "no", "on", "off", "y", "n", "null", "none"})
"""Texts that mean something else where they are not quoted."""


def edit_data(edit: Edit) -> dict[str, Any]:
    """One edit: what is registered where, or what is removed, and where that is declared."""
    data: dict[str, Any] = {"action": edit.action.value, "operator": str(edit.operator), "key": edit.key}
    if edit.action is Action.REMOVE:
        return {**data, "kernel": edit.kernel, "declared_at": span_data(edit.span)}
    return {
        **data,
        "function": None if edit.function is None else edit.function.value,
        "from": edit.source,
        "kernel": edit.kernel,
        "redispatches": None if edit.redispatches is None else edit.redispatches.data,
    }


def fragment(edits: Iterable[Edit]) -> str | None:
    """What the edits register, as declarations in YAML; None where they only remove something."""
    found: dict[str, list[str]] = {}
    for edit in edits:
        if edit.function is not None:
            kernel = "fallthrough" if edit.function is Function.FALLTHROUGH else _scalar(edit.kernel or "")
            if edit.redispatches is not None:
                kernel = f"{{kernel: {kernel}, redispatches: {edit.redispatches.kind.value}}}"
            found.setdefault(str(edit.operator), []).append(f"      {edit.key}: {kernel}\n")
    if not found:
        return None
    parts = (f"  - name: {_scalar(name)}\n    dispatch:\n{''.join(lines)}" for name, lines in found.items())
    return f"operators:\n{''.join(parts)}"


def _scalar(text: str) -> str:
    """A text in YAML."""
    return text if _PLAIN.fullmatch(text) and text.lower() not in _WORDS else json.dumps(text)
