"""Problems and warnings for standard error: where, what, the line itself, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from rich.text import Text

from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.problem import Problem, Related
from dispatch_cli.model.snippet import cut_line, cut_start
from dispatch_cli.model.span import Span
from dispatch_cli.render.console import BAD, DIM, HEAD, WARN, plain, to_text
from dispatch_cli.render.style import Style
from dispatch_cli.render.text_safety import safe


def problems_text(problems: Iterable[Problem], style: Style) -> str:
    """Every problem with its snippet, and a closing count."""
    shown = list(problems)
    lines = [line for problem in shown for line in _problem(problem)]
    count = "1 error" if len(shown) == 1 else f"{len(shown)} errors"
    lines.append(Text.assemble((f"{count}; nothing was done.", BAD)))
    return to_text(lines, style)


def overrides_text(state: State, style: Style) -> str:
    """PyTorch's warning for each registration that overrides another, naming the kernel it really replaces."""
    lines = [line for registration in state.overrides for line in _override(registration)]
    return to_text(lines, style)


def _problem(problem: Problem) -> Iterator[Text]:
    first, *rest = problem.message.split("\n")
    place = [(f"{safe(str(problem.span))}: ", HEAD)] if problem.span is not None else []
    yield Text.assemble(*place, ("error", BAD), f"[{problem.code}]: ", safe(first))
    for line in rest:
        yield plain(f"    {line}")
    if problem.span is not None:
        yield from _snippet(problem.span, problem.line_text)
    for related in problem.related:
        yield from _related(related)
    if problem.hint:
        yield Text.assemble(("  help: ", "cyan"), safe(problem.hint))
    yield Text()


def _related(related: Related) -> Iterator[Text]:
    yield Text.assemble(("  note: ", "cyan"), safe(related.message), (f" ({safe(str(related.span))})", HEAD))
    yield from _snippet(related.span, None)


def _override(registration: Registration) -> Iterator[Text]:
    earlier = registration.overrides
    assert earlier is not None, "only registrations that override another are listed"
    kernel, name = registration.kernel, registration.operator
    place = [(f"{safe(str(kernel.span))}: ", HEAD)] if kernel.span is not None else []
    yield Text.assemble(
        *place,
        ("warning", WARN),
        safe(
            f"[override]: {name}: Overriding a previously registered kernel for the same operator and the same "
            f"dispatch key {registration.key}; previous kernel: {earlier.debug}; new kernel: {kernel.debug}"
            f"{misnamed_text(registration)}"
        ),
    )
    if kernel.span is not None:
        yield from _snippet(kernel.span, None)
    if earlier.span is not None:
        yield from _related(Related("the previous kernel is registered here", earlier.span))


def misnamed_text(registration: Registration) -> str:
    """What is wrong in PyTorch's own warning; nothing where it is right, or where what it says is not known."""
    named = registration.misnamed
    return "" if named is None else f'; the warning of PyTorch itself says "previous kernel: {named}"'


def _snippet(span: Span, line_text: str | None) -> Iterator[Text]:
    line = line_text
    if line is None:
        whole = _line_of(span)
        line = cut_line(whole, span.column) if whole is not None else None
    if not line or not line.strip():
        return
    column = span.column - 1 - cut_start(span.column)
    number = str(span.line)
    yield Text.assemble((f"  {number} | ", DIM), safe(line))
    if 0 <= column <= len(line):
        yield Text.assemble((f"  {' ' * len(number)} | ", DIM), " " * len(safe(line[:column])), ("^", BAD))


def _line_of(span: Span) -> str | None:
    """The line of the file, where it still is a file that can be read."""
    path = Path(span.file)
    try:
        if path.suffix == ".gz" or not path.is_file():
            return None
        with path.open(encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, start=1):
                if number == span.line:
                    return line.rstrip("\n")
    except OSError:  # such as of a name that is too long
        return None
    return None
