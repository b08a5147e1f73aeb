"""Selection of the checks that run: by id, by code or by the start of either; and who has the last word.

Three places can say it: the declaration files, the project file and the command line, in this order. Each that selects
checks starts anew from what it selects; each can then take checks away.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dispatch_cli.checks.check import Check
from dispatch_cli.model.settings import CheckSettings, Selector
from dispatch_cli.model.severity import Severity
from dispatch_cli.model.suggest import similar

ALL = "all"
DEFAULT = "default"


class UnknownCheck(Exception):
    """A selector that chooses no check of *checks*."""

    def __init__(self, selector: Selector, checks: Sequence[Check]) -> None:
        super().__init__(f"there is no check {selector.text[:200]!r}")
        self.selector = selector
        self._checks = checks

    @property
    def hint(self) -> str:
        """Advice: a similar selector, which may be meant."""
        similar = _similar(self._checks, _plain(self.selector))
        return f"did you mean {similar}?" if similar else "`dispatch-cli checks` lists the checks"

    @classmethod
    def of(cls, checks: Sequence[Check], selector: Selector) -> UnknownCheck | None:
        """The error of a selector; None where it chooses a check."""
        try:
            choose(checks, selector)
        except UnknownCheck as error:
            return error
        return None


def choose(checks: Sequence[Check], selector: Selector) -> frozenset[str]:
    """The ids of the checks that a selector chooses. Errors: UnknownCheck when it chooses none.

    An id or a code as a whole chooses that check alone, even where it is the beginning of another.
    """
    lower = _plain(selector)
    if lower == ALL:
        return frozenset(check.id for check in checks)
    if lower == DEFAULT:
        return frozenset(check.id for check in checks if check.default)
    whole = frozenset(check.id for check in checks if lower in (check.id, check.code.lower()))
    ids = whole or frozenset(
        check.id for check in checks if lower and (check.id.startswith(lower) or check.code.lower().startswith(lower))
    )
    if not ids:
        raise UnknownCheck(selector, checks)
    return ids


def unknown(checks: Sequence[Check], selectors: Iterable[Selector]) -> tuple[UnknownCheck, ...]:
    """Errors of the selectors that choose no check; each once."""
    errors = {selector: UnknownCheck.of(checks, selector) for selector in selectors}
    return tuple(error for error in errors.values() if error is not None)


def chosen(checks: Sequence[Check], places: Iterable[CheckSettings]) -> tuple[Check, ...]:
    """The checks to run, in their order. places: those that say something, the weakest first.

    Errors: UnknownCheck.
    """
    ids = choose(checks, Selector(DEFAULT))
    for place in places:
        if place.select is not None:
            ids = _union(checks, place.select)
        ids -= _union(checks, place.ignore)
    return tuple(check for check in checks if check.id in ids)


def severities(checks: Sequence[Check], places: Iterable[CheckSettings]) -> dict[str, Severity]:
    """The severity of each check whose own is overruled. places: the weakest first. Errors: UnknownCheck."""
    by_check: dict[str, Severity] = {}
    for place in places:
        for selector, severity in place.severities:
            by_check |= dict.fromkeys(choose(checks, selector), severity)
    return by_check


def _plain(selector: Selector) -> str:
    return selector.text.strip().lower().replace("_", "-")


def _union(checks: Sequence[Check], selectors: Iterable[Selector]) -> frozenset[str]:
    return frozenset[str]().union(*(choose(checks, selector) for selector in selectors))


def _similar(checks: Sequence[Check], text: str) -> str | None:
    matches = similar(text, [ALL, DEFAULT, *(check.id for check in checks)])
    matches = matches or similar(text, [check.code for check in checks], cutoff=0.8)
    return matches[0] if matches else None
