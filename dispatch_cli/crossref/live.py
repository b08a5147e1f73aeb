"""Asking a live PyTorch: registrations and answers from one process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dispatch_cli.capture.run import ANSWERS, SECONDS, Progress, run_probe
from dispatch_cli.crossref.answers import Answers, HigherOrderAnswers, Probed, ResolveAnswers, Texts
from dispatch_cli.model.universe import UNDEFINED


def ask(
    python: str | None,
    modules: Sequence[str] = (),
    progress: Progress | None = None,
    globs: Sequence[str] = (),
    seconds: float = SECONDS,
) -> Probed:
    """Registrations of the PyTorch of *python*, and its answers.

    python: a path or a command; None is the Python that runs this. modules: imported after torch, in order.
    globs: names, with or without their overload, of the operators about which ``resolve_key`` is asked; all, where
        there are none.
    seconds: the time that it has.
    Errors: InputError, with the last lines of what went wrong.
    """
    return from_data(run_probe(python, modules, progress, ANSWERS, globs, seconds=seconds))


def from_data(data: dict[str, Any]) -> Probed:
    """The answer of ``capture/answers_probe.py`` in our types."""
    return Probed(
        universe=data["universe"],
        operators=tuple(data["operators"]),
        not_understood={skipped["name"]: skipped["line"] for skipped in data["skipped"]},
        answers=Answers(
            source=f"PyTorch {data['torch']}",
            texts={name: Texts(*texts) for name, texts in data["texts"].items()},
            complaints=data["broken"],
            resolved=ResolveAnswers(
                slots=(UNDEFINED, *data["universe"]["runtime"]),
                rows=tuple(map(tuple, data["resolve_rows"])),
                row_of=data["resolved"],
            ),
            higher_order={
                name: HigherOrderAnswers(row, frozenset(reached))
                for name, (row, reached) in data["higher_order_answers"].items()
            },
        ),
        higher_order=tuple(data["higher_order_operators"]),
    )
