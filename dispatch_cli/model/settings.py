"""Settings of a run of the checks: which checks, and what makes it fail."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.model.names import Severity
from dispatch_cli.model.sources.source_settings import NO_SOURCE_SETTINGS, SourceSettings
from dispatch_cli.model.span import Span


class Selector(NamedTuple):
    """One entry of a list of checks: an id, a code, the beginning of either, ``all`` or ``default``.

    span: where it is written, when it is in a declaration file. origin: where else it comes from, in words.
    """

    text: str
    span: Span | None = None
    origin: str = ""


class Named(NamedTuple):
    """A file or a backend that a project file names. span: where it does."""

    text: str
    span: Span | None = None


class CheckSettings(NamedTuple):
    """Settings of the checks from one place: a declaration file, a project file or the command line.

    select: the checks to run; None leaves that to an earlier section. ignore: checks to leave out of those.
    severities: checks whose findings count as better or worse than they say. fail_on: the mildest severity that makes
    a run fail. baseline, guards: files, as they can be opened from here.
    privateuse1: the name of the backend at PrivateUse1; base: the embedded state to start from; extract: how sources
    are read. Only a project file has these.
    """

    select: tuple[Selector, ...] | None = None
    ignore: tuple[Selector, ...] = ()
    severities: tuple[tuple[Selector, Severity], ...] = ()
    fail_on: Severity | None = None
    baseline: Named | None = None
    guards: tuple[Named, ...] = ()
    privateuse1: Named | None = None
    base: Named | None = None
    extract: SourceSettings = NO_SOURCE_SETTINGS


class Suppression(NamedTuple):
    """A declaration, or a comment, that findings are intended.

    checks: the ids, codes or prefixes it names. reason: why; empty for a comment that gives none, which is an error
    where checks run. span: where it stands.
    line: the line of the same file that it speaks of; None when it speaks of operators and keys instead. last: the last
    such line, where it speaks of a whole entry that begins at *line*.
    op, key: globs over operator names and keys; a key glob of None takes findings without a key as well.
    inherited: it comes from a file that others extend.
    """

    checks: tuple[Selector, ...]
    reason: str
    span: Span
    line: int | None = None
    op: str | None = None
    key: str | None = None
    last: int | None = None
    inherited: bool = False
