"""A mistake in the input, ready to be shown: what, where, and what to do about it."""

from __future__ import annotations

from typing import Any, NamedTuple

from dispatch_cli.model.span import Span


class Related(NamedTuple):
    """A second place that belongs to a problem, such as the registration that came first."""

    message: str
    span: Span


class Problem(NamedTuple):
    """One located mistake.

    code: a stable short name of the kind of mistake, such as ``unknown-field``.
    message: one sentence, or PyTorch's own text where PyTorch would refuse.
    span: where; None when no file is to blame (a command-line option).
    line_text: the offending line of the file, for the snippet; shortened by the reader when it is long.
    hint: what to do, such as ``did you mean CompositeImplicitAutograd?``
    related: other places that matter.
    operator, when, namespace: of what PyTorch refuses of sources, as far as they are known: what it is about, the
    conditions of its registration, and that of its block.
    """

    code: str
    message: str
    span: Span | None = None
    line_text: str | None = None
    hint: str | None = None
    related: tuple[Related, ...] = ()
    operator: str | None = None
    when: tuple[Any, ...] = ()
    namespace: str | None = None


class InputError(Exception):
    """The input cannot be used; carries every problem found, in order of place.

    partial: the `Declarations` that could be read all the same, so that their registrations can be tried too.
    """

    def __init__(self, problems: tuple[Problem, ...], partial: Any = None) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = problems
        self.partial = partial
