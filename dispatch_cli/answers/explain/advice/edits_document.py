"""Changes of declarations as what is to be written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from dispatch_cli.answers.explain.advice.report import Change
from dispatch_cli.model.edit import Edit, Function

_PLAIN = re.compile(r"[A-Za-z_][\w.]*(?:::?[A-Za-z_][\w.]*)*")
_WORDS = frozenset({"fallthrough", "true", "false", "yes", "no", "on", "off", "y", "n", "null", "none"})
"""Texts that mean something else where they are not quoted."""


def declarations_text(change: Change) -> str | None:
    """Registrations that a change makes, as declarations in YAML; None where it only removes something."""
    return fragment(change.edits)


def fragment(edits: Iterable[Edit]) -> str | None:
    """Registrations that the edits make, as declarations in YAML; None where they only remove something."""
    dispatched: dict[str, list[str]] = {}
    fakes: dict[str, str] = {}
    fallbacks: list[str] = []
    for edit in edits:
        if edit.function is Function.FAKE:
            fakes[str(edit.operator)] = _scalar(edit.kernel or "")
        elif edit.function is not None:
            kernel = "fallthrough" if edit.function is Function.FALLTHROUGH else _scalar(edit.kernel or "")
            if edit.redispatches is not None:
                kernel = f"{{kernel: {kernel}, redispatches: {edit.redispatches.kind.value}}}"
            if edit.operator is None:
                fallbacks.append(f"  {edit.key}: {kernel}\n")
            else:
                dispatched.setdefault(str(edit.operator), []).append(f"      {edit.key}: {kernel}\n")
    first = f"fallbacks:\n{''.join(fallbacks)}" if fallbacks else ""
    if not dispatched and not fakes:
        return first or None
    parts = []
    for name in [*dispatched, *(fake for fake in fakes if fake not in dispatched)]:
        dispatch = f"    dispatch:\n{''.join(dispatched[name])}" if name in dispatched else ""
        fake = f"    fake: {fakes[name]}\n" if name in fakes else ""
        parts.append(f"  - name: {_scalar(name)}\n{dispatch}{fake}")
    return f"{first}operators:\n{''.join(parts)}"


def _scalar(text: str) -> str:
    """A text in YAML."""
    return text if _PLAIN.fullmatch(text) and text.lower() not in _WORDS else json.dumps(text)
