"""Answers for the command line of the view of changes: on the part under the cursor; it may take a thread to find."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from textual.message_pump import MessagePump

from dispatch_cli.answers.diff.report import DiffReport
from dispatch_cli.explore.answers.changes import changes_answer, finding_answer, registrations_answer, wanted_diff
from dispatch_cli.explore.answers.findings import state_before, state_to_check
from dispatch_cli.explore.background import Background, Step
from dispatch_cli.explore.change_blocks import FindingChange
from dispatch_cli.explore.session import PaneAnswer, Session
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.registrations_at_key import NamedRegistration


class ChangeAnswers:
    """The answers of one state.

    view: in whose loop of messages answers come. changed: called when one has come. failed: gets an error of a thread.
    """

    def __init__(self, view: MessagePump, changed: Callable[[], object], failed: Callable[[Exception], object]) -> None:
        self._comparing, self._checking = Background(view), Background(view)
        self._changed, self._failed = changed, failed
        self._state: object = None
        self._diff: PaneAnswer | None = None
        self._finding: tuple[FindingChange, PaneAnswer | None] | None = None

    @property
    def waits_for(self) -> str:
        """Description of the work under way; empty if there is none."""
        if self._comparing.busy:
            return "Looking for what changes…"
        return "Checking…" if self._checking.busy else ""

    @property
    def compares(self) -> bool:
        """True while the two states are being compared."""
        return self._comparing.busy

    def diff(self, session: Session) -> DiffReport | None:
        """Differences that the changes cause; None while that is looked for, and without changes."""
        if session.state is not self._state:
            self._state, self._finding = session.state, None
            self._comparing.stop()
            self._compare(session)
        return None if self._diff is None else self._diff.report

    def of(
        self, session: Session, target: Any, owner: OperatorName | None, there: Sequence[NamedRegistration]
    ) -> PaneAnswer | None:
        """The answer about a part: what is registered, a finding, or what the changes lead to; None while it is
        looked for, and where there is nothing.

        owner, there: whose registrations are listed, and which.
        """
        self.diff(session)
        if not isinstance(target, FindingChange):
            self._checking.stop()
        if not session.whatif.changes or isinstance(target, NamedRegistration):
            return registrations_answer(session, owner, there)
        if isinstance(target, FindingChange):
            return self._of_finding(session, target)
        return self._diff

    def _compare(self, session: Session) -> None:
        """Compare: in a thread where all operators are compared, of states of its own."""
        self._diff = None
        wanted = wanted_diff(session) if session.whatif.changes else None
        if wanted is None or wanted.operators:
            self._diff = changes_answer(session) if wanted is not None else None
            return
        copies = session.whatif.copies()

        def work(step: Step) -> PaneAnswer:
            step("")
            states = copies()
            step("")
            return wanted.answer(*states)

        def done(answer: PaneAnswer) -> None:
            self._diff = answer
            self._changed()

        self._comparing.start(work, done, self._failed, lambda _: None)

    def _of_finding(self, session: Session, target: FindingChange) -> PaneAnswer | None:
        if self._finding is not None and self._finding[0] == target:
            return self._finding[1]
        self._finding = target, None
        state = state_to_check(session) if target.is_new else state_before(session)

        def done(answer: PaneAnswer) -> None:
            self._finding = target, answer
            self._changed()

        self._checking.start(
            lambda _: finding_answer(session, target.finding, target.is_new, state), done, self._failed, lambda _: None
        )
        return None
