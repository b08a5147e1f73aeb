"""Session of the explorer: a state, the changes on trial in it, and the command line that loads it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from dispatch_cli.engine.state import State
from dispatch_cli.model.names import OperatorName

if TYPE_CHECKING:
    from dispatch_cli.answers.findings.checked import CheckSetup
    from dispatch_cli.answers.findings.report import FindingsReport
    from dispatch_cli.answers.trace.view import TraceView
    from dispatch_cli.model.changes.change import Change
    from dispatch_cli.model.problem import Problem
    from dispatch_cli.whatif.findings import Shared
    from dispatch_cli.whatif.whatif import WhatIf


TRIED = "~"
"""The mark of what a change on trial changed."""


class PaneAnswer(NamedTuple):
    """Answer that a view shows.

    report: the same report that the command makes. command: the arguments of ``dispatch-cli`` that print it; with
    ``--format json``, it prints exactly this report.
    """

    report: Any
    command: tuple[str, ...]


class Spot(NamedTuple):
    """Place of the user. operator: an ordinary one; higher_order: the name of a higher-order one.

    key: of the slot.
    """

    operator: OperatorName | None = None
    key: str | None = None
    higher_order: str | None = None


class CannotRead(Exception):
    """The files cannot be read as they are now, as one sentence, or with every problem and its place."""

    def __init__(self, text: str, problems: tuple[Problem, ...] = ()) -> None:
        super().__init__(text)
        self.problems = problems


ReadFiles = Callable[[], "tuple[State, CheckSetup | None]"]
"""Reads the files: the state, and what the project says of checks, None for nothing. Errors: CannotRead."""


class Session:
    """A state that is explored.

    source: the arguments that load it, as they were given: files, ``--base``, and the other options of the source.
    read: loads it once more; None where it is of no file. trace: the recording of a program that is shown beside it.
    whatif: the changes that are tried out on it. asked: calls that the view of calls is to show.
    """

    def __init__(
        self, state: State, source: tuple[str, ...], read: ReadFiles | None = None, trace: TraceView | None = None
    ) -> None:
        self.original = state
        self.trace = trace
        self.source = source
        self.asked: dict[Spot, Any] = {}
        self._read = read

    def read_again(self) -> tuple[Change, ...]:
        """Take the files as they are now; the changes on trial that cannot be made any more, and are left out.

        Errors: CannotRead; then everything is as it was.
        """
        if self._read is None:
            raise CannotRead("There is no file to read again.")
        state, checks = self._read()
        left_out: tuple[Change, ...] = ()
        if self.has_tried:
            self.whatif, left_out = self.whatif.over(state)
        self.original = state
        for name in ("checks", "original_findings"):
            vars(self).pop(name, None)
        if checks is not None:
            self.checks = checks
        return left_out

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The files that were named, without the one with changes on trial."""
        return tuple(takewhile(lambda text: not text.startswith("-"), self.source))

    @property
    def files_read(self) -> tuple[str, ...]:
        """The files that the state was read from; none where it cannot be read again."""
        return self.original.declarations.files if self._read is not None else ()

    @property
    def title(self) -> str:
        """Name of the session, in a few words: the embedded state, and the files over it."""
        if self.original.over:
            return " + ".join((", ".join(self.original.over), *self.files))
        universe = self.original.dispatcher.universe.name
        return f"{' + '.join(self.files)} (keys of {universe})" if self.files else universe

    # what the first frame does not need is imported when it is asked for

    @cached_property
    def checks(self) -> CheckSetup:
        """Setup that the project gives a run of the checks."""
        from dispatch_cli.answers.findings.checked import CheckSetup

        return CheckSetup()

    @cached_property
    def original_findings(self) -> Shared[FindingsReport]:
        """The findings of the state without the changes on trial."""
        from dispatch_cli.whatif.findings import Shared

        return Shared()

    @cached_property
    def whatif(self) -> WhatIf:
        """The changes that are tried out on it."""
        from dispatch_cli.whatif.whatif import WhatIf

        return WhatIf(self.original)

    @property
    def has_tried(self) -> bool:
        """True if anything was ever tried out; changes can have been undone since."""
        return "whatif" in vars(self)

    @property
    def state(self) -> State:
        """The state with the changes that are being tried."""
        return self.whatif.state if self.has_tried else self.original

    @property
    def unsaved(self) -> bool:
        """True if there are changes that are not in the file that command lines name."""
        return self.has_tried and self.whatif.unsaved

    @property
    def tried_file(self) -> tuple[str, ...]:
        """The file with the changes on trial; none if there are no changes."""
        return (self.whatif.path,) if self.has_tried and self.whatif.changes else ()

    def command(self, name: str, *arguments: str, before: tuple[str, ...] = ()) -> tuple[str, ...]:
        """A command line over this state. before: its arguments that stand before the files, such as OP and KEY.

        With changes, it names the file that they are written to, or will be (`unsaved`).
        """
        return (name, *before, *self.source, *self.tried_file, *arguments)

    def command_before(self, name: str, *arguments: str) -> tuple[str, ...]:
        """A command line over the state without the changes."""
        return (name, *self.source, *arguments)
