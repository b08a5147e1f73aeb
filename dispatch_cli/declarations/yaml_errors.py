"""PyYAML's syntax errors in our words, at the place that is to blame."""

from __future__ import annotations

from typing import Any

from dispatch_cli.declarations.limits import MAX_DEPTH
from dispatch_cli.declarations.problems import Place, Problems

_QUOTE = "while scanning a quoted scalar"
_BRACKETS = ("while parsing a flow sequence", "while parsing a flow mapping")
_CODE = "yaml-syntax"


def explain(problems: Problems, error: Any) -> None:
    """Note the problem that *error*, a ``yaml.YAMLError``, is about."""
    problem = str(getattr(error, "problem", None) or error)
    context = str(getattr(error, "context", None) or "")
    place = _place(getattr(error, "problem_mark", None)) or _place(getattr(error, "context_mark", None)) or Place(1, 1)
    start = _place(getattr(error, "context_mark", None)) or place
    line = problems.source.line(place.line)
    at_end = place.line >= len(problems.source.lines) and not line[place.column - 1 :].strip()
    if context == _QUOTE and "end of stream" in problem:
        problems.add(_CODE, "the string that starts here has no closing quote", start)
        return
    if context in _BRACKETS and at_end:
        problems.add(_CODE, "the bracket that opens here is never closed", start)
        return
    if line[place.column - 1 : place.column] == "\t" and "cannot start any token" in problem:
        problems.add(_CODE, "a tab cannot indent YAML", place, "indent with spaces")
        return
    if "maximum nesting depth" in problem:  # libyaml 0.2.6 looks ahead
        problems.add("too-deep", f"lists and mappings are nested more than {MAX_DEPTH} deep", place)
        return
    message = f"{context}, {problem}" if context else problem
    problems.add(_CODE, f"this is not valid YAML: {message}", place, _hint(problem))


def _hint(problem: str) -> str | None:
    if "mapping values are not allowed" in problem:
        return "quote a string that contains ': ', and check the indentation"
    if "cannot start any token" in problem:
        return "quote a string that begins with this character"
    return None


def _place(mark: Any) -> Place | None:
    return Place(mark.line + 1, mark.column + 1) if mark is not None else None
