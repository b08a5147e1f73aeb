"""Functions that register something when they are called: findings about what they register name them."""

from __future__ import annotations

from collections.abc import Iterable

from dispatch_cli.checks.check import Finding
from dispatch_cli.model.declarations import RegisteringFunction
from dispatch_cli.model.problem import Related
from dispatch_cli.model.span import Span


class FunctionIndex:
    """Functions by the places of what they register."""

    def __init__(self, functions: Iterable[RegisteringFunction]) -> None:
        self._by_place: dict[Span, RegisteringFunction] = {}
        for function in functions:
            for place in function.places:
                self._by_place.setdefault(place, function)

    def named(self, finding: Finding) -> Finding:
        """The finding; it says which function registers what it is about."""
        function = None if finding.span is None else self._by_place.get(finding.span)
        if function is None:
            return finding
        note = Related(f"registered in {function.name}(), when that is called", function.at)
        return finding._replace(related=(*finding.related, note))
