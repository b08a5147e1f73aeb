"""The line in which a call is described, as ``resolve`` takes it: read, and completed while it is typed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.suggester import Suggester
from textual.widgets import Input

from dispatch_cli.answers.resolve.call_words import (
    context_completions,
    key_set_completions,
    option_words,
    tensor_words,
)
from dispatch_cli.explore.answers.call import OPTIONS, Draft, call_arguments
from dispatch_cli.explore.session import Session
from dispatch_cli.model.calls.options import NO_OPTIONS
from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.model.text.suggest import starting, suggestion
from dispatch_cli.model.universe import Universe

PARTS = ("--tensor", "--context", "--argument", "--keyset")
_END = re.compile(r"(?:^|\s)(--\w*)(?:(?:=|\s+)(?:(['\"])([^'\"]*)|([^\s'\"]*)))?$")
"""The option at the end of a line, and its value as far as it is typed: behind a quotation mark, or without one."""

_WORD = re.compile(r"""(?:[^\s'"]|'[^']*'?|"[^"]*"?)+""")
_QUOTED = re.compile(r"""'([^']*)'?|"([^"]*)"?""")


class TypedCall(NamedTuple):
    """A call that is typed. operator: of a whole command line, whose files and other options do not count here."""

    draft: Draft
    operator: str | None = None


def line_of(draft: Draft) -> str:
    """A call as a line."""
    return shlex.join(call_arguments(draft))


def call_of(text: str) -> TypedCall:
    """The call of a line. Errors: InputError, for what is no option of a call."""
    words = _split(text)
    program = next((at for at, word in enumerate(words) if word.rpartition("/")[2] == "dispatch-cli"), None)
    operator = None
    if program is not None:
        words = words[program + 2 :]
        operator = next((word for word in words if not word.startswith("-")), None)
    given: dict[str, list[str]] = {part: [] for part in PARTS}
    rest = iter(words)
    for word in rest:
        option, equals, value = word.partition("=")
        if option in given:
            given[option].append(value if equals else next(rest, ""))
        elif program is None:
            raise _bad(f"A call has no {word!r}", suggestion(option, PARTS) or f"write {', '.join(PARTS)}")
    options = NO_OPTIONS
    for text in filter(None, given["--argument"]):
        name, equals, value = text.partition("=")
        if name not in OPTIONS or not equals:
            raise _bad(f"--argument {text!r} must be NAME=VALUE", f"NAME is one of {', '.join(OPTIONS)}")
        options = options._replace(**{name: value})
    tensors, contexts = (tuple(filter(None, map(str.strip, given[part]))) for part in PARTS[:2])
    return TypedCall(Draft(tensors, contexts, options, next(iter(given["--keyset"]), "").strip() or None), operator)


def _split(text: str) -> list[str]:
    """The words of a shell; a quotation that is not closed yet goes to the end."""
    return [_QUOTED.sub(lambda match: match[1] or match[2] or "", word) for word in _WORD.findall(text)]


def _bad(message: str, hint: str) -> InputError:
    return InputError((Problem("bad-call", message, hint=hint),))


def completions(universe: Universe, text: str) -> Iterator[tuple[str, str]]:
    """A completion of a line: what comes next, and the whole line then."""
    match = _END.search(text)
    if match is None or (match[2] is None and match[4] is None):
        begun = "" if match is None else match[1]
        blank = " " * (match is None and text[-1:].strip() != "")
        yield from ((word, f"{text}{blank}{word[len(begun) :]} ") for word in starting(PARTS, begun))
        return
    part, value = match[1], match[3] if match[2] else match[4]
    quote = "" if match[2] or value else "'"
    for shown, whole in _values(universe, part, value):
        yield shown, f"{text[: len(text) - len(value)]}{quote}{whole}"


def _values(universe: Universe, part: str, value: str) -> Iterator[tuple[str, str]]:
    """The values of an option that go on with one that is typed: what comes next, and the whole value."""
    if part == PARTS[0]:
        *given, begun = re.split(r" +", value)
        before = "".join(f"{word} " for word in given)
        yield from ((word, f"{before}{word}") for word in starting(tensor_words(universe, given), begun))
    elif part == PARTS[1]:
        yield from ((completion.text, completion.text) for completion in context_completions(universe, value))
    elif part == PARTS[2]:
        name, equals, begun = value.partition("=")
        if equals and name in OPTIONS:
            yield from ((word, f"{name}={word}") for word in starting(option_words(universe, name), begun))
        else:
            yield from ((f"{option}=", f"{option}=") for option in starting(OPTIONS, value))
    else:
        yield from ((completion.text, completion.text) for completion in key_set_completions(universe, value))


class Completion(Suggester):
    """The first way in which a line goes on."""

    def __init__(self, session: Session) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._session = session

    def first(self, value: str) -> str | None:
        """The whole line then; None if there is none."""
        lines = (line for _, line in completions(self._session.state.dispatcher.universe, value))
        return next((line for line in lines if line.startswith(value) and line != value), None)

    async def get_suggestion(self, value: str) -> str | None:
        """textual's. Before the first letter of a word, nothing is proposed."""
        return None if value[-1:] in ("", " ", "'", '"') else self.first(value)


class CallLine(Input):
    """Input for a call, typed or pasted as a command line."""

    DEFAULT_CSS = "CallLine { background: $surface; } CallLine:focus { background: $boost; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", "Complete", tooltip="Take the word that is proposed behind the cursor"),
        Binding("enter,escape", "submit", "To the answer", tooltip="From the call to its answer"),
    ]

    def __init__(self, session: Session) -> None:
        self._completion = Completion(session)
        super().__init__(
            compact=True, placeholder="--tensor 'cpu sparse'", select_on_focus=False, suggester=self._completion
        )

    def begin(self, part: str) -> None:
        """Begin another part, at the end."""
        self.focus()
        self.value = f"{self.value.rstrip()} {part} '".lstrip()
        self.action_end()

    def action_complete(self) -> None:
        """Take the first way in which the line goes on."""
        following = self._completion.first(self.value) if self.cursor_position == len(self.value) else None
        if following is None:
            raise SkipAction
        self.value = following
        self.action_end()
