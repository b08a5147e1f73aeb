"""Checks and their findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from dispatch_cli.checks.files import MissingPart
from dispatch_cli.model.changes.change import Edit
from dispatch_cli.model.names import OperatorName, Severity
from dispatch_cli.model.problem import Related
from dispatch_cli.model.span import Span

if TYPE_CHECKING:
    from dispatch_cli.checks.view import View
    from dispatch_cli.engine.table.registration import Registration

__all__ = ["Check", "Finding", "Group", "MissingPart", "Need", "Related", "Severity"]

_DECIDE = "decide it with -D, --set or [tool.dispatch-cli.extract]"


class Group(Enum):
    """Subject of a check; the value is the start of the codes of the group."""

    INVARIANTS = "DC0"
    REGISTRATIONS = "DC1"
    AUTOGRAD = "DC2"
    CALLS = "DC3"
    AGREEMENT = "DC4"
    OWNERSHIP = "DC5"
    HIGHER_ORDER = "DC6"
    DRIFT = "DC7"
    INTENTIONS = "DC9"


class Need(Enum):
    """Input that a check requires; without it, the check stays silent and is listed as not run.

    PYTORCH: the operators of a PyTorch state, embedded or captured. FILES: declarations by the user.
    BUILT: registrations of a library in a running PyTorch; `dispatch-cli crossref` asks for it.
    """

    PYTORCH = "pytorch"
    FILES = "files"
    BUILT = "built"


class Finding(NamedTuple):
    """One thing that does not hold.

    check: the id of the check. message: one sentence that names operator and key.
    operator, key: what it is about, where it is about one.
    details: named facts for machines and for the second lines of a text report, in order.
    span: the declaration to look at first. related: other places that matter.
    mark: the word on the span's line that is meant, such as the key of a registration; a report says the place of it.
    mark_follows: whether it stands behind the span, as in a guard; the key of a registration stands before its kernel.
    tip: what to do, where the check's documentation does not say enough for this finding.
    group_message: one sentence that says what all findings with that sentence and place have in common; a text for
        people may show them together, with the details of each.
    subject: what tells it from other findings of the same check, operator and key, and stays the same when lines move;
        a baseline remembers it.
    slots: what it is about, where that is more than its key, or of other operators: operators and keys.
    when: the conditions of registrations under which it holds; None for all.
    fix: what to change, where that is a change of registrations that can be named.
    shared: what findings with one place have in common, where they are shown one by one.
    """

    check: str
    severity: Severity
    message: str
    operator: str | None = None
    key: str | None = None
    details: tuple[tuple[str, str], ...] = ()
    span: Span | None = None
    related: tuple[Related, ...] = ()
    group_message: str | None = None
    tip: str | None = None
    mark: str | None = None
    subject: str = ""
    fix: tuple[Edit, ...] = ()
    mark_follows: bool = False
    when: str | None = None
    slots: tuple[tuple[str, str], ...] = ()
    shared: str | None = None

    @property
    def about(self) -> tuple[tuple[str | None, ...], ...]:
        """Its subject: the slots, or else operator, key and subject."""
        return self.slots or ((self.operator, self.key, self.subject),)

    @property
    def identity(self) -> tuple[str, str | None, str | None, str]:
        """Subject that a baseline remembers, equal for findings of the same."""
        return self.check, self.operator, self.key, self.subject

    @property
    def alike(self) -> str | None:
        """Reason shared with others at the same place: findings that share it are a group, which can be cut short."""
        return self.shared or self.group_message


@dataclass(frozen=True, slots=True)
class Check:
    """A check: its stable id and code, what it holds up in a few words, and the search for what breaks it.

    id: what people write and read. code: ``DC`` and three digits, for choosing by prefix; the first digit is the group.
    severity: of its findings, unless a finding says otherwise.
    documentation: the docstring of the check's file: why, a bad and a good example, the fix.
    find: yields findings about a view's operators, in a deterministic order.
    needs: without which it stays silent.
    lacks: what the operators of its findings lack; None where nothing that could be registered besides helps.
    """

    id: str
    code: str
    title: str
    severity: Severity
    documentation: str
    find: Callable[[View], Iterator[Finding]]
    needs: tuple[Need, ...] = ()
    lacks: MissingPart | None = None

    @classmethod
    def of(
        cls,
        find: Callable[[View], Iterator[Finding]],
        documentation: str | None,
        code: str,
        severity: Severity,
        *,
        needs: tuple[Need, ...] = (),
        lacks: MissingPart | None = None,
    ) -> Check:
        """The check of a file: the file's name is its id, the first sentence of its documentation its title."""
        documentation = documentation or ""  # none with `python -OO`
        name = find.__module__.rpartition(".")[2].replace("_", "-")
        title = documentation.partition(".\n")[0].replace("\n", " ")
        word = title.partition(" ")[0]
        if word.isalpha() and word[1:] == word[1:].lower():  # no name, such as AutogradOther
            title = title[0].lower() + title[1:]
        return cls(name, code, title, severity, documentation, find, needs, lacks)

    @property
    def default(self) -> bool:
        """True if it runs when nothing is selected."""
        return Need.BUILT not in self.needs

    @property
    def group(self) -> Group:
        """The group that its code names."""
        return Group(self.code[:3])

    def unmet(self, view: View) -> Need | None:
        """The first need that a view does not meet; None where the check can be run."""
        return next((need for need in self.needs if not _is_met(need, view)), None)

    def finding(
        self,
        message: str,
        operator: OperatorName | str | None = None,
        key: str | None = None,
        *,
        at: Registration | None = None,
        span: Span | None = None,
        mark: str | None = None,
        mark_follows: bool = False,
        related: Iterable[tuple[str, Span | None]] = (),
        details: tuple[tuple[str, str], ...] = (),
        tip: str | None = None,
        group_message: str | None = None,
        subject: str = "",
        severity: Severity | None = None,
        fix: tuple[Edit, ...] = (),
        slots: Iterable[tuple[OperatorName, str]] = (),
    ) -> Finding:
        """A finding of this check; the fields are those of `Finding`.

        at: the registration whose place and key are *span* and *mark*. related: words, and places that may be unknown.
        """
        if at is not None:
            span, mark = at.kernel.span, at.key
        name = None if operator is None else str(operator)
        others = tuple(Related(words, place) for words, place in related if place is not None)
        result = Finding(self.id, severity or self.severity, message, name, key, details, span, others, group_message)
        about = tuple((str(owner), slot) for owner, slot in slots)
        return result._replace(tip=tip, mark=mark, subject=subject, fix=fix, mark_follows=mark_follows, slots=about)

    def hedged(self, view: View, finding: Finding) -> Finding:
        """The finding; only for information, where what it misses may be a registration in sources.

        Such a registration is undecided, or PyTorch refuses it, which is a finding of its own.
        """
        if self.lacks is None:
            return finding
        names = (finding.operator,) if finding.operator is not None else tuple(name for name, _ in finding.slots)
        refused = next((name for name in names if name in view.refused_kernels), None)
        if refused is not None and self.lacks is MissingPart.KERNEL:
            places = [Related("the refused registration", place)] if (place := view.refused_kernels[refused]) else []
            message = f"{finding.message}; a refused registration may be what it lacks"
            return finding._replace(severity=Severity.INFO, message=message, related=(*finding.related, *places))
        undecided = (view.undecided.may_be_there(OperatorName.parse(name), self.lacks) for name in names)
        registration = next(filter(None, undecided), None)
        if registration is None:
            return finding
        field, text = registration.unknown[0]
        what = "definition" if self.lacks is MissingPart.DEFINITION else "registration"
        words = f"an undecided {what}: the {field.replace('_', ' ')} is {text}"
        tip: str | None = _DECIDE if finding.tip is None else f"{_DECIDE}; if that is not it, {finding.tip}"
        if (why := view.undecided.why_unread.get(registration.at)) is not None and not why.startswith("the macro "):
            words, tip = f"a statement that may be it: {why}", finding.tip
        return finding._replace(
            severity=Severity.INFO,
            message=f"{finding.message}; this is not sure: an undecided {what} may be what it lacks",
            related=(*finding.related, Related(words, registration.at)),
            tip=tip,
        )


def _is_met(need: Need, view: View) -> bool:
    match need:
        case Need.PYTORCH:
            return view.has_pytorch
        case Need.FILES:
            return view.has_files or bool(view.changes)
        case _:
            return view.built is not None
